#include "report/arrangement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "report/numbers.h"

namespace plackett::report {
namespace {

constexpr std::array<std::string_view, 4> kAcronyms{"pdgd", "dbgd", "mgd", "pmgd"};

void capitalise(std::string& text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') {
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  }
}

template <typename T>
std::size_t index_of(std::vector<T>& seen, const T& value) {
  const auto found = std::find(seen.begin(), seen.end(), value);
  const auto index = static_cast<std::size_t>(found - seen.begin());
  if (found == seen.end()) seen.push_back(value);
  return index;
}

template <typename T, typename Get>
std::vector<T> distinct(const Comparison& comparison, Get get) {
  std::vector<T> seen;
  for (const CellSummary& cell : comparison.cells) index_of<T>(seen, get(cell));
  return seen;
}

void mark_best(Block& block, const Measure& measure, bool Row::*mark) {
  const auto printed = [&](const Row& row) {
    return std::round((row.cell->*measure.final).mean * std::pow(10, measure.digits));
  };
  std::size_t rivals = 0;
  double best = -HUGE_VAL;
  for (const Row& row : block.rows) {
    if (!std::isfinite(printed(row))) continue;
    ++rivals;
    best = std::max(best, printed(row));
  }
  for (Row& row : block.rows) row.*mark = rivals > 1 && printed(row) == best;
}

struct OwnColour {
  std::string_view label;
  std::size_t colour;
};
constexpr std::array<OwnColour, 6> kOwnColours{{{"PDGD (linear)", 0},
                                                {"PDGD (neural)", 1},
                                                {"MGD (linear)", 2},
                                                {"DBGD (linear)", 3},
                                                {"DBGD (neural)", 7},
                                                {"Pairwise (linear)", 5}}};

void give_colours(std::vector<Series>& series) {
  std::vector<bool> taken(8 + series.size(), false);
  std::vector<Series*> others;
  for (Series& one : series) {
    const auto* const own =
        std::find_if(kOwnColours.begin(), kOwnColours.end(),
                     [&](const OwnColour& known) { return known.label == one.label; });
    if (own == kOwnColours.end()) {
      others.push_back(&one);
    } else {
      one.colour = own->colour;
      taken[one.colour] = true;
    }
  }
  std::size_t next = 0;
  for (Series* one : others) {
    while (taken[next]) ++next;
    one->colour = next++;
  }
}

std::string joined(const std::vector<std::string>& values) {
  return fmt::format("{}", fmt::join(values, ", "));
}

std::string range(const std::vector<std::uint64_t>& values) {
  if (values.empty()) return kNoNumber;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return *low == *high ? grouped(*low) : fmt::format("{}–{}", grouped(*low), grouped(*high));
}

}  // namespace

std::string method_label(const std::string& method) {
  std::string label;
  for (std::size_t start = 0; start <= method.size();) {
    const std::size_t end = std::min(method.find('_', start), method.size());
    std::string word = method.substr(start, end - start);
    if (std::find(kAcronyms.begin(), kAcronyms.end(), word) != kAcronyms.end()) {
      for (char& letter : word) letter = static_cast<char>(letter - 'a' + 'A');
    }
    if (start > 0) label += ' ';
    label += word;
    start = end + 1;
  }
  capitalise(label);
  return label;
}

std::string row_label(const CellSummary& cell) {
  if (!cell.label.empty()) return cell.label;
  const std::string method = method_label(cell.method);
  return cell.ranker.empty() ? method : fmt::format("{} ({})", method, cell.ranker);
}

std::string click_model_label(const std::string& click_model) {
  std::string label = click_model;
  std::replace(label.begin(), label.end(), '_', ' ');
  capitalise(label);
  return label;
}

Arrangement arrange(const Comparison& comparison) {
  const auto name = [](std::string CellSummary::*field) {
    return [field](const CellSummary& cell) { return cell.*field; };
  };
  Arrangement arrangement;
  arrangement.datasets = distinct<std::string>(comparison, name(&CellSummary::dataset));
  const bool many_datasets = arrangement.datasets.size() > 1;
  const bool many_protocols =
      distinct<std::string>(comparison, name(&CellSummary::protocol)).size() > 1;

  std::vector<std::array<std::string, 3>> block_keys;
  std::vector<std::string> series_keys;
  std::vector<std::string> rankers{"linear", "neural"};
  for (const CellSummary& cell : comparison.cells) {
    const std::size_t block = index_of(block_keys, {cell.dataset, cell.protocol, cell.click_model});
    if (block == arrangement.blocks.size()) {
      Block& made = arrangement.blocks.emplace_back();
      made.short_title = click_model_label(cell.click_model);
      if (many_protocols) made.short_title += " · " + cell.protocol;
      made.title = many_datasets ? cell.dataset + " · " + made.short_title : made.short_title;
      made.dataset = index_of(arrangement.datasets, cell.dataset);
    }
    const std::size_t series = index_of(series_keys, row_label(cell));
    if (series == arrangement.series.size()) {
      arrangement.series.push_back({row_label(cell), index_of(rankers, cell.ranker), 0});
    }
    arrangement.blocks[block].rows.push_back({&cell, series});
  }
  give_colours(arrangement.series);
  for (Block& block : arrangement.blocks) {
    mark_best(block, kOffline, &Row::best_offline);
    mark_best(block, kOnline, &Row::best_online);
  }
  std::stable_sort(
      arrangement.blocks.begin(), arrangement.blocks.end(),
      [](const Block& one, const Block& other) { return one.dataset < other.dataset; });
  return arrangement;
}

Facts facts(const Comparison& comparison) {
  const auto texts = [&](std::string CellSummary::*field) {
    return joined(
        distinct<std::string>(comparison, [field](const CellSummary& c) { return c.*field; }));
  };
  const auto seeds = distinct<std::uint64_t>(comparison, [](const auto& c) { return c.seed; });
  return {
      .datasets = texts(&CellSummary::dataset),
      .protocols = texts(&CellSummary::protocol),
      .runs =
          range(distinct<std::uint64_t>(comparison, [](const CellSummary& c) { return c.runs; })),
      .impressions = range(
          distinct<std::uint64_t>(comparison, [](const CellSummary& c) { return c.impressions; })),
      .seeds = seeds.empty() ? kNoNumber : fmt::format("{}", fmt::join(seeds, ", ")),
  };
}

std::string runs_text(const Facts& facts) {
  return fmt::format("{} run{}", facts.runs, facts.runs == "1" ? "" : "s");
}

}  // namespace plackett::report
