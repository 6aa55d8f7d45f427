// The probabilities of a list's ranks under a policy.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plackett/index.h"
#include "plackett/off_policy.h"

namespace plackett {

// For the documents of a list, of which the first `shown` have the places in their order. Right for
// any finite scores. Reuses its memory.
class ListChances {
 public:
  // Requires: scores finite, 0 <= shown <= scores.size().
  void set(std::span<const float> scores, std::uint32_t shown);

  // log of the probability of document `place` at its place, given those above it.
  [[nodiscard]] double log_chance(std::uint32_t place) const { return log_chances_[place]; }
  // The expectation of values[doc] over the document at this place, given those above it: writes
  // one per place. Requires: one value per document; set() was called with these scores.
  void expect(std::span<const float> scores, std::span<const double> values,
              std::span<double> means);

 private:
  std::vector<double> masses_;  // of the documents that have no place, relative to the highest
  double highest_ = 0;
  std::vector<double> log_chances_;
};

// W_k of every rank, pinned ones too: the probability of ranks 1 to k under a choice over that
// under the logged scores. Exactly 1 where both have the same scores.
class PrefixWeights {
 public:
  // Requires: list.kept; choice as PolicyChoice says; one weight per rank.
  void compute(const LoggedList& list, const PolicyChoice& choice, std::span<double> weights);

  ListChances& chosen() { return chosen_; }  // of the choice, if it is sampled

 private:
  ListChances logged_;
  ListChances chosen_;
};

}  // namespace plackett
