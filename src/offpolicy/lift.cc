#include "offpolicy/lift.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace plackett {
namespace {

// The mixture's variance, on the scale of log ratios: intervals are narrowest for effects of about
// 5 %. Fixed: a mixture that is chosen from the data does not hold.
constexpr double kMixture = 0.05 * 0.05;

// A variance that is estimated from fewer units is too uncertain.
constexpr double kUnits = 50;

double alpha(const SequenceOptions& options) {
  return (1 - options.level) / static_cast<double>(options.challengers);
}

// Minus twice the log of the mixture's likelihood ratio against a log ratio of 0.
double minus_two_log_mixture(const LogRatio& ratio) {
  const double sum = ratio.variance + kMixture;
  return std::log(sum / ratio.variance) -
         ratio.value * ratio.value * kMixture / (ratio.variance * sum);
}

ArmComparison none_yet(std::string why) { return {.lift = {}, .no_lift = std::move(why)}; }

// How many units of equal totals have a sum as uncertain as this one (Kish, 1965).
double effective_units(double sum, double squares) { return squares > 0 ? sum * sum / squares : 0; }

// One unit that sees a seventh of all lists is too much.
std::string too_uneven(double effective, std::string_view sum) {
  return fmt::format("{} come from few units, as many as {:.0f} equal ones; {:.0f} are needed", sum,
                     std::floor(effective), kUnits);
}

std::optional<std::string> too_little_value(double units, double value, std::string_view word,
                                            std::string_view arm) {
  if (units < kUnits)
    return fmt::format("{:.0f} units with a value {} {}; {:.0f} are needed", units, word, arm,
                       kUnits);
  if (!(value > 0)) return fmt::format("the value of {} is {:g}; it must be above 0", arm, value);
  return std::nullopt;
}

// `safe`: the variance that the interval uses.
ArmComparison compare(const LogRatio& ratio, double safe, const SequenceOptions& options) {
  if (!(ratio.variance > 0)) return none_yet("all units are alike: no variance is known yet");
  const double half = sequence_half_width(safe, options);
  const auto tests = static_cast<double>(options.challengers);
  const double z = std::abs(ratio.value) / std::sqrt(ratio.variance);
  Lift lift;
  lift.value = std::expm1(ratio.value);
  lift.low = std::expm1(ratio.value - half);
  lift.high = std::expm1(ratio.value + half);
  lift.p_value = std::min(1.0, tests * std::erfc(z / std::sqrt(2.0)));
  lift.anytime_p_value =
      std::min(1.0, tests * std::exp(minus_two_log_mixture({ratio.value, safe}) / 2));
  return {.lift = lift, .no_lift = {}, .variance = safe};
}

}  // namespace

double sequence_half_width(double variance, const SequenceOptions& options) {
  const double sum = variance + kMixture;
  return std::sqrt(variance * sum / kMixture *
                   (std::log(sum / variance) - 2 * std::log(alpha(options))));
}

ArmComparison compare_split(const RatioSums& baseline, const RatioSums& challenger,
                            const ArmNames& names, const SequenceOptions& options) {
  const auto reason = [](const RatioSums& sums, std::string_view arm) {
    auto why = too_little_value(sums.y_units, sums.y, "in", arm);
    const double effective = effective_units(sums.x, sums.xx);
    if (!why && effective < kUnits) why = too_uneven(effective, fmt::format("lists of {}", arm));
    return why;
  };
  if (auto why = reason(baseline, names.baseline)) return none_yet(std::move(*why));
  if (auto why = reason(challenger, names.challenger)) return none_yet(std::move(*why));
  const LogRatio before = log_ratio(baseline);
  const LogRatio after = log_ratio(challenger);
  const double units_before = effective_units(baseline.x, baseline.xx);
  const double units_after = effective_units(challenger.x, challenger.xx);
  const double per_unit = std::max(before.variance * units_before, after.variance * units_after);
  return compare({after.value - before.value, before.variance + after.variance},
                 per_unit / units_before + per_unit / units_after, options);
}

ArmComparison compare_interleaved(const RatioSums& sums, const ArmNames& names,
                                  const SequenceOptions& options) {
  if (auto why = too_little_value(sums.x_units, sums.x, "for", names.baseline))
    return none_yet(std::move(*why));
  if (auto why = too_little_value(sums.y_units, sums.y, "for", names.challenger))
    return none_yet(std::move(*why));
  const double effective = effective_units(sums.x + sums.y, sums.xx + 2 * sums.xy + sums.yy);
  if (effective < kUnits) return none_yet(too_uneven(effective, "values"));
  const LogRatio ratio = log_ratio(sums);
  return compare(ratio, ratio.variance, options);
}

std::optional<double> seconds_until_shown(double effect, double elapsed,
                                          const ArmComparison& comparison,
                                          const SequenceOptions& options) {
  if (!comparison.lift) return std::nullopt;
  const double wanted = std::log1p(effect);
  // The variance falls as 1 / time. Bisect how often as long it takes.
  double low = 0;  // of the factor's log
  double high = 1;
  const auto wide = [&](double log_factor) {
    return sequence_half_width(comparison.variance * std::exp(-log_factor), options) > wanted;
  };
  if (!wide(low)) return 0.0;
  while (wide(high)) {
    low = high;
    high *= 2;
  }
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    (wide(middle) ? low : high) = middle;
  }
  return elapsed * std::expm1(high);
}

}  // namespace plackett
