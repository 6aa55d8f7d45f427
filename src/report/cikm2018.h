// The results that the paper published (Oosterhuis and de Rijke, CIKM 2018, tables 2 and 3), as
// facts to compare with.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "plackett/record.h"

namespace plackett::report {

inline constexpr std::uint32_t kPublishedRuns = 125;
inline constexpr std::uint64_t kPublishedImpressions = 10'000;

inline constexpr std::array<std::string_view, 5> kPublishedDatasets{
    "MQ2007", "MQ2008", "MSLR-WEB10K", "Yahoo", "Istella"};

// One method under one click model: a mean and a deviation for each of kPublishedDatasets.
struct PublishedRow {
  std::string_view click_model;  // "perfect"
  std::string_view method;       // "pdgd"
  std::string_view ranker;       // "linear"
  std::string_view label;        // "PDGD (linear)": the method with its default settings
  std::array<Moments, kPublishedDatasets.size()> offline;  // NDCG@10, to three decimals
  std::array<Moments, kPublishedDatasets.size()> online;   // discounted sum, to one decimal
};

// In the order of the tables: click models, and methods within them.
std::span<const PublishedRow> published_rows();

// Which of kPublishedDatasets the name means, or their count: upper and lower case, punctuation
// and spaces don't count, and usual other names ("MSLR10K", "Yahoo set 1") are known.
std::size_t published_dataset(std::string_view name);

// What the paper has for a cell's setting, or null: the dataset is one of the paper's, the click
// model too, the runs have 10,000 impressions, and the method is one of its six as the paper has
// it. Results of the cell, its protocol and its number of runs don't
// matter.
struct PublishedCell {
  const Moments* offline = nullptr;
  const Moments* online = nullptr;
};
PublishedCell published_cell(const CellSummary& cell);

}  // namespace plackett::report
