// A little data in arrays of the caller's own.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "plackett/wrap.h"

namespace plackett::testing {

// Two queries of 2 and 3 documents, 3 features each, rows 4 floats apart.
struct SmallArrays {
  std::vector<float> rows = {0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1, 12, 13, 14, -1};
  std::vector<std::uint8_t> labels = {0, 1, 2, 0, 1};
  std::vector<std::uint64_t> query_begin = {0, 2, 5};

  [[nodiscard]] SplitArrays arrays() const {
    return {.rows = rows.data(),
            .stride = 4,
            .feature_count = 3,
            .labels = labels,
            .query_begin = query_begin,
            .owner = nullptr};
  }
};

// A split's documents again, in rows `gap` floats longer than their features, the gaps filled with
// what is no number.
class OddCopy {
 public:
  OddCopy(const Split& split, std::size_t gap);

  [[nodiscard]] Split split() const {
    return wrap_split({.rows = rows_.data() + 1,
                       .stride = stride_,
                       .feature_count = feature_count_,
                       .labels = labels_,
                       .query_begin = query_begin_,
                       .owner = nullptr})
        .value();
  }

 private:
  std::uint32_t feature_count_;
  std::size_t stride_;
  std::vector<float> rows_;  // from the second float on, so at no boundary
  std::vector<std::uint8_t> labels_;
  std::vector<std::uint64_t> query_begin_{0};
};

inline OddCopy::OddCopy(const Split& split, std::size_t gap)
    : feature_count_(split.feature_count()), stride_(split.feature_count() + gap) {
  rows_.assign(1, 0.0F);
  for (std::uint32_t at = 0; at < split.query_count(); ++at) {
    const FeatureView docs = split.features(Query{at});
    for (std::uint32_t doc = 0; doc < docs.doc_count(); ++doc) {
      const auto row = docs.row(Doc{doc});
      rows_.insert(rows_.end(), row.begin(), row.end());
      rows_.insert(rows_.end(), gap, std::numeric_limits<float>::quiet_NaN());
      labels_.push_back(split.judgments(Query{at}).label(Doc{doc}));
    }
    query_begin_.push_back(labels_.size());
  }
}

}  // namespace plackett::testing
