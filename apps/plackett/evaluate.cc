// plackett evaluate: a saved model on a dataset, alone or against another. Policies on a service's
// log are in evaluate_log.cc.
#include "plackett/evaluate.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command.h"
#include "evaluate_log.h"
#include "plackett/model_file.h"
#include "query_files.h"
#include "report/numbers.h"
#include "terminal_text.h"

namespace plackett::command {
namespace {

using Json = nlohmann::ordered_json;

struct EvaluateOptions {
  DataOptions data;
  SimulationSpec spec;  // of which no_relevant and seed are read
  std::string model;
  std::string against;  // another model; empty: none
  std::string split = "test";
  std::string fold;  // empty: all
  QueryFilePaths files;
  bool json = false;
};

// A model, the data as it reads them, and what it is called.
struct Contender {
  std::string path;
  SavedModel model;
  std::unique_ptr<Ranker> ranker;
  Dataset data;
};

const Split& choose_split(const Fold& fold, const std::string& name) {
  if (name == "train") return fold.train;
  if (name == "test") return fold.test;
  if (!fold.validation) fail(Error{fmt::format("{}: no validation file", fold.name)});
  return *fold.validation;
}

void choose_folds(const EvaluateOptions& options, Dataset& dataset) {
  if (!options.fold.empty()) {
    std::vector<std::string> names;
    for (const Fold& fold : dataset.folds) names.push_back(fold.name);
    std::erase_if(dataset.folds, [&](const Fold& fold) { return fold.name != options.fold; });
    if (dataset.folds.empty()) {
      fail(Error{fmt::format("no fold \"{}\"; {} has {}", options.fold, dataset.name,
                             fmt::join(names, ", "))});
    }
  }
  for (const Fold& fold : dataset.folds) choose_split(fold, options.split);
}

// `other` has loaded its data already, which serves both models if they read the same.
Contender load_contender(const EvaluateOptions& options, const std::string& path,
                         const Contender* other) {
  Contender made{path, take(load_model(path)), nullptr, {}};
  const SavedModel& model = made.model;
  if (other != nullptr && other->model.feature_ids == model.feature_ids &&
      other->model.scaling == model.scaling) {
    made.data = other->data;
  } else {
    LoadOptions load = load_options(options.data);
    load.scaling = take(parse_scaling(model.scaling));
    load.keep_feature_ids = model.feature_ids;
    made.data = take(load_dataset(options.data.dataset.path, load));
    choose_folds(options, made.data);
  }
  const std::uint32_t largest_id =
      *std::max_element(model.feature_ids.begin(), model.feature_ids.end());
  if (largest_id > made.data.source_feature_count) {
    fail(Error{fmt::format("{}: reads feature {}; {} has only {}: it was learned on other data",
                           path, largest_id, made.data.name, made.data.source_feature_count)});
  }
  made.ranker = take(restore_ranker(model));
  return made;
}

// A model's means on one fold, and the metrics of the queries that count.
struct FoldResult {
  MetricMeans means;
  std::vector<MetricSet> queries;
};

// Adds each query to `files`, if there are any.
FoldResult evaluate_fold(const EvaluateOptions& options, Contender& contender, std::size_t number,
                         QueryFiles* files) {
  const Fold& fold = contender.data.folds[number];
  const Split& split = choose_split(fold, options.split);
  std::vector<MetricSet> queries;
  plackett::EvaluateOptions measure{.no_relevant = options.spec.no_relevant,
                                    .seed = options.spec.seed};
  if (files != nullptr || !options.against.empty()) {
    measure.each_query = [&](const QueryResult& result) -> Result<void> {
      if (result.metrics) queries.push_back(*result.metrics);
      if (files == nullptr) return {};
      return files->add(fold, split, result);
    };
  }
  const auto means =
      plackett::evaluate(*contender.ranker, split, contender.data.max_label, measure);
  if (!means) fail(means.error().in(fmt::format("{} on {}", contender.path, fold.name)));
  return {*means, std::move(queries)};
}

Json contrasts_json(const FoldResult& one, const FoldResult& other) {
  Json metrics = Json::object();
  for (std::size_t at = 0; at < kMetricCount; ++at) {
    const PairedContrast test = contrast(one.queries, other.queries, static_cast<Metric>(at));
    metrics[std::string(metric_names()[at])] = {{"mean", other.means.means().values()[at]},
                                                {"difference", json_number(test.difference)},
                                                {"interval",
                                                 {json_number(test.difference - test.half_width),
                                                  json_number(test.difference + test.half_width)}},
                                                {"t", json_number(test.t)},
                                                {"degrees", json_number(test.degrees)},
                                                {"p", json_number(test.p)},
                                                {"wins", test.wins},
                                                {"ties", test.ties},
                                                {"losses", test.losses}};
  }
  return metrics;
}

Json fold_json(const std::string& name, const FoldResult& result) {
  Json one{{"fold", name}, {"queries", result.means.count()}};
  for (std::size_t at = 0; at < kMetricCount; ++at) {
    one[std::string(metric_names()[at])] = result.means.means().values()[at];
  }
  return one;
}

void print_fold(const std::string& name, const FoldResult& result) {
  fmt::print("{:<10} {:>8} {:>8.4f}\n", name, result.means.count(),
             fmt::join(result.means.means().values(), " "));
}

// Rows of the table that print_contrasts starts.
void add_contrasts(const std::string& fold, const FoldResult& one, const FoldResult& other,
                   std::vector<std::vector<TableCell>>& rows) {
  for (std::size_t at = 0; at < kMetricCount; ++at) {
    const PairedContrast test = contrast(one.queries, other.queries, static_cast<Metric>(at));
    const bool known = !std::isnan(test.difference);
    rows.push_back({{at == 0 ? fold : ""},
                    {std::string(metric_names()[at])},
                    {fmt::format("{:.4f}", one.means.means().values()[at])},
                    {fmt::format("{:.4f}", other.means.means().values()[at])},
                    {known ? fmt::format("{:+.4f}", test.difference) : report::kNoNumber},
                    {known ? fmt::format("{:+.4f} to {:+.4f}", test.difference - test.half_width,
                                         test.difference + test.half_width)
                           : report::kNoNumber},
                    {report::p_value(test.p)},
                    {report::grouped(test.wins)},
                    {report::grouped(test.ties)},
                    {report::grouped(test.losses)}});
  }
}

void print_contrasts(const Contender& one, const Contender& other,
                     const std::vector<std::vector<TableCell>>& rows) {
  fmt::print("\n{} against {}: paired over queries, two-tailed t-test\n\n", one.path, other.path);
  constexpr std::size_t kAnyWidth = 10'000;  // nothing is left out
  print_table(rows, kAnyWidth);
}

Json model_json(const Contender& one) {
  return {{"model", one.path},
          {"ranker", name_of(one.model.ranker.kind)},
          {"method", one.model.learner.method},
          {"impressions", one.model.learner.impressions}};
}

void evaluate(const EvaluateOptions& options) {
  std::vector<NamedFile> outputs{{"--per-query", options.files.per_query},
                                 {"--run-file", options.files.run},
                                 {"--qrels", options.files.qrels}};
  std::erase_if(outputs, [](const NamedFile& file) { return file.path.empty(); });
  require_outputs(outputs, {{"--model", options.model},
                            {"--against", options.against},
                            {"--data", options.data.dataset.path}});
  Contender one = load_contender(options, options.model, nullptr);
  std::optional<Contender> other;
  if (!options.against.empty()) other = load_contender(options, options.against, &one);
  std::optional<QueryFiles> files;
  if (options.files.any()) files.emplace(take(QueryFiles::create(options.files)));

  Json folds = Json::array();
  std::vector<std::vector<TableCell>> contrasts{{{"fold"},
                                                 {"metric"},
                                                 {"this"},
                                                 {"other"},
                                                 {"difference"},
                                                 {"95 % interval"},
                                                 {"p"},
                                                 {"better"},
                                                 {"same"},
                                                 {"worse"}}};
  if (!options.json) {
    fmt::print("{:<10} {:>8} {:>8}\n", "fold", "queries", fmt::join(metric_names(), " "));
  }
  for (std::size_t number = 0; number < one.data.folds.size(); ++number) {
    const std::string& name = one.data.folds[number].name;
    const FoldResult result = evaluate_fold(options, one, number, files ? &*files : nullptr);
    if (!options.json) print_fold(name, result);
    folds.push_back(fold_json(name, result));
    if (!other) continue;
    const FoldResult others = evaluate_fold(options, *other, number, nullptr);
    folds.back()["against"] = contrasts_json(result, others);
    add_contrasts(name, result, others, contrasts);
  }
  if (files) take(files->finish());
  if (!options.json) {
    if (other) print_contrasts(one, *other, contrasts);
    return;
  }
  Json answer{{"model", one.path}, {"data", one.data.name}, {"split", options.split}};
  answer.update(model_json(one));
  if (other) answer["against"] = model_json(*other);
  answer["folds"] = std::move(folds);
  print_json(answer);
}

}  // namespace

void add_evaluate(CLI::App& app) {
  auto options = std::make_shared<EvaluateOptions>();
  auto log = std::make_shared<EvaluateLogOptions>();
  CLI::App* command = app.add_subcommand(
      "evaluate",
      "A saved model on a dataset; or other policies on a service's log, from its clicks");
  command->add_option("--model", options->model,
                      "file that simulate --save-model wrote; with --log: a model of the service");
  CLI::Option* data =
      command->add_option("--data", options->data.dataset.path,
                          "dataset: a LETOR folder, synthetic or synthetic:PRESET, or a cache with "
                          "exactly the model's features");
  std::vector<CLI::Option*> of_data{
      command->add_option("--split", options->split, "of each fold")
          ->check(CLI::IsMember({"train", "validation", "test"})),
      command->add_option("--fold", options->fold, "one fold by its name (default: all)"),
      command->add_option("--against", options->against,
                          "another model: a paired t-test over queries for each fold and metric"),
      command->add_option("--per-query", options->files.per_query,
                          "write each query's metrics to this file, as CSV"),
      command->add_option("--run-file", options->files.run,
                          "write the rankings to this file, as trec_eval reads them"),
      command->add_option("--qrels", options->files.qrels,
                          "write the labels to this file, as trec_eval reads them")};
  add_options(*command, simulation_options(), options->spec, {"no-relevant", "seed"});
  add_options(*command, dataset_options(), options->data.dataset,
              {"max-feature-id", "out-of-range", "unlabelled"});
  add_options(*command, run_options(), options->data.run, {"threads"});
  CLI::Option* store =
      command->add_option("--log", log->log, "a service's store, instead of --data");
  command
      ->add_option("--policy", log->policies,
                   "with --log: snapshot:ID, current, logged, order:FILE or a model file; "
                   "@TEMPERATURE after it, 0: sorted. More than one can be given")
      ->needs(store);
  command->add_option("--from", log->from, "with --log: only lists from this one on, as in i-41");
  add_options(*command, off_policy_options(), log->estimate,
              {"metric", "estimators", "level", "ranks", "bootstraps", "least-lists"});
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback([options, log, command, data, store, of_data] {
    if ((data->count() > 0) == (store->count() > 0))
      throw CLI::ValidationError("give --data or --log, one of them");
    if (store->count() == 0) {
      if (options->model.empty()) throw CLI::RequiredError("--model");
      for (const char* name : {"--from", "--metric", "--estimators", "--level", "--ranks",
                               "--bootstraps", "--least-lists"}) {
        if (command->count(name) > 0) {
          throw CLI::ValidationError(fmt::format("{} is for --log", name));
        }
      }
      return evaluate(*options);
    }
    for (const CLI::Option* option : of_data) {
      if (option->count() > 0) {
        throw CLI::ValidationError(fmt::format("{} is for --data", option->get_name()));
      }
    }
    if (const auto least = least_bootstraps(log->estimate.level);
        log->estimate.bootstraps < least) {
      throw CLI::ValidationError(
          fmt::format("--level {} needs at least {} resampled logs: --bootstraps {}",
                      log->estimate.level, least, least));
    }
    log->model = options->model;
    log->estimate.seed = options->spec.seed;
    log->estimate.threads = options->data.run.threads;
    log->json = options->json;
    evaluate_log(*log);
  });
}

}  // namespace plackett::command
