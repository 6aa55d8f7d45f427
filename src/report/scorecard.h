// A comparison next to the numbers that the paper published, for the cells that the paper ran.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plackett/record.h"
#include "report/table.h"

namespace plackett::report {

// The results that the paper published (Oosterhuis and de Rijke, CIKM 2018, tables 2 and 3).
inline constexpr std::uint32_t kPublishedRuns = 125;
inline constexpr std::uint64_t kPublishedImpressions = 10'000;

inline constexpr std::size_t kPublishedDatasets = 5;

// One method under one click model: every measure's mean and deviation on each dataset.
struct PublishedRow {
  std::string_view click_model, method, ranker;  // "perfect", "pdgd", "linear"
  Moments values[kPaperMeasures.size()][kPublishedDatasets];
};

// In the order of the tables: click models, and methods within them.
std::span<const PublishedRow> published_rows();

// The index of the dataset, by its published name, in a PublishedRow, or kPublishedDatasets if the
// paper does not have it.
std::size_t published_dataset(std::string_view name);

// What the paper has for a cell's setting; null if it has nothing: the dataset and the click model
// are the paper's, the runs have 10,000 impressions, and the method is one of its six with the
// paper's settings. The cell's results, protocol and number of runs do not matter.
const Moments* published(const CellSummary& cell, const Measure& measure);

// One measure of one cell.
struct Score {
  const CellSummary* cell = nullptr;
  const Measure* measure = nullptr;
  Moments here = {};  // as shown: no deviation (NaN) for a single run
  Moments paper = {};
  // (here - paper) in standard errors of that difference: sqrt(s1^2 / n1 + s2^2 / 125). NaN for
  // fewer than two runs, or without spread.
  double errors = 0;
  // The paper's mean is rounded, and half a unit of its last digit is more than one standard
  // error: `errors` may be off by more than one for that alone.
  bool coarse = false;
};

struct Scorecard {
  std::vector<Score> scores;  // cell by cell, all measures; empty: nothing that the paper has
  // "34 of 36 numbers within 2 standard errors of the paper's, 36 within 3; the farthest is 2.4
  // away."
  std::string agreement;
  std::string remark;  // what the cells' protocol means for the agreement
  std::string note;    // what "†" after a coarse score means; empty: there is none

  // How many are at most so many standard errors away.
  [[nodiscard]] std::size_t within(double errors) const;
};

// Points into `comparison`, which must outlive it.
Scorecard make_scorecard(const Comparison& comparison);

// "MQ2007 · Perfect · published", and what else was swept around the method.
std::string setting_of(const CellSummary& cell);

// A section per setting; every measure here, in the paper and their difference in standard errors.
Table scorecard_table(const Scorecard& card);

// The scorecard for a terminal, as Markdown and as CSV; empty if the comparison ran nothing that
// the paper did. Every line of the first fits `style.width` if that is >= 60.
std::string terminal_scorecard(const Comparison& comparison, const TableStyle& style = {});
std::string markdown_scorecard(const Comparison& comparison);
std::string csv_scorecard(const Comparison& comparison);

}  // namespace plackett::report
