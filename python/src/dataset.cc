// Datasets, folds, splits and queries; their arrays share the engine's memory.
#include <pybind11/stl.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <thread>
#include <utility>

#include "arguments.h"
#include "arrays.h"
#include "background.h"
#include "bindings.h"
#include "data.h"
#include "failure.h"
#include "made.h"
#include "plackett/wrap.h"

namespace plackett::python {
namespace {

std::shared_ptr<SplitHandle> handle_of(const Split& split, std::uint32_t max_label) {
  return std::make_shared<SplitHandle>(SplitHandle{split, max_label});
}

std::shared_ptr<DatasetHandle> handle_of(Dataset dataset, std::string scaling) {
  auto handle = std::make_shared<DatasetHandle>();
  for (const Fold& fold : dataset.folds) {
    auto part = std::make_shared<FoldHandle>();
    part->name = fold.name;
    part->train = handle_of(fold.train, dataset.max_label);
    if (fold.validation) part->validation = handle_of(*fold.validation, dataset.max_label);
    part->test = handle_of(fold.test, dataset.max_label);
    part->feature_ids = fold.feature_ids;
    part->constant_feature_ids = fold.constant_feature_ids;
    part->scaling = scaling;
    handle->folds.push_back(std::move(part));
  }
  handle->dataset = std::move(dataset);
  handle->scaling = std::move(scaling);
  return handle;
}

bool is_synthetic(const std::string& where) {
  return where == "synthetic" || where.starts_with("synthetic:");
}

std::shared_ptr<DatasetHandle> load(py::handle where, py::handle scaling,
                                    py::handle keep_constant_features, py::handle keep_feature_ids,
                                    py::handle max_feature_id, py::handle verify_cache,
                                    py::handle threads, py::handle name) {
  const std::string called = name.is_none() ? "" : text(name, "name");
  if (!name.is_none() && called.empty()) bad_value("name: ''; it is not empty");
  std::string place = path(where, "where").string();
  if (!is_synthetic(place)) place = existing_path(where, "where").string();
  LoadOptions options;
  options.scaling = take(parse_scaling(text(scaling, "scaling")));
  options.drop_constant_features = !truth(keep_constant_features, "keep_constant_features");
  if (!keep_feature_ids.is_none()) {
    options.keep_feature_ids = feature_ids_of(keep_feature_ids, "keep_feature_ids");
  }
  options.max_feature_id = whole32(max_feature_id, "max_feature_id", {1, kLargestFeatureId});
  options.threads = thread_number(threads);
  if (options.threads == 0) options.threads = std::max(1U, std::thread::hardware_concurrency());
  options.verify_cache = truth(verify_cache, "verify_cache");
  auto loaded = in_background<Result<Dataset>>(
      [&](const Watch&) { return load_dataset(place, options); }, {});
  Dataset dataset = take(std::move(loaded));
  if (!name.is_none()) dataset.name = called;
  auto handle = handle_of(std::move(dataset), std::string(name_of(options.scaling)));
  handle->where = std::move(place);
  handle->load = std::move(options);
  return handle;
}

// Arrays that a split uses, kept until it is gone, from whatever thread.
struct KeptArrays {
  py::array features;
  std::vector<std::uint8_t> labels;
  std::vector<std::uint64_t> query_begin;
};

std::shared_ptr<const void> kept(std::unique_ptr<KeptArrays> arrays) {
  return {arrays.release(), [](const void* gone) {
            const py::gil_scoped_acquire held;
            delete static_cast<const KeptArrays*>(gone);
          }};
}

// (the different qids, for each document which of them it has).
py::tuple numbered(const py::array& qid, const std::string& name) {
  try {
    return py::module_::import("numpy").attr("unique")(qid, py::arg("return_inverse") = true);
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_Exception)) throw;
    bad_type("{}: {}; they can be ordered, as numbers or as text", name, shown_value(qid));
  }
}

