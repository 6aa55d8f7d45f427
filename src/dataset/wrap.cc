#include "plackett/wrap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "dataset/build_fold.h"

namespace plackett {
namespace {

Result<void> check_ids(const SplitArrays& arrays) {
  const std::size_t queries = arrays.query_begin.size() - 1;
  if (!arrays.query_ids.empty() && arrays.query_ids.size() != queries) {
    return Error{fmt::format("query_ids: {} for {} queries", arrays.query_ids.size(), queries)};
  }
  if (arrays.doc_id_begin.empty()) return {};
  if (arrays.doc_id_begin.size() != arrays.labels.size() + 1) {
    return Error{fmt::format("doc_id_begin: {} for {} documents; expected one more",
                             arrays.doc_id_begin.size(), arrays.labels.size())};
  }
  const auto reason = doc_ids_complaint(arrays.doc_id_begin, arrays.doc_ids);
  if (!reason.empty()) return Error{"doc_ids: " + reason};
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
  if (const auto reason = queries_complaint(arrays.query_begin); !reason.empty()) {
    return Error{"query_begin: " + reason};
  }
  if (arrays.query_begin.back() != arrays.labels.size()) {
    return Error{fmt::format("query_begin: ends at {}; there are {} labels",
                             arrays.query_begin.back(), arrays.labels.size())};
  }
  if (auto ids = check_ids(arrays); !ids) return ids.error();
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
  return Split({.feature_count = arrays.feature_count,
                .query_count = static_cast<std::uint32_t>(arrays.query_begin.size() - 1),
                .rows = arrays.rows,
                .labels = arrays.labels.data(),
                .query_begin = arrays.query_begin.data(),
                .owner = std::move(arrays.owner),
                .foreign_stride = arrays.stride,
                .query_ids = arrays.query_ids.empty() ? nullptr : arrays.query_ids.data(),
                .doc_id_begin = arrays.doc_id_begin.empty() ? nullptr : arrays.doc_id_begin.data(),
                .doc_ids = arrays.doc_ids.data()});
}

Result<Dataset> wrap_dataset(DatasetParts parts) {
  const std::uint32_t features = parts.train.feature_count();
  Fold fold{.name = parts.name,
            .train = std::move(parts.train),
            .validation = std::move(parts.validation),
            .test = std::move(parts.test)};
  fold.feature_ids.resize(features);
  std::iota(fold.feature_ids.begin(), fold.feature_ids.end(), 1U);
  Dataset dataset;
  dataset.name = std::move(parts.name);
  dataset.origin = "arrays in memory";
  dataset.source_feature_count = features;
  for (const auto& [name, split] : splits_of(fold)) {
    if (split->query_count() == 0) {
      return Error{fmt::format("{}: no queries; expected at least 1", name)};
    }
    if (split->feature_count() != features) {
      return Error{fmt::format("{}: {} features; the training data has {}", name,
                               split->feature_count(), features)};
    }
    dataset.max_label = std::max(dataset.max_label, largest_label(*split));
  }
  dataset.folds.push_back(std::move(fold));
  return dataset;
}

}  // namespace plackett
