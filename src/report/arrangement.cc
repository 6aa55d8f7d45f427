#include "report/arrangement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <tuple>

#include "report/numbers.h"
#include "report/text.h"

namespace plackett::report {
namespace {

// The paper's methods at the places of their colours.
constexpr std::array<std::string_view, kColours> kColourOwners{
    "PDGD (linear)", "PDGD (neural)", "MGD (linear)", "DBGD (linear)", "", "Pairwise (linear)", "",
    "DBGD (neural)"};

// The index of `value`, or the size if it is not there.
template <typename List, typename T>
std::size_t place_of(const List& list, const T& value) {
  return static_cast<std::size_t>(std::find(list.begin(), list.end(), value) - list.begin());
}

// The index of `value` in `seen`, to which it is added if it is new.
template <typename T>
std::size_t index_of(std::vector<T>& seen, const T& value) {
  const std::size_t index = place_of(seen, value);
  if (index == seen.size()) seen.push_back(value);
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
    return std::round(row.values[measure.index].moments.mean * std::pow(10, measure.digits));
  };
  std::vector<double> means;
  for (const Row& row : block.rows) {
    if (std::isfinite(printed(row))) means.push_back(printed(row));
  }
  if (means.size() < 2) return false;
  const double best = *std::max_element(means.begin(), means.end());
  for (Row& row : block.rows) row.values[measure.index].best = printed(row) == best;
  return true;
}

// After the last colour they start over, with the next dash.
void set_colours(std::vector<Series>& series) {
  std::vector<bool> taken(kColours + series.size(), false);
  for (Series& one : series) {
    one.colour = place_of(kColourOwners, one.label);
    if (one.colour < kColours) taken[one.colour] = true;
  }
  std::size_t next = 0;
  for (Series& one : series) {
    if (one.colour < kColours) continue;
    while (taken[next]) ++next;
    one.dash = (one.dash + next / kColours) % kDashes;
    one.colour = next++ % kColours;
  }
}

// What a report needs to know of a test.
struct TestKind {
  SignificanceTest test;
  const char* name;
  TTest MeasureTests::*result;
};
constexpr std::array<TestKind, 3> kTests{
    {{SignificanceTest::kPaired, "paired t-test", &MeasureTests::paired},
     {SignificanceTest::kWelch, "Welch's t-test", &MeasureTests::welch},
     {SignificanceTest::kStudent, "Student's t-test", &MeasureTests::student}}};

const TestKind& kind_of(SignificanceTest test) {
  return *std::find_if(kTests.begin(), kTests.end(),
                       [test](const TestKind& kind) { return kind.test == test; });
}

TTest chosen(const Contrast& contrast, const Measure& measure, SignificanceTest test) {
  const TTest& found = (contrast.*measure.tests).*kind_of(test).result;
  return is_tested(found) ? found : TTest{};
}

}  // namespace

const char* mark(const TTest& test) {
  if (!is_tested(test)) return " ";
  if (!(test.p < 0.05)) return "·";  // also if it is NaN
  if (test.t > 0) return test.p < 0.01 ? "▲" : "△";
  return test.p < 0.01 ? "▼" : "▽";
}

std::string row_label(const CellSummary& cell) {
  if (!cell.label.empty()) return cell.label;
  return cell.ranker.empty() ? cell.method : fmt::format("{} ({})", cell.method, cell.ranker);
}

std::string click_model_label(const std::string& click_model) {
  return capitalised(replaced(click_model, "_", " "));
}

Arrangement::Arrangement(const Comparison& compared)
    : comparison(compared),
      test_name(kind_of(comparison.test).name),
      facts(make_facts(comparison)),
      datasets(distinct(comparison, &CellSummary::dataset)),
      best_of_what(datasets.size() > 1 ? "of its dataset and click model" : "of its click model") {
  for (const CellSummary& cell : comparison.cells) {
    if (cell.baseline && !comparison.contrasts.empty()) index_of(baselines, row_label(cell));
  }
  const auto several = [&](auto field) { return distinct(comparison, field).size() > 1; };
  const bool many_protocols = several(&CellSummary::protocol);
  const bool many_seeds = several(&CellSummary::seed);
  const bool many_impressions = several(&CellSummary::impressions);
  using Key = std::tuple<std::string, std::string, std::string, std::uint64_t, std::uint64_t>;
  std::vector<Key> block_keys;
  std::vector<std::string> labels, rankers{"linear", "neural"};
  for (const CellSummary& cell : comparison.cells) {
    const std::size_t block = index_of(
        block_keys, {cell.dataset, cell.protocol, cell.click_model, cell.seed, cell.impressions});
    if (block == blocks.size()) {
      Block& made = blocks.emplace_back();
      made.short_title = click_model_label(cell.click_model);
      if (many_protocols) made.short_title += " · " + cell.protocol;
      if (many_seeds) made.short_title += fmt::format(" · seed {}", cell.seed);
      if (many_impressions) {
        made.short_title += fmt::format(" · {} impressions", grouped(cell.impressions));
      }
      made.title = datasets.size() > 1 ? cell.dataset + " · " + made.short_title : made.short_title;
      made.dataset = index_of(datasets, cell.dataset);
    }
    const std::size_t line = index_of(labels, row_label(cell));
    const std::size_t dash = index_of(rankers, cell.ranker) % kDashes;
    if (line == series.size()) series.push_back({labels[line], 0, dash});
    Row& row = blocks[block].rows.emplace_back(Row{&cell, line});
    for (const Measure& measure : kMeasures) {
      row.values[measure.index].moments = cell.*measure.final;
      if (cell.runs < 2) row.values[measure.index].moments.std = std::nan("");
      if (!cell.baseline) row.values[measure.index].tests.resize(baselines.size());
    }
    for (const Contrast& contrast : comparison.contrasts) {
      if (&comparison.cells[contrast.cell] != &cell || cell.baseline) continue;
      const std::size_t at = place_of(baselines, row_label(comparison.cells[contrast.baseline]));
      for (const Measure& measure : kMeasures) {
        auto& tests = row.values[measure.index].tests;
        if (at < tests.size()) tests[at] = chosen(contrast, measure, comparison.test);
      }
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

TTest Arrangement::between(const Row& row, const Row& other, const Measure& measure) const {
  for (const auto* contrasts : {&comparison.contrasts, &comparison.leaders}) {
    for (const Contrast& contrast : *contrasts) {
      const CellSummary* const cell = &comparison.cells[contrast.cell];
      const CellSummary* const baseline = &comparison.cells[contrast.baseline];
      TTest test = chosen(contrast, measure, comparison.test);
      if (cell == row.cell && baseline == other.cell) return test;
      if (cell != other.cell || baseline != row.cell) continue;
      test.t = -test.t;
      test.difference = -test.difference;
      return test;
    }
  }
  return {};
}

std::string Arrangement::key() const {
  if (baselines.empty()) return "";
  std::vector<std::string> names;
  for (const std::string& name : baselines) {
    const std::string number = fmt::format("{} ", names.size() + 1);
    names.push_back(baselines.size() > 1 ? number + name : name);
  }
  const std::string list = replaced(fmt::format("{}", fmt::join(names, ", ")), " ", "\u00A0");
  return fmt::format(
      "▲ better, ▼ worse (p < 0.01), △ ▽ (p < 0.05), · neither; {}, two-tailed, uncorrected, "
      "against {}",
      test_name, replaced(list, ",\u00A0", ", "));
}

}  // namespace plackett::report
