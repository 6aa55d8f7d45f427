// plackett compare: methods side by side under several click models, on several datasets.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
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
  std::map<std::string, std::vector<std::string>>
      values;                         // of options and settings, by their names
  std::vector<std::string> settings;  // NAME=VALUES
  std::string select;
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

// One value replaces the common one, several are a sweep; both replace what the file says.
void set_values(const std::string& name, const std::vector<std::string>& values,
                ComparisonSpec& spec) {
  std::erase_if(spec.sweeps, [&](const Sweep& sweep) { return sweep.name == name; });
  for (const auto& option : simulation_options()) {
    if (option.name != name || values.size() != 1) continue;
    if (auto set = option.set(spec.common, values[0]); !set) {
      throw CLI::ValidationError("--" + name, set.error().message);
    }
    return;
  }
  spec.sweeps.push_back({name, values});
}

// The spec of the file, or the default one, with each given option in place of its value. Ends the
// command on unknown names; check() says whether the spec can run.
ComparisonSpec comparison_spec(const CLI::App& command, const CompareOptions& options) {
  ComparisonSpec spec =
      options.spec_file ? take(read_spec(*options.spec_file)) : default_comparison();
  const auto given = [&command](const char* name) { return command.count(name) > 0; };
  auto all_values = options.values;
  for (const std::string& text : options.settings) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw CLI::ValidationError("--set", fmt::format("{}; expected NAME=VALUE,...", text));
    }
    const auto values = list_values("--set", {text.substr(equals + 1)});
    auto& known = all_values[text.substr(0, equals)];
    known.insert(known.end(), values.begin(), values.end());
  }
  for (const auto& [name, values] : all_values) set_values(name, values, spec);
  if (given("--methods")) {
    spec.methods.clear();
    for (const std::string& text : options.methods) {
      for (MethodEntry& entry : take(parse_methods(text))) {
        spec.methods.push_back({.entry = std::move(entry)});
      }
    }
  }
  if (given("--select")) spec.select = true;
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

void print_cells(const Plan::Dataset& planned) {
  std::vector<std::vector<TableCell>> rows{
      {{"  method"}, {"click model"}, {"runs"}, {"impressions/s"}, {"per run"}}};
  for (const Plan::Cell& cell : planned.cells) {
    rows.push_back({{"  " + cell.label},
                    {cell.click_model},
                    {report::grouped(cell.runs)},
                    {report::rate(static_cast<double>(cell.impressions) / cell.run_seconds)},
                    {report::duration(cell.run_seconds)}});
  }
  print_table(rows, standard_output().columns);
}

// Prints why --device gpu would fail, if it would.
void print_refusals(const Plan& plan) {
  if (!plan.missing_gpu.empty()) fmt::print("\n{}\n", report::printable(plan.missing_gpu));
  std::vector<std::string> refusals;
  for (const Plan::Dataset& dataset : plan.datasets) {
    for (const Plan::Cell& cell : dataset.cells) {
      const bool known =
          std::find(refusals.begin(), refusals.end(), cell.refusal) != refusals.end();
      if (!cell.refusal.empty() && !known) refusals.push_back(cell.refusal);
    }
  }
  if (!refusals.empty()) fmt::print("\na GPU would refuse\n");
  for (const std::string& refusal : refusals) fmt::print("  {}\n", report::printable(refusal));
}

// Prints what is to be done in a folder and how long the missing runs take.
void print_plan(const ComparisonSpec& spec, const std::string& folder, const RunOptions& options) {
  const Plan plan = take(plan_comparison(spec, folder, options));
  fmt::print("{} x {} = {}", counted(plan.cells, "cell"), counted(spec.common.runs, "run"),
             counted(plan.cells * spec.common.runs, "run"));
  if (options.shard.count > 1) {
    fmt::print(", {} of them in shard {}", report::grouped(plan.runs), name_of(options.shard));
  }
  fmt::print("\nresults go to {}, where {} of the runs are done\n", report::printable(folder),
             report::grouped(plan.finished_runs));
  for (std::size_t number = 0; number < spec.datasets.size(); ++number) {
    const std::string name = report::printable(spec.datasets[number].name);
    const Plan::Dataset& planned = plan.datasets[number];
    if (planned.cells.empty()) {
      fmt::print("\n{}: all runs are done\n", name);
    } else {
      fmt::print("\n{}, read in {}\n", name, report::duration(planned.load_seconds));
      print_cells(planned);
    }
  }
  print_refusals(plan);
  fmt::print("\n{} left, about {} on {}; nothing was run or written\n",
             counted(plan.runs - plan.finished_runs, "run"), report::duration(plan.seconds),
             counted(options.threads, "thread"));
}

