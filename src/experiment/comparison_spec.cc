#include "plackett/comparison_spec.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "dataset/known_grades.h"
#include "experiment/spec_parts.h"
#include "plackett/method.h"

namespace plackett {
namespace {

constexpr std::array kPaperMethods = std::to_array<std::string_view>(
    {"dbgd", "dbgd:neural", "mgd", "pairwise", "pdgd", "pdgd:neural"});
constexpr std::array kPaperClickModels =
    std::to_array<std::string_view>({"perfect", "navigational", "informational"});

}  // namespace

ComparisonSpec default_comparison() {
  ComparisonSpec spec;
  spec.datasets.push_back(dataset_at("synthetic"));
  for (const std::string_view text : kPaperMethods) {
    spec.methods.push_back({.entry = parse_method_entry(text).value()});
  }
  spec.click_models.assign(kPaperClickModels.begin(), kPaperClickModels.end());
  return spec;
}

std::optional<RunPlace> place_of(const ComparisonSpec& spec, const RunName& name) {
  const auto at = [](const auto& list, auto matches) {
    return static_cast<std::size_t>(std::find_if(list.begin(), list.end(), matches) - list.begin());
  };
  const RunPlace place{
      at(spec.datasets, [&](const ComparedDataset& one) { return one.name == name.dataset; }),
      name.run,
      at(spec.click_models, [&](const std::string& one) { return one == name.click_model; }),
      at(spec.methods,
         [&](const ComparedMethod& one) { return to_text(canonical(one.entry)) == name.method; })};
  if (place.dataset == spec.datasets.size() || place.click_model == spec.click_models.size() ||
      place.method == spec.methods.size() || place.run >= spec.common.runs) {
    return std::nullopt;
  }
  return place;
}

std::uint64_t run_count(const ComparisonSpec& spec) {
  return std::uint64_t{spec.datasets.size()} * spec.methods.size() * spec.click_models.size() *
         spec.common.runs;
}

std::shared_ptr<const User> own_user(const ComparisonSpec& spec, std::string_view click_model) {
  for (const auto& user : spec.users) {
    if (user != nullptr && user->name() == click_model) return user;
  }
  return nullptr;
}

SimulationSpec simulation_spec(const ComparisonSpec& spec, const ComparedMethod& method,
                               const std::string& click_model) {
  SimulationSpec simulation = spec.common;
  apply(method.entry, simulation);
  simulation.click_model = click_model;
  simulation.user = own_user(spec, click_model);
  simulation.label = method.label;
  simulation.baseline = method.baseline;
  return simulation;
}

LoadOptions load_options(const ComparedDataset& dataset) {
  LoadOptions load;
  load.scaling = dataset.scaling;
  load.drop_constant_features = !dataset.keep_constant_features;
  load.max_feature_id = dataset.max_feature_id;
  return load;
}

ComparedDataset dataset_at(const std::string& path) {
  if (is_synthetic(path)) return {.name = path, .path = path};
  std::filesystem::path named = std::filesystem::path(path).lexically_normal();
  if (!named.has_filename()) named = named.parent_path();
  if (named.extension() == ".plk") named = named.stem();
  return {.name = named.filename().string(), .path = path};
}

}  // namespace plackett
