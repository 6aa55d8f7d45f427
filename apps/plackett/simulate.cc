// plackett simulate: one method under one click model.
#include "plackett/simulate.h"

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "command.h"
#include "plackett/make_user.h"
#include "plackett/method_entry.h"
#include "plackett/model_file.h"
#include "progress.h"
#include "report/numbers.h"

namespace plackett::command {
namespace {

struct SimulateOptions {
  DataOptions data;
  SimulationSpec spec;
  std::string method{kDefaultMethod};
  std::optional<std::string> ranker;
  std::optional<std::string> learning_rate;
  std::optional<std::string> save_model;
  bool json = false;
};

using Json = nlohmann::ordered_json;

Json to_json(const Moments& moments) {
  return {{"mean", json_number(moments.mean)}, {"std", json_number(moments.std)}};
}

Json to_json(const CellSummary& cell) {
  Json metrics = Json::object();
  for (const MetricSummary& metric : cell.metrics) metrics[metric.name] = to_json(metric.final);
  Json curve = Json::array();
  for (std::size_t at = 0; at < cell.curve.size(); ++at) {
    const CurveSummary& point = cell.curve[at];
    Json one{{"impression", point.impression},
             {"offline_mean", json_number(point.offline.mean)},
             {"offline_std", json_number(point.offline.std)},
             {"online_mean", json_number(point.online.mean)},
             {"online_std", json_number(point.online.std)}};
    for (const MetricSummary& metric : cell.metrics) {
      one["metrics"][metric.name] = to_json(metric.curve[at]);
    }
    curve.push_back(std::move(one));
  }
  return {{"method", cell.method},
          {"ranker", cell.ranker},
          {"click_model", cell.click_model},
          {"dataset", cell.dataset},
          {"protocol", cell.protocol},
          {"split", cell.split},
          {"runs", cell.runs},
          {"impressions", cell.impressions},
          {"seed", cell.seed},
          {"offline", to_json(cell.offline)},
          {"online", to_json(cell.online)},
          {"metrics", std::move(metrics)},
          {"curve", std::move(curve)},
          {"impressions_per_second", cell.impressions_per_second},
          {"seconds", cell.seconds},
          {"evaluation_share", cell.evaluation_share}};
}

void print_summary(const CellSummary& cell) {
  fmt::print("{} ({}) under {} clicks on {}, {} protocol, {} of {}, seed {}{}\n", cell.method,
             cell.ranker, cell.click_model, cell.dataset, cell.protocol, counted(cell.runs, "run"),
             counted(cell.impressions, "impression"), cell.seed,
             cell.split == "test" ? "" : fmt::format(", measured on {} queries", cell.split));
  const auto text = [](const Moments& moments, int digits) {
    return fmt::format("{} ({})", report::fixed(moments.mean, digits),
                       report::fixed(moments.std, digits));
  };
  fmt::print("  offline NDCG@10  {}\n", text(cell.offline, 4));
  for (const MetricSummary& metric : cell.metrics) {
    fmt::print("  offline {:<7}  {}\n", metric.name, text(metric.final, 4));
  }
  fmt::print("  online           {}\n", text(cell.online, 1));
  fmt::print("  {:.0f} impressions/s, {:.1f} % of the time in evaluation for the curve\n",
             cell.impressions_per_second, 100 * cell.evaluation_share);
  if (cell.curve.size() < 2) return;  // it is above
  fmt::print("\n  impression  offline NDCG@10");
  for (const MetricSummary& metric : cell.metrics) fmt::print("  {:>15}", metric.name);
  fmt::print("\n");
  for (std::size_t at = 0; at < cell.curve.size(); ++at) {
    fmt::print("  {:>10}  {:>15}", cell.curve[at].impression, text(cell.curve[at].offline, 4));
    for (const MetricSummary& metric : cell.metrics) {
      fmt::print("  {:>15}", text(metric.curve[at], 4));
    }
    fmt::print("\n");
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
  if (options.save_model) {
    require_outputs({{"--save-model", *options.save_model}},
                    {{"--data", options.data.dataset.path}, {"--click-model", spec.click_model}});
  }
  const LoadOptions load = load_options(options.data);
  const Dataset dataset = take(load_dataset(options.data.dataset.path, load));
  Progress progress({.impressions = spec.impressions * spec.runs, .runs = spec.runs});
  Watch watch = progress.watch();
  std::string device;  // that did the runs
  watch.told_device = [&device](const std::string& what) { device = what; };
  const Simulated simulated = take(plackett::simulate(
      dataset, spec, {.threads = load.threads, .device = options.data.run.device, .watch = watch}));
  progress.finish();
  if (options.save_model) take(save_model(simulated.model, *options.save_model));
  if (options.json) {
    print_json(to_json(simulated.summary));
  } else {
    print_summary(simulated.summary);
    if (options.data.run.device != Device::kCpu) fmt::print("\n  done by {}\n", device);
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
                      fmt::format("{}, or a .toml file", fmt::join(click_model_names(), ", ")));
  add_options(*command, simulation_options(), options->spec);
  add_options(*command, run_options(), options->data.run, {"device"});
  command->add_option("--save-model", options->save_model,
                      "write the final model of run 0 to this file");
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback([options] { simulate(*options); });
}

}  // namespace plackett::command
