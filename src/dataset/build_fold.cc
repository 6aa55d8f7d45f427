#include "dataset/build_fold.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <limits>

#include "base/parallel.h"
#include "plackett/scaling.h"

namespace plackett {
namespace {

// What a Split on the heap points into.
struct HeapSplit {
  std::shared_ptr<float> rows;
  std::vector<std::uint8_t> labels;
  std::vector<std::uint64_t> query_begin;
  std::vector<std::uint64_t> query_ids;
  std::vector<std::uint64_t> doc_id_begin;
  std::string doc_ids;
};

void copy_ids(const RawSplit& raw, HeapSplit& heap) {
  heap.query_ids.assign(raw.query_ids().begin(), raw.query_ids().end());
  if (!raw.has_doc_ids()) return;
  const std::uint64_t docs = raw.query_begin().back();
  heap.doc_id_begin.reserve(docs + 1);
  for (std::uint64_t doc = 0; doc < docs; ++doc) {
    heap.doc_id_begin.push_back(heap.doc_ids.size());
    heap.doc_ids += raw.doc_id(doc);
  }
  heap.doc_id_begin.push_back(heap.doc_ids.size());
  heap.doc_ids.shrink_to_fit();
}

// Threads take blocks of this many queries.
constexpr std::size_t kQueriesAtOnce = 16;

Result<Split> build_split(const RawSplit& raw, const ColumnMap& columns,
                          std::uint32_t feature_count, const LoadOptions& options) {
  auto heap = std::make_shared<HeapSplit>();
  const auto begin = raw.query_begin();
  heap->query_begin.assign(begin.begin(), begin.end());
  const std::uint32_t stride = padded_width(feature_count);
  auto rows = zeroed_rows(begin.back() * stride);
  if (!rows) return rows.error();
  heap->rows = std::move(*rows);
  heap->labels.resize(begin.back());
  copy_ids(raw, *heap);

  const std::size_t query_count = begin.size() - 1;
  const std::size_t blocks = (query_count + kQueriesAtOnce - 1) / kQueriesAtOnce;
  parallel_for(options.threads, blocks, [&](std::size_t block) {
    const std::size_t last = std::min(query_count, (block + 1) * kQueriesAtOnce);
    for (std::size_t query = block * kQueriesAtOnce; query < last; ++query) {
      float* out = heap->rows.get() + begin[query] * stride;
      raw.fill(Query{static_cast<std::uint32_t>(query)}, columns,
               {out, stride, heap->labels.data() + begin[query]});
      if (options.scaling == Scaling::kQueryMinMax) {
        const auto docs = static_cast<std::uint32_t>(begin[query + 1] - begin[query]);
        scale_query_minmax(out, docs, feature_count, stride);
      }
    }
  });
  return Split({.feature_count = feature_count,
                .query_count = static_cast<std::uint32_t>(query_count),
                .rows = heap->rows.get(),
                .labels = heap->labels.data(),
                .query_begin = heap->query_begin.data(),
                .owner = heap,
                .query_ids = heap->query_ids.empty() ? nullptr : heap->query_ids.data(),
                .doc_id_begin = heap->doc_id_begin.empty() ? nullptr : heap->doc_id_begin.data(),
                .doc_ids = heap->doc_ids.data()});
}

}  // namespace

std::uint32_t RawFold::max_id() const {
  return std::max({train->max_id(), test->max_id(), validation ? validation->max_id() : 0});
}

Result<std::shared_ptr<float>> zeroed_rows(std::size_t size) {
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  const Error no_memory(ErrorCode::kUnavailable,
                        fmt::format("out of memory for {} feature values of 4 bytes", size));
  if (size > std::numeric_limits<std::ptrdiff_t>::max() / sizeof(float) - kHugePage) {
    return no_memory;
  }
  if (size == 0) return std::shared_ptr<float>();
  const bool huge = size * sizeof(float) >= 2 * kHugePage;
  const std::size_t bytes = size * sizeof(float) + (huge ? kHugePage : 0);
  void* rows = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (rows == MAP_FAILED) return no_memory;  // NOLINT(performance-no-int-to-ptr)
  const std::shared_ptr<void> memory(rows, [bytes](void* mapped) { ::munmap(mapped, bytes); });
  if (huge) {
    const auto address = reinterpret_cast<std::uintptr_t>(rows);
    rows = static_cast<std::byte*>(rows) + (kHugePage - address % kHugePage) % kHugePage;
    ::madvise(rows, size * sizeof(float), MADV_HUGEPAGE);  // a refusal only costs speed
  }
  return std::shared_ptr<float>(memory, static_cast<float*>(rows));
}

std::vector<std::pair<std::string_view, const Split*>> splits_of(const Fold& fold) {
  if (!fold.validation) return {{"train", &fold.train}, {"test", &fold.test}};
  return {{"train", &fold.train}, {"validation", &*fold.validation}, {"test", &fold.test}};
}

std::uint32_t largest_label(const Split& split) {
  const std::uint8_t* labels = split.storage().labels;
  return *std::max_element(labels, labels + split.doc_count());
}

std::string ids_complaint(std::vector<std::uint32_t> ids) {
  std::sort(ids.begin(), ids.end());
  if (!ids.empty() && ids.front() == 0) return "feature id 0; ids start at 1";
  const auto twice = std::adjacent_find(ids.begin(), ids.end());
  return twice == ids.end() ? "" : fmt::format("feature id {} twice; ids differ", *twice);
}

std::string queries_complaint(std::span<const std::uint64_t> begin) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (begin.size() < 2) return "no query; it holds the start of each query and the end of the last";
  if (begin.size() - 1 > kMost) return fmt::format("{} queries; fewer than 2^32", begin.size() - 1);
  if (begin[0] != 0) return fmt::format("starts at {}; the first document is 0", begin[0]);
  for (std::size_t query = 0; query + 1 < begin.size(); ++query) {
    if (begin[query + 1] <= begin[query]) {
      return fmt::format("query {} goes from document {} to {}; a query has at least 1 document",
                         query, begin[query], begin[query + 1]);
    }
    if (begin[query + 1] - begin[query] > kMost) {
      return fmt::format("query {} has {} documents; fewer than 2^32", query,
                         begin[query + 1] - begin[query]);
    }
  }
  return {};
}

