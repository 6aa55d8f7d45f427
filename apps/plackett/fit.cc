// plackett fit: a model that starts as a present ranking.
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "base/aligned.h"
#include "command.h"
#include "evaluate_log.h"
#include "order_file.h"
#include "plackett/feature_view.h"
#include "plackett/fit_model.h"
#include "plackett/method_entry.h"
#include "plackett/model_file.h"
#include "progress.h"
#include "report/numbers.h"
#include "serving/logged.h"
#include "store/open.h"

namespace plackett::command {
namespace {

struct FitCommand {
  std::string orders;       // a file; empty: the log of a service
  std::string db;           // its store
  std::string model;        // in it
  ComparedDataset dataset;  // of which scaling is read
  SimulationSpec spec;      // of which hidden and activation are read
  FitOptions fit;
  std::optional<std::string> learner;
  std::optional<std::string> ranker;
  std::string save_model;
  bool json = false;
};

nlohmann::ordered_json to_json(const Agreement& agreement) {
  if (agreement.lists == 0) return nullptr;
  return {{"lists", agreement.lists},
          {"kendall_tau", agreement.kendall_tau},
          {"same_first", agreement.same_first},
          {"sampled_kendall_tau", agreement.sampled_kendall_tau},
          {"sampled_same_first", agreement.sampled_same_first},
          {"log_likelihood", agreement.log_likelihood}};
}

void print(const FitReport& report) {
  const auto row = [&](std::string_view what, double Agreement::*value, int digits) {
    fmt::print("  {:<44} {:>8}", what, report::fixed(report.fitted.*value, digits));
    if (report.held_out.lists > 0) {
      fmt::print(" {:>9}", report::fixed(report.held_out.*value, digits));
    }
    fmt::print("\n");
  };
  fmt::print("  {:<44} {:>8}{}\n", "", "fitted", report.held_out.lists > 0 ? "  held out" : "");
  row("Kendall's tau, sorted by score", &Agreement::kendall_tau, 3);
  row("same first item, sorted by score", &Agreement::same_first, 3);
  row("Kendall's tau, sampled", &Agreement::sampled_kendall_tau, 3);
  row("same first item, sampled", &Agreement::sampled_same_first, 3);
  row("log-likelihood of a list", &Agreement::log_likelihood, 2);
}

// The lists, and the model that is fitted to them.
struct FitTask {
  ObservedOrders orders;
  FitModelSpec spec;
};

// The method that the command names, into the spec.
void set_method(const std::string& name, FitModelSpec& spec) {
  const MethodEntry entry = take(parse_method_entry(name));
  spec.method = entry.method;
  spec.settings = entry.settings;
  spec.ranker.kind = entry.ranker;
}

FitTask task_of_file(const FitCommand& command) {
  FitTask task{take(read_orders(command.orders, command.dataset.scaling)),
               {.ranker = command.spec.ranker, .scaling = command.dataset.scaling}};
  set_method(command.learner.value_or(std::string(kDefaultMethod)), task.spec);
  return task;
}

// The lists in the caller's own order that a service has shown, with all their candidates.
FitTask task_of_log(const FitCommand& command) {
  const auto store = take(store::read_store(command.db));
  const serving::LoggedModel model = logged_model(command.db, command.model);
  const std::uint32_t features = model.spec.ranker.feature_count;
  FitTask task{ObservedOrders(features),
               {.method = model.spec.learner,
                .settings = model.spec.settings,
                .ranker = model.spec.ranker,
                .scaling = take(parse_scaling(model.spec.scaling)),
                .feature_ids = model.spec.feature_ids,
                .shown = model.spec.shown}};
  if (command.learner) set_method(*command.learner, task.spec);
  std::uint64_t given = 0;
  AlignedVector<float> rows;
  const auto add = [&](const serving::LoggedImpression& logged) -> Result<void> {
    const serving::Impression& impression = logged.kept.impression;
    if (impression.mode != serving::Mode::kGiven) return {};
    ++given;
    if (!impression.kept || impression.feature_count != features) return {};
    // Pinned items, whose rows come last, were not put where they are by the present ranking.
    const std::uint32_t placed = impression.sampled_count();
    if (placed == 0) return {};
    const auto floats = static_cast<std::ptrdiff_t>(std::size_t{placed} * padded_width(features));
    rows.assign(impression.rows.begin(), impression.rows.begin() + floats);
    rows.insert(rows.end(), impression.other_rows.begin(), impression.other_rows.end());
    const auto docs = static_cast<std::uint32_t>(rows.size() / padded_width(features));
    return task.orders.add(FeatureView(rows.data(), docs, features), placed);
  };
  take(serving::each_logged(*store, model, {.rows = serving::Rows::kRead}, add));
  if (task.orders.size() == 0) {
    fail(Error{given == 0
                   ? fmt::format("{}: model {} has shown no list with \"mode\": \"given\"",
                                 store::shown_name(command.db), model.row.name)
                   : fmt::format("{}: no candidates were kept of the {} in their own order; put "
                                 "the model with \"candidates\": \"all\" and show more",
                                 store::shown_name(command.db), counted(given, "list"))});
  }
  return task;
}

void fit(const FitCommand& command) {
  if (command.orders.empty() == command.db.empty()) {
    throw CLI::ValidationError("give --orders or --db, one of them");
  }
  require_outputs({{"--save-model", command.save_model}},
                  {{"--orders", command.orders}, {"--db", command.db}});
  const FitTask task = command.db.empty() ? task_of_file(command) : task_of_log(command);
  const ObservedOrders& orders = task.orders;
  FitModelSpec spec = task.spec;
  spec.fit = command.fit;
  if (command.ranker) spec.ranker.kind = take(parse_ranker_kind(*command.ranker));
  const FittedModel fitted = [&] {
    StatusLine line;
    spec.fit.stepped = [&](std::uint32_t iterations) {
      line.show(fmt::format("iteration {} of at most {}", iterations, spec.fit.iterations));
    };
    return take(fit_model(orders, spec));
  }();
  take(save_model(fitted.model, command.save_model));
  const FitReport& report = fitted.report;
  if (command.json) {
    return print_json({{"learner", fitted.model.learner.method},
                       {"ranker", name_of(spec.ranker.kind)},
                       {"features", orders.feature_count()},
                       {"scaling", name_of(spec.scaling)},
                       {"temperature", spec.fit.temperature},
                       {"iterations", report.iterations},
                       {"converged", report.converged},
                       {"fitted", to_json(report.fitted)},
                       {"held_out", to_json(report.held_out)}});
  }
  fmt::print("{} for {} fitted to {} of {}, {} held out, in {}{}\n", name_of(spec.ranker.kind),
             fitted.model.learner.method, counted(report.fitted.lists, "list"),
             counted(orders.feature_count(), "feature"), report.held_out.lists,
             counted(report.iterations, "iteration"),
             report.converged ? "" : " (all that --iterations allows)");
  print(report);
}

}  // namespace

void add_fit(CLI::App& app) {
  auto options = std::make_shared<FitCommand>();
  CLI::App* command =
      app.add_subcommand("fit", "A model that starts as a present ranking, from lists it showed");
  command
      ->add_option(
          "--orders", options->orders,
          "JSON lines {\"items\": [{\"features\": [...]}, ...], \"shown\": N}, each a list "
          "in the order shown, best first")
      ->excludes(command->add_option(
          "--db", options->db, "a service's store: the lists that it was given an order for"));
  command->add_option("--model", options->model, "the model in that store");
  command->add_option("--save-model", options->save_model, "write the model to this file")
      ->required();
  command->add_option("--learner", options->learner,
                      "what learns on from it: method[:ranker][:setting=value]..., as in simulate "
                      "--method; default: steady, or with --db the model's");
  command->add_option("--ranker", options->ranker,
                      ranker_names() + "; default: the learner's own, or with --db the model's");
  add_options(*command, simulation_options(), options->spec, {"hidden", "activation"});
  add_options(*command, dataset_options(), options->dataset, {"scaling"});
  add_options(*command, fit_options(), options->fit);
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback([options] { fit(*options); });
}

}  // namespace plackett::command
