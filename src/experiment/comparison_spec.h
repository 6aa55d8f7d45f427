// A whole comparison as plain data: datasets x methods x click models x runs. What a run gives is
// a function of this and of the data alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dataset/dataset.h"
#include "dataset/scaling.h"
#include "experiment/method_entry.h"
#include "experiment/simulation.h"

namespace plackett {

struct ComparedDataset {
  std::string name;  // in tables and results; no two alike
  std::string path;  // what load_dataset takes
  Scaling scaling = Scaling::kQueryMinMax;
  bool keep_constant_features = false;
  std::uint32_t max_feature_id = LoadOptions{}.max_feature_id;
};

struct ComparedMethod {
  MethodEntry entry;
  std::string label = {};             // in tables; made from the entry if empty
  std::optional<bool> baseline = {};  // the method's own if absent
};

struct ComparisonSpec {
  std::string title;  // of the report; made from the datasets if empty
  std::vector<ComparedDataset> datasets;
  std::vector<ComparedMethod> methods;
  std::vector<std::string> click_models;
  // What all runs have in common. Method, ranker kind, click model, label, baseline and settings
  // are not read from here.
  SimulationSpec common;
};

// The paper's: its six methods in its order, its three click models, on the embedded data.
ComparisonSpec default_comparison();

// A run's place in a spec.
struct RunPlace {
  std::size_t dataset = 0;
  std::uint32_t run = 0;
  std::size_t click_model = 0;
  std::size_t method = 0;

  // In the order of the members, which is the order of a finished results file.
  bool operator<(const RunPlace& other) const {
    if (dataset != other.dataset) return dataset < other.dataset;
    if (run != other.run) return run < other.run;
    if (click_model != other.click_model) return click_model < other.click_model;
    return method < other.method;
  }
};

// A run as results name it.
struct RunName {
  std::string_view dataset;
  std::string_view method;  // to_text of its canonical entry
  std::string_view click_model;
  std::uint32_t run = 0;
};

// Nothing where the spec asks for no such run.
std::optional<RunPlace> place_of(const ComparisonSpec& spec, const RunName& name);

// All the runs that the spec asks for.
std::uint64_t run_count(const ComparisonSpec& spec);

// What Simulation::prepare takes for one cell.
SimulationSpec simulation_spec(const ComparisonSpec& spec, const ComparedMethod& method,
                               const std::string& click_model);

// What load_dataset takes, threads and trust apart.
LoadOptions load_options(const ComparedDataset& dataset);

// The entry with its settings in the order of their declaration, their numbers in shortest form
// and those left out that are the method's own, so that two ways to write one method are equal.
// Requires: parse_method_entry accepts it.
MethodEntry canonical(const MethodEntry& entry);

// A dataset's name where its user gives none: "synthetic:mq2008" as it is, else the last part of
// the path without ".plk".
std::string dataset_name(const std::string& path);

// Whether a dataset's path means embedded data.
bool is_synthetic(std::string_view path);

// Finds what can't run without loading data: nothing to compare, a cell asked for twice, unknown
// or impossible methods, click models, settings and numbers out of bounds, datasets that are not
// where they should be, and click models without a table for a dataset whose number of grades is
// known beforehand (embedded data and caches).
Result<void> check(const ComparisonSpec& spec);

}  // namespace plackett
