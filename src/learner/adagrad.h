// Step sizes of their own for a network's parameters (AdaGrad: Duchi, Hazan & Singer, JMLR 2011):
// each steps by rate * gradient / sqrt(the sum of its squared gradients so far). Parameters that
// enter the score linearly keep the plain step, rate * gradient. Why:
// docs/decisions/0004-cascade.md.
#pragma once

#include <span>
#include <vector>

#include "plackett/ranker.h"

namespace plackett {

// Reuses its memory: no allocation after construction.
class AdaGrad {
 public:
  explicit AdaGrad(const Ranker& ranker);

  // The sums of squared gradients that step() takes: one for each parameter behind the linear
  // ones, in their order; 0 at first.
  [[nodiscard]] std::size_t sum_count() const { return before_.size() - linear_count_; }

  // As Ranker::step(), with the steps above. Requires: the ranker it was made for, or one of its
  // shape; rate > 0; sums.size() == sum_count().
  // Cost: the ranker's step and four passes over its parameters.
  void step(Ranker& ranker, const FeatureView& docs, std::span<const DocWeight> weights, float rate,
            std::span<float> sums);

 private:
  std::size_t linear_count_;
  std::vector<float> before_;
  std::vector<float> after_;
};

}  // namespace plackett
