// Which tables a comparison is shown in, for every kind of output alike: with one dataset one
// table, its columns the two measures; with several a table for each measure, its columns the
// datasets, as in the paper. A section for each click model, a line for each method.
#pragma once

#include <string>
#include <vector>

#include "report/arrangement.h"

namespace plackett::report {

struct TableColumn {
  std::string title;  // "offline NDCG@10", or a dataset's name
  const Measure* measure = nullptr;
};

struct TableLine {
  std::size_t series = 0;
  std::vector<const Row*> cells;  // a column each; null where there is no such cell
};

struct TableSection {
  std::string title;
  std::vector<TableLine> lines;
};

struct TablePlan {
  std::string title;  // empty where there is one table only
  std::vector<TableColumn> columns;
  std::vector<TableSection> sections;
};

// None for an empty arrangement. Points into it: it must outlive the plans.
std::vector<TablePlan> plan_tables(const Arrangement& arrangement);

}  // namespace plackett::report
