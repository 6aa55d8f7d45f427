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
#include "plackett/record.h"
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

// Several values of one option or setting: each gives cells of its own.
struct Sweep {
  std::string name = {};                 // "learning-rate", "ranker", "hidden", "impressions"
  std::vector<std::string> values = {};  // as options and settings read them; "64,32" of hidden

  bool operator==(const Sweep&) const = default;
};

// One method of a comparison: a row of its tables, or several if some of its settings are swept.
struct ComparedMethod {
  MethodEntry entry = {};             // method, ranker and settings
  std::string label = {};             // in tables; made from the entry if empty
  std::optional<bool> baseline = {};  // the method's own if absent
  std::vector<Sweep> sweeps = {};     // of its settings, in place of the comparison's
};

// "paired", "welch" or "student"; the error names all.
PLACKETT_EXPORT Result<SignificanceTest> parse_significance_test(std::string_view name);
// The name that parse_significance_test reads. Static storage.
PLACKETT_EXPORT std::string_view name_of(SignificanceTest test);

// All of it. Cells are every dataset x click model x method x swept value, `common.runs` runs each.
struct ComparisonSpec {
  std::string title = {};                      // of the report; made from the datasets if empty
  std::vector<ComparedDataset> datasets = {};  // in the order of the tables
  std::vector<ComparedMethod> methods = {};    // likewise
  // Names or TOML files, as make_user takes them, or names of `users`; likewise.
  std::vector<std::string> click_models = {};
  // Users of your own. Each is named in click_models by its name(), which must not be one that
  // make_user knows. In memory only: a results folder can't tell one from another of that name.
  std::vector<std::shared_ptr<const User>> users = {};
  // The methods that the others are tested against, by entry ("mgd:candidates=9") or label. If
  // there are any, ComparedMethod::baseline is not read.
  std::vector<std::string> baselines = {};
  SignificanceTest test = SignificanceTest::kPaired;  // that the report goes by
  // What all runs have in common. Method, ranker kind, click model, user, label, baseline and
  // settings are not read from here.
  SimulationSpec common = {};
  // Whether only the swept values are reported that did best on the validation queries.
  bool select = false;
  // Values of simulation options, in place of the common one, and of "ranker" and of the methods'
  // settings, for the methods that have such a setting and are not given it.
  std::vector<Sweep> sweeps = {};
};

// What a number of runs have in common.
struct ComparedCell {
  std::size_t dataset = 0;                    // in ComparisonSpec::datasets
  std::string name = {};                      // that the spec gives the method; may be empty
  std::vector<std::string> sweeps = {};       // that apply to the method, by their names
  SimulationSpec simulation = {};             // with its label
  std::string family = {};                    // as in CellSummary, like what follows
  std::vector<SweptValue> swept = {};         // of the method
  std::vector<SweptValue> surroundings = {};  // of everything else
};

// The cells, by dataset, surroundings, click model, method, swept values. A value that makes no
// difference to a method gives it no second cell. Fails on unknown names, values that are not
// allowed, and a sweep that applies to no cell.
PLACKETT_EXPORT Result<std::vector<ComparedCell>> cells_of(const ComparisonSpec& spec);

// A hash of everything that decides what the runs of a cell give, except the data itself: not how
// many there are, nor the label.
PLACKETT_EXPORT std::uint64_t identity(const ComparedDataset& dataset,
                                       const SimulationSpec& simulation);

// The paper's: its six methods in its order, its three click models, on the embedded data.
PLACKETT_EXPORT ComparisonSpec default_comparison();

// Finds what can't run, without loading data: nothing to compare, a cell asked for twice, unknown
// or impossible methods, baselines, click models and settings, options out of bounds, missing
// datasets, and click models without a table for a dataset whose number of grades is known in
// advance (embedded data and caches).
PLACKETT_EXPORT Result<void> check(const ComparisonSpec& spec);

// All runs that the spec asks for; 0 if its cells can't be told.
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

// A hash of the identities of the cells. It ignores title, labels, baselines and test, which only
// reports show, and the paths of the datasets.
PLACKETT_EXPORT std::uint64_t identity(const ComparisonSpec& spec);

}  // namespace plackett
