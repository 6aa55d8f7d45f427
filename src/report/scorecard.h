// A comparison next to the numbers that the paper published, for the cells that the paper ran.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "plackett/record.h"
#include "report/measure.h"
#include "report/table.h"

namespace plackett::report {

// One measure of one cell.
struct Score {
  Moments here;  // as shown: no deviation (NaN) for a single run
  Moments paper;
  // (here - paper) in standard errors of that difference: sqrt(s1^2 / n1 + s2^2 / 125). NaN for
  // fewer than two runs, or without spread.
  double errors = 0;
  // The paper's mean is rounded, and half a unit of its last digit is more than one standard
  // error: `errors` may be off by more than one for that alone.
  bool coarse = false;
};

struct ScoreLine {
  const CellSummary* cell = nullptr;
  std::string setting;  // "MQ2007 · Perfect · published"
  PerMeasure<Score> scores;
};

struct Scorecard {
  std::vector<ScoreLine> lines;  // in the order of the cells; empty: nothing that the paper has
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

// What "†" after a coarse score means.
inline constexpr const char* kCoarse =
    "† the rounding of the paper's mean alone may be worth more than one standard error";

// A section per setting; every measure here, in the paper and their difference in standard errors.
Table scorecard_table(const Scorecard& card);

// What the cells' protocol means for the agreement.
std::string protocol_remark(const Scorecard& card);

}  // namespace plackett::report

namespace plackett {

// The scorecard for a terminal, as Markdown and as CSV; empty if the comparison ran nothing that
// the paper did. Every line of the first fits `style.width` if that is >= 60.
std::string terminal_scorecard(const Comparison& comparison, const TableStyle& style = {});
std::string markdown_scorecard(const Comparison& comparison);
std::string csv_scorecard(const Comparison& comparison);

}  // namespace plackett
