#include "report/significance.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/arrangement.h"

namespace plackett::report {

Verdict verdict(const TTest& test) {
  if (!(test.degrees > 0)) return Verdict::kUntested;  // also where it is NaN
  if (!(test.p < kSignificant)) return Verdict::kNoDifference;
  const bool high = test.p < kHighlySignificant;
  if (test.t > 0) return high ? Verdict::kMuchBetter : Verdict::kBetter;
  return high ? Verdict::kMuchWorse : Verdict::kWorse;
}

const char* mark(Verdict verdict) {
  switch (verdict) {
    case Verdict::kNoDifference:
      return "·";
    case Verdict::kBetter:
      return "△";
    case Verdict::kMuchBetter:
      return "▲";
    case Verdict::kWorse:
      return "▽";
    case Verdict::kMuchWorse:
      return "▼";
    default:
      return " ";
  }
}

Significance::Significance(const Comparison& comparison, SignificanceTest test)
    : comparison_(&comparison), test_(test) {
  if (comparison.contrasts.empty()) return;
  for (const CellSummary& cell : comparison.cells) {
    if (!cell.baseline) continue;
    std::string label = row_label(cell);
    if (std::find(baselines_.begin(), baselines_.end(), label) == baselines_.end()) {
      baselines_.push_back(std::move(label));
    }
  }
}

const char* Significance::test_name() const {
  return test_ == SignificanceTest::kWelch ? "Welch's t-test" : "Student's t-test";
}

const TTest& Significance::chosen(const Contrast& contrast, const Measure& measure) const {
  const MeasureTests& tests = contrast.*measure.tests;
  return test_ == SignificanceTest::kWelch ? tests.welch : tests.student;
}

std::vector<Against> Significance::of(const CellSummary& cell, const Measure& measure) const {
  if (cell.baseline) return {};
  std::vector<Against> against(baselines_.size());
  for (const Contrast& contrast : comparison_->contrasts) {
    if (&comparison_->cells[contrast.cell] != &cell) continue;
    const std::string label = row_label(comparison_->cells[contrast.baseline]);
    const auto at = std::find(baselines_.begin(), baselines_.end(), label);
    if (at == baselines_.end()) continue;
    const TTest& test = chosen(contrast, measure);
    against[static_cast<std::size_t>(at - baselines_.begin())] = {verdict(test), test};
  }
  return against;
}

Against Significance::between(const CellSummary& cell, const CellSummary& other,
                              const Measure& measure) const {
  for (const Contrast& contrast : comparison_->contrasts) {
    const CellSummary* const one = &comparison_->cells[contrast.cell];
    const CellSummary* const baseline = &comparison_->cells[contrast.baseline];
    TTest test = chosen(contrast, measure);
    if (one == &cell && baseline == &other) return {verdict(test), test};
    if (one == &other && baseline == &cell) {
      test.t = -test.t;
      return {verdict(test), test};
    }
  }
  return {};
}

std::string marks(const std::vector<Against>& against) {
  std::string out;
  for (const Against& one : against) out += mark(one.verdict);
  return out;
}

std::string p_text(double p) {
  if (p < 1e-300) return "p < 1e-300";
  if (p < 0.0001) return fmt::format("p = {:.1e}", p);
  return fmt::format("p = {:.{}f}", p, p < 0.01 ? 4 : p < 0.1 ? 3 : 2);
}

}  // namespace plackett::report
