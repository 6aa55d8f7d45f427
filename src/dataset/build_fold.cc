#include "dataset/build_fold.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/parallel.h"
#include "dataset/row_buffer.h"
#include "plackett/scaling.h"

namespace plackett {
namespace {

// What a Split on the heap points into.
struct HeapSplit {
  RowBuffer rows;
  std::vector<std::uint8_t> labels;
  std::vector<std::uint64_t> query_begin;
};

// Threads take blocks of this many queries.
constexpr std::size_t kQueriesAtOnce = 16;

Result<Split> build_split(const RawSplit& raw, const ColumnMap& columns,
                          std::uint32_t feature_count, const LoadOptions& options) {
  auto heap = std::make_shared<HeapSplit>();
  const auto begin = raw.query_begin();
  heap->query_begin.assign(begin.begin(), begin.end());
  const std::uint32_t stride = padded_width(feature_count);
  auto rows = RowBuffer::zeroed(begin.back() * stride);
  if (!rows) return rows.error();
  heap->rows = std::move(*rows);
  heap->labels.resize(begin.back());

  const std::size_t query_count = begin.size() - 1;
  const std::size_t blocks = (query_count + kQueriesAtOnce - 1) / kQueriesAtOnce;
  parallel_for(options.threads, blocks, [&](std::size_t block) {
    const std::size_t last = std::min(query_count, (block + 1) * kQueriesAtOnce);
    for (std::size_t query = block * kQueriesAtOnce; query < last; ++query) {
      float* out = heap->rows.data() + begin[query] * stride;
      raw.fill(Query{static_cast<std::uint32_t>(query)}, columns,
               {out, stride, heap->labels.data() + begin[query]});
      if (options.scaling == Scaling::kQueryMinMax) {
        const auto docs = static_cast<std::uint32_t>(begin[query + 1] - begin[query]);
        scale_query_minmax(out, docs, feature_count, stride);
      }
    }
  });

  Split::Storage storage;
  storage.feature_count = feature_count;
  storage.query_count = static_cast<std::uint32_t>(query_count);
  storage.rows = heap->rows.data();
  storage.labels = heap->labels.data();
  storage.query_begin = heap->query_begin.data();
  storage.owner = std::move(heap);
  return Split(std::move(storage));
}

}  // namespace

std::uint32_t largest_label(const Split& split) {
  const std::uint8_t* labels = split.storage().labels;
  return *std::max_element(labels, labels + split.doc_count());
}

Result<Fold> build_fold(const RawFold& raw, const LoadOptions& options,
                        std::uint32_t source_feature_count) {
  Fold fold;
  fold.name = raw.name;
  fold.scaling = options.scaling;
  const std::vector<bool> varies = raw.train->varying(options.threads);
  const std::uint32_t width =
      std::max({source_feature_count, raw.train->max_id(), raw.test->max_id(),
                raw.validation != nullptr ? raw.validation->max_id() : 0});
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
  const auto feature_count = static_cast<std::uint32_t>(fold.feature_ids.size());
  const auto build = [&](const RawSplit& from, Split& into) -> Result<void> {
    auto split = build_split(from, columns, feature_count, options);
    if (!split) return split.error().in(raw.place);
    into = std::move(*split);
    return {};
  };
  if (auto done = build(*raw.train, fold.train); !done) return done.error();
  if (auto done = build(*raw.test, fold.test); !done) return done.error();
  if (raw.validation != nullptr) {
    if (auto done = build(*raw.validation, fold.validation.emplace()); !done) return done.error();
  }
  return fold;
}

}  // namespace plackett
