// How a list's estimate of a policy's value changes with the policy's scores.
#pragma once

#include <span>
#include <vector>

#include "offpolicy/list_value.h"
#include "plackett/mass.h"
#include "plackett/ranker.h"

namespace plackett {

// Of the doubly robust estimate, of which prefix IPS is the case without expectations. The policy
// samples from the Plackett-Luce distribution over `scores`, so the gradient is exact: nothing is
// sampled. O(documents + ranks). Reuses its memory.
class ListGradient {
 public:
  // The estimate; `weights` gets its derivative with respect to each score.
  // Requires: list.kept; finite scores; one gain per rank; one weight per candidate.
  double compute(const LoggedList& list, const PolicyChoice& choice, std::span<const double> gains,
                 const GainModel& model, std::span<DocWeight> weights);

  // W_k by rank, of the last list.
  [[nodiscard]] std::span<const double> prefix_weights() const { return value_.weights(); }

 private:
  ListValue value_;
  std::vector<Mass> left_;       // by place: what is left there
  std::vector<double> means_;    // by place: of the model's values
  std::vector<double> credits_;  // by place: the factor of its choice's log probability
  std::vector<double> above_;    // by place: W of the place above
  std::vector<double> factors_;  // by place
};

}  // namespace plackett
