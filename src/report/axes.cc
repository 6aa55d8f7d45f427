#include "report/axes.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <utility>

#include "report/numbers.h"

namespace plackett::report {
namespace {

// Powers of ten; with 2 and 5 times them where fewer than three fall within the bounds.
std::vector<Tick> decade_ticks(double first, double last) {
  for (const bool dense : {false, true}) {
    std::vector<Tick> ticks;
    const int low = static_cast<int>(std::floor(std::log10(first)));
    const int high = static_cast<int>(std::ceil(std::log10(last)));
    for (int power = low; power <= high; ++power) {
      for (const int step : {1, 2, 5}) {
        const double value = step * std::pow(10, power);
        if (step > 1 && !dense) continue;
        if (value < first * (1 - 1e-9) || value > last * (1 + 1e-9)) continue;
        ticks.push_back({value, compact(value)});
      }
    }
    if (ticks.size() >= 3 || dense) return ticks;
  }
  return {};
}

// A round step (1, 2, 2.5 or 5 times a power of ten) that cuts `span` into about five.
double round_step(double span) {
  const double rough = span / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double step : {1.0, 2.0, 2.5, 5.0}) {
    if (step * power >= rough * 0.85) return step * power;
  }
  return 10 * power;
}

int decimals_of(double step) {
  for (int digits = 0; digits < 6; ++digits) {
    const double scaled = step * std::pow(10, digits);
    if (std::fabs(scaled - std::round(scaled)) < 1e-6) return digits;
  }
  return 6;
}

}  // namespace

const Moments& moments(const CurveSummary& point, Metric metric) {
  return metric == Metric::kOffline ? point.offline : point.online;
}

bool drawable(const CurveSummary& point, Metric metric) {
  return point.impression > 0 && std::isfinite(moments(point, metric).mean);
}

std::vector<const CellSummary*> cells_of(const Arrangement& arrangement, std::size_t dataset) {
  std::vector<const CellSummary*> cells;
  for (const Block& block : arrangement.blocks) {
    if (block.dataset != dataset) continue;
    for (const Row& row : block.rows) cells.push_back(row.cell);
  }
  return cells;
}

Axes::Axes(const Comparison& comparison, Metric metric, const Frame& frame)
    : Axes(
          [&] {
            std::vector<const CellSummary*> cells;
            for (const CellSummary& cell : comparison.cells) cells.push_back(&cell);
            return cells;
          }(),
          metric, frame) {}

Axes::Axes(const std::vector<const CellSummary*>& cells, Metric metric, const Frame& frame)
    : frame_(frame) {
  double first = HUGE_VAL;
  double last = 0;
  double low = HUGE_VAL;
  double high = -HUGE_VAL;
  for (const CellSummary* cell : cells) {
    for (const CurveSummary& point : cell->curve) {
      if (!drawable(point, metric)) continue;
      const Moments& value = moments(point, metric);
      const double deviation = std::isfinite(value.std) ? std::fabs(value.std) : 0;
      const auto impression = static_cast<double>(point.impression);
      first = std::min(first, impression);
      last = std::max(last, impression);
      low = std::min(low, value.mean - deviation);
      high = std::max(high, value.mean + deviation);
    }
  }
  if (last > 0) {
    first_ = first;
    last_ = last > first ? last : first * 10;
    low_ = low;
    high_ = high;
  }
  // Neither NDCG nor its sum is ever below 0, nor NDCG above 1: bands end there. The sum starts at
  // 0 by its nature, so its axis does too.
  low_ = metric == Metric::kOnline ? 0 : std::max(low_, 0.0);
  if (metric == Metric::kOffline) high_ = std::min(high_, 1.0);
  const double least_span = std::max(std::fabs(high_) * 0.01, 1e-3);
  if (!(high_ - low_ > least_span)) {
    const double middle = (low_ + high_) / 2;
    low_ = std::max(0.0, middle - least_span);
    high_ = middle + least_span;
  }
  // A little air above and below, but no empty axis below 0 nor above the largest NDCG.
  const double air = 0.04 * (high_ - low_);
  low_ = std::max(low_ - air, 0.0);
  high_ = metric == Metric::kOffline && high_ <= 1 ? std::min(high_ + air, 1.0) : high_ + air;
  const double step = round_step(high_ - low_);

  x_ticks_ = decade_ticks(first_, last_);
  const int digits = decimals_of(step);
  const auto first_step = static_cast<std::int64_t>(std::ceil(low_ / step - 1e-9));
  const auto last_step = static_cast<std::int64_t>(std::floor(high_ / step + 1e-9));
  for (std::int64_t at = first_step; at <= last_step; ++at) {
    const double value = static_cast<double>(at) * step;
    std::string label = fixed(value, digits);
    if (value >= 1000)
      label = high_ < 10'000 ? grouped(static_cast<std::uint64_t>(std::llround(value)))
                             : compact(value);
    y_ticks_.push_back({value, std::move(label)});
  }
}

double Axes::x(double impression) const {
  const double clamped = std::clamp(impression, first_, last_);
  return frame_.left + frame_.width * std::log(clamped / first_) / std::log(last_ / first_);
}

double Axes::y(double value) const {
  const double clamped = std::clamp(value, low_, high_);
  return frame_.top + frame_.height * (high_ - clamped) / (high_ - low_);
}

}  // namespace plackett::report
