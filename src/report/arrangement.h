// A comparison arranged for reading, once for every kind of output: a block for each click model
// of a dataset, a row for each method, and one series (a name, a colour, a dash) for each method
// over all the blocks.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "plackett/record.h"
#include "report/measure.h"

namespace plackett::report {

struct Series {
  std::string label;       // "PDGD (linear)"; as the data has it, not yet made safe
  std::size_t ranker = 0;  // 0 linear, 1 neural, then others by first appearance
  // The paper's six methods have colours of their own, the same in every picture; the others take
  // the lowest that are free.
  std::size_t colour = 0;
};

struct Row {
  const CellSummary* cell = nullptr;
  std::size_t series = 0;
  // The highest mean of the block at the printed precision; several where they print the same.
  // False in a block where nothing was there to beat.
  bool best_offline = false;
  bool best_online = false;

  [[nodiscard]] bool best(const Measure& measure) const {
    return measure.metric == Metric::kOffline ? best_offline : best_online;
  }
};

struct Block {
  std::string title;        // "Perfect"; with dataset or protocol where the comparison has several
  std::string short_title;  // the same without the dataset
  std::size_t dataset = 0;  // in Arrangement::datasets
  std::vector<Row> rows;
};

struct Arrangement {
  std::vector<Series> series;
  std::vector<std::string> datasets;
  std::vector<Block> blocks;  // those of a dataset stand together
};

// Datasets, blocks, rows and series in the order of their first appearance.
// The result points into `comparison`, which must outlive it.
Arrangement arrange(const Comparison& comparison);

// What all the cells have in common, one text each, ready to be read: "MQ2007", or
// "MQ2007, MQ2008" where they differ; "125", or "25–125".
struct Facts {
  std::string datasets;
  std::string protocols;
  std::string runs;
  std::string impressions;
  std::string seeds;
};
Facts facts(const Comparison& comparison);
// "125 runs", "1 run".
std::string runs_text(const Facts& facts);

// "pdgd" -> "PDGD", "pairwise" -> "Pairwise"; a name it does not know stays readable.
std::string method_label(const std::string& method);
// The cell's label, or one like "PDGD (linear)" where it has none.
std::string row_label(const CellSummary& cell);
// "almost_random" -> "Almost random".
std::string click_model_label(const std::string& click_model);

}  // namespace plackett::report
