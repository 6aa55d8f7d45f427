#include "sampling/click_credit.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace plackett {

double ClickCredit::expected_sign(std::span<const double> to_candidate,
                                  std::span<const double> to_current) {
  assert(to_candidate.size() == to_current.size());
  const std::size_t clicks = to_candidate.size();
  difference_.assign(1, 1.0);
  for (std::size_t click = 0; click < clicks; ++click) {
    const double up = to_candidate[click];
    const double down = to_current[click];
    const double stay = std::max(0.0, 1.0 - up - down);
    next_.assign(difference_.size() + 2, 0.0);
    for (std::size_t at = 0; at < difference_.size(); ++at) {
      next_[at] += down * difference_[at];
      next_[at + 1] += stay * difference_[at];
      next_[at + 2] += up * difference_[at];
    }
    difference_.swap(next_);
  }
  double ahead = 0;
  double behind = 0;
  for (std::size_t at = 0; at < clicks; ++at) {
    behind += difference_[at];
    ahead += difference_[2 * clicks - at];
  }
  const double expected = ahead - behind;
  return std::abs(expected) <= kEqualCredit * (ahead + behind) ? 0.0 : expected;
}

void ClickCredit::reserve(std::size_t clicks) {
  difference_.reserve(2 * clicks + 1);
  next_.reserve(2 * clicks + 1);
}

void SampledCredit::reserve(std::size_t clicks) {
  to_current_.reserve(clicks);
  count_chances_.reserve(clicks + 1);
  count_noise_.reserve(clicks + 1);
  joint_.reserve((clicks + 1) * (clicks + 1));
}

void SampledCredit::reset(std::span<const double> to_current, Rng& rng) {
  to_current_.assign(to_current.begin(), to_current.end());
  const std::size_t clicks = to_current.size();
  count_chances_.assign(clicks + 1, 0.0);
  count_chances_[0] = 1;
  for (std::size_t click = 0; click < clicks; ++click) {
    for (std::size_t count = click + 1; count > 0; --count) {
      count_chances_[count] +=
          to_current[click] * (count_chances_[count - 1] - count_chances_[count]);
    }
    count_chances_[0] *= 1 - to_current[click];
  }
  // The counts' shares of many samples are normal with a multinomial's covariance.
  count_noise_.resize(clicks + 1);
  double total = 0;
  for (std::size_t count = 0; count <= clicks; ++count) {
    count_noise_[count] = std::sqrt(std::max(0.0, count_chances_[count])) * rng.normal();
    total += count_noise_[count];
  }
  for (std::size_t count = 0; count <= clicks; ++count) {
    count_noise_[count] =
        (count_noise_[count] - count_chances_[count] * total) / std::sqrt(kSamples);
  }
}

bool SampledCredit::won(double expected, std::span<const double> to_candidate, Rng& rng) {
  assert(to_candidate.size() == to_current_.size());
  // A sign's standard deviation is at most 1, so this far from 0 the noise can't change it.
  constexpr double kDecided = 8;
  if (std::abs(expected) * std::sqrt(kSamples) > kDecided) return expected > 0;

  const std::size_t clicks = to_candidate.size();
  const std::size_t width = clicks + 1;
  joint_.assign(width * width, 0.0);
  joint_[0] = 1;
  for (std::size_t click = 0; click < clicks; ++click) {
    const double own = to_candidate[click];
    const double current = to_current_[click];
    const double other = std::max(0.0, 1.0 - own - current);
    for (std::size_t a = click + 2; a-- > 0;) {
      for (std::size_t b = click + 2 - a; b-- > 0;) {
        double chance = other * joint_[a * width + b];
        if (a > 0) chance += current * joint_[(a - 1) * width + b];
        if (b > 0) chance += own * joint_[a * width + b - 1];
        joint_[a * width + b] = chance;
      }
    }
  }
  double mean = expected;
  double variance = 0;  // of the sign, given the current ranker's count
  for (std::size_t a = 0; a < width; ++a) {
    double chance = 0;
    double sign = 0;
    double square = 0;
    for (std::size_t b = 0; b + a < width; ++b) {
      const double p = joint_[a * width + b];
      chance += p;
      if (b > a) sign += p;
      if (b < a) sign -= p;
      if (b != a) square += p;
    }
    if (chance <= 0) continue;
    mean += sign / chance * count_noise_[a];
    variance += square - sign * sign / chance;
  }
  mean += std::sqrt(std::max(0.0, variance) / kSamples) * rng.normal();
  // The mean is a multiple of 1 / samples: 0 counts as a loss.
  return mean > 0.5 / kSamples;
}

}  // namespace plackett
