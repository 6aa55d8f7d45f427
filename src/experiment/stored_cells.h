// Cells with their finished runs, by identity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "plackett/comparison_spec.h"
#include "plackett/result.h"
#include "plackett/results.h"

namespace plackett {

inline std::uint64_t key_of(const StoredCell& cell) {
  return identity(cell.dataset, cell.simulation);
}

// Null if the run has none of that name.
const MetricCurve* find_metric(const RunRecord& record, const std::string& name);

// The metrics that were asked for first, then those that were not among them.
std::vector<std::string> united(std::vector<std::string> first,
                                const std::vector<std::string>& later);

// Adds what only `from` has of two records of the same run: metrics, validation. False if they
// differ in anything that both have; `to` then stays as it was.
bool merge(const FinishedRun& from, FinishedRun& to);

// A spec's cells without runs.
Result<std::vector<StoredCell>> empty_cells(const ComparisonSpec& spec);

// Finds cells. They must outlive it, and only it may add some.
class CellIndex {
 public:
  explicit CellIndex(std::vector<StoredCell>& cells);

  // Null if there is none.
  [[nodiscard]] StoredCell* find(std::uint64_t key) const;
  // A later one of the same identity decides how the cell is shown, and whether it is validated for
  // that; the larger number of runs and all metrics of both count, and all finished runs are kept.
  void add(StoredCell cell);

 private:
  std::vector<StoredCell>& cells_;
  std::map<std::uint64_t, std::size_t> index_;
};

}  // namespace plackett
