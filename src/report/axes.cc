#include "report/axes.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "report/numbers.h"

namespace plackett::report {

bool drawable(const CurveSummary& point, const Measure& measure) {
  return point.impression > 0 && std::isfinite((point.*measure.curve).mean);
}

Axes::Axes(const std::vector<const CellSummary*>& cells, const Measure& measure) {
  for (const CellSummary* cell : cells) {
    for (const CurveSummary& point : cell->curve) {
      if (!drawable(point, measure)) continue;
      const auto& [mean, std] = point.*measure.curve;
      const double deviation = std::isfinite(std) ? std::fabs(std) : 0;
      first_ = std::min(first_, static_cast<double>(point.impression));
      last_ = std::max(last_, static_cast<double>(point.impression));
      low_ = std::min(low_, mean - deviation);
      high_ = std::max(high_, mean + deviation);
    }
  }
  if (last_ == 0) first_ = 1, low_ = 0, high_ = 1;
  if (!(last_ > first_)) last_ = first_ * 10;
  // No measure is below 0: bands end there.
  low_ = measure.from_zero ? 0 : std::max(low_, 0.0);
  high_ = std::min(high_, measure.largest);
  const double least_span = std::max(std::fabs(high_) * 0.01, 1e-3);
  if (!(high_ - low_ > least_span)) {
    const double middle = (low_ + high_) / 2;
    low_ = std::max(0.0, middle - least_span);
    high_ = middle + least_span;
  }
  // A little air above and below, within the measure's bounds.
  const double air = 0.04 * (high_ - low_);
  low_ = std::max(low_ - air, 0.0);
  high_ = std::max(high_, std::min(high_ + air, measure.largest));
}

std::vector<Tick> Axes::x_ticks() const {
  std::vector<Tick> ticks;
  const bool dense = last_ < 99 * first_;
  for (double power = std::pow(10, std::floor(std::log10(first_))); power <= last_; power *= 10) {
    for (const double value : {power, 2 * power, 5 * power}) {
      if (value != power && !dense) continue;
      if (value < first_ * (1 - 1e-9) || value > last_ * (1 + 1e-9)) continue;
      ticks.push_back({value, compact(value)});
    }
  }
  return ticks;
}

std::vector<Tick> Axes::y_ticks() const {
  const double rough = (high_ - low_) / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.5, 2.0, 1.0}) {
    if (factor * power >= rough * 0.85) step = factor * power;
  }
  int digits = 0;
  while (digits < 6 && std::fabs(std::remainder(step * std::pow(10, digits), 1)) > 1e-6) ++digits;
  std::vector<Tick> ticks;
  for (double at = std::ceil(low_ / step - 1e-9); at <= high_ / step + 1e-9; ++at) {
    std::string label = fixed(at * step, digits);
    if (at * step >= 1000) {
      label = high_ < 10'000 ? grouped(static_cast<std::uint64_t>(std::llround(at * step)))
                             : compact(at * step);
    }
    ticks.push_back({at * step, std::move(label)});
  }
  return ticks;
}

double Axes::x(double impression, const Frame& frame) const {
  const double clamped = std::clamp(impression, first_, last_);
  return frame.left + frame.width * std::log(clamped / first_) / std::log(last_ / first_);
}

double Axes::y(double value, const Frame& frame) const {
  return frame.bottom() - frame.height * (std::clamp(value, low_, high_) - low_) / (high_ - low_);
}

}  // namespace plackett::report
