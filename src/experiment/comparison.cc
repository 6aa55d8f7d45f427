// From finished runs to what reports show.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "dataset/known_grades.h"
#include "experiment/contrasts.h"
#include "experiment/drift_measures.h"
#include "experiment/spec_parts.h"
#include "experiment/stored_cells.h"
#include "plackett/method.h"
#include "plackett/results.h"
#include "plackett/simulate.h"

namespace plackett {
namespace {

std::string title_of(const StoredResults& stored) {
  if (!stored.spec.title.empty()) return stored.spec.title;
  std::vector<std::string> names;
  for (const StoredCell& cell : stored.cells) {
    const std::string& name = cell.dataset.name;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return fmt::format("Learning to rank from clicks on {}", fmt::join(names, ", "));
}

void add_times(const std::vector<RunTiming>& timings, CellSummary& cell) {
  double thread_seconds = 0;
  double evaluation_seconds = 0;
  for (const RunTiming& timing : timings) {
    thread_seconds += timing.seconds;
    evaluation_seconds += timing.evaluation_seconds;
    cell.seconds += timing.seconds / timing.threads;
  }
  if (thread_seconds <= 0 || cell.seconds <= 0) return;
  cell.evaluation_share = evaluation_seconds / thread_seconds;
  cell.impressions_per_second =
      static_cast<double>(timings.size()) * static_cast<double>(cell.impressions) / cell.seconds;
}

// Requires: at least one finished run.
CellSummary summarise_cell(const StoredCell& stored, bool with_times) {
  SimulationSpec simulation = stored.simulation;
  std::vector<RunRecord> records;
  std::vector<RunTiming> timings;
  for (const auto& [number, run] : stored.runs) {
    simulation.click_model = run.user;
    records.push_back(run.record);
    records.back().seconds = 0;
    records.back().evaluation_seconds = 0;
    const auto timing = stored.timings.find(number);
    if (timing != stored.timings.end()) timings.push_back(timing->second);
  }
  const ComparedDataset& data = stored.dataset;
  CellSummary cell = summarise(simulation, data.name, records);
  cell.published_data = stored.runs.begin()->second.published;
  cell.family = stored.family;
  cell.swept = stored.swept;
  cell.surroundings = stored.surroundings;
  cell.as_in_paper = cell.as_in_paper && data.scaling == Scaling::kQueryMinMax &&
                     !data.keep_constant_features && !is_synthetic(data.path);
  if (with_times) add_times(timings, cell);
  return cell;
}

// The runs that all of these cells have and have validated, by fold.
std::map<std::uint32_t, std::vector<std::uint32_t>> common_runs(
    const std::vector<const StoredCell*>& cells) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> runs;
  for (const auto& [number, run] : cells.front()->runs) {
    const bool in_all = std::all_of(cells.begin(), cells.end(), [number](const StoredCell* cell) {
      const auto found = cell->runs.find(number);
      return found != cell->runs.end() && std::isfinite(found->second.record.validation);
    });
    if (in_all) runs[run.record.fold].push_back(number);
  }
  return runs;
}

// The one that did best on the validation queries in these runs; of equal ones the first.
const StoredCell* best_validated(const std::vector<const StoredCell*>& cells,
                                 const std::vector<std::uint32_t>& runs) {
  const auto sum = [&runs](const StoredCell* cell) {
    double total = 0;
    for (const std::uint32_t run : runs) total += cell->runs.at(run).record.validation;
    return total;
  };
  return *std::max_element(
      cells.begin(), cells.end(),
      [&](const StoredCell* one, const StoredCell* other) { return sum(one) < sum(other); });
}

// "0.1", or "0.1 in 3 folds, 0.01 in 2".
std::string chosen_text(const std::vector<const StoredCell*>& by_fold, std::size_t setting) {
  std::vector<std::pair<std::string, int>> counts;
  for (const StoredCell* cell : by_fold) {
    const std::string& value = cell->swept[setting].value;
    const auto found = std::find_if(counts.begin(), counts.end(),
                                    [&](const auto& count) { return count.first == value; });
    if (found == counts.end()) {
      counts.emplace_back(value, 1);
    } else {
      ++found->second;
    }
  }
  if (counts.size() == 1) return counts.front().first;
  std::stable_sort(counts.begin(), counts.end(),
                   [](const auto& one, const auto& other) { return one.second > other.second; });
  std::string text = fmt::format("{} in {} fold{}", counts.front().first, counts.front().second,
                                 counts.front().second == 1 ? "" : "s");
  for (std::size_t at = 1; at < counts.size(); ++at) {
    text += fmt::format(", {} in {}", counts[at].first, counts[at].second);
  }
  return text;
}

// Cells of one method that differ in swept values alone, as one: each fold's runs are those of the
// value that did best on the fold's validation queries. The queries that one fold validates on,
// others test on, so a choice over all folds would see the test queries. Nothing if the cells have
// no validated run in common.
std::optional<StoredCell> chosen_cell(const std::vector<const StoredCell*>& cells) {
  const auto folds = common_runs(cells);
  if (folds.empty()) return std::nullopt;
  std::vector<const StoredCell*> by_fold;
  StoredCell made{.dataset = cells.front()->dataset,
                  .simulation = cells.front()->simulation,
                  .family = cells.front()->family,
                  .swept = cells.front()->swept,
                  .surroundings = cells.front()->surroundings};
  made.simulation.label = made.family;
  for (const auto& [fold, runs] : folds) {
    const StoredCell* best = by_fold.emplace_back(best_validated(cells, runs));
    for (const std::uint32_t run : runs) {
      made.runs[run] = best->runs.at(run);
      const auto timing = best->timings.find(run);
      if (timing != best->timings.end()) made.timings[run] = timing->second;
    }
  }
  for (std::size_t at = 0; at < made.swept.size(); ++at) {
    made.swept[at].value = chosen_text(by_fold, at);
  }
  return made;
}

// A cell as it is shown.
struct ShownCell {
  const StoredCell* cell = nullptr;
  bool is_chosen = false;  // made from several, by their validation
};

// The cells that have runs; where settings are chosen on the validation queries, those chosen in
// place of the others, which `made` keeps.
std::vector<ShownCell> shown_cells(const StoredResults& stored, std::deque<StoredCell>& made) {
  using Place = std::tuple<std::string, std::string, std::vector<SweptValue>, std::string>;
  std::map<Place, std::vector<const StoredCell*>> choices;
  const auto place_of = [](const StoredCell& cell) {
    return Place{cell.dataset.name, cell.simulation.click_model, cell.surroundings, cell.family};
  };
  const auto is_choice = [](const StoredCell& cell) {
    return cell.simulation.validate && !cell.swept.empty() && !cell.runs.empty() &&
           std::all_of(cell.runs.begin(), cell.runs.end(),
                       [](const auto& run) { return std::isfinite(run.second.record.validation); });
  };
  for (const StoredCell& cell : stored.cells) {
    if (is_choice(cell)) choices[place_of(cell)].push_back(&cell);
  }
  std::map<Place, const StoredCell*> chosen;
  for (const auto& [place, cells] : choices) {
    if (cells.size() < 2) continue;
    if (auto cell = chosen_cell(cells)) chosen[place] = &made.emplace_back(std::move(*cell));
  }
  std::vector<ShownCell> shown;
  for (const StoredCell& cell : stored.cells) {
    if (cell.runs.empty()) continue;
    const auto found = is_choice(cell) ? chosen.find(place_of(cell)) : chosen.end();
    if (found == chosen.end()) {
      shown.push_back({&cell, false});
    } else if (choices.at(found->first).front() == &cell) {
      shown.push_back({found->second, true});
    }
  }
  return shown;
}

// Unless some run lacks it.
void add_metric(const std::string& name, const std::vector<RunRecord>& records, CellSummary& cell) {
  MetricSummary made{.name = name};
  for (std::size_t point = 0; point < cell.curve.size(); ++point) {
    std::vector<double> values;
    for (const RunRecord& record : records) {
      const MetricCurve* const found = find_metric(record, name);
      if (found == nullptr) return;
      values.push_back(found->values[point]);
    }
    made.curve.push_back(moments(values));
  }
  made.final = made.curve.back();
  cell.metrics.push_back(std::move(made));
}

Comparison assemble(const StoredResults& stored, const std::vector<ShownCell>& shown,
                    bool with_times) {
  Comparison comparison;
  comparison.title = title_of(stored);
  comparison.version = stored.plackett;
  comparison.test = stored.spec.test;
  for (const auto& [cell, is_chosen] : shown) {
    comparison.cells.push_back(summarise_cell(*cell, with_times));
    comparison.cells.back().selected = is_chosen;
    for (const auto& [number, timing] : cell->timings) {
      if (with_times) comparison.threads = std::max(comparison.threads, timing.threads);
    }
  }
  add_contrasts(comparison);
  return comparison;
}

Comparison assemble(const StoredResults& stored, bool with_times) {
  std::deque<StoredCell> made;
  return assemble(stored, shown_cells(stored, made), with_times);
}

}  // namespace

Moments moments(const std::vector<double>& values) {
  if (values.empty()) return {};
  const auto count = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value;
  Moments result;
  result.mean = sum / count;
  if (values.size() < 2) {
    result.std = std::numeric_limits<double>::quiet_NaN();
    return result;
  }
  double squares = 0;
  for (const double value : values) {
    squares += (value - result.mean) * (value - result.mean);
  }
  result.std = std::sqrt(squares / (count - 1));
  return result;
}

std::string label_of(const SimulationSpec& spec) {
  const auto method = find_method(spec.method);
  std::string label =
      fmt::format("{} ({}", method ? method.value()->title : std::string_view(spec.method),
                  name_of(spec.ranker.kind));
  for (const GivenSetting& setting : spec.settings) {
    label += fmt::format(", {} {}", setting.name, setting.value);
  }
  return label + ")";
}

CellSummary Simulation::summarise(const std::vector<RunRecord>& records) const {
  CellSummary cell = plackett::summarise(spec_, dataset_name_, records);
  cell.as_in_paper = false;  // that needs to know how the data was made
  return cell;
}

CellSummary summarise(const SimulationSpec& spec, const std::string& dataset_name,
                      const std::vector<RunRecord>& records) {
  CellSummary cell;
  cell.label = spec.label.empty() ? label_of(spec) : spec.label;
  cell.family = cell.label;
  const auto method = find_method(spec.method);
  cell.baseline = spec.baseline.value_or(method && method.value()->baseline);
  cell.as_in_paper = canonical_settings(spec.method, spec.settings).empty() &&
                     spec.shown == SimulationSpec{}.shown &&
                     spec.ranker.hidden == RankerSpec{}.hidden &&
                     spec.ranker.activation == RankerSpec{}.activation &&
                     spec.learning_rate_decay == SimulationSpec{}.learning_rate_decay &&
                     spec.no_relevant == SimulationSpec{}.no_relevant &&
                     spec.split == SimulationSpec{}.split && spec.drift.empty();
  cell.method = spec.method;
  cell.ranker = name_of(spec.ranker.kind);
  cell.click_model = spec.click_model;
  cell.dataset = dataset_name;
  cell.protocol = name_of(spec.protocol);
  cell.split = name_of(spec.split);
  cell.runs = static_cast<std::uint32_t>(records.size());
  cell.impressions = spec.impressions;
  cell.seed = spec.seed;
  if (records.empty()) return cell;

  std::vector<double> offline(records.size());
  std::vector<double> online(records.size());
  for (std::size_t point = 0; point < records.front().curve.size(); ++point) {
    for (std::size_t run = 0; run < records.size(); ++run) {
      offline[run] = records[run].curve[point].offline;
      online[run] = records[run].curve[point].online;
    }
    cell.curve.push_back(
        {records.front().curve[point].impression, moments(offline), moments(online)});
  }
  cell.offline = cell.curve.back().offline;
  cell.online = cell.curve.back().online;
  for (const MetricCurve& metric : records.front().metrics) add_metric(metric.name, records, cell);
  std::vector<DriftMeasures> drift;
  for (const RunRecord& record : records) {
    if (spec.drift.empty()) break;
    drift.push_back(drift_measures(record, spec.drift, spec.impressions));
  }
  if (!drift.empty()) cell.drift = summarise_drift(records, drift, spec.drift, spec.impressions);
  for (const RunRecord& record : records) {
    RunFinal& final = cell.finals.emplace_back(
        RunFinal{record.run, record.curve.back().offline, record.curve.back().online, record.fold});
    final.validation = record.validation;
    if (!drift.empty()) final.drift = drift[static_cast<std::size_t>(&record - records.data())];
    for (const MetricSummary& metric : cell.metrics) {
      final.metrics.push_back(find_metric(record, metric.name)->values.back());
    }
  }
  std::sort(cell.finals.begin(), cell.finals.end(),
            [](const RunFinal& one, const RunFinal& other) { return one.run < other.run; });

  double evaluation_seconds = 0;
  for (const RunRecord& record : records) {
    cell.seconds += record.seconds;
    evaluation_seconds += record.evaluation_seconds;
  }
  if (cell.seconds > 0) cell.evaluation_share = evaluation_seconds / cell.seconds;
  return cell;
}

Comparison assemble(const StoredResults& stored) { return assemble(stored, false); }

Comparison assemble_with_times(const StoredResults& stored) { return assemble(stored, true); }

Compared compared(const StoredResults& stored) {
  std::deque<StoredCell> made;
  const auto shown = shown_cells(stored, made);
  Compared result{.comparison = assemble(stored, shown, true), .runs = {}};
  for (const auto& [cell, is_chosen] : shown) {
    auto& records = result.runs.emplace_back();
    for (const auto& [number, run] : cell->runs) records.push_back(run.record);
  }
  return result;
}

}  // namespace plackett
