#include "plackett/comparison_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <string_view>

#include "dataset/known_grades.h"
#include "experiment/method_rules.h"
#include "experiment/spec_parts.h"
#include "plackett/make_user.h"
#include "plackett/method.h"
#include "plackett/options.h"
#include "users/user_file.h"

namespace plackett {
namespace {

constexpr std::array kPaperClickModels =
    std::to_array<std::string_view>({"perfect", "navigational", "informational"});

// In the order of the enum.
constexpr std::array kTests = std::to_array<std::string_view>({"paired", "welch", "student"});

// Finds methods and settings that can't run, and two that tables could not tell apart.
Result<void> check_methods(const ComparisonSpec& spec) {
  if (spec.methods.empty()) return Error{"no methods; a comparison has at least 1"};
  std::set<std::string> entries;
  for (const ComparedMethod& method : spec.methods) {
    const std::string text = to_text(canonical(method.entry));
    if (!entries.insert(text).second) return Error{fmt::format("method {} is listed twice", text)};
  }
  ComparisonSpec once = spec;  // methods are the same everywhere
  once.datasets = {dataset_at("synthetic")};
  once.click_models = {"perfect"};
  const auto cells = cells_of(once);
  if (!cells) return cells.error();
  std::set<std::string> labels;
  for (const ComparedCell& cell : *cells) {
    SimulationSpec simulation = cell.simulation;
    const std::string text = to_text(entry_of(simulation));
    if (auto valid = check_simulation(simulation); !valid) return valid;
    if (simulation.validate && simulation.split == MeasuredSplit::kValidation) {
      return Error{
          "split: validation; settings are selected on the validation queries, so the split is "
          "test"};
    }
    std::string row = simulation.label;
    for (const auto& [name, value] : cell.surroundings) row += fmt::format("\n{} {}", name, value);
    if (!labels.insert(row).second) {
      return Error{
          fmt::format("two methods are called \"{}\"; labels must differ", simulation.label)};
    }
    simulation.ranker.feature_count = 1;
    Rng rng({simulation.seed, 0, 0, Purpose::kInitialise});
    auto ranker = make_ranker(simulation.ranker, rng);
    if (!ranker) return ranker.error().in(text);
    auto learner = make_learner(simulation.method, std::move(ranker).value(),
                                method_rules(simulation, 0), simulation.settings);
    if (!learner) return learner.error().in(text);
  }
  return {};
}

Result<void> check_own_users(const ComparisonSpec& spec) {
  const auto known = click_model_names();
  const auto& named = spec.click_models;
  std::set<std::string_view> names;
  for (const auto& user : spec.users) {
    if (user == nullptr) return Error{"users: one is null"};
    const std::string_view name = user->name();
    const auto wrong = [&](std::string_view what) {
      return Error{fmt::format("users: \"{}\": {}", name, what)};
    };
    if (name.empty()) return wrong("a user needs a name");
    if (name.ends_with(".toml") || std::find(known.begin(), known.end(), name) != known.end()) {
      return wrong("a click model of that name exists");
    }
    if (!names.insert(name).second) return wrong("two have that name; names must differ");
    if (std::find(named.begin(), named.end(), name) == named.end()) {
      return wrong("not among the click models, so it would take no part");
    }
  }
  return {};
}

Result<void> check_click_models(const ComparisonSpec& spec) {
  if (auto users = check_own_users(spec); !users) return users;
  if (spec.click_models.empty()) return Error{"no click models; a comparison has at least 1"};
  std::set<std::string> listed;
  std::set<std::string> names;  // a file gives its own
  for (const std::string& click_model : spec.click_models) {
    if (!listed.insert(click_model).second) {
      return Error{fmt::format("click model {} is listed twice", click_model)};
    }
    std::string name = click_model;
    if (own_user(spec, click_model) == nullptr) {
      UserOptions options{.eta = spec.common.eta};
      if (name.ends_with(".toml")) options.grade_count = user_file_grades(name);
      const auto user = make_user(name, options);
      if (!user) return user.error();
      name = user.value()->name();
    }
    if (!names.insert(name).second) {
      return Error{fmt::format("two click models are called \"{}\"; names must differ", name)};
    }
  }
  return {};
}

}  // namespace

std::string_view name_of(SignificanceTest test) { return kTests[static_cast<std::size_t>(test)]; }

Result<SignificanceTest> parse_significance_test(std::string_view name) {
  const auto found = std::find(kTests.begin(), kTests.end(), name);
  if (found != kTests.end()) return static_cast<SignificanceTest>(found - kTests.begin());
  return Error{fmt::format("unknown t-test \"{}\"; known: {}", name, fmt::join(kTests, ", "))};
}

ComparisonSpec default_comparison() {
  ComparisonSpec spec;
  spec.datasets.push_back(dataset_at("synthetic"));
  for (const std::string_view name : {std::string_view("paper"), kDefaultMethod}) {
    const auto entries = parse_methods(name);
    for (const MethodEntry& entry : entries.value()) spec.methods.push_back({.entry = entry});
  }
  spec.click_models.assign(kPaperClickModels.begin(), kPaperClickModels.end());
  return spec;
}

std::shared_ptr<const User> own_user(const ComparisonSpec& spec, std::string_view click_model) {
  for (const auto& user : spec.users) {
    if (user != nullptr && user->name() == click_model) return user;
  }
  return nullptr;
}

LoadOptions load_options(const ComparedDataset& dataset) {
  LoadOptions load;
  load.scaling = dataset.scaling;
  load.drop_constant_features = !dataset.keep_constant_features;
  load.max_feature_id = dataset.max_feature_id;
  load.out_of_range = dataset.out_of_range;
  load.unlabelled = dataset.unlabelled;
  return load;
}

ComparedDataset dataset_at(const std::string& path) {
  if (is_synthetic(path)) return {.name = path, .path = path};
  std::filesystem::path named = std::filesystem::path(path).lexically_normal();
  if (!named.has_filename()) named = named.parent_path();
  if (named.extension() == ".plk") named = named.stem();
  return {.name = named.filename().string(), .path = path};
}

Result<void> check_apart_from_data(const ComparisonSpec& spec) {
  if (auto options = check_options(simulation_options(), spec.common); !options) return options;
  if (auto methods = check_methods(spec); !methods) return methods;
  if (auto click_models = check_click_models(spec); !click_models) return click_models;
  if (spec.datasets.empty()) return Error{"no datasets; a comparison has at least 1"};
  std::set<std::string> names;
  for (const ComparedDataset& dataset : spec.datasets) {
    if (dataset.name.empty()) return Error{fmt::format("{}: a dataset needs a name", dataset.path)};
    if (!names.insert(dataset.name).second) {
      return Error{fmt::format("two datasets are called \"{}\"; give one of them another name",
                               dataset.name),
                   Hint::kOtherName};
    }
  }
  return {};
}

Result<void> check(const ComparisonSpec& spec) {
  if (auto valid = check_apart_from_data(spec); !valid) return valid;
  for (const ComparedDataset& dataset : spec.datasets) {
    const std::string place = "dataset " + dataset.name;
    const auto grades = known_grades(dataset.path);
    if (!grades) return grades.error().in(place);
    for (const std::string& name : spec.click_models) {
      if (grades.value() == 0 || own_user(spec, name) != nullptr) continue;
      const auto user = make_user(name, {.grade_count = grades.value(), .eta = spec.common.eta});
      if (!user) return user.error().in(place);
    }
  }
  return {};
}

}  // namespace plackett
