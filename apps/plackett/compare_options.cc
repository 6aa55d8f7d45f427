#include "compare_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "command.h"
#include "experiment/identity.h"
#include "experiment/spec_file.h"
#include "experiment/spec_parts.h"

namespace plackett::command {
namespace {

std::vector<std::string> names_of(const std::vector<ComparedDataset>& datasets) {
  std::vector<std::string> names;
  names.reserve(datasets.size());
  for (const ComparedDataset& dataset : datasets) names.push_back(dataset.name);
  return names;
}

// "PATH" or "NAME=PATH"; a spec's dataset of that name gives the rest.
ComparedDataset dataset_of(const std::string& text, const std::vector<ComparedDataset>& known) {
  const std::size_t equals = text.find('=');
  const bool named = equals != std::string::npos && equals > 0 && text.find('/') > equals;
  ComparedDataset dataset;
  dataset.path = named ? text.substr(equals + 1) : text;
  dataset.name = named ? text.substr(0, equals) : dataset_name(text);
  const auto same = std::find_if(known.begin(), known.end(), [&](const ComparedDataset& one) {
    return one.name == dataset.name;
  });
  if (same == known.end()) return dataset;
  ComparedDataset moved = *same;
  moved.path = dataset.path;
  return moved;
}

std::vector<ComparedDataset> chosen(const std::vector<ComparedDataset>& all,
                                    const std::vector<std::string>& names) {
  std::vector<ComparedDataset> result;
  for (const std::string& name : names) {
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const ComparedDataset& one) { return one.name == name; });
    if (found == all.end()) {
      fail(Error{fmt::format("--datasets: no dataset \"{}\"; there are {}", name,
                             fmt::join(names_of(all), ", "))});
    }
    result.push_back(*found);
  }
  return result;
}

void override_common(const CLI::App& command, const CompareOptions& options,
                     SimulationSpec& common) {
  const SimulationSpec asked = spec_of(options.simulation);
  const auto given = [&command](const char* name) { return command.count(name) > 0; };
  if (given("--runs")) common.runs = asked.runs;
  if (given("--impressions")) common.impressions = asked.impressions;
  if (given("--protocol")) common.protocol = asked.protocol;
  if (given("--seed")) common.seed = asked.seed;
  if (given("--shown")) common.shown = asked.shown;
  if (given("--hidden")) common.ranker.hidden = asked.ranker.hidden;
  if (given("--activation")) common.ranker.activation = asked.ranker.activation;
  if (given("--eta")) common.eta = asked.eta;
  if (given("--no-relevant")) common.no_relevant = asked.no_relevant;
}

}  // namespace

void add_compare_options(CLI::App& command, CompareOptions& options) {
  const ComparisonSpec defaults = default_comparison();
  for (const ComparedMethod& method : defaults.methods) {
    options.methods.push_back(to_text(method.entry));
  }
  options.click_models = defaults.click_models;
  options.data = {defaults.datasets.front().path};
  command.add_option("--spec", options.spec_file,
                     "a TOML file that says what to compare (docs/experiments.md); options given "
                     "beside it stand in place of its values");
  command
      .add_option("--data", options.data,
                  "datasets, each PATH or NAME=PATH: a LETOR folder, a cache file, synthetic or "
                  "synthetic:PRESET")
      ->delimiter(',')
      ->capture_default_str();
  command.add_option("--datasets", options.datasets, "of the spec's datasets, only those named")
      ->delimiter(',');
  command.add_option(
      "--data-root", options.data_root,
      "folder that relative paths of datasets start from (default: the current one)");
  add_loading_options(command, options.loading);
  command.add_option("--methods", options.methods, "each " + method_help())
      ->delimiter(',')
      ->capture_default_str();
  command.add_option("--click-models", options.click_models, "names, or .toml files")
      ->delimiter(',')
      ->capture_default_str();
  add_simulation_options(command, options.simulation);
  command.add_option("--out", options.out,
                     "folder for results and report (default: under results/, named after the spec "
                     "file and a hash of what is compared)");
  command.add_flag("--fresh", options.fresh,
                   "do all runs again, those too that are in the folder already");
  command.add_flag("--dry-run", options.dry_run,
                   "say what would run, where, and for how long; run and write nothing");
}

ComparisonSpec comparison_spec(const CLI::App& command, const CompareOptions& options) {
  ComparisonSpec spec =
      options.spec_file ? take(read_spec(*options.spec_file)) : default_comparison();
  const auto given = [&command](const char* name) { return command.count(name) > 0; };
  override_common(command, options, spec.common);
  if (given("--methods")) {
    spec.methods.clear();
    for (const std::string& text : options.methods) {
      spec.methods.push_back({.entry = canonical(take(parse_method_entry(text)))});
    }
  }
  if (given("--click-models")) spec.click_models = options.click_models;
  if (given("--data")) {
    std::vector<ComparedDataset> datasets;
    for (const std::string& text : options.data) {
      datasets.push_back(dataset_of(text, spec.datasets));
    }
    spec.datasets = std::move(datasets);
  }
  if (given("--datasets")) spec.datasets = chosen(spec.datasets, options.datasets);
  const Scaling scaling = take(parse_scaling(options.loading.scaling));
  for (ComparedDataset& dataset : spec.datasets) {
    if (given("--scaling")) dataset.scaling = scaling;
    if (given("--keep-constant-features")) dataset.keep_constant_features = true;
    if (given("--max-feature-id")) dataset.max_feature_id = options.loading.load.max_feature_id;
    if (!options.data_root.empty() && !is_synthetic(dataset.path)) {
      dataset.path = (std::filesystem::path(options.data_root) / dataset.path).string();
    }
  }
  return spec;
}

std::string results_folder(const CompareOptions& options, const ComparisonSpec& spec) {
  if (options.out && options.out->empty()) fail(Error{"--out is empty; it names a folder"});
  if (options.out) return *options.out;
  const std::string name = options.spec_file
                               ? std::filesystem::path(*options.spec_file).stem().string()
                               : std::string("compare");
  return fmt::format("results/{}-{:08x}", name, identity(spec) >> 32);
}

}  // namespace plackett::command
