// Runs to summaries.
#include <fmt/format.h>

#include <cmath>

#include "plackett/method.h"
#include "plackett/simulation.h"

namespace plackett {

Moments moments(const std::vector<double>& values) {
  if (values.empty()) return {};
  const auto count = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value;
  Moments result;
  result.mean = sum / count;
  if (values.size() < 2) return result;
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
  const auto method = find_method(spec.method);
  cell.baseline = spec.baseline.value_or(method && method.value()->baseline);
  cell.as_in_paper = canonical_settings(spec.method, spec.settings).empty() &&
                     spec.shown == SimulationSpec{}.shown &&
                     spec.ranker.hidden == RankerSpec{}.hidden &&
                     spec.ranker.activation == RankerSpec{}.activation &&
                     spec.no_relevant == SimulationSpec{}.no_relevant;
  cell.method = spec.method;
  cell.ranker = name_of(spec.ranker.kind);
  cell.click_model = spec.click_model;
  cell.dataset = dataset_name;
  cell.protocol = name_of(spec.protocol);
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

  double evaluation_seconds = 0;
  for (const RunRecord& record : records) {
    cell.seconds += record.seconds;
    evaluation_seconds += record.evaluation_seconds;
  }
  if (cell.seconds > 0) cell.evaluation_share = evaluation_seconds / cell.seconds;
  return cell;
}

}  // namespace plackett
