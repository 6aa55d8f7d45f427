#include "offpolicy/list_gradient.h"

#include <cassert>
#include <cmath>

namespace plackett {

// With c_j the sum of all parts of the estimate that contain W_j, the derivative with respect to
// the score of document a is
//   sum_j c_j (1[a at j] - p_j(a)) + sum_j W_(j-1) factor_j p_j(a) (value_a - mean_j),
// over the places j at which a was still free, where p_j(a) is its mass over what is left at j.
double ListGradient::compute(const LoggedList& list, const PolicyChoice& choice,
                             std::span<const double> gains, const GainModel& model,
                             std::span<DocWeight> weights) {
  const std::span<const float> scores = choice.scores;
  assert(choice.sampled && weights.size() == scores.size());
  value_.set(list, choice, gains);
  const double estimate = value_.doubly_robust(model);
  const std::span<const double> prefix = value_.weights();
  const std::uint32_t shown = list.sampled();
  const auto docs = static_cast<std::uint32_t>(scores.size());

  left_.resize(shown);
  means_.resize(shown);
  Mass left;
  double sum = 0;  // of mass times value, on the scale of `left`
  const auto add = [&](std::uint32_t doc) {
    const double shift = left.shift;
    const bool was_empty = left.empty();
    left.add(scores[doc]);
    if (!was_empty && left.shift != shift) sum *= std::exp(shift - left.shift);
    sum += std::exp(scores[doc] - left.shift) * model.values[doc];
  };
  for (std::uint32_t doc = shown; doc < docs; ++doc) add(doc);
  for (std::uint32_t place = shown; place-- > 0;) {
    add(place);
    left_[place] = left;
    means_[place] = sum / left.sum;
  }

  credits_.resize(shown);
  above_.resize(shown);
  factors_.resize(shown);
  double credit = 0;
  std::uint32_t place = shown;
  for (std::size_t rank = gains.size(); rank-- > 0;) {
    credit += prefix[rank] * gains[rank];
    if (list.pinned[rank] != 0) continue;
    --place;
    const double factor = model.factor[rank];
    const double base = model.base[rank] + model.later[rank];
    credit -= prefix[rank] * (base + factor * model.values[place]);
    credits_[place] = credit;
    factors_[place] = factor;
    // W of the place above is that of the rank above: pinned ranks don't change it.
    above_[place] = rank == 0 ? 1.0 : prefix[rank - 1];
    // What follows is in the credit of the places above only.
    credit += above_[place] * (base + factor * means_[place]);
  }

  if (shown == 0) {
    for (std::uint32_t doc = 0; doc < docs; ++doc) weights[doc] = {Doc{doc}, 0.0F};
    return estimate;
  }
  // Sums over the places so far, of what each divides by its mass; relative to the highest score
  // left, which only falls.
  double shift = left_.front().shift;
  double constant = 0;
  double by_value = 0;
  const auto weight_of = [&](std::uint32_t doc) {
    return std::exp(scores[doc] - shift) * (constant + by_value * model.values[doc]);
  };
  for (place = 0; place < shown; ++place) {
    const Mass& here = left_[place];
    if (here.shift < shift) {
      const double scale = std::exp(here.shift - shift);
      constant *= scale;
      by_value *= scale;
      shift = here.shift;
    }
    const double expected = above_[place] * factors_[place] / here.sum;
    constant -= credits_[place] / here.sum + expected * means_[place];
    by_value += expected;
    weights[place] = {Doc{place}, static_cast<float>(credits_[place] + weight_of(place))};
  }
  for (std::uint32_t doc = shown; doc < docs; ++doc) {
    weights[doc] = {Doc{doc}, static_cast<float>(weight_of(doc))};
  }
  return estimate;
}

}  // namespace plackett