// Where queries begin, from a name of its query for each document.
std::vector<std::uint64_t> begins_of(py::handle qid, std::size_t doc_count,
                                     const std::string& name) {
  const std::string qid_name = name + ": qid";
  const py::array given = one_dimension_of(qid, qid_name);
  if (static_cast<std::size_t>(given.shape(0)) != doc_count) {
    bad_value("{}: {} qids for {} documents; there is one each", name, given.shape(0), doc_count);
  }
  if (doc_count == 0) return {0};
  const py::tuple answer = numbered(given, qid_name);
  const py::array names = one_dimension_of(answer[0], qid_name);
  std::vector<bool> seen(static_cast<std::size_t>(names.shape(0)));
  std::vector<std::uint64_t> codes;
  whole_numbers(answer[1],
                {.name = qid_name, .most = seen.size() - 1, .rule = "it is one of the qids"},
                codes);
  if (seen.empty() || codes.size() != doc_count) {
    bad_value("{}: {} can't be told apart", qid_name, shown_value(qid));
  }
  std::vector<std::uint64_t> begins;
  for (std::size_t doc = 0; doc < codes.size(); ++doc) {
    if (doc > 0 && codes[doc] == codes[doc - 1]) continue;
    if (seen[codes[doc]]) {
      bad_value("{}: qid {} comes again at document {}; a query's documents lie together", name,
                shown_value(py::object(names[py::int_(codes[doc])])), doc);
    }
    seen[codes[doc]] = true;
    begins.push_back(doc);
  }
  begins.push_back(codes.size());
  return begins;
}

struct SplitParts {
  py::object features;
  py::object labels;
  py::object query_begin;  // null where qid is given, and the other way about
  py::object qid;
};

// Whether numbers that could be a qid a document could be query_begin too.
bool could_be_begins(py::handle third, std::size_t doc_count, const std::string& name) {
  const py::array array = one_dimension_of(third, name + ": query_begin or qid");
  if (std::string_view("iu").find(array.dtype().kind()) == std::string::npos) return false;
  const std::vector<double> at = real_numbers(array, name);
  if (at.empty() || at.front() != 0 || at.back() != static_cast<double>(doc_count)) return false;
  return std::adjacent_find(at.begin(), at.end(), std::greater_equal<>()) == at.end();
}

std::size_t length_of(py::handle values, const std::string& name) {
  const py::ssize_t length = PyObject_Size(values.ptr());
  if (length < 0) {
    forget_error();
    bad_type("{}: {}; it is an array", name, shown_value(values));
  }
  return static_cast<std::size_t>(length);
}

SplitParts parts_of(py::handle split, const std::string& name) {
  SplitParts parts;
  if (py::isinstance<py::dict>(split)) {
    const auto given = py::reinterpret_borrow<py::dict>(split);
    for (const auto& [key, value] : given) {
      const std::string what = text(key, name);
      const auto object = py::reinterpret_borrow<py::object>(value);
      if (what == "features") {
        parts.features = object;
      } else if (what == "labels") {
        parts.labels = object;
      } else if (what == "query_begin") {
        parts.query_begin = object;
      } else if (what == "qid") {
        parts.qid = object;
      } else {
        bad_value("{}: \"{}\"; known are features, labels, query_begin and qid", name, what);
      }
    }
    if (!parts.features || !parts.labels || bool(parts.query_begin) == bool(parts.qid)) {
      bad_value("{}: it has features, labels, and one of query_begin and qid", name);
    }
    return parts;
  }
  if (!py::isinstance<py::tuple>(split) && !py::isinstance<py::list>(split)) {
    bad_type("{}: {}; it is (features, labels, query_begin or qid), or a dict of these", name,
             type_name(split));
  }
  const auto given = py::reinterpret_borrow<py::sequence>(split);
  if (given.size() != 3) {
    bad_value("{}: {} entries; it is (features, labels, query_begin or qid)", name, given.size());
  }
  parts.features = given[0];
  parts.labels = given[1];
  const py::object third = given[2];
  const std::size_t docs = length_of(parts.features, name + ": features");
  if (const std::size_t labels = length_of(parts.labels, name + ": labels"); labels != docs) {
    bad_value("{}: {} rows of features and {} labels; a document has one of each", name, docs,
              labels);
  }
  const bool one_a_document = length_of(third, name + ": query_begin or qid") == docs;
  if (one_a_document && docs > 0 && could_be_begins(third, docs, name)) {
    bad_value(
        "{}: the third entry could be query_begin or a qid for each document; say which with a "
        "dict: features, labels, and query_begin or qid",
        name);
  }
  (one_a_document ? parts.qid : parts.query_begin) = third;
  return parts;
}