// The methods' standing on one dataset so far, with a row per label and a column per click model
// and surroundings.
struct DatasetStanding {
  std::string dataset;
  Standing table = {};
  std::map<std::size_t, std::pair<std::size_t, std::size_t>> places = {};  // of cells: row, column

  DatasetStanding(const StoredResults& stored, std::string of) : dataset(std::move(of)) {
    table.title = dataset + ", NDCG@10 so far";
    const auto place = [](std::vector<std::string>& list, const std::string& name) {
      const auto found = std::find(list.begin(), list.end(), name);
      const auto at = static_cast<std::size_t>(found - list.begin());
      if (found == list.end()) list.push_back(name);
      return at;
    };
    for (std::size_t at = 0; at < stored.cells.size(); ++at) {
      const StoredCell& cell = stored.cells[at];
      if (cell.dataset.name != dataset) continue;
      std::string column = cell.simulation.click_model;
      for (const auto& [name, value] : cell.surroundings) {
        column += fmt::format(", {} {}", name, value);
      }
      const std::size_t row = place(table.methods, cell.simulation.label);
      places[at] = {row, place(table.click_models, column)};
    }
    for (const auto& [cell, at] : places) {
      for (const auto& [number, run] : stored.cells[cell].runs) {
        table.add(at.first, at.second, run.record.curve.back().offline);
      }
    }
  }
};

// What a command did.
struct Done {
  std::uint64_t to_do = 0;        // runs
  std::uint64_t runs = 0;         // of these
  std::uint64_t impressions = 0;  // in them
  std::string device = {};        // that did them
};

// The standing on the first of the datasets whose runs are under way, on the terminal. One call at
// a time.
class Standings {
 public:
  explicit Standings(Progress& progress) : progress_(progress) {}

  // While no runs are under way, that of the dataset that is read is shown.
  void read(DatasetStanding standing) {
    read_ = std::move(standing);
    if (!any_under_way()) progress_.show(read_->table);
  }
  void start_runs() {
    under_way_.push_back(std::move(*read_));
    read_.reset();
  }
  void add(std::size_t cell, double value) {
    for (DatasetStanding& standing : under_way_) {
      const auto place = standing.places.find(cell);
      if (place == standing.places.end()) continue;
      const auto [row, column] = place->second;
      standing.table.add(row, column, value);
      if (&standing == &under_way_.front()) progress_.score(row, column, value);
    }
  }
  void end_runs(const std::string& dataset) {
    const bool was_shown = under_way_.front().dataset == dataset;
    std::erase_if(under_way_, [&](const DatasetStanding& one) { return one.dataset == dataset; });
    if (was_shown && any_under_way()) progress_.show(under_way_.front().table);
    if (!any_under_way() && read_) progress_.show(read_->table);
  }
  [[nodiscard]] bool any_under_way() const { return !under_way_.empty(); }
  [[nodiscard]] bool any_read() const { return read_.has_value(); }

 private:
  Progress& progress_;
  std::vector<DatasetStanding> under_way_;  // in the spec's order
  std::optional<DatasetStanding> read_;     // of the dataset that is being read
};

