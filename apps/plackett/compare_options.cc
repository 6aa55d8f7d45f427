#include "compare_options.h"

#include <filesystem>

#include "plackett/method.h"

namespace plackett::command {
namespace {

const ComparedDataset* find(const std::vector<ComparedDataset>& datasets, const std::string& name) {
  const auto found = std::find_if(datasets.begin(), datasets.end(),
                                  [&](const ComparedDataset& one) { return one.name == name; });
  return found == datasets.end() ? nullptr : &*found;
}

// "PATH" or "NAME=PATH"; a dataset of that name in the spec gives the rest.
ComparedDataset dataset_of(const std::string& text, const std::vector<ComparedDataset>& known) {
  const std::size_t equals = text.find('=');
  const bool named = equals != std::string::npos && equals > 0 && text.find('/') > equals;
  ComparedDataset dataset = dataset_at(named ? text.substr(equals + 1) : text);
  if (named) dataset.name = text.substr(0, equals);
  const ComparedDataset* same = find(known, dataset.name);
  if (same == nullptr) return dataset;
  ComparedDataset moved = *same;
  moved.path = dataset.path;
  return moved;
}

std::vector<ComparedDataset> chosen(const std::vector<ComparedDataset>& all,
                                    const std::vector<std::string>& names) {
  std::vector<ComparedDataset> result;
  for (const std::string& name : names) {
    const ComparedDataset* found = find(all, name);
    if (found == nullptr) {
      std::vector<std::string> known;
      for (const ComparedDataset& dataset : all) known.push_back(dataset.name);
      fail(Error{ErrorCode::kNotFound, fmt::format("--datasets: no dataset \"{}\"; there are {}",
                                                   name, fmt::join(known, ", "))});
    }
    result.push_back(*found);
  }
  return result;
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
                     "a TOML file that says what to compare (docs/experiments.md); other options "
                     "override its values");
  command
      .add_option("--data", options.data,
                  "datasets, each PATH or NAME=PATH: a LETOR folder, a cache file, synthetic or "
                  "synthetic:PRESET")
      ->delimiter(',');
  command.add_option("--datasets", options.datasets, "use only these of the spec's datasets")
      ->delimiter(',');
  command.add_option(
      "--data-root", options.data_root,
      "folder that relative paths of datasets start from (default: the current one)");
  add_loading_options(command, options.loading);
  command.add_option("--methods", options.methods, "each " + method_help())->delimiter(',');
  command.add_option("--click-models", options.click_models, "names, or .toml files")
      ->delimiter(',');
  add_options(command, simulation_options(), options.common);
  command.add_option("--out", options.out,
                     "folder for results and report (default: under results/, named after the spec "
                     "file and a hash of what is compared)");
  command.add_flag("--fresh", options.fresh,
                   "do all runs again, including those that are in the folder");
  command.add_flag("--dry-run", options.dry_run,
                   "say what would run, where, and for how long; run and write nothing");
}

std::string method_help() {
  std::string help = "method[:ranker][:setting=value]...;";
  for (const Method* method : methods()) {
    help += fmt::format("\n{}: {}", method->name, method->summary);
    for (const Setting& setting : method->settings) {
      help += fmt::format("\n    {}={}: {}", setting.name, setting.text(setting.fallback),
                          setting.help);
      if (!setting.names.empty()) help += fmt::format(" ({})", fmt::join(setting.names, ", "));
    }
  }
  return help;
}

ComparisonSpec comparison_spec(const CLI::App& command, const CompareOptions& options) {
  ComparisonSpec spec =
      options.spec_file ? take(read_spec(*options.spec_file)) : default_comparison();
  const auto given = [&command](const char* name) { return command.count(name) > 0; };
  copy_given(command, simulation_options(), options.common, spec.common);
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
  for (ComparedDataset& dataset : spec.datasets) {
    copy_given(command, dataset_options(), options.loading.dataset, dataset);
    const bool generated = dataset.path == "synthetic" || dataset.path.starts_with("synthetic:");
    if (!options.data_root.empty() && !generated) {
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
