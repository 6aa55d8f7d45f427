// A comparison arranged for reading, once for every kind of output: one block per click model of a
// dataset, one row per method, and one series (a name, a colour, a dash) per method over all
// blocks.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "plackett/record.h"
#include "report/measure.h"

namespace plackett {

// Which of a contrast's two tests decides the marks. Welch's by default: runs of different methods
// have different variances.
enum class SignificanceTest { kWelch, kStudent };

}  // namespace plackett

namespace plackett::report {

inline constexpr std::size_t kColours = 8;
inline constexpr std::size_t kDashes = 3;

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

struct Series {
  std::string label;  // "PDGD (linear)"; raw, not escaped
  // The paper's six methods have the same colours in every picture; the others take the lowest
  // that are free.
  std::size_t colour = 0;  // below kColours
  std::size_t dash = 0;    // below kDashes: 0 linear, 1 neural, then others by first appearance
};

struct Value {
  Moments moments;  // at the last impression; a single run has no deviation (NaN)
  // The highest mean of the block at the printed precision; several if they print the same. False
  // if there is no other row to beat.
  bool best = false;
  // One per baseline, kUntested if the block does not have it; empty for a baseline.
  std::vector<Against> against = {};
};

struct Row {
  const CellSummary* cell = nullptr;
  std::size_t series = 0;
  PerMeasure<Value> values = {};
};

struct Block {
  std::string title;        // "Perfect"; with dataset or protocol if the comparison has several
  std::string short_title;  // the same without the dataset
  std::size_t dataset = 0;  // in Arrangement::datasets
  std::vector<Row> rows;
};

// What all cells have in common, as text: "MQ2007", or "MQ2007, MQ2008" if they differ; "125", or
// "25–125".
struct Facts {
  std::string datasets, protocols, runs, impressions, seeds;
  std::string line;  // "MQ2007 · described protocol · 125 runs × 10,000 impressions"
};

struct Arrangement {
  // Datasets, blocks, rows and series in the order of their first appearance. Points into
  // `comparison`, which must outlive it.
  explicit Arrangement(const Comparison& comparison,
                       SignificanceTest test = SignificanceTest::kWelch);

  // The test of a row against another of its block, one of which is a baseline; t is above 0 if
  // `row` is better. Untested if the comparison has no such contrast.
  [[nodiscard]] Against between(const Row& row, const Row& other, const Measure& measure) const;
  // "1 DBGD (linear), 2 MGD (linear)": which mark is about which baseline; a single name without a
  // number.
  [[nodiscard]] std::string baseline_list() const;
  // "of its click model", or "of its dataset and click model".
  [[nodiscard]] const char* best_of_what() const;
  [[nodiscard]] const std::string& label(const Row& row) const { return series[row.series].label; }

  const Comparison& comparison;
  SignificanceTest test;
  const char* test_name;  // "Welch's t-test"
  Facts facts;
  std::vector<Series> series;
  std::vector<std::string> datasets;
  std::vector<std::string> baselines;  // in the order of the marks; empty if nothing was tested
  std::vector<Block> blocks;           // grouped by dataset
  bool any_best = false;               // whether any value is
};

// The cell's label, or one like "pdgd (linear)" if it has none.
std::string row_label(const CellSummary& cell);
// "almost_random" -> "Almost random".
std::string click_model_label(const std::string& click_model);

}  // namespace plackett::report
