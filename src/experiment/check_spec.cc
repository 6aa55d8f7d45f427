#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <string_view>

#include "dataset/cache.h"
#include "dataset/letor_files.h"
#include "dataset/synthetic.h"
#include "experiment/spec_parts.h"
#include "plackett/comparison_spec.h"
#include "plackett/make_user.h"
#include "plackett/method.h"
#include "users/user_file.h"

namespace plackett {
namespace {

constexpr std::string_view kSynthetic = "synthetic";

Result<void> check_numbers(const SimulationSpec& common) {
  const auto within = [](std::uint64_t value, std::uint64_t most, std::string_view what) {
    return value >= 1 && value <= most
               ? Result<void>()
               : Error{fmt::format("{} {}; there can be 1 to {}", value, what, most)};
  };
  if (auto runs = within(common.runs, kMaxRuns, "runs"); !runs) return runs;
  if (auto many = within(common.impressions, kMaxImpressions, "impressions"); !many) return many;
  if (auto shown = within(common.shown, kMaxShown, "documents shown"); !shown) return shown;
  if (!std::isfinite(common.eta) || common.eta < 0) {
    return Error{fmt::format("eta {}; it must be finite and not negative", common.eta)};
  }
  return {};
}

Result<void> check_methods(const ComparisonSpec& spec) {
  if (spec.methods.empty()) return Error{"no methods; a comparison has at least 1"};
  std::set<std::string> entries;
  std::set<std::string> labels;
  for (const ComparedMethod& method : spec.methods) {
    const std::string text = to_text(canonical(method.entry));
    if (!entries.insert(text).second) {
      return Error{fmt::format("method {} is asked for twice; each may come once", text)};
    }
    SimulationSpec simulation = simulation_spec(spec, method, "perfect");
    const std::string label = method.label.empty() ? label_of(simulation) : method.label;
    if (!labels.insert(label).second) {
      return Error{fmt::format("two methods are called \"{}\"; labels must differ", label)};
    }
    simulation.ranker.feature_count = 1;
    Rng rng({simulation.seed, 0, 0, Purpose::kInitialise});
    auto ranker = make_ranker(simulation.ranker, rng);
    if (!ranker) return Error{fmt::format("{}: {}", text, ranker.error().message)};
    auto learner = make_learner(simulation.method, std::move(ranker).value(),
                                {.shown = simulation.shown}, simulation.settings);
    if (!learner) return Error{fmt::format("{}: {}", text, learner.error().message)};
  }
  return {};
}

// The number of grades, where it costs little to know; 0 where not. Fails where nothing is there.
Result<std::uint32_t> known_grades(const ComparedDataset& dataset) {
  const std::string& where = dataset.path;
  if (is_synthetic(where)) {
    auto preset =
        synthetic_preset(where == kSynthetic ? "default" : where.substr(kSynthetic.size() + 1));
    if (!preset) return preset.error();
    return preset->grades;
  }
  std::error_code error;
  if (std::filesystem::is_directory(where, error)) {
    auto folds = find_letor_folds(where);
    if (!folds) return folds.error();
    return 0U;
  }
  if (!std::filesystem::exists(where, error)) {
    return Error{
        fmt::format("{}: no such file or folder; a dataset is a folder of LETOR files, a "
                    "cache or 'synthetic'",
                    where)};
  }
  auto cache = open_cache(where, {.verify_features = false});
  if (!cache) return cache.error();
  return cache->dataset.grade_count();
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
      return wrong("there is a click model of that name already");
    }
    if (!names.insert(name).second) return wrong("two have that name; names must differ");
    if (std::find(named.begin(), named.end(), name) == named.end()) {
      return wrong("no click model is called so, so it would take no part");
    }
  }
  return {};
}

Result<void> check_click_models(const ComparisonSpec& spec) {
  if (auto users = check_own_users(spec); !users) return users;
  if (spec.click_models.empty()) return Error{"no click models; a comparison has at least 1"};
  std::set<std::string> names;
  std::set<std::string> called;  // a file says its own name
  for (const std::string& name : spec.click_models) {
    if (!names.insert(name).second) {
      return Error{fmt::format("click model {} is asked for twice; each may come once", name)};
    }
    const auto called_twice = [](std::string_view twice) {
      return Error{fmt::format("two click models are called \"{}\"; names must differ", twice)};
    };
    if (own_user(spec, name) != nullptr) {
      if (!called.insert(name).second) return called_twice(name);
      continue;
    }
    UserOptions options{.eta = spec.common.eta};
    if (name.ends_with(".toml")) options.grade_count = user_file_grades(name);
    auto user = make_user(name, options);
    if (!user) return user.error();
    if (!called.emplace(user.value()->name()).second) return called_twice(user.value()->name());
  }
  return {};
}

}  // namespace

Result<void> check_apart_from_data(const ComparisonSpec& spec) {
  if (auto numbers = check_numbers(spec.common); !numbers) return numbers;
  if (auto methods = check_methods(spec); !methods) return methods;
  if (auto click_models = check_click_models(spec); !click_models) return click_models;
  if (spec.datasets.empty()) return Error{"no datasets; a comparison has at least 1"};
  std::set<std::string> names;
  for (const ComparedDataset& dataset : spec.datasets) {
    if (dataset.name.empty()) return Error{fmt::format("{}: a dataset needs a name", dataset.path)};
    if (!names.insert(dataset.name).second) {
      return Error{
          fmt::format("two datasets are called \"{}\"; {}", dataset.name, kGiveAnotherName),
          Hint::kOtherName};
    }
  }
  return {};
}

Result<void> check(const ComparisonSpec& spec) {
  if (auto sound = check_apart_from_data(spec); !sound) return sound;
  for (const ComparedDataset& dataset : spec.datasets) {
    auto grades = known_grades(dataset);
    if (!grades) {
      return Error{fmt::format("dataset {}: {}", dataset.name, grades.error().message)};
    }
    if (grades.value() == 0) continue;
    for (const std::string& name : spec.click_models) {
      if (own_user(spec, name) != nullptr) continue;
      auto user = make_user(name, {.grade_count = grades.value(), .eta = spec.common.eta});
      if (!user) return Error{fmt::format("dataset {}: {}", dataset.name, user.error().message)};
    }
  }
  return {};
}

}  // namespace plackett
