// The numbers of the paper, and which cells they belong to.
#include <algorithm>
#include <array>
#include <string_view>

#include "report/scorecard.h"

namespace plackett::report {
namespace {

// From left to right: MQ2007, MQ2008, MSLR-WEB10K, Yahoo, Istella. First offline, NDCG@10 to three
// decimals, then online, the discounted sum to one.
// clang-format off
constexpr std::array<PublishedRow, 18> kRows{{
    {"perfect", "dbgd", "linear",
     {{{0.483, 0.023}, {0.683, 0.024}, {0.331, 0.010}, {0.684, 0.010}, {0.448, 0.014}},
      {{675.7, 21.8}, {843.6, 40.8}, {533.6, 15.6}, {1159.3, 31.6}, {589.9, 19.2}}}},
    {"perfect", "dbgd", "neural",
     {{{0.463, 0.025}, {0.670, 0.026}, {0.319, 0.014}, {0.676, 0.016}, {0.429, 0.017}},
      {{602.7, 58.1}, {776.9, 67.4}, {481.2, 53.0}, {1135.7, 41.3}, {494.3, 60.5}}}},
    {"perfect", "mgd", "linear",
     {{{0.494, 0.022}, {0.690, 0.019}, {0.333, 0.003}, {0.714, 0.002}, {0.496, 0.004}},
      {{689.6, 15.3}, {858.6, 40.6}, {558.7, 6.4}, {1203.9, 9.9}, {670.9, 8.6}}}},
    {"perfect", "pairwise", "linear",
     {{{0.479, 0.022}, {0.674, 0.017}, {0.315, 0.003}, {0.709, 0.001}, {0.252, 0.002}},
      {{458.4, 13.3}, {616.6, 25.8}, {345.3, 4.6}, {1027.2, 9.2}, {64.5, 2.1}}}},
    {"perfect", "pdgd", "linear",
     {{{0.511, 0.017}, {0.699, 0.024}, {0.427, 0.005}, {0.736, 0.004}, {0.573, 0.004}},
      {{797.3, 17.3}, {959.7, 43.4}, {691.4, 12.3}, {1360.3, 10.8}, {957.5, 9.4}}}},
    {"perfect", "pdgd", "neural",
     {{{0.509, 0.020}, {0.698, 0.024}, {0.430, 0.006}, {0.733, 0.005}, {0.575, 0.006}},
      {{743.7, 18.8}, {925.4, 43.3}, {619.2, 13.6}, {1319.6, 10.1}, {834.0, 22.2}}}},
    {"navigational", "dbgd", "linear",
     {{{0.461, 0.025}, {0.670, 0.025}, {0.319, 0.011}, {0.661, 0.023}, {0.401, 0.015}},
      {{638.6, 29.7}, {816.9, 42.0}, {508.2, 21.6}, {1129.9, 32.2}, {538.2, 29.0}}}},
    {"navigational", "dbgd", "neural",
     {{{0.430, 0.033}, {0.646, 0.031}, {0.304, 0.019}, {0.649, 0.029}, {0.382, 0.024}},
      {{573.7, 68.4}, {740.3, 69.7}, {465.8, 52.0}, {1116.0, 45.7}, {414.3, 96.2}}}},
    {"navigational", "mgd", "linear",
     {{{0.426, 0.020}, {0.662, 0.015}, {0.321, 0.003}, {0.706, 0.009}, {0.405, 0.004}},
      {{635.9, 14.7}, {824.5, 34.0}, {538.1, 7.6}, {1181.7, 20.0}, {593.2, 9.7}}}},
    {"navigational", "pairwise", "linear",
     {{{0.476, 0.022}, {0.677, 0.018}, {0.312, 0.003}, {0.696, 0.004}, {0.209, 0.002}},
      {{459.9, 12.9}, {618.6, 25.2}, {347.3, 5.4}, {1031.2, 9.0}, {72.6, 2.2}}}},
    {"navigational", "pdgd", "linear",
     {{{0.496, 0.019}, {0.695, 0.021}, {0.406, 0.015}, {0.725, 0.005}, {0.540, 0.008}},
      {{703.0, 17.9}, {903.1, 40.7}, {578.1, 16.0}, {1298.4, 33.4}, {704.1, 33.5}}}},
    {"navigational", "pdgd", "neural",
     {{{0.493, 0.020}, {0.692, 0.019}, {0.386, 0.019}, {0.722, 0.006}, {0.532, 0.011}},
      {{560.9, 14.6}, {788.7, 38.5}, {448.1, 12.3}, {1176.1, 17.0}, {390.2, 35.1}}}},
    {"informational", "dbgd", "linear",
     {{{0.411, 0.036}, {0.631, 0.036}, {0.299, 0.017}, {0.620, 0.035}, {0.360, 0.028}},
      {{584.2, 41.1}, {757.4, 56.9}, {477.2, 32.2}, {1110.0, 37.0}, {436.8, 57.4}}}},
    {"informational", "dbgd", "neural",
     {{{0.383, 0.047}, {0.595, 0.053}, {0.276, 0.033}, {0.603, 0.040}, {0.316, 0.057}},
      {{550.8, 75.7}, {720.9, 79.0}, {444.7, 60.9}, {1091.2, 48.6}, {322.9, 121.0}}}},
    {"informational", "mgd", "linear",
     {{{0.406, 0.021}, {0.647, 0.036}, {0.318, 0.003}, {0.676, 0.043}, {0.387, 0.005}},
      {{618.8, 21.7}, {815.1, 44.5}, {540.0, 7.7}, {1159.1, 40.0}, {581.8, 10.7}}}},
    {"informational", "pairwise", "linear",
     {{{0.478, 0.022}, {0.677, 0.018}, {0.311, 0.003}, {0.690, 0.006}, {0.183, 0.001}},
      {{462.6, 14.4}, {619.6, 25.0}, {349.7, 6.6}, {1034.1, 9.0}, {77.0, 2.4}}}},
    {"informational", "pdgd", "linear",
     {{{0.487, 0.021}, {0.690, 0.022}, {0.368, 0.025}, {0.713, 0.008}, {0.532, 0.010}},
      {{704.8, 30.5}, {907.9, 42.0}, {567.3, 36.5}, {1266.7, 50.0}, {731.5, 80.0}}}},
    {"informational", "pdgd", "neural",
     {{{0.483, 0.022}, {0.686, 0.022}, {0.355, 0.021}, {0.709, 0.009}, {0.525, 0.012}},
      {{594.6, 23.0}, {818.3, 39.6}, {470.1, 19.4}, {1178.1, 22.8}, {484.3, 64.8}}}},
}};
// clang-format on

constexpr std::array<std::string_view, kPublishedDatasets> kNames{"MQ2007", "MQ2008", "MSLR-WEB10K",
                                                                  "Yahoo set1", "Istella"};

}  // namespace

std::span<const PublishedRow> published_rows() { return kRows; }

std::size_t published_dataset(std::string_view name) {
  return static_cast<std::size_t>(std::find(kNames.begin(), kNames.end(), name) - kNames.begin());
}

const Moments* published(const CellSummary& cell, const Measure& measure) {
  const std::size_t dataset = published_dataset(cell.published_data);
  if (dataset == kPublishedDatasets || cell.impressions != kPublishedImpressions ||
      !cell.as_in_paper) {
    return nullptr;
  }
  const auto row = std::find_if(kRows.begin(), kRows.end(), [&](const PublishedRow& one) {
    return one.click_model == cell.click_model && one.method == cell.method &&
           one.ranker == cell.ranker;
  });
  return row == kRows.end() ? nullptr : &row->values[measure.index][dataset];
}

}  // namespace plackett::report
