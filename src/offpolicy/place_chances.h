// The probability of each document at each place of a ranking sampled from the Plackett-Luce
// distribution, whatever is above it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace plackett {

// A document with mass m comes first if the first of independent exponential times, with rates m,
// is its own, and has place k if k - 1 others are earlier: an integral over its time, of the
// distribution of a number of independent events. The trapezoidal rule converges exponentially
// here; the absolute error is below 1e-13 (tests/offpolicy/place_chances_test.cc). Reuses its
// memory.
class PlaceChances {
 public:
  // For the first `shown` documents and places: at(doc, place). Scores that are more than 600 below
  // the highest count as 600 below. Requires: scores finite; 0 < shown <= scores.size().
  // Cost: O(nodes * shown * (documents + shown^2)), about 50 nodes for scores that are close.
  void set(std::span<const float> scores, std::uint32_t shown);

  [[nodiscard]] double at(std::uint32_t doc, std::uint32_t place) const {
    return chances_[doc * shown_ + place];
  }

 private:
  void add_node(double time, double weight);

  std::uint32_t shown_ = 0;
  std::vector<double> rates_;
  std::vector<double> stays_;  // per shown document: the probability to come after this time
  std::vector<double>
      prefix_;  // [shown + 1][shown]: number of earlier ones among others and docs < i
  std::vector<double> suffix_;  // [shown + 1][shown]: the same among docs >= i
  std::vector<double> chances_;
};

}  // namespace plackett
