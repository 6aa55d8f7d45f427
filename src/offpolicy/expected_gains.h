// What the doubly robust estimate expects of a list, from other lists of the log.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "offpolicy/gain_regression.h"
#include "offpolicy/list_value.h"
#include "plackett/logged_list.h"

namespace plackett {

// A regression on features, and the mean gain of each rank for what lower ranks are worth; both
// cross-fitted by folds of units.
class ExpectedGains {
 public:
  // What a model refers to. Reuses its memory.
  struct Scratch {
    std::vector<double> base = {};
    std::vector<double> factor = {};
    std::vector<double> values = {};
    std::vector<double> later = {};
  };

  explicit ExpectedGains(std::uint32_t feature_count) : regression_(feature_count) {}

  void add(const LoggedList& list, std::span<const double> gains);
  void merge(const ExpectedGains& other);
  // Fits all folds, each to the others' lists; after that, of().
  void solve();

  // Of a list with so many ranks. Valid as long as `scratch` stays as it is.
  GainModel of(const LoggedList& list, std::size_t ranks, Scratch& scratch) const;

 private:
  RankMeans means_;
  GainRegression regression_;
  std::array<std::vector<double>, RankMeans::kFolds> rank_means_;
};

}  // namespace plackett
