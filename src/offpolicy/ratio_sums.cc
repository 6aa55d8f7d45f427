#include "offpolicy/ratio_sums.h"

#include <cmath>

namespace plackett {
namespace {

double squared_per_list(const UnitTotals& unit) {
  return unit.x > 0 ? unit.y * unit.y / unit.x : 0.0;
}

}  // namespace

void RatioSums::change(const UnitTotals& before, const UnitTotals& after) {
  const auto counts = [](bool now, bool then) { return static_cast<double>(now) - then; };
  x_units += counts(after.x != 0, before.x != 0);
  y_units += counts(after.y != 0, before.y != 0);
  units += counts(after.x != 0 || after.y != 0, before.x != 0 || before.y != 0);
  x += after.x - before.x;
  y += after.y - before.y;
  xx += after.x * after.x - before.x * before.x;
  xy += after.x * after.y - before.x * before.y;
  yy += after.y * after.y - before.y * before.y;
  const double v_before = squared_per_list(before);
  const double v_after = squared_per_list(after);
  v += v_after - v_before;
  vv += v_after * v_after - v_before * v_before;
}

void RatioSums::merge(const RatioSums& other) {
  units += other.units;
  x_units += other.x_units;
  y_units += other.y_units;
  x += other.x;
  y += other.y;
  xx += other.xx;
  xy += other.xy;
  yy += other.yy;
  v += other.v;
  vv += other.vv;
}

LogRatio log_ratio(const RatioSums& sums) {
  const double x = sums.xx / (sums.x * sums.x);
  const double y = sums.yy / (sums.y * sums.y);
  const double squares = x - 2 * sums.xy / (sums.x * sums.y) + y;
  // What rounding leaves of equal terms is no variance.
  constexpr double kRounding = 1e-12;
  const double variance = squares > kRounding * (x + y) ? squares : 0.0;
  return {std::log(sums.y / sums.x), variance * sums.units / (sums.units - 1)};
}

}  // namespace plackett
