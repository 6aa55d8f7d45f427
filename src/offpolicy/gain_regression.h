// A regression of what a rank is worth on the features of its item, for the doubly robust estimate.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "plackett/logged_list.h"

namespace plackett {

// The mean gain of each rank, by folds of units, so that a list is never predicted from itself.
class RankMeans {
 public:
  static constexpr std::size_t kFolds = 5;
  static std::size_t fold_of(const LoggedList& list) { return list.unit % kFolds; }

  void add(const LoggedList& list, std::span<const double> gains);
  void merge(const RankMeans& other);
  // Of the lists outside of a fold, by rank.
  [[nodiscard]] std::vector<double> outside(std::size_t fold) const;

 private:
  struct Sum {
    double gains = 0;
    double lists = 0;
  };
  std::array<std::vector<Sum>, kFolds> sums_;
};

// gain at rank k = base_k + d_k * (weights . features), where d_k = 1 / log2(k + 1) and base_k is a
// quadratic in d_k: least squares with a small ridge, from the sums of the lists' normal equations,
// by fold.
class GainRegression {
 public:
  explicit GainRegression(std::uint32_t feature_count);

  void add(const LoggedList& list, std::span<const double> gains);
  void merge(const GainRegression& other);
  // Fits all folds, each to the others' lists; after that, base(), factor() and predict().
  void solve();

  // What document a of a list is worth at rank k, from 0: base(list, k) + factor(k) * values[a].
  [[nodiscard]] double base(const LoggedList& list, std::size_t rank) const;
  [[nodiscard]] static double factor(std::size_t rank);
  void predict(const LoggedList& list, std::vector<double>& values) const;

 private:
  struct Sums {
    std::vector<double> matrix;  // lower triangle, by rows
    std::vector<double> vector;
  };
  std::size_t size_;  // features, and what base_k has
  std::array<Sums, RankMeans::kFolds> sums_;
  std::array<std::vector<double>, RankMeans::kFolds> weights_;
  std::vector<double> row_;
};

}  // namespace plackett
