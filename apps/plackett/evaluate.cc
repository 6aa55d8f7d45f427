// plackett evaluate: a saved model on a dataset.
#include "plackett/evaluate.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "command.h"
#include "plackett/model_file.h"

namespace plackett::command {
namespace {

using Json = nlohmann::ordered_json;

struct EvaluateOptions {
  DataOptions data;
  SimulationSpec spec;  // of which no_relevant and seed are read
  std::string model;
  std::string split = "test";
  bool json = false;
};

const Split& choose_split(const Fold& fold, const std::string& name) {
  if (name == "train") return fold.train;
  if (name == "test") return fold.test;
  if (!fold.validation) fail(Error{fmt::format("{}: no validation file", fold.name)});
  return *fold.validation;
}

void evaluate(const EvaluateOptions& options) {
  const SavedModel model = take(load_model(options.model));
  LoadOptions load = load_options(options.data);
  load.scaling = take(parse_scaling(model.scaling));
  load.keep_feature_ids = model.feature_ids;
  const Dataset dataset = take(load_dataset(options.data.dataset.path, load));
  const std::uint32_t largest_id =
      *std::max_element(model.feature_ids.begin(), model.feature_ids.end());
  if (largest_id > dataset.source_feature_count) {
    fail(Error{fmt::format("{}: reads feature {}; {} has only {}: it was learned on other data",
                           options.model, largest_id, dataset.name, dataset.source_feature_count)});
  }
  for (const Fold& fold : dataset.folds) choose_split(fold, options.split);
  const auto ranker = take(restore_ranker(model));

  Json folds = Json::array();
  if (!options.json) {
    fmt::print("{:<10} {:>8} {:>8}\n", "fold", "queries", fmt::join(metric_names(), " "));
  }
  for (const Fold& fold : dataset.folds) {
    const auto means =
        plackett::evaluate(*ranker, choose_split(fold, options.split), dataset.max_label,
                           {.no_relevant = options.spec.no_relevant, .seed = options.spec.seed});
    if (!means) fail(means.error().in(fmt::format("{} on {}", options.model, fold.name)));
    const MetricSet values = means->means();
    if (!options.json) {
      fmt::print("{:<10} {:>8} {:>8.4f}\n", fold.name, means->count(),
                 fmt::join(values.values(), " "));
      continue;
    }
    Json one{{"fold", fold.name}, {"queries", means->count()}};
    for (std::size_t at = 0; at < kMetricCount; ++at) {
      one[std::string(metric_names()[at])] = values.values()[at];
    }
    folds.push_back(std::move(one));
  }
  if (options.json) {
    print_json({{"model", options.model},
                {"data", dataset.name},
                {"split", options.split},
                {"ranker", name_of(model.ranker.kind)},
                {"method", model.learner.method},
                {"impressions", model.learner.impressions},
                {"folds", std::move(folds)}});
  }
}

}  // namespace

void add_evaluate(CLI::App& app) {
  auto options = std::make_shared<EvaluateOptions>();
  CLI::App* command = app.add_subcommand("evaluate", "A saved model on a dataset");
  command->add_option("--model", options->model, "file that simulate --save-model wrote")
      ->required();
  command
      ->add_option("--data", options->data.dataset.path,
                   "dataset: a LETOR folder, synthetic or synthetic:PRESET, or a cache with "
                   "exactly the model's features")
      ->required();
  command->add_option("--split", options->split, "of each fold")
      ->check(CLI::IsMember({"train", "validation", "test"}));
  add_options(*command, simulation_options(), options->spec, {"no-relevant", "seed"});
  add_options(*command, run_options(), options->data.run, {"threads"});
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback([options] { evaluate(*options); });
}

}  // namespace plackett::command
