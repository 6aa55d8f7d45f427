// plackett learn: a new model from the whole log of a service, off-policy.
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "command.h"
#include "evaluate_log.h"
#include "plackett/learn_model.h"
#include "plackett/method_entry.h"
#include "progress.h"
#include "report/numbers.h"
#include "serving/logged_lists.h"
#include "serving/service.h"
#include "store/open.h"

namespace plackett::command {
namespace {

struct LearnCommand {
  std::string log;
  std::string model;
  std::optional<std::string> learner;
  std::optional<std::string> ranker;
  SimulationSpec spec;  // of which hidden and activation are read
  LearnOptions learn;
  std::string save_model;
  bool json = false;
};

nlohmann::ordered_json stages_json(const LearnReport& report) {
  auto stages = nlohmann::ordered_json::array();
  for (const LearnStage& stage : report.stages) {
    stages.push_back({{"closeness", json_number(stage.closeness)},
                      {"iterations", stage.iterations},
                      {"value", stage.value},
                      {"error", stage.error},
                      {"effective_lists", stage.effective_lists},
                      {"chosen", stage.chosen}});
  }
  return stages;
}

void print_stages(const LearnReport& report) {
  fmt::print("  {:<12}{:>12}{:>10}{:>10}{:>17}\n", "closeness", "iterations", "value", "error",
             "effective lists");
  for (const LearnStage& stage : report.stages) {
    fmt::print("  {:<12}{:>12}{:>10.4f}{:>10.4f}{:>17.0f}{}\n",
               std::isfinite(stage.closeness) ? fmt::format("{:g}", stage.closeness) : "imitates",
               stage.iterations, stage.value, stage.error, stage.effective_lists,
               stage.chosen ? "  chosen" : "");
  }
}

void learn_log(const LearnCommand& command) {
  require_outputs({{"--save-model", command.save_model}}, {{"--log", command.log}});
  const serving::LoggedModel logged = logged_model(command.log, command.model);
  LearnModelSpec spec{.method = logged.spec.learner,
                      .settings = logged.spec.settings,
                      .ranker = logged.spec.ranker,
                      .scaling = take(parse_scaling(logged.spec.scaling)),
                      .feature_ids = logged.spec.feature_ids,
                      .shown = logged.spec.shown,
                      .learn = command.learn};
  spec.learn.temperature = static_cast<float>(logged.spec.temperature);
  if (command.learner) {
    const MethodEntry entry = take(parse_method_entry(*command.learner));
    spec.method = entry.method;
    spec.settings = entry.settings;
    spec.ranker.kind = entry.ranker;
  }
  if (command.ranker) {
    spec.ranker.kind = take(parse_ranker_kind(*command.ranker));
    spec.ranker.hidden = command.spec.ranker.hidden;
    spec.ranker.activation = command.spec.ranker.activation;
  }
  const auto lists = take(serving::StoredLists::open([&] { return store::read_store(command.log); },
                                                     logged, serving::system_ms()));
  const auto copy = take(MemoryLog::copy_if_small(*lists));
  auto learned = [&] {
    StatusLine line;
    spec.learn.stepped = [&line](std::uint32_t stage, std::uint32_t stages, std::uint32_t at) {
      line.show(fmt::format("stage {} of at most {}, iteration {}", stage + 1, stages, at));
    };
    return learn_model(copy ? static_cast<LoggedLists&>(*copy) : *lists, spec);
  }();
  const serving::LeftOut left_out = lists->left_out();  // those of the parts that were read
  if (!learned) {
    if (!command.json) print_left_out(left_out);
    fail(learned.error().in(store::shown_name(command.log)));
  }
  take(save_model(learned->model, command.save_model));
  const LearnReport& report = learned->report;
  const EvaluateLogOptions shown{.log = command.log,
                                 .model = {},
                                 .policies = {},
                                 .from = {},
                                 .estimate = {.metric = command.learn.metric},
                                 .json = false};
  if (command.json) {
    return print_json({{"learner", learned->model.learner.method},
                       {"ranker", name_of(spec.ranker.kind)},
                       {"method", command.learn.method},
                       {"lists", report.lists},
                       {"deciding_lists", report.deciding_lists},
                       {"stages", stages_json(report)},
                       {"measured", to_json(report.measured, left_out, shown, logged.row.name)}});
  }
  fmt::print("{} for {} learned from {} by the {} estimate, {} to decide when to stop\n",
             name_of(spec.ranker.kind), learned->model.learner.method,
             counted(report.lists, "list"), command.learn.method, report.deciding_lists);
  print_stages(report);
  fmt::print("\nmeasured on units that were neither learned from nor decided by:\n\n");
  print_values(report.measured, left_out, shown, logged.row.name);
}

}  // namespace

void add_learn(CLI::App& app) {
  auto options = std::make_shared<LearnCommand>();
  CLI::App* command = app.add_subcommand(
      "learn",
      "A new model from the whole log of a service, off-policy, whatever ranked its lists");
  command->add_option("--log", options->log, "the service's store")->required();
  command->add_option("--model", options->model, "the model in that store");
  command->add_option("--save-model", options->save_model, "write the model to this file")
      ->required();
  command->add_option("--ranker", options->ranker, ranker_names() + "; default: the model's");
  command->add_option("--learner", options->learner,
                      "what learns on from it: method[:ranker][:setting=value]..., as in simulate "
                      "--method; default: the model's");
  add_options(*command, simulation_options(), options->spec, {"hidden", "activation"});
  add_options(*command, learn_options(), options->learn);
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback([options] { learn_log(*options); });
}

}  // namespace plackett::command
