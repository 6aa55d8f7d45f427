// A comparison beside the numbers the paper published, where it ran what the paper ran.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "plackett/record.h"
#include "report/measure.h"

namespace plackett::report {

// One measure of one cell.
struct Score {
  Moments here;  // as shown: no deviation (NaN) where there is one run
  Moments paper;
  // (here - paper) in standard errors of that difference: sqrt(s1^2 / n1 + s2^2 / 125). NaN where
  // that is no number: fewer than two runs, or no spread.
  double errors = 0;
  // The paper's mean is rounded, and half a unit of its last digit is more than one standard
  // error: `errors` may be off by more than one for that alone.
  bool coarse = false;
};

struct ScoreLine {
  const CellSummary* cell = nullptr;
  Score offline;
  Score online;

  [[nodiscard]] const Score& score(const Measure& measure) const {
    return measure.metric == Metric::kOffline ? offline : online;
  }
};

struct Scorecard {
  std::vector<ScoreLine> lines;  // in the order of the cells; empty: nothing the paper has
  std::string protocols;         // of these cells
  std::size_t numbers = 0;       // with finite `errors`
  std::size_t within_two = 0;    // of them, at most 2 standard errors away
  std::size_t within_three = 0;
  double largest = 0;   // distance in standard errors
  bool coarse = false;  // any is
};

// Points into `comparison`, which must outlive it.
Scorecard make_scorecard(const Comparison& comparison);

// "34 of 36 numbers within 2 standard errors of the paper's, 36 within 3; the farthest is 2.4
// away."
std::string agreement(const Scorecard& card);

// What the cells' protocol means for the agreement.
std::string protocol_remark(const Scorecard& card);

// "+0.8", "-2.3"; "–" for NaN.
std::string signed_errors(double errors);

}  // namespace plackett::report

namespace plackett {

// The scorecard as text for a terminal, as Markdown and as CSV; empty where the comparison ran
// nothing the paper did.
struct ScorecardStyle {
  bool ansi = false;
  std::size_t width = 80;  // columns; every line fits where that is >= 60
  bool ascii = false;      // for terminals without UTF-8
};
std::string terminal_scorecard(const Comparison& comparison, const ScorecardStyle& style = {});
std::string markdown_scorecard(const Comparison& comparison);
std::string csv_scorecard(const Comparison& comparison);

}  // namespace plackett
