// Clicks credited to rankers by chance: click i goes to the candidate with probability
// to_candidate[i], to the current ranker with to_current[i], and else to some other. How does
// sign(candidate's clicks - current's clicks) come out?
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plackett/rng.h"

namespace plackett {

// A difference of probabilities this small beside their sum is rounding: the two are equal.
inline constexpr double kEqualCredit = 1e-6;

class ClickCredit {
 public:
  // The expected sign, exact but for rounding; 0 where the chances to be ahead and behind differ
  // by rounding only. Dynamic programming over the difference: O(clicks^2).
  // Requires: spans of the same length, probabilities, each pair's sum at most 1.
  double expected_sign(std::span<const double> to_candidate, std::span<const double> to_current);

  // Makes room, so that up to so many clicks allocate nothing.
  void reserve(std::size_t clicks);

 private:
  std::vector<double> difference_;  // P(difference = at - clicks so far)
  std::vector<double> next_;
};

// The same expectation as a sampler of many assignments would estimate it: with the noise that
// its mean has, which decides where the truth is 0 or nearly so. One set of samples serves all
// candidates of an impression; what they share through the current ranker's clicks is kept.
class SampledCredit {
 public:
  static constexpr double kSamples = 10'000;

  // A new set of samples. Requires: as above.
  void reset(std::span<const double> to_current, Rng& rng);

  // Whether the samples' mean sign comes out above 0, `expected` being its exact expectation.
  // Draws one normal where that is in doubt, and nothing else.
  bool won(double expected, std::span<const double> to_candidate, Rng& rng);

  void reserve(std::size_t clicks);

 private:
  std::vector<double> to_current_;
  std::vector<double> count_chances_;  // P(the current ranker has n of the clicks)
  std::vector<double> count_noise_;    // the samples' share of that, less the truth
  std::vector<double> joint_;          // [current's][candidate's] counts
};

}  // namespace plackett
