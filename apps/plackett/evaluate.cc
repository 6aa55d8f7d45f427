// plackett evaluate: a saved model on a dataset.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "command.h"
#include "data_options.h"
#include "plackett/evaluate.h"
#include "plackett/model_file.h"

namespace plackett::command {
namespace {

struct EvaluateOptions {
  DataOptions data;
  std::string model;
  std::string split = "test";
  std::string no_relevant = std::string(name_of(NoRelevant::kSkip));
  std::uint64_t seed = 1;
  unsigned threads = 0;
  bool json = false;
};

struct FoldMetrics {
  std::string fold;
  std::uint64_t queries = 0;
  MetricSet means;
};

const Split& choose_split(const Fold& fold, const std::string& name) {
  if (name == "train") return fold.train;
  if (name == "test") return fold.test;
  if (!fold.validation) fail(Error{fmt::format("{}: no validation file", fold.name)});
  return *fold.validation;
}

FoldMetrics evaluate_fold(const Fold& fold, const EvaluateOptions& options, std::uint32_t max_label,
                          Ranker& ranker) {
  const auto means = plackett::evaluate(
      ranker, choose_split(fold, options.split), max_label,
      {.no_relevant = take(parse_no_relevant(options.no_relevant)), .seed = options.seed});
  if (!means) {
    fail(Error{fmt::format("{} on {}: {}", options.model, fold.name, means.error().message)});
  }
  return {fold.name, means->count(), means->means()};
}

void evaluate(EvaluateOptions options) {
  const SavedModel model = take(load_model(options.model));
  options.data.scaling = model.scaling;
  options.data.load.keep_feature_ids = model.feature_ids;
  const Dataset dataset = load(options.data, thread_count(options.threads));
  const std::uint32_t largest_id =
      *std::max_element(model.feature_ids.begin(), model.feature_ids.end());
  if (largest_id > dataset.source_feature_count) {
    fail(Error{fmt::format("{}: reads feature {}; {} has only {}: it was learned on other data",
                           options.model, largest_id, dataset.name, dataset.source_feature_count)});
  }
  for (const Fold& fold : dataset.folds) choose_split(fold, options.split);
  const auto ranker = take(restore_ranker(model));

  nlohmann::ordered_json folds = nlohmann::ordered_json::array();
  if (!options.json) {
    fmt::print("{:<10} {:>8}", "fold", "queries");
    for (const std::string_view metric : metric_names()) fmt::print(" {:>8}", metric);
    fmt::print("\n");
  }
  for (const Fold& fold : dataset.folds) {
    const FoldMetrics result = evaluate_fold(fold, options, dataset.max_label, *ranker);
    if (options.json) {
      nlohmann::ordered_json one{{"fold", result.fold}, {"queries", result.queries}};
      for (std::size_t at = 0; at < kMetricCount; ++at) {
        one[std::string(metric_names()[at])] = result.means.values()[at];
      }
      folds.push_back(std::move(one));
    } else {
      fmt::print("{:<10} {:>8}", result.fold, result.queries);
      for (const double value : result.means.values()) fmt::print(" {:>8.4f}", value);
      fmt::print("\n");
    }
  }
  if (options.json) {
    const nlohmann::ordered_json answer{
        {"model", options.model},         {"data", dataset.name},
        {"split", options.split},         {"ranker", name_of(model.ranker.kind)},
        {"method", model.learner.method}, {"impressions", model.learner.impressions},
        {"folds", std::move(folds)}};
    print_json(answer);
  }
}

}  // namespace

void add_evaluate(CLI::App& app) {
  auto options = std::make_shared<EvaluateOptions>();
  CLI::App* command = app.add_subcommand("evaluate", "A saved model on a dataset");
  command->add_option("--model", options->model, "file that simulate --save-model wrote")
      ->required();
  command
      ->add_option(
          "--data", options->data.where,
          "dataset: a LETOR folder, synthetic or synthetic:PRESET, or a cache of just the model's "
          "features")
      ->required();
  command->add_option("--split", options->split, "of each fold")
      ->check(CLI::IsMember({"train", "validation", "test"}))
      ->capture_default_str();
  command
      ->add_option("--no-relevant", options->no_relevant,
                   "queries without relevant documents: skip, zero or one")
      ->capture_default_str();
  add_seed_option(*command, options->seed, "orders equal scores");
  add_threads_option(*command, options->threads);
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback([options] { evaluate(*options); });
}

}  // namespace plackett::command
