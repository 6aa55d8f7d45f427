// plackett compare: methods side by side under several click models, on several datasets.
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command.h"
#include "plackett/results.h"
#include "progress.h"
#include "report/numbers.h"
#include "report/text.h"
#include "stop_signal.h"
#include "terminal_text.h"

namespace plackett::command {
namespace {

struct CompareOptions {
  std::optional<std::string> spec_file;
  std::vector<std::string> data;
  std::vector<std::string> datasets;
  std::string data_root;
  DataOptions loading;  // its path is not read
  SimulationSpec common;
  std::vector<std::string> methods;
  std::vector<std::string> click_models;
  ComparisonSpec reporting;  // baselines and test
  std::optional<std::string> out;
  bool dry_run = false;
};

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

// The spec of the file, or the default one, with each given option in place of its value. Ends the
// command on unknown names; check() says whether the spec can run.
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
  copy_report_options(command, options.reporting, spec);
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

// --out, or a folder under results/ named after the spec file and the spec's identity: the same
// command finds its results again, and another one uses another folder.
std::string results_folder(const CompareOptions& options, const ComparisonSpec& spec) {
  if (options.out && options.out->empty()) fail(Error{"--out is empty; it names a folder"});
  if (options.out) return *options.out;
  const std::string name = options.spec_file
                               ? std::filesystem::path(*options.spec_file).stem().string()
                               : std::string("compare");
  return fmt::format("results/{}-{:08x}", name, identity(spec) >> 32);
}

void print_cells(const Plan::Dataset& planned, std::uint64_t impressions) {
  std::vector<std::vector<TableCell>> rows{
      {{"  method"}, {"click model"}, {"runs"}, {"impressions/s"}, {"per run"}}};
  for (const Plan::Cell& cell : planned.cells) {
    rows.push_back({{"  " + cell.label},
                    {cell.click_model},
                    {report::grouped(cell.runs)},
                    {report::rate(static_cast<double>(impressions) / cell.run_seconds)},
                    {report::duration(cell.run_seconds)}});
  }
  print_table(rows, standard_output().columns);
}

// Prints what is to be done in a folder and how long the missing runs take.
void print_plan(const ComparisonSpec& spec, const std::string& folder, const RunOptions& options) {
  const Plan plan = take(plan_comparison(spec, folder, options));
  const std::uint64_t total = run_count(spec);
  fmt::print("{} x {} x {} x {} = {} of {}\n", counted(spec.datasets.size(), "dataset"),
             counted(spec.methods.size(), "method"),
             counted(spec.click_models.size(), "click model"), counted(spec.common.runs, "run"),
             counted(total, "run"), counted(spec.common.impressions, "impression"));
  fmt::print("{} protocol, seed {}; results go to {}, where {} of the runs are done\n",
             name_of(spec.common.protocol), spec.common.seed, report::printable(folder),
             report::grouped(plan.finished_runs));
  for (std::size_t number = 0; number < spec.datasets.size(); ++number) {
    const std::string name = report::printable(spec.datasets[number].name);
    const Plan::Dataset& planned = plan.datasets[number];
    if (planned.cells.empty()) {
      fmt::print("\n{}: all runs are done\n", name);
    } else {
      fmt::print("\n{}, read in {}\n", name, report::duration(planned.load_seconds));
      print_cells(planned, spec.common.impressions);
    }
  }
  fmt::print("\n{} left, about {} on {}; nothing was run or written\n",
             counted(total - plan.finished_runs, "run"), report::duration(plan.seconds),
             counted(options.threads, "thread"));
}

// The methods' standing on one dataset so far.
Standing standing_of(const StoredResults& stored, std::size_t dataset) {
  const ComparisonSpec& spec = stored.spec;
  Standing standing{.title = spec.datasets[dataset].name + ", NDCG@10 so far",
                    .methods = {},
                    .click_models = spec.click_models};
  for (const ComparedMethod& method : spec.methods) {
    SimulationSpec simulation;
    apply(method.entry, simulation);
    standing.methods.push_back(method.label.empty() ? label_of(simulation) : method.label);
  }
  for (const auto& [place, run] : stored.runs) {
    if (place.dataset != dataset) continue;
    standing.add(place.method, place.click_model, run.record.curve.back().offline);
  }
  return standing;
}

// Runs with progress on the terminal. `before` becomes the number of runs that were finished
// before.
Result<StoredResults> run_watched(const ComparisonSpec& spec, const std::string& out,
                                  RunOptions options, std::size_t& before) {
  StopSignal signal(
      fmt::format("stopped; finished runs are in {}, and the same command continues", out));
  const std::uint64_t impressions = spec.common.impressions;
  const std::uint64_t total = run_count(spec);
  Progress progress({.impressions = impressions * total, .runs = total});
  options.watch = progress.watch();
  options.watch.stop = stop_requested;
  const StoredResults* stored = nullptr;
  FolderWatch watch;
  watch.opened = [&](const StoredResults& found) {
    stored = &found;
    before = found.runs.size();
    warn_of_damage(found, out, "their runs are done again");
    progress.skip({.impressions = impressions * before, .runs = before});
  };
  watch.loading = [&](std::size_t dataset) {
    signal.end_work();
    progress.set_label(fmt::format("reading {}", spec.datasets[dataset].name));
    progress.show(standing_of(*stored, dataset));
    progress.advance(0);
  };
  watch.loaded = [&](std::size_t /*dataset*/) { signal.begin_work(); };
  watch.stored = [&](const RunPlace& place, const RunRecord& record) {
    progress.score(place.method, place.click_model, record.curve.back().offline);
  };
  auto done = run_in_folder(spec, out, options, watch);
  if (!done && stored != nullptr) {
    const auto kept = read_results(out);
    const bool known = kept && kept->has_value();
    return Error{done.error().code,
                 fmt::format("{}; {}", with_advice(done.error()),
                             known ? runs_kept(**kept, out) : "no run was finished")};
  }
  return done;
}

void compare(const CLI::App& command, const CompareOptions& options) {
  const auto start = Clock::now();
  RunOptions run = options.loading.run;
  run.threads = load_options(options.loading).threads;
  const ComparisonSpec spec = comparison_spec(command, options);
  const std::string out = results_folder(options, spec);
  if (options.dry_run) return print_plan(spec, out, run);

  std::size_t before = 0;
  const StoredResults stored = take(run_watched(spec, out, run, before));
  if (!stored.runs.empty()) {
    report_results(stored, out);
    fmt::print("{} impressions in {:.1f} s on {}\n",
               report::grouped(spec.common.impressions * (stored.runs.size() - before)),
               seconds_since(start), counted(run.threads, "thread"));
    print_speeds(stored);
    if (before > 0) {
      fmt::print("{} {} finished before\n", counted(before, "run"), before == 1 ? "was" : "were");
    }
    fmt::print("report: {}/report.html\n", out);
  }
  if (stored.runs.size() < run_count(spec)) {
    fail(Error{
        ErrorCode::kStopped,
        fmt::format("stopped: {}; the same command continues from there", runs_kept(stored, out))});
  }
}

}  // namespace

void add_compare(CLI::App& app) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* command = app.add_subcommand(
      "compare",
      "Methods side by side on datasets and click models: tables, curves, a report.\n"
      "If it is stopped or killed, the same command continues");
  const ComparisonSpec defaults = default_comparison();
  for (const ComparedMethod& method : defaults.methods) {
    options->methods.push_back(to_text(method.entry));
  }
  options->click_models = defaults.click_models;
  options->data = {defaults.datasets.front().path};
  command->add_option("--spec", options->spec_file,
                      "a TOML file that says what to compare (docs/experiments.md); other options "
                      "override its values");
  command
      ->add_option("--data", options->data,
                   fmt::format("datasets, each PATH or NAME=PATH: {}", kDatasetHelp))
      ->delimiter(',');
  command->add_option("--datasets", options->datasets, "use only these of the spec's datasets")
      ->delimiter(',');
  command->add_option(
      "--data-root", options->data_root,
      "folder that relative paths of datasets start from (default: the current one)");
  add_loading_options(*command, options->loading);
  command->add_option("--methods", options->methods, "each " + method_help())->delimiter(',');
  command->add_option("--click-models", options->click_models, "names, or .toml files")
      ->delimiter(',');
  add_report_options(*command, options->reporting);
  add_options(*command, simulation_options(), options->common);
  command->add_option(
      "--out", options->out,
      "folder for results and report (default: under results/, named after the spec "
      "file and a hash of what is compared)");
  add_options(*command, run_options(), options->loading.run, {"fresh"});
  command->add_flag("--dry-run", options->dry_run,
                    "say what would run, where, and for how long; run and write nothing");
  command->callback([command, options] { compare(*command, *options); });
}

}  // namespace plackett::command
