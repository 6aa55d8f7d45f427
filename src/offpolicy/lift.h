// What a live test says so far of a challenger: its lift over the baseline, with an interval that
// holds at all times together (docs/decisions/0018-sequences.md). Pure functions of the sums.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "offpolicy/ratio_sums.h"

namespace plackett {

struct SequenceOptions {
  double level = 0.95;            // between 0 and 1
  std::uint32_t challengers = 1;  // compared in one test: each gets its share of 1 - level
  double largest_event =
      0;  // that a list can have, where events are worth more than clicks; else 0
};

// All are relative: 0.2 is 20 % more than the baseline. 0 is outside of [low, high] exactly when
// anytime_p_value < 1 - level. A promotion needs low > margin, a guard stops where
// greatest_lift_of... < -drop, which is `high` where there is a lift: the interval holds for any
// number of such questions.
struct Lift {
  double value = 0;
  double low = 0;  // confidence sequence: with probability `level` it never misses the true lift
  double high = 0;
  double p_value = 1;          // two-sided; right at one time, fixed in advance, with many units
  double anytime_p_value = 1;  // right at any time, however chosen

  bool operator==(const Lift&) const = default;
};

struct ArmComparison {
  std::optional<Lift> lift;
  std::string no_lift;  // why there is none yet: "31 units with a value in old; 50 are needed"
  double variance = 0;  // of log(1 + lift.value), as the interval uses it, if there is a lift
};

// The names are the arms', for `no_lift`.
struct ArmNames {
  std::string_view baseline;
  std::string_view challenger;
};

// Split: x is lists, y their value, one sum per arm. The interval takes each arm to vary, per unit,
// at least as much as the other: a small arm may not have met its rare outcomes yet.
ArmComparison compare_split(const RatioSums& baseline, const RatioSums& challenger,
                            const ArmNames& names, const SequenceOptions& options);
// Interleaving: x is credited to the baseline, y to the challenger.
ArmComparison compare_interleaved(const RatioSums& sums, const ArmNames& names,
                                  const SequenceOptions& options);

// For guards, which must not wait for a challenger that is worth next to nothing: the upper bound
// of its lift. Where it has too little value for a lift, or one below 0, its worthless units count
// as if so many of them had been worth as much as the baseline's that 50 have a value; the bound
// then is too high rather than too low. None until 50 units of the baseline have a value and 50 of
// the challenger were seen.
std::optional<double> greatest_lift_of_split(const RatioSums& baseline, const RatioSums& challenger,
                                             const SequenceOptions& options);
std::optional<double> greatest_lift_of_interleaved(const RatioSums& sums,
                                                   const SequenceOptions& options);

// In how many more seconds the interval is expected to exclude 0 if the true lift is `effect`,
// with an even chance: units keep arriving as in the `elapsed` seconds so far. 0: by now.
// None without a lift. Requires: effect > 0, elapsed > 0.
std::optional<double> seconds_until_shown(double effect, double elapsed,
                                          const ArmComparison& comparison,
                                          const SequenceOptions& options);

// Half of the interval's width, of a log ratio with this variance (Robbins, 1970: a normal mixture
// whose variance is fixed in advance). Grows with the variance. Requires: variance > 0.
double sequence_half_width(double variance, const SequenceOptions& options);

}  // namespace plackett
