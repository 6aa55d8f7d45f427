#include "report/arrangement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>

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

// The element of that name; null if there is none.
template <typename T>
const T* named(const std::vector<T>& list, std::string_view name) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const T& one) { return one.name == name; });
  return found == list.end() ? nullptr : &*found;
}

constexpr Moments kUnknown{std::numeric_limits<double>::quiet_NaN(),
                           std::numeric_limits<double>::quiet_NaN()};

// The surroundings that have a place of their own in a block's title.
constexpr std::array<std::string_view, 4> kShownApart{"protocol", "split", "seed", "impressions"};

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

// "test", "validation", or "held-out" if there are several. Static storage.
std::string_view split_of(const Comparison& comparison) {
  const auto splits = distinct(comparison, &CellSummary::split);
  if (splits.size() > 1) return "held-out";
  return splits.empty() || splits.front() == "test" ? "test" : "validation";
}

Facts make_facts(const Comparison& comparison) {
  const auto list = [&](auto field) {
    return fmt::format("{}", fmt::join(distinct(comparison, field), ", "));
  };
  Facts facts{.datasets = list(&CellSummary::dataset),
              .protocols = list(&CellSummary::protocol),
              .split = std::string(split_of(comparison)),
              .runs = range(distinct(comparison, &CellSummary::runs)),
              .impressions = range(distinct(comparison, &CellSummary::impressions)),
              .seeds = comparison.cells.empty() ? kNoNumber : list(&CellSummary::seed),
              .line = {}};
  facts.line = fmt::format("{} · {} protocol · {} run{} × {} impression{}", facts.datasets,
                           facts.protocols, facts.runs, facts.runs == "1" ? "" : "s",
                           facts.impressions, facts.impressions == "1" ? "" : "s");
  if (facts.split != "test") facts.line += fmt::format(" · {} queries", facts.split);
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
  const TTest found = measure.tests(contrast).*kind_of(test).result;
  return is_tested(found) ? found : TTest{};
}

}  // namespace

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

std::string Measure::column() const {
  return fmt::format("{} {}", is_online ? "online" : "offline", metric);
}

std::string Measure::title() const { return capitalised(column()); }

std::string Measure::about() const {
  return is_online ? title() + ", discounted sum"
                   : fmt::format("{} on the {} queries", metric, split);
}

Moments Measure::final(const CellSummary& cell) const {
  if (index == kOffline.index) return cell.offline;
  if (index == kOnline.index) return cell.online;
  const MetricSummary* const found = named(cell.metrics, name);
  return found == nullptr ? kUnknown : found->final;
}

Moments Measure::at(const CellSummary& cell, std::size_t point) const {
  if (index == kOffline.index) return cell.curve[point].offline;
  if (index == kOnline.index) return cell.curve[point].online;
  const MetricSummary* const found = named(cell.metrics, name);
  return found == nullptr || point >= found->curve.size() ? kUnknown : found->curve[point];
}

MeasureTests Measure::tests(const Contrast& contrast) const {
  if (index == kOffline.index) return contrast.offline;
  if (index == kOnline.index) return contrast.online;
  const MetricTests* const found = named(contrast.metrics, name);
  return found == nullptr ? MeasureTests{} : found->tests;
}

