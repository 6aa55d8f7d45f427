#include "experiment/stored_cells.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace plackett {

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
  cell.runs.merge(there->runs);
  cell.timings.merge(there->timings);
  *there = std::move(cell);
}

std::uint32_t StoredCell::missing() const {
  const auto done = std::distance(runs.begin(), runs.lower_bound(simulation.runs));
  return simulation.runs - static_cast<std::uint32_t>(done);
}

std::uint64_t StoredResults::finished() const {
  std::uint64_t count = 0;
  for (const StoredCell& cell : cells) count += cell.runs.size();
  return count;
}

std::uint64_t StoredResults::asked() const {
  std::uint64_t count = finished();
  for (const StoredCell& cell : cells) count += cell.missing();
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
