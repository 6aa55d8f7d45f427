// A comparison arranged for reading, once for every kind of output: one block per click model of a
// dataset (and protocol, seed, impressions and other surroundings, if there are several), one row
// per method, and one series (a name, a colour, a dash) per method over all blocks.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "plackett/record.h"

namespace plackett::report {

inline constexpr std::size_t kColours = 8;
inline constexpr std::size_t kDashes = 3;

// What is measured, and what every kind of output needs to know about it.
struct Measure {
  std::size_t index = 0;            // in Arrangement::measures
  std::string_view name = {};       // "offline", "online", "MAP": for keys and in sentences
  std::string_view metric = {};     // "NDCG@10", "MAP"
  std::string_view split = "test";  // the queries that it was measured on, if it is not online
  int digits = 3;                   // the paper's precision
  double largest = 1;               // that a value can be; infinity if there is no bound
  bool is_online = false;           // of what users were shown, and its axis starts at 0

  [[nodiscard]] std::string column() const;  // "offline NDCG@10"
  [[nodiscard]] std::string title() const;   // "Offline NDCG@10"
  [[nodiscard]] std::string about() const;   // what a curve of it shows

  // NaN, and no tests, if the cell lacks the metric.
  [[nodiscard]] Moments final(const CellSummary& cell) const;
  [[nodiscard]] Moments at(const CellSummary& cell, std::size_t point) const;  // of its curve
  [[nodiscard]] MeasureTests tests(const Contrast& contrast) const;
};

// The paper's measures, which every comparison has.
inline constexpr std::array<Measure, 2> kPaperMeasures{
    {{.index = 0, .name = "offline", .metric = "NDCG@10"},
     {.index = 1,
      .name = "online",
      .metric = "NDCG@10",
      .digits = 1,
      .largest = HUGE_VAL,
      .is_online = true}}};
inline constexpr const Measure& kOffline = kPaperMeasures[0];
inline constexpr const Measure& kOnline = kPaperMeasures[1];

// Of a test: "▲" better, "▼" worse (p < 0.01), "△", "▽" (p < 0.05), "·" neither; " " without one.
const char* mark(const TTest& test);
inline bool is_tested(const TTest& test) { return test.degrees > 0; }

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
  // One per baseline, not tested if the block does not have it; empty for a baseline.
  std::vector<TTest> tests = {};
};

struct Row {
  const CellSummary* cell = nullptr;
  std::size_t series = 0;
  std::vector<Value> values = {};  // one per measure
};

struct Block {
  std::string title;        // "Perfect · shown 5"; with the dataset if the comparison has several,
                            // likewise protocol, seed and impressions
  std::string short_title;  // the same without the dataset
  std::size_t dataset = 0;  // in Arrangement::datasets
  std::vector<Row> rows;
};

// What all cells have in common, as text: "MQ2007", or "MQ2007, MQ2008" if they differ; "125", or
// "25–125".
struct Facts {
  std::string datasets, protocols, split, runs, impressions, seeds;
  std::string line;  // "MQ2007 · described protocol · 125 runs × 10,000 impressions"
};

struct Arrangement {
  // Datasets, blocks, rows and series in the order of their first appearance. Points into
  // `comparison`, which must outlive it.
  explicit Arrangement(const Comparison& comparison);

  // The test of a row against another of its block; t is above 0 if `row` is better. None unless
  // one of them is a baseline or both are the best of their block, in this measure or another.
  [[nodiscard]] TTest between(const Row& row, const Row& other, const Measure& measure) const;
  // What the marks mean, by which test and against which baselines: "▲ better, ...; paired t-test,
  // two-tailed, uncorrected, against 1 DBGD (linear), 2 MGD (linear)". Baselines are held together
  // by U+00A0. Empty if nothing was tested.
  [[nodiscard]] std::string key() const;
  [[nodiscard]] const std::string& label(const Row& row) const { return series[row.series].label; }
  // The titles of the cell's block, less one of the surroundings.
  [[nodiscard]] std::string title(const CellSummary& cell, std::string_view without = {}) const;
  [[nodiscard]] std::string short_title(const CellSummary& cell,
                                        std::string_view without = {}) const;

  const Comparison& comparison;
  std::vector<Measure> measures;  // offline, online, then the others by first appearance
  // What was swept of the methods, by first appearance: a column of every table.
  std::vector<std::string> settings;
  // A sentence, if settings were chosen on the validation queries; otherwise empty.
  std::string selection;
  const char* test_name;  // "paired t-test"
  Facts facts;
  std::vector<Series> series;
  std::vector<std::string> datasets;
  std::vector<std::string> baselines;  // in the order of the marks; empty if nothing was tested
  std::vector<Block> blocks;           // grouped by dataset
  bool any_best = false;               // whether any value is
  std::string best_of_what;            // "of its click model", "of its dataset and click model"
};

// What a comparison says, in a few sentences computed from its numbers.

struct Finding {
  std::string lead;  // what the sentences are about: a click model
  std::vector<std::string> sentences;
};

// Raw texts, not escaped.
struct Findings {
  std::string headline;
  std::vector<Finding> findings;  // one per block; none if there are more than six
};

// Two means differ clearly if the test between them has p < 0.05. Without one, as between single
// runs, nothing is clear. Cells whose numbers are not finite take no part.
Findings find(const Arrangement& arrangement);

// The values of its settings by name; empty if the cell has no such setting.
std::string setting_value(const std::vector<SweptValue>& settings, std::string_view name);
// Gives each series a colour: the paper's six methods their own, the others the lowest that are
// free. After the last colour they start over, with the next dash.
void set_colours(std::vector<Series>& series);
// The cell's label, or one like "pdgd (linear)" if it has none.
std::string row_label(const CellSummary& cell);
// "almost_random" -> "Almost random".
std::string click_model_label(const std::string& click_model);

}  // namespace plackett::report
