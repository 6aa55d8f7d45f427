// What a significance test says, as a verdict and a mark.
#pragma once

#include <string>

#include "plackett/record.h"

namespace plackett {

// Which of a contrast's two tests decides the marks. Welch's by default: runs of different methods
// have different variances.
enum class SignificanceTest { kWelch, kStudent };

}  // namespace plackett

namespace plackett::report {

enum class Verdict {
  kUntested,      // nothing to test against, or nothing to test with
  kNoDifference,  // p >= 0.05
  kBetter,        // p < 0.05
  kMuchBetter,    // p < 0.01
  kWorse,
  kMuchWorse,
};

struct Against {
  Verdict verdict = Verdict::kUntested;
  TTest test = {};
};

Against judge(const TTest& test);

inline bool is_better(Verdict one) {
  return one == Verdict::kBetter || one == Verdict::kMuchBetter;
}
inline bool is_worse(Verdict one) { return one == Verdict::kWorse || one == Verdict::kMuchWorse; }

// "△", "▲", "▽", "▼", "·"; a space if untested.
const char* mark(Verdict verdict);

// "p = 0.032", "p = 1.4e-08", "p < 1e-300". Requires: p is not NaN.
std::string p_text(double p);

}  // namespace plackett::report
