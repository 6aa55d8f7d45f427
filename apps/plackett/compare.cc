// plackett compare: methods side by side under several click models, on several datasets.
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "command.h"
#include "compare_options.h"
#include "dry_run.h"
#include "plackett/results.h"
#include "print_results.h"
#include "progress.h"
#include "report/numbers.h"
#include "stop_signal.h"

namespace plackett::command {
namespace {

// The methods' standing on one dataset so far.
Standing standing_of(const StoredResults& stored, std::size_t dataset) {
  const ComparisonSpec& spec = stored.spec;
  Standing::Names names{.title = spec.datasets[dataset].name + ", NDCG@10 so far",
                        .methods = {},
                        .click_models = spec.click_models};
  for (const ComparedMethod& method : spec.methods) {
    SimulationSpec simulation;
    apply(method.entry, simulation);
    names.methods.push_back(method.label.empty() ? label_of(simulation) : method.label);
  }
  Standing standing(std::move(names));
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
  const auto start = std::chrono::steady_clock::now();
  const LoadOptions load = load_options(options.loading);
  const RunOptions run{
      .threads = load.threads, .fresh = options.fresh, .verify_cache = load.verify_cache};
  const ComparisonSpec spec = comparison_spec(command, options);
  const std::string out = results_folder(options, spec);
  if (options.dry_run) return print_plan(spec, out, run);

  std::size_t before = 0;
  const StoredResults stored = take(run_watched(spec, out, run, before));
  if (!stored.runs.empty()) {
    report_results(stored, out);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    fmt::print("{} impressions in {:.1f} s on {}\n",
               report::grouped(spec.common.impressions * (stored.runs.size() - before)), seconds,
               counted(run.threads, "thread"));
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
  add_compare_options(*command, *options);
  command->callback([command, options] { compare(*command, *options); });
}

}  // namespace plackett::command
