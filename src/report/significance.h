// What the tests of a comparison say, arranged for reading: a mark for each baseline.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/measure.h"

namespace plackett {

// Which of a contrast's two tests speaks. Welch's by default: runs of different methods have
// different variances.
enum class SignificanceTest { kWelch, kStudent };

}  // namespace plackett

namespace plackett::report {

enum class Verdict {
  kUntested,      // there was nothing to test against, or nothing to test with
  kNoDifference,  // p >= 0.05
  kBetter,        // p < 0.05
  kMuchBetter,    // p < 0.01
  kWorse,
  kMuchWorse,
};

inline constexpr double kSignificant = 0.05;
inline constexpr double kHighlySignificant = 0.01;

Verdict verdict(const TTest& test);

// "△", "▲", "▽", "▼", "·", and a space.
const char* mark(Verdict verdict);

struct Against {
  Verdict verdict = Verdict::kUntested;
  TTest test;
};

class Significance {
 public:
  // Points into `comparison`, which must outlive it.
  Significance(const Comparison& comparison, SignificanceTest test);

  // Labels of the baselines, in the order of the marks; empty where nothing was tested.
  [[nodiscard]] const std::vector<std::string>& baselines() const { return baselines_; }
  // "Welch's t-test".
  [[nodiscard]] const char* test_name() const;

  // One for each baseline, kUntested where the cell's block doesn't have it. Empty for a baseline:
  // baselines carry no marks. `cell` is one of the comparison's.
  [[nodiscard]] std::vector<Against> of(const CellSummary& cell, const Measure& measure) const;

  // The test of one cell against another, either of which is the baseline; t is above 0 where
  // `cell` is better. Untested where the comparison has no such contrast.
  [[nodiscard]] Against between(const CellSummary& cell, const CellSummary& other,
                                const Measure& measure) const;

 private:
  [[nodiscard]] const TTest& chosen(const Contrast& contrast, const Measure& measure) const;

  const Comparison* comparison_;
  SignificanceTest test_;
  std::vector<std::string> baselines_;
};

// The marks of Significance::of in a row: "▲▲·▽".
std::string marks(const std::vector<Against>& against);

// "p = 0.032", "p = 1.4e-08", "p < 1e-300"; of no use for NaN.
std::string p_text(double p);

}  // namespace plackett::report
