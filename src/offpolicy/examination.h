// How often each rank is examined, estimated from a log that randomised ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "offpolicy/place_chances.h"
#include "plackett/logged_list.h"
#include "plackett/result.h"

namespace plackett {

// For each pair of ranks k and l, the clicks at k of documents that could have been at either, each
// weighted by P(at l) / (P(at k) + P(at l)). If a click depends on document and rank only, with
// probability e_k r(document), the expectation is e_k times a sum that k and l share: the ratio of
// the two sums of a pair is e_k / e_l. All pairs are combined, each by what is known of it.
class ExaminationSums {
 public:
  // `places`: of the list's logged scores. Requires: list.kept.
  void add(const LoggedList& list, const PlaceChances& places);
  void merge(const ExaminationSums& other);
  // Relative to the first rank, for each of the first `ranks`. Fails if the clicks don't connect
  // all of them, or if the logarithm of one has a standard error above 0.2. Requires: ranks > 0.
  [[nodiscard]] Result<std::vector<double>> solve(std::uint32_t ranks) const;

 private:
  struct Pair {
    double clicks = 0;
    double squares = 0;
  };
  void grow(std::size_t ranks);

  std::size_t ranks_ = 0;
  std::vector<Pair> pairs_;  // [rank][other rank]
};

}  // namespace plackett
