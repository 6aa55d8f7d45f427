// Logistic regression over pairs of documents, of which one is preferred: theta is where
//   loss = mean over pairs of log(1 + exp(-theta . d)) + ridge |theta|^2,   d = winner - loser
// has its minimum. It keeps every pair.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/aligned.h"

namespace plackett {

// A count as two floats, exact below 2^48; nothing if they are none.
std::array<float, 2> halves_of(std::size_t count);
std::optional<std::size_t> count_of(float high, float low);

class PairRegression {
 public:
  // Requires: ridge > 0.
  PairRegression(std::uint32_t features, double ridge);

  // Adds a pair by the features of its documents. Amortised O(features).
  void add(const float* winner, const float* loser);
  [[nodiscard]] std::size_t pair_count() const { return pair_count_; }
  [[nodiscard]] std::span<const float> pair(std::size_t at) const {
    return {&rows_[at * width_], features_};
  }
  // Pairs since the last fit.
  [[nodiscard]] std::size_t unfitted() const { return pair_count_ - fitted_; }

  // Moves theta to the minimum, as near as float margins tell it, and never to a higher loss.
  // Allocates nothing. A step takes O(pairs x features); as long as pairs are few more than when
  // the curvature was computed, in O(pairs x features^2), one or two steps do.
  // Requires: theta.size() == features.
  void fit(std::span<float> theta);

  // All that it needs to continue bit by bit: how many pairs were fitted and are in the curvature,
  // where the curvature was computed, the pairs.
  [[nodiscard]] std::vector<float> memory() const;
  // Memory that memory() did not write leaves it empty.
  void restore(std::span<const float> memory);

 private:
  enum class Curvature : std::uint8_t { kOld, kNew, kBound };
  static constexpr std::size_t kBlock = 64;  // pairs that are processed together, in the cache

  // margins_[at] = theta . d of pair `begin + at`, and odds_[at] = exp(-|margin|); returns how
  // many, up to kBlock, `end` leaves.
  std::size_t compute_margins(std::size_t begin, std::size_t end,
                              const AlignedVector<float>& theta);
  // Returns the loss.
  double evaluate(const AlignedVector<float>& theta, std::vector<double>& gradient);
  // kBound: that of the quadratic through the loss at theta which is nowhere below it (Jaakkola &
  // Jordan, 2000). Requires: not kOld.
  void compute_curvature(Curvature kind, std::size_t pairs, const AlignedVector<float>& theta);
  // Tries theta_ - length * direction_: replaces theta_, gradient_ and loss_ if its loss is lower.
  bool move(double length);

  std::uint32_t features_;
  std::size_t width_;  // of a row, padded
  double ridge_;
  AlignedVector<float> rows_;  // [pair][width]: winner - loser
  std::size_t pair_count_ = 0;
  std::size_t fitted_ = 0;
  std::size_t curvature_pairs_ = 0;  // 0: none that can be used again
  AlignedVector<float> curvature_theta_;
  std::vector<double> curvature_;  // the Cholesky factor of the loss's second derivative

  AlignedVector<float> theta_;
  std::vector<double> gradient_;  // at theta_
  double loss_ = 0;               // likewise
  std::vector<double> direction_;

  // Scratch.
  AlignedVector<float> tried_;
  std::vector<double> tried_gradient_;
  AlignedVector<float> margins_;  // this and those below: of a block
  std::vector<float> negated_;
  std::vector<double> odds_;
  AlignedVector<float> scales_;
  std::vector<const float*> pointers_;
  AlignedVector<float> sums_;
};

}  // namespace plackett
