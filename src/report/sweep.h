// What a setting does to the results: the last values of every measure against the numeric setting
// that was swept over most values.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "plackett/record.h"
#include "report/arrangement.h"

namespace plackett::report {

struct SweepPoint {
  double x = 0;                       // the setting's value
  const CellSummary* cell = nullptr;  // what was run with it
};

struct SweepLine {
  std::size_t series = 0;  // in SweepChart::series
  // The method has no such setting: the same cell at every value.
  bool is_level = false;
  std::vector<SweepPoint> points;  // x rising
};

// As a block, without the setting.
struct SweepPanel {
  std::string title, short_title;
  std::size_t dataset = 0;  // in Arrangement::datasets
  std::vector<SweepLine> lines;
};

struct SweepChart {
  std::string setting;          // "learning-rate"; empty: there is nothing to show
  std::vector<double> values;   // rising
  bool is_logarithmic = false;  // the values span more than a factor of 10
  std::vector<Series> series;   // one per method and values of the other settings
  std::vector<SweepPanel> panels;
};

// Empty if no numeric setting has several values. Where settings were chosen on validation queries,
// only surroundings count.
// Points into the arrangement's comparison, which must outlive it.
SweepChart make_sweep_chart(const Arrangement& arrangement);

}  // namespace plackett::report
