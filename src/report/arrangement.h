// A comparison arranged for reading, once for every kind of output: a block for each click
// model, a row for each method and ranker, and one series (a name, a colour, a dash) for each
// method and ranker over all the blocks.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "experiment/record.h"

namespace plackett::report {

struct Series {
  std::string label;       // "PDGD (linear)"; as the data has it, not yet made safe
  std::size_t ranker = 0;  // which of the comparison's rankers, by first appearance
  std::size_t colour = 0;  // counted from 0: PDGD's series first, so that they look the same in
                           // every picture, then the others
};

struct Row {
  const CellSummary* cell = nullptr;
  std::size_t series = 0;
  // The highest mean of the block at the printed precision; several where they print the same.
  // False in a block where nothing was there to beat.
  bool best_offline = false;
  bool best_online = false;
};

struct Block {
  std::string title;  // "Perfect"; with dataset or protocol where the comparison has several
  std::vector<Row> rows;
};

struct Arrangement {
  std::vector<Series> series;
  std::vector<Block> blocks;
};

// Blocks, rows and series in the order of their first appearance.
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

// "pdgd" -> "PDGD", "pairwise" -> "Pairwise"; a name it does not know stays readable.
std::string method_label(const std::string& method);
// "PDGD (linear)".
std::string row_label(const CellSummary& cell);
// "almost_random" -> "Almost random".
std::string click_model_label(const std::string& click_model);

}  // namespace plackett::report
