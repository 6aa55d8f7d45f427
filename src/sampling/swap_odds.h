// The arithmetic of rho (paper, eq. 5) and of a pair's weight, as portable code: processors and
// GPUs get the same bits from it. SwapOdds and PairInference are made of it.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/portable_exp.h"
#include "plackett/mass.h"

namespace plackett::swap_odds {

// exp() of this and of its negative are well inside double's range.
inline constexpr double kSafeLog = 600.0;

// As Mass::add.
constexpr void add(Mass& mass, double score) {
  if (score <= mass.shift) {
    mass.sum += portable_exp(score - mass.shift);
  } else {
    mass.sum = mass.sum == 0 ? 1.0 : mass.sum * portable_exp(mass.shift - score) + 1.0;
    mass.shift = score;
  }
}

// The mass of the documents not shown, over exp(reference). May overflow to infinity and vanish.
constexpr double plain_rest(const Mass& rest, double reference) {
  if (rest.sum == 0 || rest.shift - reference < -kSafeLog) return 0.0;
  if (rest.shift - reference > kSafeLog) return std::numeric_limits<double>::infinity();
  return rest.sum * portable_exp(rest.shift - reference);
}

// Whether rho_plain may be used for `shown` scores between `lowest` and `highest`, its reference: a
// product has shown - 1 factors at most, each between the smallest mass and the whole.
constexpr bool plain_in_range(std::size_t shown, double lowest, double highest, double rest) {
  const auto count = static_cast<double>(shown);
  if (!(count * (highest - lowest) < kSafeLog)) return false;
  // Most masses are so small that their exponent tells: log(x) < 0.6932 (e + 1) for x < 2^(e + 1).
  const double all = rest + count;
  const auto exponent = static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(all) >> 52) - 1023;
  if (count * 0.6932 * static_cast<double>(exponent + 1) < kSafeLog) return true;
  return count * portable_log(all) < kSafeLog;
}

// P(R*) / P(R) is the product, over the places after the upper and up to the lower one, of
// (between + lower's mass) / (between + upper's mass), where `between` is what both rankings
// have left at that place. It is summed from below, so nothing is ever subtracted.
// plain[rank] is a rank's mass, plain_from[rank] that of it, all below and the rest.
constexpr double rho_plain(const double* plain, const double* plain_from, std::uint32_t upper,
                           std::uint32_t lower) {
  double swapped = 1;
  double shown = 1;
  double between = plain_from[lower + 1];
  for (std::uint32_t rank = lower; rank > upper; --rank) {
    if (rank < lower) between += plain[rank];
    swapped *= between + plain[lower];
    shown *= between + plain[upper];
  }
  return swapped / (swapped + shown);
}

// The same for scores however far apart; from[rank] is the mass of the rank, all below and the
// rest.
constexpr double rho_any_range(const double* scores, const Mass* from, std::uint32_t upper,
                               std::uint32_t lower) {
  double log_odds = 0;
  Mass between = from[lower + 1];
  for (std::uint32_t rank = lower; rank > upper; --rank) {
    if (rank < lower) add(between, scores[rank]);
    Mass with_lower = between;
    Mass with_upper = between;
    add(with_lower, scores[lower]);
    add(with_upper, scores[upper]);
    log_odds +=
        (with_lower.shift - with_upper.shift) + portable_log(with_lower.sum / with_upper.sum);
  }
  const double odds = portable_exp(log_odds < 0 ? log_odds : -log_odds);
  return (log_odds < 0 ? odds : 1.0) / (1.0 + odds);
}

// d P(winner before loser) / d (difference of their scores): e^a e^b / (e^a + e^b)^2. `ratio` is
// exp(-|a - b|).
constexpr double pair_gradient(double ratio) { return ratio / ((1.0 + ratio) * (1.0 + ratio)); }

}  // namespace plackett::swap_odds
