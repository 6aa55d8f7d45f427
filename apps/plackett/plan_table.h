// The lines of a plan: a cell of a comparison each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace plackett::command {

// What is known of a cell before it is measured.
struct PlannedCell {
  std::string label;
  std::string click_model;
  std::uint32_t runs = 0;  // that are left
};

// Lines without a line break, aligned under each other. At most `columns` wide where that is >= 60
// and no cell has a million runs: names are cut to fit, numbers never.
class PlanTable {
 public:
  PlanTable(const std::vector<PlannedCell>& cells, std::size_t columns);

  [[nodiscard]] std::string head() const;
  // `run_seconds` is what a run of `impressions` takes.
  [[nodiscard]] std::string line(const PlannedCell& cell, double impressions,
                                 double run_seconds) const;

 private:
  std::size_t labels_;        // columns
  std::size_t click_models_;  // columns
};

}  // namespace plackett::command
