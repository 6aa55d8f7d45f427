// plackett compare: methods side by side under several click models, on several datasets.
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "command.h"
#include "compare_options.h"
#include "dry_run.h"
#include "experiment/results_folder.h"
#include "experiment/run_comparison.h"
#include "experiment/spec_parts.h"
#include "load_compared.h"
#include "plackett/version.h"
#include "print_results.h"
#include "progress.h"
#include "report/numbers.h"
#include "stop_signal.h"

namespace plackett::command {
namespace {

// The methods' standing on one dataset, with the runs that an earlier command finished.
Standing standing_of(const StoredResults& stored, std::size_t dataset) {
  const ComparisonSpec& spec = stored.spec;
  Standing::Names names{.title = spec.datasets[dataset].name + ", NDCG@10 so far",
                        .methods = {},
                        .click_models = spec.click_models};
  for (const ComparedMethod& method : spec.methods) {
    names.methods.push_back(method.label.empty() ? label_of(simulation_spec(spec, method, ""))
                                                 : method.label);
  }
  Standing standing(std::move(names));
  for (const auto& [place, run] : stored.runs) {
    if (place.dataset != dataset) continue;
    standing.add(place.method, place.click_model, run.record.curve.back().offline);
  }
  return standing;
}

// Does what the folder lacks, one dataset after another, so that one is in memory at a time.
Result<void> run_all_datasets(ResultsFolder& folder, const Loading& loading, StopSignal& signal) {
  const StoredResults& stored = folder.stored();
  const ComparisonSpec& spec = stored.spec;
  const std::uint64_t impressions = spec.common.impressions;
  const std::uint64_t total = run_count(spec);
  Progress progress({.impressions = impressions * total, .runs = total});
  progress.skip({.impressions = impressions * stored.runs.size(), .runs = stored.runs.size()});
  ComparisonWatch watch;
  watch.runs.stop = stop_requested;
  watch.runs.run_started = [&progress](const SimulationSpec& started) {
    progress.set_label(fmt::format("{}, {}", started.label, started.click_model));
  };
  watch.runs.advanced = [&progress](std::uint64_t count) { progress.advance(count); };
  watch.runs.run_done = [&progress] { progress.run_done(); };
  watch.kept = [&progress](const RunPlace& place, const RunRecord& record) {
    progress.score(place.method, place.click_model, record.curve.back().offline);
  };
  for (std::size_t number = 0; number < spec.datasets.size(); ++number) {
    if (finished_runs(stored, number) == total / spec.datasets.size()) continue;
    progress.set_label(fmt::format("reading {}", spec.datasets[number].name));
    progress.show(standing_of(stored, number));
    progress.advance(0);
    const Dataset dataset = load_compared(spec.datasets[number], loading);
    signal.begin_work();
    auto done = run_dataset(folder, number, dataset, loading.threads, watch);
    signal.end_work();
    if (!done) return done;
    if (stop_requested()) break;
  }
  return {};
}

void compare(const CLI::App& command, const CompareOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const Loading loading{.threads = thread_count(options.simulation.threads),
                        .trust_cache = options.loading.trust_cache};
  const ComparisonSpec spec = comparison_spec(command, options);
  const std::string out = results_folder(options, spec);
  take(check(spec));
  if (options.dry_run) return print_plan(spec, out, loading);

  ResultsFolder folder =
      take(ResultsFolder::open(out, spec, {std::string(version()), options.fresh}));
  take(require_same_users(folder.stored()));
  warn_of_damage(folder.stored(), out, "their runs are done again");
  const std::size_t before = folder.stored().runs.size();
  const Result<void> done = [&] {
    StopSignal signal(
        fmt::format("stopped; finished runs are kept in {}, and the same command "
                    "goes on where this one stopped",
                    out));
    return run_all_datasets(folder, loading, signal);
  }();
  if (!done) {
    fail(Error{fmt::format("{}; {}", done.error().message, runs_kept(folder.stored(), out))});
  }
  take(folder.finish());
  const StoredResults& stored = folder.stored();
  const bool stopped = stored.runs.size() < run_count(stored.spec);
  if (!stored.runs.empty()) {
    report_results(stored, out);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const std::uint64_t ran = stored.runs.size() - before;
    fmt::print("{} impressions in {:.1f} s on {} thread{}\n",
               report::grouped(spec.common.impressions * ran), seconds, loading.threads,
               loading.threads == 1 ? "" : "s");
    print_speeds(stored);
    if (before > 0) {
      fmt::print("{} run{} finished before\n", report::grouped(before),
                 before == 1 ? " was" : "s were");
    }
    fmt::print("report: {}/report.html\n", out);
  }
  if (stopped) {
    throw Exit(kInterrupted, fmt::format("stopped: {}; the same command goes on from there",
                                         runs_kept(stored, out)));
  }
}

}  // namespace

void add_compare(CLI::App& app) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* command = app.add_subcommand(
      "compare",
      "Methods side by side on datasets and click models: tables, curves, a report.\n"
      "Stopped or killed, the same command goes on where it was");
  add_compare_options(*command, *options);
  command->callback([command, options] { compare(*command, *options); });
}

}  // namespace plackett::command
