#include "report/arrangement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "report/numbers.h"

namespace plackett::report {
namespace {

constexpr std::array<std::pair<std::string_view, std::size_t>, 6> kOwnColours{
    {{"PDGD (linear)", 0},
     {"PDGD (neural)", 1},
     {"MGD (linear)", 2},
     {"DBGD (linear)", 3},
     {"DBGD (neural)", 7},
     {"Pairwise (linear)", 5}}};

// The place of `value` in `seen`, to which it is added if it is new.
template <typename T>
std::size_t index_of(std::vector<T>& seen, const T& value) {
  const auto found = std::find(seen.begin(), seen.end(), value);
  const auto index = static_cast<std::size_t>(found - seen.begin());
  if (found == seen.end()) seen.push_back(value);
  return index;
}

template <typename Field>
auto distinct(const Comparison& comparison, Field CellSummary::*field) {
  std::vector<Field> seen;
  for (const CellSummary& cell : comparison.cells) index_of(seen, cell.*field);
  return seen;
}

template <typename T>
std::string range(const std::vector<T>& values) {
  if (values.empty()) return kNoNumber;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return *low == *high ? grouped(*low) : fmt::format("{}–{}", grouped(*low), grouped(*high));
}

Facts make_facts(const Comparison& comparison) {
  const auto list = [&](auto field) {
    return fmt::format("{}", fmt::join(distinct(comparison, field), ", "));
  };
  Facts facts{.datasets = list(&CellSummary::dataset),
              .protocols = list(&CellSummary::protocol),
              .runs = range(distinct(comparison, &CellSummary::runs)),
              .impressions = range(distinct(comparison, &CellSummary::impressions)),
              .seeds = comparison.cells.empty() ? kNoNumber : list(&CellSummary::seed),
              .line = {}};
  facts.line =
      fmt::format("{} · {} protocol · {} run{} × {} impressions", facts.datasets, facts.protocols,
                  facts.runs, facts.runs == "1" ? "" : "s", facts.impressions);
  return facts;
}

// Returns whether there is one.
bool mark_best(Block& block, const Measure& measure) {
  const auto printed = [&](const Row& row) {
    return std::round(row.values[measure].moments.mean * std::pow(10, measure.digits));
  };
  std::size_t rivals = 0;
  double best = -HUGE_VAL;
  for (const Row& row : block.rows) {
    if (!std::isfinite(printed(row))) continue;
    ++rivals;
    best = std::max(best, printed(row));
  }
  for (Row& row : block.rows) row.values[measure].best = rivals > 1 && printed(row) == best;
  return rivals > 1;
}

// After the last colour they start over, with the next dash.
void set_colours(std::vector<Series>& series) {
  std::vector<bool> taken(kColours + series.size(), false);
  std::vector<Series*> others;
  for (Series& one : series) {
    const auto* const own =
        std::find_if(kOwnColours.begin(), kOwnColours.end(),
                     [&](const auto& known) { return known.first == one.label; });
    if (own == kOwnColours.end()) {
      others.push_back(&one);
    } else {
      taken[one.colour = own->second] = true;
    }
  }
  std::size_t next = 0;
  for (Series* one : others) {
    while (taken[next]) ++next;
    one->dash = (one->dash + next / kColours) % kDashes;
    one->colour = next++ % kColours;
  }
}

const TTest& chosen(const Contrast& contrast, const Measure& measure, SignificanceTest test) {
  const MeasureTests& tests = contrast.*measure.tests;
  return test == SignificanceTest::kWelch ? tests.welch : tests.student;
}

}  // namespace

Against judge(const TTest& test) {
  if (!(test.degrees > 0)) return {};  // also if it is NaN
  if (!(test.p < 0.05)) return {Verdict::kNoDifference, test};
  const bool high = test.p < 0.01;
  if (test.t > 0) return {high ? Verdict::kMuchBetter : Verdict::kBetter, test};
  return {high ? Verdict::kMuchWorse : Verdict::kWorse, test};
}

const char* mark(Verdict verdict) {
  constexpr std::array<const char*, 6> kMarks{" ", "·", "△", "▲", "▽", "▼"};
  return kMarks[static_cast<std::size_t>(verdict)];
}

std::string p_text(double p) {
  if (p < 1e-300) return "p < 1e-300";
  if (p < 0.0001) return fmt::format("p = {:.1e}", p);
  return fmt::format("p = {:.{}f}", p, p < 0.01 ? 4 : p < 0.1 ? 3 : 2);
}

std::string row_label(const CellSummary& cell) {
  if (!cell.label.empty()) return cell.label;
  return cell.ranker.empty() ? cell.method : fmt::format("{} ({})", cell.method, cell.ranker);
}

std::string click_model_label(const std::string& click_model) {
  std::string label = click_model;
  std::replace(label.begin(), label.end(), '_', ' ');
  if (!label.empty() && label[0] >= 'a' && label[0] <= 'z') {
    label[0] = static_cast<char>(label[0] - 'a' + 'A');
  }
  return label;
}

Arrangement::Arrangement(const Comparison& compared, SignificanceTest marks_by)
    : comparison(compared),
      test(marks_by),
      test_name(test == SignificanceTest::kWelch ? "Welch's t-test" : "Student's t-test"),
      facts(make_facts(comparison)),
      datasets(distinct(comparison, &CellSummary::dataset)) {
  for (const CellSummary& cell : comparison.cells) {
    if (cell.baseline && !comparison.contrasts.empty()) index_of(baselines, row_label(cell));
  }
  const bool many_protocols = distinct(comparison, &CellSummary::protocol).size() > 1;
  std::vector<std::array<std::string, 3>> block_keys;
  std::vector<std::string> series_keys;
  std::vector<std::string> rankers{"linear", "neural"};
  std::vector<std::pair<std::size_t, std::size_t>> places;  // of each cell: block, row
  for (const CellSummary& cell : comparison.cells) {
    const std::size_t at = index_of(block_keys, {cell.dataset, cell.protocol, cell.click_model});
    if (at == blocks.size()) {
      Block& made = blocks.emplace_back();
      made.short_title = click_model_label(cell.click_model);
      if (many_protocols) made.short_title += " · " + cell.protocol;
      made.title = datasets.size() > 1 ? cell.dataset + " · " + made.short_title : made.short_title;
      made.dataset = index_of(datasets, cell.dataset);
    }
    const std::size_t line = index_of(series_keys, row_label(cell));
    if (line == series.size()) {
      series.push_back({row_label(cell), 0, index_of(rankers, cell.ranker) % kDashes});
    }
    Row& row = blocks[at].rows.emplace_back(Row{&cell, line});
    for (const Measure& measure : kMeasures) {
      row.values[measure].moments = cell.*measure.final;
      if (cell.runs < 2) row.values[measure].moments.std = std::nan("");
      if (!cell.baseline) row.values[measure].against.resize(baselines.size());
    }
    places.emplace_back(at, blocks[at].rows.size() - 1);
  }
  for (const Contrast& contrast : comparison.contrasts) {
    const auto [block, row] = places[contrast.cell];
    const auto found = std::find(baselines.begin(), baselines.end(),
                                 row_label(comparison.cells[contrast.baseline]));
    const auto baseline = static_cast<std::size_t>(found - baselines.begin());
    for (const Measure& measure : kMeasures) {
      auto& against = blocks[block].rows[row].values[measure].against;
      if (baseline < against.size()) against[baseline] = judge(chosen(contrast, measure, test));
    }
  }
  set_colours(series);
  for (Block& block : blocks) {
    for (const Measure& measure : kMeasures) any_best |= mark_best(block, measure);
  }
  std::stable_sort(blocks.begin(), blocks.end(), [](const Block& one, const Block& other) {
    return one.dataset < other.dataset;
  });
}

Against Arrangement::between(const Row& row, const Row& other, const Measure& measure) const {
  for (const Contrast& contrast : comparison.contrasts) {
    const CellSummary* const cell = &comparison.cells[contrast.cell];
    const CellSummary* const baseline = &comparison.cells[contrast.baseline];
    TTest found = chosen(contrast, measure, test);
    if (cell == row.cell && baseline == other.cell) return judge(found);
    if (cell != other.cell || baseline != row.cell) continue;
    found.t = -found.t;
    return judge(found);
  }
  return {};
}

std::string Arrangement::baseline_list() const {
  if (baselines.size() == 1) return baselines.front();
  std::string out;
  for (std::size_t at = 0; at < baselines.size(); ++at) {
    out += fmt::format("{}{} {}", at == 0 ? "" : ", ", at + 1, baselines[at]);
  }
  return out;
}

const char* Arrangement::best_of_what() const {
  return datasets.size() > 1 ? "of its dataset and click model" : "of its click model";
}

}  // namespace plackett::report