Split wrapped(py::handle given, const std::string& name) {
  const SplitParts parts = parts_of(given, name);
  auto arrays = std::make_unique<KeptArrays>();
  arrays->features = matrix_of(parts.features, name + ": features");
  const Matrix layout = layout_of(arrays->features);
  arrays->labels = labels_of(parts.labels, name + ": labels");
  if (layout.doc_count != arrays->labels.size()) {
    bad_value("{}: {} rows of features and {} labels; a document has one of each", name,
              layout.doc_count, arrays->labels.size());
  }
  if (layout.feature_count > std::numeric_limits<std::uint32_t>::max()) {
    bad_value("{}: {} columns of features; fewer than 2^32", name, layout.feature_count);
  }
  if (parts.qid) {
    arrays->query_begin = begins_of(parts.qid, layout.doc_count, name);
  } else {
    const std::string begin_name = name + ": query_begin";
    whole_numbers(parts.query_begin,
                  {.name = begin_name,
                   .most = kAnyWhole,
                   .rule = "it holds where each query begins, and the end of the last"},
                  arrays->query_begin);
  }
  SplitArrays split;
  split.rows = layout.rows;
  split.stride = layout.stride;
  split.feature_count = static_cast<std::uint32_t>(layout.feature_count);
  split.labels = arrays->labels;
  split.query_begin = arrays->query_begin;
  split.owner = kept(std::move(arrays));
  // Held here too, so that it is not the other thread that lets go of the arrays.
  const std::shared_ptr<const void> owner = split.owner;
  auto result =
      in_background<Result<Split>>([&](const Watch&) { return wrap_split(std::move(split)); }, {});
  return take(std::move(result), name);
}

struct FoldParts {
  py::object train = py::none();
  py::object test = py::none();
  py::object validation = py::none();
};

FoldParts fold_parts_of(py::handle fold, const std::string& where) {
  if (!py::isinstance<py::dict>(fold)) {
    bad_type("{}: {}; it is a dict of train, test and, where there is one, validation", where,
             type_name(fold));
  }
  FoldParts parts;
  for (const auto& [key, value] : py::reinterpret_borrow<py::dict>(fold)) {
    const std::string what = text(key, where);
    const auto object = py::reinterpret_borrow<py::object>(value);
    if (what == "train") {
      parts.train = object;
    } else if (what == "test") {
      parts.test = object;
    } else if (what == "validation") {
      parts.validation = object;
    } else {
      bad_value("{}: \"{}\"; known are train, test and validation", where, what);
    }
  }
  return parts;
}

// A dataset of one fold. `where` is what comes before the names of its splits in errors.
Dataset wrapped_fold(const FoldParts& given, const std::string& name, const std::string& where) {
  if (given.train.is_none() || given.test.is_none()) {
    bad_type("{}{}: None; a fold has train and test", where,
             given.train.is_none() ? "train" : "test");
  }
  DatasetParts parts;
  parts.name = name;
  parts.train = wrapped(given.train, where + "train");
  parts.test = wrapped(given.test, where + "test");
  if (!given.validation.is_none()) {
    parts.validation = wrapped(given.validation, where + "validation");
  }
  auto dataset = wrap_dataset(std::move(parts));
  if (!dataset) bad_value("{}{}", where, in_python_words(dataset.error()));
  return std::move(dataset).value();
}

