#include "offpolicy/list_chances.h"

#include <cassert>
#include <cmath>

#include "base/kernels.h"
#include "plackett/mass.h"

namespace plackett {

void ListChances::set(std::span<const float> scores, std::uint32_t shown) {
  assert(shown <= scores.size());
  const auto others = scores.subspan(shown);
  masses_.resize(others.size());
  Mass left;
  if (!others.empty()) {
    highest_ = kernels().exp_from_max(others.data(), others.size(), masses_.data());
    left.shift = highest_;
    for (const double mass : masses_) left.sum += mass;
  }
  log_chances_.resize(shown);
  for (std::uint32_t place = shown; place-- > 0;) {
    left.add(scores[place]);
    log_chances_[place] = (scores[place] - left.shift) - std::log(left.sum);
  }
}

void ListChances::expect(std::span<const float> scores, std::span<const double> values,
                         std::span<double> means) {
  const std::size_t shown = log_chances_.size();
  assert(scores.size() == shown + masses_.size() && values.size() == scores.size());
  Mass left;
  double sum = 0;  // of mass times value, on the scale of `left`
  if (!masses_.empty()) {
    left.shift = highest_;
    for (std::size_t at = 0; at < masses_.size(); ++at) {
      left.sum += masses_[at];
      sum += masses_[at] * values[shown + at];
    }
  }
  for (std::size_t place = shown; place-- > 0;) {
    const double shift = left.shift;
    const bool was_empty = left.empty();
    left.add(scores[place]);
    if (!was_empty && left.shift != shift) sum *= std::exp(shift - left.shift);
    sum += std::exp(scores[place] - left.shift) * values[place];
    means[place] = sum / left.sum;
  }
}

void PrefixWeights::compute(const LoggedList& list, const PolicyChoice& choice,
                            std::span<double> weights) {
  const std::uint32_t shown = list.sampled();
  logged_.set(list.scores, shown);
  if (choice.sampled) chosen_.set(choice.scores, shown);
  double weight = 1;
  std::uint32_t place = 0;
  for (std::size_t rank = 0; rank < list.pinned.size(); ++rank) {
    if (list.pinned[rank] == 0) {
      if (choice.sampled) {
        weight *= std::exp(chosen_.log_chance(place) - logged_.log_chance(place));
      } else {
        weight =
            choice.order[place] == Doc{place} ? weight * std::exp(-logged_.log_chance(place)) : 0.0;
      }
      ++place;
    }
    weights[rank] = weight;
  }
}

}  // namespace plackett
