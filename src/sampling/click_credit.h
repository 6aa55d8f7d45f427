// Clicks credited to rankers at random: click i goes to the candidate with probability
// to_candidate[i], to the current ranker with to_current[i], and otherwise to another. What is
// sign(candidate's clicks - current's clicks)?
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plackett/rng.h"

namespace plackett {

// Two probabilities whose difference is this small relative to their sum are taken as equal.
inline constexpr double kEqualCredit = 1e-6;

class ClickCredit {
 public:
  // The expected sign, exact up to rounding; 0 if the chances to be ahead and behind differ by
  // rounding only. Dynamic programming over the difference: O(clicks^2).
  // Requires: spans of the same length, probabilities, each pair's sum at most 1.
  double expected_sign(std::span<const double> to_candidate, std::span<const double> to_current);

  // Reserves memory, so that up to this many clicks allocate nothing.
  void reserve(std::size_t clicks);

 private:
  std::vector<double> difference_;  // P(difference = at - clicks so far)
  std::vector<double> next_;
};

// The same expectation as a sampler of many assignments would estimate it: with the noise that
// its mean has, which decides if the truth is 0 or nearly 0. One set of samples serves all
// candidates of an impression, so they share the noise of the current ranker's clicks.
class SampledCredit {
 public:
  static constexpr double kSamples = 10'000;

  // Draws a new set of samples. Requires: as above.
  void reset(std::span<const double> to_current, Rng& rng);

  // Whether the samples' mean sign is above 0, given its exact expectation. Draws one normal if
  // that is in doubt, otherwise nothing.
  bool won(double expected, std::span<const double> to_candidate, Rng& rng);

  void reserve(std::size_t clicks);

 private:
  std::vector<double> to_current_;
  std::vector<double> count_chances_;  // P(the current ranker has n of the clicks)
  std::vector<double> count_noise_;    // the samples' share of that, minus the truth
  std::vector<double> joint_;          // [current's][candidate's] counts
};

}  // namespace plackett