Dataset of_folds(py::handle folds, const std::string& name) {
  if (!py::isinstance<py::list>(folds) && !py::isinstance<py::tuple>(folds)) {
    bad_type("folds: {}; they are a list of dicts of train and test", shown_value(folds));
  }
  const auto given = py::reinterpret_borrow<py::sequence>(folds);
  Dataset dataset;
  for (std::size_t number = 0; number < given.size(); ++number) {
    const std::string where = fmt::format("folds[{}]", number);
    Dataset one = wrapped_fold(fold_parts_of(py::object(given[number]), where), name, where + ": ");
    one.folds.front().name = fmt::format("Fold{}", number + 1);
    if (number == 0) {
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
  if (dataset.folds.empty()) bad_value("folds: none; there is at least 1");
  return dataset;
}

std::shared_ptr<DatasetHandle> from_arrays(const py::object& train, const py::object& test,
                                           const py::object& validation, const py::object& folds,
                                           const py::object& name) {
  const std::string called = text(name, "name");
  const bool apart = !train.is_none() || !test.is_none() || !validation.is_none();
  if (apart && !folds.is_none()) bad_type("folds: given with train or test; they hold their own");
  Dataset dataset = folds.is_none() ? wrapped_fold({train, test, validation}, called, "")
                                    : of_folds(folds, called);
  return handle_of(std::move(dataset), std::string(name_of(Scaling::kNone)));
}

py::array features_array(const FeatureView& rows, py::handle owner) {
  constexpr auto kBytes = static_cast<py::ssize_t>(sizeof(float));
  return read_only(
      {static_cast<py::ssize_t>(rows.doc_count()), static_cast<py::ssize_t>(rows.feature_count())},
      {static_cast<py::ssize_t>(rows.stride()) * kBytes, kBytes}, rows.data(), owner);
}

py::array split_features(const py::object& self) {
  const auto& split = py::cast<const SplitHandle&>(self).split;
  constexpr auto kBytes = static_cast<py::ssize_t>(sizeof(float));
  return read_only({static_cast<py::ssize_t>(split.doc_count()),
                    static_cast<py::ssize_t>(split.feature_count())},
                   {static_cast<py::ssize_t>(split.row_stride()) * kBytes, kBytes},
                   split.storage().rows, self);
}

py::array labels_array(std::span<const std::uint8_t> labels, py::handle owner) {
  return read_only({static_cast<py::ssize_t>(labels.size())}, {1}, labels.data(), owner);
}

py::array split_labels(const py::object& self) {
  const auto& split = py::cast<const SplitHandle&>(self).split;
  return labels_array({split.storage().labels, split.doc_count()}, self);
}

py::array split_query_begin(const py::object& self) {
  const auto& split = py::cast<const SplitHandle&>(self).split;
  return read_only({static_cast<py::ssize_t>(split.query_count()) + 1},
                   {static_cast<py::ssize_t>(sizeof(std::uint64_t))}, split.storage().query_begin,
                   self);
}

QueryHandle query_at(const std::shared_ptr<SplitHandle>& split, py::ssize_t number) {
  const auto count = static_cast<py::ssize_t>(split->split.query_count());
  const py::ssize_t at = number < 0 ? number + count : number;
  if (at < 0 || at >= count) {
    throw py::index_error(fmt::format("query {}; there are {}", number, count));
  }
  return {split, Query{static_cast<std::uint32_t>(at)}};
}

py::object queries(const std::shared_ptr<SplitHandle>& split, const py::object& which) {
  if (PyIndex_Check(which.ptr()) != 0) {
    const py::ssize_t number = PyNumber_AsSsize_t(which.ptr(), PyExc_IndexError);
    if (number == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
    return py::cast(query_at(split, number));
  }
  if (!py::isinstance<py::slice>(which)) {
    bad_type("queries: {}; they are numbered 0 to {}", shown_value(which),
             split->split.query_count() - 1);
  }
  py::ssize_t start = 0;
  py::ssize_t stop = 0;
  py::ssize_t step = 0;
  py::ssize_t length = 0;
  const auto slice = py::reinterpret_borrow<py::slice>(which);
  if (!slice.compute(static_cast<py::ssize_t>(split->split.query_count()), &start, &stop, &step,
                     &length)) {
    throw py::error_already_set();
  }
  py::list found;
  for (py::ssize_t at = 0; at < length; ++at) found.append(query_at(split, start + at * step));
  return found;
}

void bind_split(py::module_& module) {
  py::class_<QueryHandle> query_type(module, "Query", R"(One query's candidate documents.

Learners and rankers take it in place of its features.

>>> import plackett
>>> query = plackett.load("synthetic").folds[0].train[0]
>>> query.features.shape == (len(query), 42)
True)");
  query_type
      .def_property_readonly(
          "features",
          [](const QueryHandle& query) {
            return features_array(query.features(), py::cast(query.of));
          },
          "Documents x features, float32; the engine's own memory, read-only.")
      .def_property_readonly(
          "labels",
          [](const QueryHandle& query) {
            return labels_array(query.judgments().labels(), py::cast(query.of));
          },
          "A label a document, uint8; the engine's own memory, read-only.")
      .def_property_readonly(
          "number", [](const QueryHandle& query) { return index(query.number); },
          "Its number within its split.")
      .def("__len__", [](const QueryHandle& query) { return query.features().doc_count(); })
      .def("__repr__", [](const QueryHandle& query) {
        return fmt::format("<plackett.Query {}: {} documents, {} features>", index(query.number),
                           query.features().doc_count(), query.features().feature_count());
      });

  from_the_engine_alone(query_type);
  never_pickled(query_type, "pickle its features and labels");

  py::class_<SplitHandle, std::shared_ptr<SplitHandle>> split_type(
      module, "Split",
      R"(A sequence of queries: one file's.

>>> import plackett
>>> train = plackett.load("synthetic").folds[0].train
>>> len(train), train[-1]
(480, <plackett.Query 479: 14 documents, 42 features>)
>>> train.features[0, 0] = 1
Traceback (most recent call last):
    ...
ValueError: assignment destination is read-only)");
  split_type.def("__len__", [](const SplitHandle& split) { return split.split.query_count(); })
      .def("__getitem__", queries, py::arg("number"))
      .def("__iter__",
           [](const py::object& self) {
             return py::reinterpret_steal<py::object>(PySeqIter_New(self.ptr()));
           })
      .def_property_readonly("features", split_features,
                             "All documents x features, float32; the engine's own memory, "
                             "read-only.")
      .def_property_readonly("labels", split_labels,
                             "All documents' labels, uint8; the engine's own memory, read-only.")
      .def_property_readonly("query_begin", split_query_begin,
                             "Query q's documents are query_begin[q] to query_begin[q + 1]; "
                             "uint64, the engine's own memory, read-only.")
      .def_property_readonly(
          "feature_count", [](const SplitHandle& split) { return split.split.feature_count(); },
          "Features a document has.")
      .def_property_readonly(
          "max_label", [](const SplitHandle& split) { return split.max_label; },
          "The highest label in the whole dataset.")
      .def("__repr__", [](const SplitHandle& split) {
        return fmt::format("<plackett.Split: {} queries, {} documents, {} features>",
                           split.split.query_count(), split.split.doc_count(),
                           split.split.feature_count());
      });
  from_the_engine_alone(split_type);
  never_pickled(split_type, "pickle its features, labels and query_begin, or what load read");
}

void bind_fold(py::module_& module) {
  py::class_<FoldHandle, std::shared_ptr<FoldHandle>> fold_type(
      module, "Fold", R"(Training, validation and test queries.

>>> import plackett
>>> plackett.load("synthetic").folds[0]
<plackett.Fold Fold1: 480 training and 160 test queries, 42 features>)");
  fold_type.def_readonly("name", &FoldHandle::name, "\"Fold1\".")
      .def_readonly("train", &FoldHandle::train, "The training queries.")
      .def_readonly("validation", &FoldHandle::validation,
                    "The validation queries; None where there are none.")
      .def_readonly("test", &FoldHandle::test, "The test queries.")
      .def_property_readonly(
          "feature_ids",
          [](const FoldHandle& fold) {
            return array_of(std::span<const std::uint32_t>(fold.feature_ids));
          },
          "For each column, its id in the source file, from 1.")
      .def_property_readonly(
          "constant_feature_ids",
          [](const FoldHandle& fold) {
            return array_of(std::span<const std::uint32_t>(fold.constant_feature_ids));
          },
          "Ids that are constant over the raw training file, kept or not.")
      .def_readonly("scaling", &FoldHandle::scaling, "How its features were scaled.")
      .def("__repr__", [](const FoldHandle& fold) {
        return fmt::format("<plackett.Fold {}: {} training and {} test queries, {} features>",
                           fold.name, fold.train->split.query_count(),
                           fold.test->split.query_count(), fold.train->split.feature_count());
      });
  from_the_engine_alone(fold_type);
  never_pickled(fold_type, "pickle what load read, or the arrays of its splits");
}

}  // namespace

void bind_dataset(py::module_& module) {
  bind_split(module);
  bind_fold(module);
  py::class_<DatasetHandle, std::shared_ptr<DatasetHandle>> dataset_type(
      module, "Dataset", R"(Folds of queries with features and labels, in memory.

plackett.load reads one; from_arrays makes one of arrays.

>>> import plackett
>>> data = plackett.load("synthetic")
>>> len(data.folds), data.max_label, data.grade_count
(5, 4, 5))");
  dataset_type
      .def_static(
          "from_arrays", from_arrays, py::kw_only(), py::arg("train") = py::none(),
          py::arg("test") = py::none(), py::arg("validation") = py::none(),
          py::arg("folds") = py::none(), py::arg("name") = "arrays",
          R"(from_arrays(*, train=None, test=None, validation=None, folds=None, name="arrays")
--

A dataset over arrays: of one fold, its train, test and validation, or of several `folds`, each a
dict of such. A split is (features, labels, query_begin), or (features,
labels, qid), or a dict of such. float32 features whose rows lie apart by at least their length
are used where they are and kept alive; others are converted once. Labels and query_begin are
copied. Nothing is scaled or dropped. Don't change the features while a run uses them.

>>> import numpy as np, plackett
>>> features = np.eye(4, dtype=np.float32)
>>> part = (features, [1, 0, 0, 2], [7, 7, 8, 8])
>>> data = plackett.Dataset.from_arrays(train=part, test=part)
>>> np.shares_memory(data.folds[0].train.features, features)
True
>>> data.folds[0].train[1].labels
array([0, 2], dtype=uint8))")
      .def_property_readonly(
          "name", [](const DatasetHandle& data) { return data.dataset.name; }, "Of the dataset.")
      .def_property_readonly(
          "origin", [](const DatasetHandle& data) { return data.dataset.origin; },
          "What it was made from, for a person.")
      .def_property_readonly(
          "folds",
          [](const DatasetHandle& data) {
            py::tuple folds(data.folds.size());
            for (std::size_t at = 0; at < data.folds.size(); ++at) folds[at] = data.folds[at];
            return folds;
          },
          "Its folds, at least one.")
      .def_property_readonly(
          "max_label", [](const DatasetHandle& data) { return data.dataset.max_label; },
          "The highest label in it.")
      .def_property_readonly(
          "grade_count", [](const DatasetHandle& data) { return data.dataset.grade_count(); },
          "How many grades its labels have: 2, 3 or 5 where they fit a usual scale.")
      .def_readonly("scaling", &DatasetHandle::scaling, "How its features were scaled.")
      .def("__repr__", [](const DatasetHandle& data) {
        return fmt::format("<plackett.Dataset {}: {} folds, labels 0 to {}>", data.dataset.name,
                           data.dataset.folds.size(), data.dataset.max_label);
      });
  from_the_engine_alone(dataset_type);
  never_pickled(dataset_type, "pickle what load read, or the arrays that it was made of");

  module.def("load", load, py::arg("where"), py::arg("scaling"), py::arg("keep_constant_features"),
             py::arg("keep_feature_ids"), py::arg("max_feature_id"), py::arg("verify_cache"),
             py::arg("threads"), py::arg("name"));
  const LoadOptions defaults;
  py::dict load_defaults;
  load_defaults["scaling"] = name_of(defaults.scaling);
  load_defaults["keep_constant_features"] = !defaults.drop_constant_features;
  load_defaults["max_feature_id"] = defaults.max_feature_id;
  load_defaults["verify_cache"] = defaults.verify_cache;
  load_defaults["threads"] = defaults.threads;
  module.attr("load_defaults") = load_defaults;
}

}  // namespace plackett::python
