#include "report/significance.h"

#include <fmt/format.h>

#include <array>

namespace plackett::report {

Against judge(const TTest& test) {
  if (!(test.degrees > 0)) return {};  // also if it is NaN
  if (!(test.p < 0.05)) return {Verdict::kNoDifference, test};
  const bool high = test.p < 0.01;
  if (test.t > 0) return {high ? Verdict::kMuchBetter : Verdict::kBetter, test};
  return {high ? Verdict::kMuchWorse : Verdict::kWorse, test};
}

const char* mark(Verdict verdict) {
  constexpr std::array<const char*, 6> kMarks{" ", "·", "△", "▲", "▽", "▼"};
  return kMarks[static_cast<std::size_t>(verdict)];
}

std::string p_text(double p) {
  if (p < 1e-300) return "p < 1e-300";
  if (p < 0.0001) return fmt::format("p = {:.1e}", p);
  return fmt::format("p = {:.{}f}", p, p < 0.01 ? 4 : p < 0.1 ? 3 : 2);
}

}  // namespace plackett::report
