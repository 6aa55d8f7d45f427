// From a gradient to a step. Optimisers keep their memory in the learner's state, so that a saved
// model goes on where it stopped.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "plackett/pdgd.h"
#include "plackett/ranker.h"

namespace plackett {

class Optimiser {
 public:
  virtual ~Optimiser() = default;
  Optimiser(const Optimiser&) = delete;
  Optimiser& operator=(const Optimiser&) = delete;

  // How many numbers it keeps from step to step; all start at 0.
  [[nodiscard]] virtual std::size_t memory_size() const = 0;

  // Steps the ranker uphill on the weighted sum of scores. No allocation after the first call.
  // Requires: the ranker that it was made for, or one of the same shape; rate > 0;
  // memory.size() == memory_size().
  virtual void step(Ranker& ranker, const FeatureView& docs, std::span<const DocWeight> weights,
                    float rate, std::span<float> memory) = 0;

 protected:
  Optimiser() = default;
};

// kConstant: parameters += rate * gradient.
// kAdaGrad (Duchi, Hazan & Singer, JMLR 2011): each parameter steps by rate * gradient /
// sqrt(the sum of its squared gradients so far), which is its memory. Parameters that enter the
// score linearly (Ranker::linear_count) take constant steps and have no memory. Why:
// docs/decisions/0004-cascade.md.
// kForgetting: as kAdaGrad, but the sums are multiplied by 1 - 1 / step_memory before a gradient is
// added, so that they are of about the last step_memory gradients.
std::unique_ptr<Optimiser> make_optimiser(Steps steps, const Ranker& ranker,
                                          double step_memory = PdgdOptions{}.step_memory);

struct AdaGradRates {
  float constant = 0;  // of parameters without a memory
  float rate = 0;      // of the others
  float kept = 1;      // the part of a sum that is left when a gradient is added
};

// AdaGrad's step of `parameters`; the first ones, as many as have no memory in `squares`, take
// constant steps. Requires: gradient.size() == parameters.size() >= squares.size().
void adagrad_step(std::span<const float> gradient, const AdaGradRates& rates,
                  std::span<float> squares, std::span<float> parameters);

// What `squares` holds after `updates` updates with gradients of these mean squares. Requires:
// mean_squares.size() >= squares.size().
void fill_squares(std::span<const float> mean_squares, double updates, std::span<float> squares);

}  // namespace plackett