std::string setting_value(const std::vector<SweptValue>& settings, std::string_view name) {
  const SweptValue* const found = named(settings, name);
  return found == nullptr ? "" : found->value;
}

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
      measures(kPaperMeasures.begin(), kPaperMeasures.end()),
      test_name(kind_of(comparison.test).name),
      facts(make_facts(comparison)),
      datasets(distinct(comparison, &CellSummary::dataset)),
      best_of_what(datasets.size() > 1 ? "of its dataset and click model" : "of its click model") {
  if (std::any_of(comparison.cells.begin(), comparison.cells.end(),
                  [](const CellSummary& cell) { return cell.selected; })) {
    selection =
        "Settings were chosen for each fold on its validation queries; offline numbers are of the "
        "test queries.";
  }
  measures[kOffline.index].split = split_of(comparison);
  bool any_surroundings = false;
  for (const CellSummary& cell : comparison.cells) {
    if (cell.baseline && !comparison.contrasts.empty()) index_of(baselines, row_label(cell));
    for (const SweptValue& one : cell.swept) index_of(settings, one.name);
    for (const MetricSummary& metric : cell.metrics) {
      if (named(measures, metric.name) != nullptr) continue;
      measures.push_back({.index = measures.size(),
                          .name = metric.name,
                          .metric = metric.name,
                          .split = split_of(comparison)});
    }
    any_surroundings |= !cell.surroundings.empty();
  }
  if (any_surroundings) {
    best_of_what = replaced(best_of_what, " and ", ", ") + " and setting";
  }
  std::map<decltype(block_of(comparison.cells.front())), std::size_t> block_numbers;
  std::map<const CellSummary*, std::vector<const Contrast*>> contrasts;
  for (const Contrast& contrast : comparison.contrasts) {
    contrasts[&comparison.cells[contrast.cell]].push_back(&contrast);
  }
  std::vector<std::string> labels, rankers{"linear", "neural"};
  for (const CellSummary& cell : comparison.cells) {
    const std::size_t block =
        block_numbers.try_emplace(block_of(cell), block_numbers.size()).first->second;
    if (block == blocks.size()) {
      Block& made = blocks.emplace_back();
      made.title = title(cell);
      made.short_title = short_title(cell);
      made.dataset = index_of(datasets, cell.dataset);
    }
    const std::size_t line = index_of(labels, row_label(cell));
    const std::size_t dash = index_of(rankers, cell.ranker) % kDashes;
    if (line == series.size()) series.push_back({labels[line], 0, dash});
    Row& row = blocks[block].rows.emplace_back(Row{&cell, line});
    for (const Measure& measure : measures) {
      Value& value = row.values.emplace_back();
      value.moments = measure.final(cell);
      if (cell.runs < 2) value.moments.std = std::nan("");
      if (!cell.baseline) value.tests.resize(baselines.size());
    }
    for (const Contrast* contrast : contrasts[&cell]) {
      if (cell.baseline) continue;
      const std::size_t at = place_of(baselines, row_label(comparison.cells[contrast->baseline]));
      for (const Measure& measure : measures) {
        auto& tests = row.values[measure.index].tests;
        if (at < tests.size()) tests[at] = chosen(*contrast, measure, comparison.test);
      }
    }
  }
  set_colours(series);
  for (Block& block : blocks) {
    for (const Measure& measure : measures) any_best |= mark_best(block, measure);
  }
  std::stable_sort(blocks.begin(), blocks.end(), [](const Block& one, const Block& other) {
    return one.dataset < other.dataset;
  });
}

std::string Arrangement::short_title(const CellSummary& cell, std::string_view without) const {
  const auto several = [&](auto field, std::string_view name) {
    return name != without && distinct(comparison, field).size() > 1;
  };
  std::string out = click_model_label(cell.click_model);
  if (several(&CellSummary::protocol, "protocol")) out += " · " + cell.protocol;
  if (several(&CellSummary::split, "split")) out += fmt::format(" · {} queries", cell.split);
  if (several(&CellSummary::seed, "seed")) out += fmt::format(" · seed {}", cell.seed);
  if (several(&CellSummary::impressions, "impressions")) {
    out += fmt::format(" · {} impressions", grouped(cell.impressions));
  }
  for (const auto& [name, value] : cell.surroundings) {
    const bool is_shown = place_of(kShownApart, name) < kShownApart.size();
    if (!is_shown && name != without) out += fmt::format(" · {} {}", name, value);
  }
  return out;
}

std::string Arrangement::title(const CellSummary& cell, std::string_view without) const {
  const std::string out = short_title(cell, without);
  return datasets.size() > 1 ? cell.dataset + " · " + out : out;
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
    names.push_back(replaced(baselines.size() > 1 ? number + name : name, " ", "\u00A0"));
  }
  return fmt::format(
      "▲ better, ▼ worse (p < 0.01), △ ▽ (p < 0.05), · neither; {}, two-tailed, uncorrected, "
      "against {}",
      test_name, fmt::join(names, ", "));
}

}  // namespace plackett::report
