#include "learner/pair_regression.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/cholesky.h"
#include "base/kernels.h"
#include "plackett/feature_view.h"

namespace plackett {
namespace {

constexpr std::size_t kHalf = std::size_t{1} << 24;  // a float holds integers up to here

}  // namespace

std::array<float, 2> halves_of(std::size_t count) {
  return {static_cast<float>(count / kHalf), static_cast<float>(count % kHalf)};
}

std::optional<std::size_t> count_of(float high, float low) {
  const auto is_half = [](float half) {
    return half >= 0 && half < static_cast<float>(kHalf) && half == std::floor(half);
  };
  if (!is_half(high) || !is_half(low)) return {};
  return static_cast<std::size_t>(high) * kHalf + static_cast<std::size_t>(low);
}

PairRegression::PairRegression(std::uint32_t features, double ridge)
    : features_(features),
      width_(padded_width(features)),
      ridge_(ridge),
      curvature_theta_(width_),
      curvature_(std::size_t{features} * features),
      theta_(width_),
      gradient_(features),
      direction_(features),
      tried_(width_),
      tried_gradient_(features),
      margins_(kBlock),
      negated_(kBlock + 1),
      odds_(kBlock + 1),
      scales_(kBlock),
      pointers_(kBlock),
      sums_(width_) {
  assert(ridge > 0);
}

void PairRegression::add(const float* winner, const float* loser) {
  rows_.resize((pair_count_ + 1) * width_);
  float* const row = &rows_[pair_count_ * width_];
  for (std::size_t at = 0; at < features_; ++at) row[at] = winner[at] - loser[at];
  ++pair_count_;
}

std::size_t PairRegression::compute_margins(std::size_t begin, std::size_t end,
                                            const AlignedVector<float>& theta) {
  const std::size_t count = std::min(kBlock, end - begin);
  kernels().dot_rows({&rows_[begin * width_], count, width_, width_}, theta.data(),
                     margins_.data());
  for (std::size_t at = 0; at < count; ++at) negated_[at] = -std::abs(margins_[at]);
  negated_[count] = 0;  // the largest
  kernels().exp_from_max(negated_.data(), count + 1, odds_.data());
  return count;
}

double PairRegression::evaluate(const AlignedVector<float>& theta, std::vector<double>& gradient) {
  double loss = 0;
  for (std::size_t at = 0; at < features_; ++at) {
    loss += ridge_ * double{theta[at]} * double{theta[at]};
    gradient[at] = 2 * ridge_ * double{theta[at]};
  }
  const double share = 1 / static_cast<double>(pair_count_);
  for (std::size_t begin = 0; begin < pair_count_; begin += kBlock) {
    const std::size_t count = compute_margins(begin, pair_count_, theta);
    double wrong_by = 0;
    double product = 1;  // at most 2^kBlock: one logarithm per block
    for (std::size_t at = 0; at < count; ++at) {
      const double margin = double{margins_[at]};
      const double odds = odds_[at];
      wrong_by += std::max(-margin, 0.0);
      product *= 1 + odds;
      scales_[at] = static_cast<float>((margin < 0 ? 1 : odds) / (1 + odds));
      pointers_[at] = &rows_[(begin + at) * width_];
    }
    loss += share * (wrong_by + std::log(product));
    std::fill(sums_.begin(), sums_.end(), 0.0F);
    kernels().add_scaled_rows(pointers_.data(), scales_.data(), count, width_, sums_.data());
    for (std::size_t at = 0; at < features_; ++at) gradient[at] -= share * double{sums_[at]};
  }
  return loss;
}

void PairRegression::compute_curvature(Curvature kind, std::size_t pairs,
                                       const AlignedVector<float>& theta) {
  std::fill(curvature_.begin(), curvature_.end(), 0.0);
  const double share = 1 / static_cast<double>(pairs);
  for (std::size_t begin = 0; begin < pairs; begin += kBlock) {
    const std::size_t count = compute_margins(begin, pairs, theta);
    for (std::size_t at = 0; at < count; ++at) {
      const float* const row = &rows_[(begin + at) * width_];
      const double margin = std::abs(double{margins_[at]});
      const double odds = odds_[at];
      const bool bound = kind == Curvature::kBound && margin > 1e-3;  // below, they are the same
      const double weight = share * (bound ? (1 - odds) / (1 + odds) / (2 * margin)
                                           : odds / ((1 + odds) * (1 + odds)));
      for (std::size_t one = 0; one < features_; ++one) {
        const double scaled = weight * double{row[one]};
        if (scaled == 0) continue;
        for (std::size_t other = 0; other <= one; ++other) {
          curvature_[one * features_ + other] += scaled * double{row[other]};
        }
      }
    }
  }
  for (std::size_t at = 0; at < features_; ++at) curvature_[at * features_ + at] += 2 * ridge_;
  factorise(curvature_, features_);
}

// Where rounding hides the difference of the losses, the slope decides. The loss's second
// derivative is at least 2 ridge, so with s the step and g the gradient after it,
//   loss before >= loss after - g . s + ridge |s|^2.
bool PairRegression::move(double length) {
  for (std::size_t at = 0; at < features_; ++at) {
    tried_[at] = static_cast<float>(double{theta_[at]} - length * direction_[at]);
  }
  if (tried_ == theta_) return false;
  const double loss = evaluate(tried_, tried_gradient_);
  double slope = 0;
  double square = 0;
  for (std::size_t at = 0; at < features_; ++at) {
    const double step = double{tried_[at]} - double{theta_[at]};
    slope += tried_gradient_[at] * step;
    square += step * step;
  }
  if (!std::isfinite(loss) || !(loss < loss_ || slope <= ridge_ * square)) return false;
  std::swap(theta_, tried_);
  std::swap(gradient_, tried_gradient_);
  loss_ = loss;
  return true;
}

// Newton's method with a curvature that may be old, since the mean over pairs changes little with
// one pair more; with a new one where that is slow or leads upward, in shorter steps if need be;
// and where those lead upward too, as they do from large margins, with a bound on the curvature,
// whose steps never do.
void PairRegression::fit(std::span<float> theta) {
  constexpr int kMostSteps = 100;
  constexpr double kEnough = 2e-13;       // twice what the loss is above its minimum, about
  constexpr double kSlow = 0.25;          // what a step may leave of that with an old curvature
  constexpr double kGrowth = 1.1;         // of the pairs, until the curvature is computed again
  constexpr double kShortest = 1.0 / 64;  // of Newton's steps
  fitted_ = pair_count_;
  if (pair_count_ == 0) return;
  std::copy(theta.begin(), theta.end(), theta_.begin());
  loss_ = evaluate(theta_, gradient_);
  Curvature kind = Curvature::kOld;
  const auto use = [&](Curvature wanted) {
    kind = wanted;
    if (kind == Curvature::kOld) return;
    compute_curvature(kind, pair_count_, theta_);
    curvature_theta_ = theta_;
    curvature_pairs_ = kind == Curvature::kBound ? 0 : pair_count_;
  };
  if (static_cast<double>(pair_count_) > kGrowth * static_cast<double>(curvature_pairs_)) {
    use(Curvature::kNew);
  }
  double before = std::numeric_limits<double>::infinity();
  for (int step = 0; step < kMostSteps; ++step) {
    direction_ = gradient_;
    solve_lower(curvature_, direction_);
    solve_upper(curvature_, direction_);
    const double above =
        std::inner_product(direction_.begin(), direction_.end(), gradient_.begin(), 0.0);
    if (!(above > kEnough)) break;
    const double shortest = kind == Curvature::kNew ? kShortest : 1;
    double length = kind == Curvature::kOld && above > kSlow * before ? 0 : 1;
    while (length >= shortest && !move(length)) length /= 2;
    if (length >= shortest) {
      before = above;
      use(kind == Curvature::kBound ? Curvature::kNew : Curvature::kOld);
    } else if (kind == Curvature::kBound) {
      break;  // lower only by less than rounding
    } else {
      use(kind == Curvature::kOld ? Curvature::kNew : Curvature::kBound);
    }
  }
  std::copy_n(theta_.begin(), features_, theta.begin());
}

std::vector<float> PairRegression::memory() const {
  std::vector<float> memory;
  memory.reserve(4 + (1 + pair_count_) * features_);
  for (const std::size_t count : {fitted_, curvature_pairs_}) {
    const auto halves = halves_of(count);
    memory.insert(memory.end(), halves.begin(), halves.end());
  }
  memory.insert(memory.end(), curvature_theta_.begin(), curvature_theta_.begin() + features_);
  for (std::size_t at = 0; at < pair_count_; ++at) {
    const auto row = pair(at);
    memory.insert(memory.end(), row.begin(), row.end());
  }
  return memory;
}

void PairRegression::restore(std::span<const float> memory) {
  rows_.clear();
  pair_count_ = fitted_ = curvature_pairs_ = 0;
  std::fill(curvature_theta_.begin(), curvature_theta_.end(), 0.0F);
  const std::size_t start = 4 + std::size_t{features_};
  if (features_ == 0 || memory.size() < start || (memory.size() - start) % features_ != 0) return;
  const std::size_t pairs = (memory.size() - start) / features_;
  const auto fitted = count_of(memory[0], memory[1]);
  const auto in_curvature = count_of(memory[2], memory[3]);
  if (!fitted || !in_curvature || std::max(*fitted, *in_curvature) > pairs) return;
  std::fill(sums_.begin(), sums_.end(), 0.0F);
  for (std::size_t at = start; at < memory.size(); at += features_) add(&memory[at], sums_.data());
  fitted_ = *fitted;
  curvature_pairs_ = *in_curvature;
  std::copy_n(memory.begin() + 4, features_, curvature_theta_.begin());
  if (curvature_pairs_ > 0) compute_curvature(Curvature::kNew, curvature_pairs_, curvature_theta_);
}

}  // namespace plackett