// Runs with progress on the terminal.
Result<StoredResults> run_watched(const ComparisonSpec& spec, const std::string& out,
                                  RunOptions options, Done& work) {
  StopSignal signal(
      fmt::format("stopped; finished runs are in {}, and the same command continues", out));
  Progress progress({});
  Standings standings(progress);
  std::atomic<bool> is_reading{false};
  options.watch = progress.watch();
  // The label says what is read, though other datasets' runs may start meanwhile.
  options.watch.run_started = [&, label = options.watch.run_started](const SimulationSpec& run) {
    if (!is_reading) label(run);
  };
  options.watch.stop = stop_requested;
  options.watch.told_device = [&](const std::string& what) { work.device = what; };
  const StoredResults* stored = nullptr;
  FolderWatch watch;
  watch.opened = [&](const StoredResults& found, WorkCount all, WorkCount left) {
    stored = &found;
    work.to_do = left.runs;
    warn_of_damage(found, "their runs are done again");
    progress.expect({.impressions = all.impressions, .runs = all.runs});
    progress.skip(
        {.impressions = all.impressions - left.impressions, .runs = all.runs - left.runs});
  };
  watch.loading = [&](const ComparedDataset& dataset) {
    if (!standings.any_under_way()) signal.end_work();
    is_reading = true;
    progress.set_label(fmt::format("reading {}", dataset.name));
    standings.read(DatasetStanding(*stored, dataset.name));
    progress.advance(0);
  };
  watch.loaded = [&] {
    is_reading = false;
    standings.start_runs();
    signal.begin_work();
  };
  watch.stored = [&](std::size_t cell, const RunRecord& record) {
    ++work.runs;
    work.impressions += record.curve.back().impression;
    standings.add(cell, record.curve.back().offline);
  };
  watch.done = [&](const ComparedDataset& dataset) {
    standings.end_runs(dataset.name);
    const bool only_reads = !standings.any_under_way() && standings.any_read();
    if (only_reads && !stop_requested()) signal.end_work();
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

  Done work;
  const StoredResults stored = take(run_watched(spec, out, run, work));
  const bool all_there = stored.finished() == stored.asked();
  const bool is_part = run.shard.count > 1;
  if (!stored.empty() && (all_there || !is_part)) {
    report_results(stored, out);
    fmt::print("{} impressions in {:.1f} s on {}\n", report::grouped(work.impressions),
               seconds_since(start), report::printable(work.device));
    print_speeds(stored);
    const std::uint64_t before = stored.finished() - work.runs;
    if (before > 0 && !is_part) {
      fmt::print("{} {} finished before\n", counted(before, "run"), before == 1 ? "was" : "were");
    }
    fmt::print("report: {}/report.html\n", out);
  }
  if (work.runs < work.to_do) {
    fail(Error{
        ErrorCode::kStopped,
        fmt::format("stopped: {}; the same command continues from there", runs_kept(stored, out))});
  }
  if (is_part && !all_there) {
    fmt::print("shard {} is done: {}; plackett report {} shows them\n", name_of(run.shard),
               runs_kept(stored, out), out);
  }
}

// Adds simulation options, --ranker, --learning-rate and --set, each with one value or several.
void add_lists(CLI::App& command, CompareOptions& options) {
  const auto add = [&](std::string_view name, const std::string& help, bool one_is_a_list) {
    auto* added = command.add_option_function<std::vector<std::string>>(
        fmt::format("--{}", name),
        [&options, name = std::string(name),
         one_is_a_list](const std::vector<std::string>& mentions) {
          options.values[name] = one_is_a_list ? mentions : list_values("--" + name, mentions);
        },
        help);
    return added->expected(1)->take_all();
  };
  const SimulationSpec defaults;
  for (const auto& option : simulation_options()) {
    const bool one_is_a_list = option.kind == OptionKind::kIntegers || option.repeats;
    add(option.name, option.help, one_is_a_list)->default_str(option.text(defaults));
  }
  add("ranker", "of methods that are not given one: " + ranker_names(), false);
  add(kLearningRate, "of methods that are not given one", false);
  command
      .add_option("--select", options.select,
                  "validation: of swept values, report those that do best on validation queries")
      ->check(CLI::IsMember({std::string(name_of(MeasuredSplit::kValidation))}));
  command.add_option("--set", options.settings, "NAME=VALUE,...: another setting of the methods")
      ->expected(1)
      ->take_all();
}

// "each paper (the paper's six: dbgd, ...),".
std::string group_help() {
  std::string help = "each ";
  for (const MethodGroup& group : method_groups()) {
    help += fmt::format("{} ({}: {}),\n", group.name, group.help, fmt::join(group.entries, ", "));
  }
  return help;
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
  add_list(*command, "--data", options->data,
           fmt::format("datasets, each PATH or NAME=PATH: {}", kDatasetHelp));
  add_list(*command, "--datasets", options->datasets, "use only these of the spec's datasets");
  command->add_option(
      "--data-root", options->data_root,
      "folder that relative paths of datasets start from (default: the current one)");
  add_loading_options(*command, options->loading);
  add_list(*command, "--methods", options->methods, group_help() + "or " + method_help());
  add_list(*command, "--click-models", options->click_models, "names, or .toml files");
  add_lists(*command, *options);
  add_report_options(*command, options->reporting);
  command->add_option(
      "--out", options->out,
      "folder for results and report (default: under results/, named after the spec "
      "file and a hash of what is compared)");
  add_options(*command, run_options(), options->loading.run, {"device", "shard", "fresh"});
  command->add_flag("--dry-run", options->dry_run,
                    "say what would run, where, and for how long; run and write nothing");
  command->callback([command, options] { compare(*command, *options); });
}

}  // namespace plackett::command
