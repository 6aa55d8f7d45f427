// A whole comparison as plain data: datasets x methods x click models x runs. What a run gives is
// a function of this and of the data alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plackett/dataset.h"
#include "plackett/export.h"
#include "plackett/method_entry.h"
#include "plackett/result.h"
#include "plackett/scaling.h"
#include "plackett/simulation.h"
#include "plackett/user.h"

namespace plackett {

// One of the comparison's datasets, by where it is and how it is loaded.
struct ComparedDataset {
  std::string name = {};                    // in tables and results; no two alike
  std::string path = {};                    // what load_dataset takes
  Scaling scaling = Scaling::kQueryMinMax;  // of its features
  bool keep_constant_features = false;      // those constant over a whole training file
  // As LoadOptions::max_feature_id.
  std::uint32_t max_feature_id = LoadOptions{}.max_feature_id;
};

// One of the comparison's methods, a row of its tables.
struct ComparedMethod {
  MethodEntry entry = {};             // method, ranker and settings
  std::string label = {};             // in tables; made from the entry if empty
  std::optional<bool> baseline = {};  // the method's own if absent
};

// All of it. Cells are every dataset x click model x method, `common.runs` runs each.
struct ComparisonSpec {
  std::string title = {};                      // of the report; made from the datasets if empty
  std::vector<ComparedDataset> datasets = {};  // in the order of the tables
  std::vector<ComparedMethod> methods = {};    // likewise
  // Names or TOML files, as make_user takes them, or names of `users`; likewise.
  std::vector<std::string> click_models = {};
  // Users of your own, each called in click_models by its name(), which is none that make_user
  // knows. In memory only: no results folder can tell one from another of that name.
  std::vector<std::shared_ptr<const User>> users = {};
  // What all runs have in common. Method, ranker kind, click model, user, label, baseline and
  // settings are not read from here.
  SimulationSpec common = {};
};

// The paper's: its six methods in its order, its three click models, on the embedded data.
PLACKETT_EXPORT ComparisonSpec default_comparison();

// Finds what can't run without loading data: nothing to compare, a cell asked for twice, unknown
// or impossible methods, click models, settings and numbers out of bounds, datasets that are not
// where they should be, and click models without a table for a dataset whose number of grades is
// known beforehand (embedded data and caches).
PLACKETT_EXPORT Result<void> check(const ComparisonSpec& spec);

}  // namespace plackett