std::string doc_ids_complaint(std::span<const std::uint64_t> begin, std::string_view ids) {
  if (begin.front() != 0) return fmt::format("ids start at byte {}; expected 0", begin.front());
  for (std::size_t doc = 0; doc + 1 < begin.size(); ++doc) {
    if (begin[doc + 1] < begin[doc] || begin[doc + 1] > ids.size()) {
      return fmt::format("the id of document {} goes from byte {} to {}; there are {}", doc,
                         begin[doc], begin[doc + 1], ids.size());
    }
  }
  const auto wrong = std::find_if_not(ids.begin(), ids.end(), is_doc_id_byte);
  if (wrong == ids.end()) return {};
  return fmt::format("byte {} of the ids is {:#04x}; ids have no blanks and no control characters",
                     wrong - ids.begin(), static_cast<unsigned char>(*wrong));
}

Result<Fold> build_fold(const RawFold& raw, const LoadOptions& options,
                        std::uint32_t source_feature_count) {
  Fold fold;
  fold.name = raw.name;
  fold.scaling = options.scaling;
  fold.changes = raw.changes;
  const std::vector<bool> varies = raw.train->varying(options.threads);
  const std::uint32_t width = std::max(source_feature_count, raw.max_id());
  for (std::uint32_t id = 1; id <= width; ++id) {
    const bool constant = id > varies.size() || !varies[id - 1];
    if (constant) fold.constant_feature_ids.push_back(id);
    if (!options.keep_feature_ids && !(constant && options.drop_constant_features)) {
      fold.feature_ids.push_back(id);
    }
  }
  if (options.keep_feature_ids) fold.feature_ids = *options.keep_feature_ids;
  if (fold.feature_ids.empty()) {
    return Error{fmt::format("{}: {}; at least one feature must be left", raw.place,
                             width == 0 ? "no document has a feature"
                                        : "every feature is constant over the training file")};
  }

  ColumnMap columns(width, kDropped);
  for (std::uint32_t column = 0; column < fold.feature_ids.size(); ++column) {
    const std::uint32_t id = fold.feature_ids[column];
    if (id <= width) columns[id - 1] = column;  // a kept id beyond that stays 0
  }
  if (raw.validation) fold.validation.emplace();
  for (const auto& [from, into] :
       {std::pair{raw.train.get(), &fold.train}, std::pair{raw.test.get(), &fold.test},
        std::pair{raw.validation.get(), fold.validation ? &*fold.validation : nullptr}}) {
    if (from == nullptr) continue;
    auto split =
        build_split(*from, columns, static_cast<std::uint32_t>(fold.feature_ids.size()), options);
    if (!split) return split.error().in(raw.place);
    *into = std::move(*split);
  }
  return fold;
}

}  // namespace plackett
