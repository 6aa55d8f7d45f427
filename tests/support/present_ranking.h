// Rankings to imitate: fixed functions of made-up features.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "plackett/observed_orders.h"
#include "plackett/rng.h"
#include "plackett/scaling.h"

namespace plackett::testing {

enum class Present : std::uint8_t {
  kLinear,     // a weighted sum
  kNonlinear,  // the same, with a bend across all features and a product of two
};

// A present ranking of documents with features uniform on [0, 1).
class PresentRanking {
 public:
  explicit PresentRanking(Present kind, std::uint32_t features = 10) : kind_(kind) {
    Rng rng({.seed = 31});
    for (std::uint32_t at = 0; at < features; ++at) {
      weights_.push_back(rng.normal());
      bends_.push_back(rng.normal());
    }
  }

  [[nodiscard]] std::uint32_t features() const {
    return static_cast<std::uint32_t>(weights_.size());
  }

  [[nodiscard]] double score(std::span<const float> row) const {
    double score = 0;
    double bend = 0;
    for (std::size_t at = 0; at < weights_.size(); ++at) {
      score += weights_[at] * row[at];
      bend += bends_[at] * (row[at] - 0.5);
    }
    if (kind_ == Present::kLinear) return score;
    return score + 0.5 * std::tanh(3 * bend) + row[0] * row[1];
  }

  // Rows of `docs` documents of list `number`, best first, not padded.
  [[nodiscard]] std::vector<float> list(std::uint64_t number, std::uint32_t docs) const {
    Rng rng({.seed = 32, .impression = number});
    std::vector<std::vector<float>> rows(docs, std::vector<float>(features()));
    for (auto& row : rows) {
      for (float& value : row) value = static_cast<float>(rng.uniform());
    }
    std::stable_sort(rows.begin(), rows.end(), [this](const auto& one, const auto& other) {
      return score(one) > score(other);
    });
    std::vector<float> all;
    for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
    return all;
  }

  // Lists of `docs` documents, the first `shown` in order, scaled within each list.
  [[nodiscard]] ObservedOrders orders(std::uint32_t lists, std::uint32_t docs,
                                      std::uint32_t shown) const {
    ObservedOrders orders(features());
    for (std::uint32_t number = 0; number < lists; ++number) {
      std::vector<float> rows = list(number, docs);
      scale_query_minmax(rows.data(), docs, features(), features());
      EXPECT_TRUE(
          orders.add(FeatureView::of(rows.data(), docs, features(), features()), shown).ok());
    }
    return orders;
  }

 private:
  Present kind_;
  std::vector<double> weights_;
  std::vector<double> bends_;
};

}  // namespace plackett::testing
