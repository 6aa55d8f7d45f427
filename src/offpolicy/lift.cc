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

// How many units decide how uncertain an arm's value is where events can be worth more than clicks:
// those that bought something, if purchases are rare. One more of the largest event counts as seen:
// where none was, it may be about to come. What a unit is worth counts per list, so that those who
// come often are no exception. None if no event is large, or if the sums don't say.
std::optional<double> deciding_units(const RatioSums& sums, const SequenceOptions& options) {
  if (!(options.largest_event > 0) || !(sums.v > 0) || !(sums.vv > 0)) return std::nullopt;
  const double largest = options.largest_event * options.largest_event;
  const double v = sums.v + largest;
  return v * v / (sums.vv + largest * largest);
}

std::string too_rare(double deciding, std::string_view values) {
  return fmt::format(
      "{} depend on rare large events, as many as {:.0f} equal ones; {:.0f} are needed", values,
      std::floor(deciding), kUnits);
}

// Why a split arm can't be compared yet.
std::optional<std::string> too_little_known(const RatioSums& sums, std::string_view arm,
                                            const SequenceOptions& options) {
  if (auto why = too_little_value(sums.y_units, sums.y, "in", arm)) return why;
  const double effective = effective_units(sums.x, sums.xx);
  if (effective < kUnits) return too_uneven(effective, fmt::format("lists of {}", arm));
  const auto deciding = deciding_units(sums, options);
  if (!deciding || *deciding >= kUnits) return std::nullopt;
  return too_rare(*deciding, fmt::format("values of {}", arm));
}

// The same for interleaving, whose sums don't say how often units came: how many of the largest
// events the squared values amount to.
double largest_events(double squares, const SequenceOptions& options) {
  const double largest = options.largest_event * options.largest_event;
  return largest > 0 ? squares / largest : kUnits;
}

// The sums as if units that were worth nothing had been worth as much as the baseline's, until
// kUnits of them decide. `worth`: of one such unit; `deciding`: how many there are.
RatioSums raised(RatioSums challenger, double worth, double deciding) {
  const double missing = std::max(0.0, kUnits - deciding);
  challenger.y += missing * worth;
  challenger.yy += missing * worth * worth;
  challenger.xy += missing * worth * challenger.x / challenger.units;
  return challenger;
}

// The variance of y / x.
double ratio_variance(const RatioSums& sums) {
  const double ratio = sums.y / sums.x;
  const double squares = sums.yy - 2 * ratio * sums.xy + ratio * ratio * sums.xx;
  return std::max(0.0, squares) / (sums.x * sums.x) * sums.units / (sums.units - 1);
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

// Of arms that can be compared.
ArmComparison compare_known_split(const RatioSums& baseline, const RatioSums& challenger,
                                  const SequenceOptions& options) {
  const LogRatio before = log_ratio(baseline);
  const LogRatio after = log_ratio(challenger);
  const double units_before = effective_units(baseline.x, baseline.xx);
  const double units_after = effective_units(challenger.x, challenger.xx);
  const double per_unit = std::max(before.variance * units_before, after.variance * units_after);
  return compare({after.value - before.value, before.variance + after.variance},
                 per_unit / units_before + per_unit / units_after, options);
}

std::optional<double> high_of(const ArmComparison& comparison) {
  if (!comparison.lift) return std::nullopt;
  return comparison.lift->high;
}

}  // namespace

double sequence_half_width(double variance, const SequenceOptions& options) {
  const double sum = variance + kMixture;
  return std::sqrt(variance * sum / kMixture *
                   (std::log(sum / variance) - 2 * std::log(alpha(options))));
}

ArmComparison compare_split(const RatioSums& baseline, const RatioSums& challenger,
                            const ArmNames& names, const SequenceOptions& options) {
  if (auto why = too_little_known(baseline, names.baseline, options))
    return none_yet(std::move(*why));
  if (auto why = too_little_known(challenger, names.challenger, options))
    return none_yet(std::move(*why));
  return compare_known_split(baseline, challenger, options);
}

ArmComparison compare_interleaved(const RatioSums& sums, const ArmNames& names,
                                  const SequenceOptions& options) {
  if (auto why = too_little_value(sums.x_units, sums.x, "for", names.baseline))
    return none_yet(std::move(*why));
  if (auto why = too_little_value(sums.y_units, sums.y, "for", names.challenger))
    return none_yet(std::move(*why));
  const double effective = effective_units(sums.x + sums.y, sums.xx + 2 * sums.xy + sums.yy);
  if (effective < kUnits) return none_yet(too_uneven(effective, "values"));
  const double events = largest_events(sums.xx + 2 * sums.xy + sums.yy, options);
  if (events < kUnits) return none_yet(too_rare(events, "values"));
  const LogRatio ratio = log_ratio(sums);
  return compare(ratio, ratio.variance, options);
}

std::optional<double> greatest_lift_of_split(const RatioSums& baseline, const RatioSums& challenger,
                                             const SequenceOptions& options) {
  if (too_little_known(baseline, "", options)) return std::nullopt;
  if (challenger.x_units < kUnits || effective_units(challenger.x, challenger.xx) < kUnits) {
    return std::nullopt;
  }
  if (!too_little_known(challenger, "", options)) {
    return high_of(compare_known_split(baseline, challenger, options));
  }
  const double deciding = std::min(
      challenger.y_units, deciding_units(challenger, options).value_or(challenger.y_units));
  const RatioSums assumed = raised(challenger, baseline.yy / baseline.y, deciding);
  // Not of a log: the value may be below 0.
  const double value = baseline.y / baseline.x;
  const double before = log_ratio(baseline).variance;
  const double own = ratio_variance(assumed) / (value * value);
  const double as_baseline = before * effective_units(baseline.x, baseline.xx) /
                             effective_units(challenger.x, challenger.xx);
  const double ratio = assumed.y / assumed.x / value;
  return ratio - 1 + sequence_half_width(before + std::max(own, as_baseline), options);
}

std::optional<double> greatest_lift_of_interleaved(const RatioSums& sums,
                                                   const SequenceOptions& options) {
  if (const auto known = high_of(compare_interleaved(sums, {}, options))) return known;
  if (too_little_value(sums.x_units, sums.x, "", "")) return std::nullopt;
  if (largest_events(sums.xx, options) < kUnits) return std::nullopt;
  const RatioSums assumed =
      raised(sums, sums.xx / sums.x, std::min(sums.y_units, largest_events(sums.yy, options)));
  if (effective_units(assumed.x, assumed.xx) < kUnits) return std::nullopt;
  return assumed.y / assumed.x - 1 + sequence_half_width(ratio_variance(assumed), options);
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
