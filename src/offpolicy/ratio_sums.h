// Sums over the units of a live test, from which a ratio and its variance follow.
#pragma once

namespace plackett {

// One unit (a user) in one arm, or in an interleaving test, so far.
struct UnitTotals {
  double x = 0;  // split: lists shown; interleaving: value credited to the baseline
  double y = 0;  // split: what they were worth; interleaving: value credited to the challenger

  bool operator==(const UnitTotals&) const = default;
};

// Lists of a unit depend on each other, units don't: so squares are those of a unit's totals.
// Plain data, to be stored as it is. Integers (lists, clicks) are summed exactly; other values, and
// v, lose at most 2^-53 of the largest sum with each change.
struct RatioSums {
  double units = 0;    // with x or y other than 0
  double x_units = 0;  // with x other than 0
  double y_units = 0;  // with y other than 0
  double x = 0;
  double y = 0;
  double xx = 0;  // of squares
  double xy = 0;
  double yy = 0;
  // v = y^2 / x of a unit, 0 if x is 0: its value's square, per list. Both sums are 0 if they are
  // not known.
  double v = 0;
  double vv = 0;

  // A unit's totals change. A unit that was not seen before: `before` is {}. One that leaves:
  // `after` is {}.
  void change(const UnitTotals& before, const UnitTotals& after);
  // Units of both. Requires: no unit is in both.
  void merge(const RatioSums& other);

  bool operator==(const RatioSums&) const = default;
};

// log(y / x) of the sums and its variance, n / (n - 1) sum_i (y_i / y - x_i / x)^2.
struct LogRatio {
  double value = 0;
  double variance = 0;
};

// Requires: units > 1, x > 0, y > 0.
LogRatio log_ratio(const RatioSums& sums);

}  // namespace plackett
