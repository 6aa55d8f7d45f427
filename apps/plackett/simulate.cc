// plackett simulate: one method under one click model.
#include "plackett/simulate.h"

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "command.h"
#include "plackett/method_entry.h"
#include "plackett/model_file.h"
#include "progress.h"
#include "report/numbers.h"

namespace plackett::command {
namespace {

struct SimulateOptions {
  DataOptions data;
  SimulationSpec spec;
  std::string method = "pdgd";
  std::optional<std::string> ranker;
  std::optional<std::string> learning_rate;
  std::optional<std::string> save_model;
  bool json = false;
};

nlohmann::ordered_json to_json(const CellSummary& cell) {
  nlohmann::ordered_json curve = nlohmann::ordered_json::array();
  for (const CurveSummary& point : cell.curve) {
    curve.push_back({{"impression", point.impression},
                     {"offline_mean", point.offline.mean},
                     {"offline_std", point.offline.std},
                     {"online_mean", point.online.mean},
                     {"online_std", point.online.std}});
  }
  return {{"method", cell.method},
          {"ranker", cell.ranker},
          {"click_model", cell.click_model},
          {"dataset", cell.dataset},
          {"protocol", cell.protocol},
          {"runs", cell.runs},
          {"impressions", cell.impressions},
          {"seed", cell.seed},
          {"offline", {{"mean", cell.offline.mean}, {"std", cell.offline.std}}},
          {"online", {{"mean", cell.online.mean}, {"std", cell.online.std}}},
          {"curve", std::move(curve)},
          {"impressions_per_second", cell.impressions_per_second},
          {"seconds", cell.seconds},
          {"evaluation_share", cell.evaluation_share}};
}

void print_summary(const CellSummary& cell) {
  fmt::print("{} ({}) under {} clicks on {}, {} protocol, {} run{} of {} impressions, seed {}\n",
             cell.method, cell.ranker, cell.click_model, cell.dataset, cell.protocol, cell.runs,
             cell.runs == 1 ? "" : "s", cell.impressions, cell.seed);
  const auto text = [&cell](Moments moments, int digits) {
    if (cell.runs < 2) moments.std = std::nan("");  // a single run has none
    return fmt::format("{} ({})", report::fixed(moments.mean, digits),
                       report::fixed(moments.std, digits));
  };
  fmt::print("  offline NDCG@10  {}\n", text(cell.offline, 4));
  fmt::print("  online           {}\n", text(cell.online, 1));
  fmt::print("  {:.0f} impressions/s, {:.1f} % of the time in evaluation for the curve\n",
             cell.impressions_per_second, 100 * cell.evaluation_share);
  fmt::print("\n  impression  offline NDCG@10\n");
  for (const CurveSummary& point : cell.curve) {
    fmt::print("  {:>10}  {}\n", point.impression, text(point.offline, 4));
  }
}

void simulate(const SimulateOptions& options) {
  SimulationSpec spec = options.spec;
  MethodEntry entry = take(parse_method_entry(options.method));
  if (options.ranker) entry.ranker = take(parse_ranker_kind(*options.ranker));
  if (options.learning_rate) {
    entry.settings.push_back({std::string(kLearningRate), *options.learning_rate});
  }
  apply(entry, spec);
  if (options.save_model) require_writable_file(*options.save_model);
  const LoadOptions load = load_options(options.data);
  const Dataset dataset = take(load_dataset(options.data.dataset.path, load));
  Progress progress({.impressions = spec.impressions * spec.runs, .runs = spec.runs});
  const Simulated simulated =
      take(plackett::simulate(dataset, spec, {.threads = load.threads, .watch = progress.watch()}));
  progress.finish();
  if (options.save_model) take(save_model(simulated.model, *options.save_model));
  if (options.json) {
    print_json(to_json(simulated.summary));
  } else {
    print_summary(simulated.summary);
  }
}

}  // namespace

void add_simulate(CLI::App& app) {
  auto options = std::make_shared<SimulateOptions>();
  CLI::App* command =
      app.add_subcommand("simulate", "One method learning from one kind of simulated user");
  command->add_option("--data", options->data.dataset.path,
                      std::string("dataset: ") + kDatasetHelp);
  add_loading_options(*command, options->data);
  command->add_option("--method", options->method, method_help());
  command->add_option("--learning-rate", options->learning_rate, "in place of the method's own");
  command->add_option("--ranker", options->ranker, ranker_names() + "; default: the method's own");
  command->add_option("--click-model", options->spec.click_model,
                      "perfect, navigational, informational, almost-random, random, "
                      "position-based, or a .toml file");
  add_options(*command, simulation_options(), options->spec);
  command->add_option("--save-model", options->save_model,
                      "write the final model of run 0 to this file");
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback([options] { simulate(*options); });
}

}  // namespace plackett::command
