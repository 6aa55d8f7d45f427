#include "experiment/stored_cells.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "experiment/runs_file.h"

namespace plackett {

const MetricCurve* find_metric(const RunRecord& record, const std::string& name) {
  const auto found = std::find_if(record.metrics.begin(), record.metrics.end(),
                                  [&](const MetricCurve& metric) { return metric.name == name; });
  return found == record.metrics.end() ? nullptr : &*found;
}

CellIndex::CellIndex(std::vector<StoredCell>& cells) : cells_(cells) {
  for (std::size_t at = 0; at < cells.size(); ++at) index_[key_of(cells[at])] = at;
}

StoredCell* CellIndex::find(std::uint64_t key) const {
  const auto found = index_.find(key);
  return found == index_.end() ? nullptr : &cells_[found->second];
}

void CellIndex::add(StoredCell cell) {
  const std::uint64_t key = key_of(cell);
  StoredCell* there = find(key);
  if (there == nullptr) {
    index_[key] = cells_.size();
    cells_.push_back(std::move(cell));
    return;
  }
  cell.simulation.runs = std::max(cell.simulation.runs, there->simulation.runs);
  cell.sweeps.insert(cell.sweeps.end(), there->sweeps.begin(), there->sweeps.end());
  cell.simulation.metrics = united(there->simulation.metrics, cell.simulation.metrics);
  cell.runs.merge(there->runs);
  for (const auto& [number, run] : there->runs) merge(run, cell.runs.at(number));
  cell.timings.merge(there->timings);
  *there = std::move(cell);
}

std::vector<std::string> united(std::vector<std::string> first,
                                const std::vector<std::string>& later) {
  for (const std::string& name : later) {
    if (std::find(first.begin(), first.end(), name) == first.end()) first.push_back(name);
  }
  return first;
}

bool merge(const FinishedRun& from, FinishedRun& to) {
  const auto with = [](FinishedRun run, const RunRecord& other) {
    for (const MetricCurve& metric : other.metrics) {
      if (find_metric(run.record, metric.name) == nullptr) run.record.metrics.push_back(metric);
    }
    if (!std::isfinite(run.record.validation)) run.record.validation = other.validation;
    return run;
  };
  const auto text = [](FinishedRun run) {
    std::sort(run.record.metrics.begin(), run.record.metrics.end(),
              [](const auto& one, const auto& other) { return one.name < other.name; });
    return to_line(run);
  };
  FinishedRun both = with(to, from.record);
  if (text(both) != text(with(from, to.record))) return false;
  to = std::move(both);
  return true;
}

bool StoredCell::has(std::uint32_t run) const {
  const auto found = runs.find(run);
  if (found == runs.end()) return false;
  const RunRecord& record = found->second.record;
  if (simulation.validate && !std::isfinite(record.validation)) return false;
  return std::all_of(simulation.metrics.begin(), simulation.metrics.end(),
                     [&](const auto& metric) { return find_metric(record, metric) != nullptr; });
}

bool StoredResults::empty() const {
  return std::all_of(cells.begin(), cells.end(),
                     [](const StoredCell& cell) { return cell.runs.empty(); });
}

std::uint64_t StoredResults::finished() const {
  std::uint64_t count = 0;
  for (const StoredCell& cell : cells) {
    for (const auto& [number, run] : cell.runs) count += cell.has(number) ? 1 : 0;
  }
  return count;
}

std::uint64_t StoredResults::asked() const {
  std::uint64_t count = 0;
  for (const StoredCell& cell : cells) {
    const std::uint32_t runs_asked = cell.simulation.runs;
    const auto more = std::distance(cell.runs.lower_bound(runs_asked), cell.runs.end());
    count += runs_asked + static_cast<std::uint64_t>(more);
  }
  return count;
}

Result<std::vector<StoredCell>> empty_cells(const ComparisonSpec& spec) {
  auto cells = cells_of(spec);
  if (!cells) return cells.error();
  std::vector<StoredCell> all;
  for (ComparedCell& cell : *cells) {
    all.push_back({.dataset = spec.datasets[cell.dataset],
                   .simulation = std::move(cell.simulation),
                   .name = std::move(cell.name),
                   .sweeps = std::move(cell.sweeps),
                   .family = std::move(cell.family),
                   .swept = std::move(cell.swept),
                   .surroundings = std::move(cell.surroundings)});
  }
  return all;
}

}  // namespace plackett
