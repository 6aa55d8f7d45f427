// The results that the paper published (Oosterhuis and de Rijke, CIKM 2018, tables 2 and 3), to
// compare with.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "plackett/record.h"
#include "report/measure.h"

namespace plackett::report {

inline constexpr std::uint32_t kPublishedRuns = 125;
inline constexpr std::uint64_t kPublishedImpressions = 10'000;

inline constexpr std::array<std::string_view, 5> kPublishedDatasets{
    "MQ2007", "MQ2008", "MSLR-WEB10K", "Yahoo", "Istella"};

// One method under one click model: a mean and a deviation for each of kPublishedDatasets.
struct PublishedRow {
  std::string_view click_model;                            // "perfect"
  std::string_view method;                                 // "pdgd"
  std::string_view ranker;                                 // "linear"
  std::array<Moments, kPublishedDatasets.size()> offline;  // NDCG@10, to three decimals
  std::array<Moments, kPublishedDatasets.size()> online;   // discounted sum, to one decimal
};

// In the order of the tables: click models, and methods within them.
std::span<const PublishedRow> published_rows();

// The index of the dataset in kPublishedDatasets, or their number if it is none of them. Ignores
// case, punctuation and spaces, and knows other usual names ("MSLR10K", "Yahoo set 1").
std::size_t published_dataset(std::string_view name);

// What the paper has for a cell's setting; null if it has nothing: the dataset and the click model
// are the paper's, the runs have 10,000 impressions, and the method is one of its six with the
// paper's settings. The cell's results, protocol and number of runs do not matter.
const Moments* published(const CellSummary& cell, const Measure& measure);

}  // namespace plackett::report
