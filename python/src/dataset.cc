// Datasets, folds, splits and queries; their arrays share the engine's memory.
#include <algorithm>
#include <map>
#include <thread>
#include <utility>

#include "background.h"
#include "handles.h"
#include "plackett/wrap.h"

namespace plackett::python {
namespace {

using SplitPointer = std::shared_ptr<SplitHandle>;

// Read-only if `owner` is a read-only array.
template <typename T>
py::array array_over(const T* data, std::vector<py::ssize_t> shape, std::size_t stride,
                     py::handle owner) {
  constexpr auto kBytes = static_cast<py::ssize_t>(sizeof(T));
  std::vector<py::ssize_t> strides{static_cast<py::ssize_t>(stride) * kBytes, kBytes};
  strides.resize(shape.size());
  return {py::dtype::of<T>(), std::move(shape), std::move(strides), data, owner};
}

}  // namespace

SplitHandle::SplitHandle(Split of, std::uint32_t highest_label)
    : split(std::move(of)), max_label(highest_label) {
  const Split::Storage& memory = split.storage();
  const py::capsule owner(new Split(split), [](void* kept) { delete static_cast<Split*>(kept); });
  const auto docs = static_cast<py::ssize_t>(split.doc_count());
  features = array_over(memory.rows, {docs, split.feature_count()}, split.row_stride(), owner);
  labels = array_over(memory.labels, {docs}, 1, owner);
  query_begin = array_over(memory.query_begin, {py::ssize_t{split.query_count()} + 1}, 1, owner);
  for (py::array& array : {std::ref(features), std::ref(labels), std::ref(query_begin)}) {
    array.attr("flags").attr("writeable") = false;
  }
}

py::array_t<float> features_array(const FeatureView& rows) {
  const std::size_t width = rows.feature_count();
  py::array_t<float> array({std::size_t{rows.doc_count()}, width});
  float* out = array.mutable_data();
  for (std::uint32_t doc = 0; doc < rows.doc_count(); ++doc, out += width) {
    std::copy_n(rows.data() + doc * rows.stride(), width, out);
  }
  return array;
}

namespace {

// Fields of a plackett.Dataset.
py::dict parts_of(const DatasetHandle& data) {
  const auto split = [&](const Split& of) {
    return std::make_shared<SplitHandle>(of, data.max_label);
  };
  py::list folds;
  for (const Fold& fold : data.folds) {
    folds.append(py::make_tuple(fold.name, split(fold.train),
                                fold.validation ? split(*fold.validation) : nullptr,
                                split(fold.test), array_of(fold.feature_ids),
                                array_of(fold.constant_feature_ids), name_of(fold.scaling)));
  }
  return py::dict("name"_a = data.name, "origin"_a = data.origin, "folds"_a = folds,
                  "max_label"_a = data.max_label, "grade_count"_a = data.grade_count(),
                  "scaling"_a = name_of(data.folds.front().scaling));
}

DatasetHandle load(Given where, Given name, const py::dict& given, Given keep_feature_ids,
                   Given verify_cache, Given threads) {
  const std::string called = name.is_none() ? "" : text(name, "name");
  if (!name.is_none() && called.empty()) bad_value("name: ''; must not be empty");
  ComparedDataset source;
  source.path = path(where, "where");
  set_options(dataset_options(), given, source);
  LoadOptions options = load_options(source);
  if (!keep_feature_ids.is_none()) {
    options.keep_feature_ids = feature_ids_of(keep_feature_ids, "keep_feature_ids");
  }
  options.threads = integer32(threads, "threads", kThreads);
  if (options.threads == 0) options.threads = std::max(1U, std::thread::hardware_concurrency());
  options.verify_cache = truth(verify_cache, "verify_cache");
  DatasetHandle data{
      take(in_background([&](const Watch&) { return load_dataset(source.path, options); })), {}};
  if (!name.is_none()) data.name = called;
  source.name = data.name;
  if (!options.keep_feature_ids) data.source = std::move(source);
  return data;
}

// Arrays that a split uses. Destroyed with the split, on any thread.
struct KeptArrays {
  py::array features;
  std::vector<std::uint8_t> labels;
  std::vector<std::uint64_t> query_begin;
  std::vector<std::uint64_t> query_ids;
};

using Integers64 = py::array_t<std::uint64_t, py::array::c_style | py::array::forcecast>;

// `name` is that of the split, for errors. `query_ids` is None or one uint64 per query.
SplitPointer split_of(Given features, Given labels, Given query_begin, Given query_ids,
                      const std::string& name) {
  const std::shared_ptr<KeptArrays> arrays(new KeptArrays, [](KeptArrays* kept) {
    unless_the_program_ends([&] {
      const py::gil_scoped_acquire held;
      delete kept;
    });
  });
  const py::array& rows = arrays->features = matrix_of(features, name + ": features");
  arrays->labels = labels_of(labels, name + ": labels");
  if (rows.shape(0) != static_cast<py::ssize_t>(arrays->labels.size())) {
    bad_value("{}: {} rows of features and {} labels; expected one of each per document", name,
              rows.shape(0), arrays->labels.size());
  }
  arrays->query_begin = integers<std::uint64_t>(
      query_begin, {.name = name + ": query_begin",
                    .most = std::uint64_t{1} << 53,
                    .rule = "expected where each query begins, and the end of the last"});
  if (!query_ids.is_none()) {
    const auto ids = unless_the_program_ends([&] { return Integers64(query_ids); });
    arrays->query_ids.assign(ids.data(), ids.data() + ids.size());
  }
  SplitArrays split;
  split.rows = static_cast<const float*>(rows.data());
  split.stride = stride_of(rows);
  split.feature_count = static_cast<std::uint32_t>(rows.shape(1));
  split.labels = arrays->labels;
  split.query_begin = arrays->query_begin;
  split.query_ids = arrays->query_ids;
  split.owner = arrays;
  return std::make_shared<SplitHandle>(
      take(in_background([&](const Watch&) { return wrap_split(split); }), name), 0);
}

// Each fold with its place in errors, empty for a single one.
using GivenFolds = std::vector<std::pair<std::string, std::map<std::string, SplitPointer>>>;

DatasetHandle dataset_of(Given name, const GivenFolds& folds) {
  const std::string called = text(name, "name");
  Dataset dataset;
  for (const auto& [where, splits] : folds) {
    DatasetParts parts{called, splits.at("train")->split, splits.at("test")->split};
    if (splits.contains("validation")) parts.validation = splits.at("validation")->split;
    Dataset one = take(wrap_dataset(std::move(parts)), where);
    if (!where.empty()) one.folds.front().name = fmt::format("Fold{}", dataset.folds.size() + 1);
    if (dataset.folds.empty()) {
      dataset = std::move(one);
      continue;
    }
    if (one.source_feature_count != dataset.source_feature_count) {
      bad_value("{}: {} features; folds[0] has {}", where, one.source_feature_count,
                dataset.source_feature_count);
    }
    dataset.max_label = std::max(dataset.max_label, one.max_label);
    dataset.folds.push_back(std::move(one.folds.front()));
  }
  if (dataset.folds.empty()) bad_value("folds: none; expected at least 1");
  return {std::move(dataset), {}};
}

QueryHandle query_at(const SplitPointer& split, py::ssize_t number) {
  const auto count = static_cast<py::ssize_t>(split->split.query_count());
  const py::ssize_t at = number < 0 ? number + count : number;
  if (at < 0 || at >= count) {
    throw py::index_error(fmt::format("query {}; there are {}", number, count));
  }
  return {split, Query{static_cast<std::uint32_t>(at)}};
}

std::vector<QueryHandle> queries_in(const SplitPointer& split, const py::slice& slice) {
  const py::object range = py::module_::import("builtins").attr("range");
  std::vector<QueryHandle> found;
  for (const py::handle at : range(*slice.attr("indices")(split->split.query_count()))) {
    found.push_back(query_at(split, py::cast<py::ssize_t>(at)));
  }
  return found;
}

py::object document_ids(const QueryHandle& query) {
  const Split& split = query.of->split;
  if (split.storage().doc_id_begin == nullptr) return py::none();
  py::list ids;
  for (std::uint32_t doc = 0; doc < query.features().doc_count(); ++doc) {
    const std::string_view id = split.doc_id(query.number, Doc{doc});
    PyObject* decoded =
        PyUnicode_DecodeUTF8(id.data(), static_cast<py::ssize_t>(id.size()), "surrogateescape");
    if (decoded == nullptr) throw py::error_already_set();
    ids.append(py::reinterpret_steal<py::str>(decoded));
  }
  return ids;
}

void bind_split(py::module_& module) {
  py::class_<QueryHandle> query(module, "Query", R"(One query's candidate documents.

Learners and rankers take it in place of its features.

>>> query = plackett.load("synthetic").folds[0].train[0]
>>> query.features.shape == (len(query), 42)
True)");
  property(query, "features",
           "Documents x features, float32; a copy, which may be changed. The query itself is what "
           "learners and rankers read without a copy.",
           [](const QueryHandle& one) { return features_array(one.features()); });
  property(query, "labels", "One label per document, uint8; the engine's own memory, read-only.",
           [](const QueryHandle& one) {
             const auto labels = one.judgments().labels();
             return array_over(labels.data(), {static_cast<py::ssize_t>(labels.size())}, 1,
                               one.of->labels);
           });
  property(query, "number", "Its index within its split.",
           [](const QueryHandle& one) { return index(one.number); });
  property(query, "id", "Its id in the source, such as a file's qid; None without one.",
           [](const QueryHandle& one) { return one.of->split.query_id(one.number); });
  property(query, "document_ids",
           "Its documents' ids in the source, '' for one without; None if no document has one.",
           document_ids);
  query.def("__len__", [](const QueryHandle& one) { return one.features().doc_count(); })
      .def("__repr__", [](const QueryHandle& one) {
        return fmt::format("<plackett.Query {}: {} documents, {} features>", index(one.number),
                           one.features().doc_count(), one.features().feature_count());
      });
  data_only(query, "pickle its features and labels");

  py::class_<SplitHandle, SplitPointer> split(module, "Split",
                                              R"(A sequence of queries: those of one file.

>>> train = plackett.load("synthetic").folds[0].train
>>> len(train), train[-1]
(480, <plackett.Query 479: 14 documents, 42 features>)
>>> train.features[0, 0] = 1
Traceback (most recent call last):
    ...
ValueError: assignment destination is read-only)");
  split.def("__len__", [](const SplitHandle& one) { return one.split.query_count(); })
      .def("__getitem__", query_at, "number"_a)
      .def("__getitem__", queries_in, "number"_a)
      .def("__iter__",
           [](Given self) { return py::reinterpret_steal<py::object>(PySeqIter_New(self.ptr())); })
      .def_readonly("features", &SplitHandle::features,
                    "All documents x features, float32; the engine's own memory, read-only.")
      .def_readonly("labels", &SplitHandle::labels,
                    "All documents' labels, uint8; the engine's own memory, read-only.")
      .def_readonly("query_begin", &SplitHandle::query_begin,
                    "Query q's documents are query_begin[q] to query_begin[q + 1]; uint64, the "
                    "engine's own memory, read-only.");
  property(split, "feature_count", "Features per document.",
           [](const SplitHandle& one) { return one.split.feature_count(); });
  split
      .def_readonly("max_label", &SplitHandle::max_label, "The highest label in the whole dataset.")
      .def("__repr__", [](const SplitHandle& one) {
        return fmt::format("<plackett.Split: {} queries, {} documents, {} features>",
                           one.split.query_count(), one.split.doc_count(),
                           one.split.feature_count());
      });
  data_only(split, "pickle its features, labels and query_begin, or what load read");
}

}  // namespace

void bind_dataset(py::module_& module) {
  bind_split(module);
  py::class_<DatasetHandle> dataset(module, "DatasetHandle", "The engine's part of a Dataset.");
  dataset.def("parts", parts_of);
  no_constructor(dataset);
  module.def("split_of", split_of);
  module.def("dataset_of", dataset_of);
  module.def("load", load);
  py::dict defaults = defaults_of(dataset_options());
  defaults["verify_cache"] = LoadOptions{}.verify_cache;
  defaults["threads"] = LoadOptions{}.threads;
  module.attr("load_defaults") = defaults;
}

}  // namespace plackett::python
