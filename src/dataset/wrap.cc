#include "plackett/wrap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "dataset/build_fold.h"

namespace plackett {
namespace {

Result<void> check_queries(const SplitArrays& arrays) {
  const auto begins = arrays.query_begin;
  if (begins.size() < 2) {
    return Error{"query_begin: no query; it holds the start of each query and the end of the last"};
  }
  if (begins.size() - 1 > std::numeric_limits<std::uint32_t>::max()) {
    return Error{fmt::format("query_begin: {} queries; fewer than 2^32", begins.size() - 1)};
  }
  if (begins.front() != 0) {
    return Error{fmt::format("query_begin: starts at {}; the first document is 0", begins.front())};
  }
  for (std::size_t query = 0; query + 1 < begins.size(); ++query) {
    if (begins[query + 1] <= begins[query]) {
      return Error{
          fmt::format("query_begin: query {} goes from document {} to {}; a query has at "
                      "least 1 document",
                      query, begins[query], begins[query + 1])};
    }
    if (begins[query + 1] - begins[query] > std::numeric_limits<std::uint32_t>::max()) {
      return Error{fmt::format("query_begin: query {} has {} documents; fewer than 2^32", query,
                               begins[query + 1] - begins[query])};
    }
  }
  if (begins.back() != arrays.labels.size()) {
    return Error{fmt::format("query_begin: ends at {}; there are {} labels", begins.back(),
                             arrays.labels.size())};
  }
  return {};
}

}  // namespace

Result<Split> wrap_split(SplitArrays arrays) {
  if (arrays.feature_count == 0 || arrays.feature_count > kLargestFeatureId) {
    return Error{fmt::format("features: {} columns; there can be 1 to {}", arrays.feature_count,
                             kLargestFeatureId)};
  }
  if (arrays.stride < arrays.feature_count) {
    return Error{fmt::format("stride: {} floats per row; there are {} features", arrays.stride,
                             arrays.feature_count)};
  }
  if (auto queries = check_queries(arrays); !queries) return queries.error();
  if (arrays.rows == nullptr) return Error{"rows: none; expected one per document"};
  for (std::size_t doc = 0; doc < arrays.labels.size(); ++doc) {
    if (arrays.labels[doc] > kMaxLabel) {
      return Error{fmt::format("labels: {} for document {}; labels are 0 to {}", arrays.labels[doc],
                               doc, kMaxLabel)};
    }
    const float* row = arrays.rows + doc * arrays.stride;
    for (std::uint32_t feature = 0; feature < arrays.feature_count; ++feature) {
      if (!std::isfinite(row[feature])) {
        return Error{fmt::format("features: {} for document {}, column {}; values are finite",
                                 row[feature], doc, feature)};
      }
    }
  }
  Split::Storage storage;
  storage.feature_count = arrays.feature_count;
  storage.query_count = static_cast<std::uint32_t>(arrays.query_begin.size() - 1);
  storage.rows = arrays.rows;
  storage.labels = arrays.labels.data();
  storage.query_begin = arrays.query_begin.data();
  storage.owner = std::move(arrays.owner);
  storage.foreign_stride = arrays.stride;
  return Split(std::move(storage));
}

Result<Dataset> wrap_dataset(DatasetParts parts) {
  const std::uint32_t features = parts.train.feature_count();
  Dataset dataset;
  dataset.name = std::move(parts.name);
  dataset.origin = "arrays in memory";
  dataset.source_feature_count = features;
  const auto add = [&](const Split& split, std::string_view name) -> Result<void> {
    if (split.query_count() == 0) {
      return Error{fmt::format("{}: no queries; expected at least 1", name)};
    }
    if (split.feature_count() != features) {
      return Error{fmt::format("{}: {} features; the training data has {}", name,
                               split.feature_count(), features)};
    }
    dataset.max_label = std::max(dataset.max_label, largest_label(split));
    return {};
  };
  auto added = add(parts.train, "train");
  if (added) added = add(parts.test, "test");
  if (added && parts.validation) added = add(*parts.validation, "validation");
  if (!added) return added.error();
  Fold fold;
  fold.name = dataset.name;
  fold.train = std::move(parts.train);
  fold.test = std::move(parts.test);
  fold.validation = std::move(parts.validation);
  fold.feature_ids.resize(features);
  std::iota(fold.feature_ids.begin(), fold.feature_ids.end(), 1U);
  dataset.folds.push_back(std::move(fold));
  return dataset;
}

}  // namespace plackett
