// A whole comparison as plain data: datasets x methods x click models x runs. What a run gives is
// a function of this and of the data alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
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

// One dataset of a comparison: where it is and how it is loaded.
struct ComparedDataset {
  std::string name = {};                    // in tables and results; unique
  std::string path = {};                    // what load_dataset takes
  Scaling scaling = Scaling::kQueryMinMax;  // of its features
  bool keep_constant_features = false;      // those constant over a whole training file
  // As LoadOptions::max_feature_id.
  std::uint32_t max_feature_id = LoadOptions{}.max_feature_id;
  OutOfRange out_of_range = LoadOptions{}.out_of_range;  // likewise
  Unlabelled unlabelled = LoadOptions{}.unlabelled;      // likewise
};

// How load_dataset loads it.
PLACKETT_EXPORT LoadOptions load_options(const ComparedDataset& dataset);

// The dataset at a path, under its default name: "synthetic:mq2008" as it is, otherwise the last
// part of the path without ".plk".
PLACKETT_EXPORT ComparedDataset dataset_at(const std::string& path);

// One method of a comparison: a row of its tables.
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
  // Users of your own. Each is named in click_models by its name(), which must not be one that
  // make_user knows. In memory only: a results folder can't tell one from another of that name.
  std::vector<std::shared_ptr<const User>> users = {};
  // What all runs have in common. Method, ranker kind, click model, user, label, baseline and
  // settings are not read from here.
  SimulationSpec common = {};
};

// The paper's: its six methods in its order, its three click models, on the embedded data.
PLACKETT_EXPORT ComparisonSpec default_comparison();

// Finds what can't run, without loading data: nothing to compare, a cell asked for twice, unknown
// or impossible methods, click models and settings, options out of bounds, missing datasets, and
// click models without a table for a dataset whose number of grades is known in advance (embedded
// data and caches).
PLACKETT_EXPORT Result<void> check(const ComparisonSpec& spec);

// All runs that the spec asks for.
PLACKETT_EXPORT std::uint64_t run_count(const ComparisonSpec& spec);

// Reads a spec from TOML; every key with its meaning and default: docs/experiments.md. Missing keys
// are as in default_comparison(). Fails with "name:line: value; rule" at the first error; check()
// says whether it can run.
PLACKETT_EXPORT Result<ComparisonSpec> parse_spec(std::string_view text, const std::string& name);
// The same from a file.
PLACKETT_EXPORT Result<ComparisonSpec> read_spec(const std::filesystem::path& path);

// The spec with every key, always in the same form: parse_spec gives the same spec back, and two
// specs are equal if their texts are.
PLACKETT_EXPORT std::string to_toml(const ComparisonSpec& spec);

// A hash of everything that decides which runs there are and what they give, except the data
// itself. It ignores title, labels and baselines, which only reports show, and the paths of the
// datasets.
PLACKETT_EXPORT std::uint64_t identity(const ComparisonSpec& spec);

}  // namespace plackett
