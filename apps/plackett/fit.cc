// plackett fit: a model that starts as a present ranking.
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "command.h"
#include "order_file.h"
#include "plackett/fit_model.h"
#include "plackett/method_entry.h"
#include "plackett/model_file.h"
#include "progress.h"
#include "report/numbers.h"

namespace plackett::command {
namespace {

struct FitCommand {
  std::string orders;       // a file
  ComparedDataset dataset;  // of which scaling is read
  SimulationSpec spec;      // of which hidden and activation are read
  FitOptions fit;
  std::string learner{kDefaultMethod};
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

// The number of iterations so far, on a line of the terminal.
class IterationLine {
 public:
  explicit IterationLine(std::uint32_t most) : most_(most) {}
  IterationLine(const IterationLine&) = delete;
  IterationLine& operator=(const IterationLine&) = delete;
  ~IterationLine() { draw(""); }

  void show(std::uint32_t iterations) {
    draw(fmt::format("iteration {} of at most {}", iterations, most_));
  }

 private:
  void draw(const std::string& text) const {
    if (!visible_) return;
    fmt::print(stderr, "\r\x1b[K{}", text);
    std::fflush(stderr);
  }

  std::uint32_t most_;
  bool visible_ = Progress::standard_error().visible;
};

// Where the lists come from, and how they were scaled.
struct OrderSource {
  ObservedOrders orders;
  Scaling scaling;
};

OrderSource read_source(const FitCommand& command) {
  return {take(read_orders(command.orders, command.dataset.scaling)), command.dataset.scaling};
}

void fit(const FitCommand& command) {
  MethodEntry entry = take(parse_method_entry(command.learner));
  if (command.ranker) entry.ranker = take(parse_ranker_kind(*command.ranker));
  require_outputs({{"--save-model", command.save_model}}, {{"--orders", command.orders}});
  const OrderSource source = read_source(command);
  FitModelSpec spec{.method = entry.method,
                    .settings = entry.settings,
                    .ranker = command.spec.ranker,
                    .scaling = source.scaling,
                    .fit = command.fit};
  spec.ranker.kind = entry.ranker;
  const FittedModel fitted = [&] {
    IterationLine line(spec.fit.iterations);
    spec.fit.stepped = [&line](std::uint32_t iterations) { line.show(iterations); };
    return take(fit_model(source.orders, spec));
  }();
  take(save_model(fitted.model, command.save_model));
  const FitReport& report = fitted.report;
  if (command.json) {
    return print_json({{"learner", fitted.model.learner.method},
                       {"ranker", name_of(spec.ranker.kind)},
                       {"features", source.orders.feature_count()},
                       {"scaling", name_of(source.scaling)},
                       {"temperature", spec.fit.temperature},
                       {"iterations", report.iterations},
                       {"converged", report.converged},
                       {"fitted", to_json(report.fitted)},
                       {"held_out", to_json(report.held_out)}});
  }
  fmt::print("{} for {} fitted to {} of {}, {} held out, in {}{}\n", name_of(spec.ranker.kind),
             fitted.model.learner.method, counted(report.fitted.lists, "list"),
             counted(source.orders.feature_count(), "feature"), report.held_out.lists,
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
      ->required();
  command->add_option("--save-model", options->save_model, "write the model to this file")
      ->required();
  command->add_option("--learner", options->learner,
                      "what learns on from it: method[:ranker][:setting=value]..., as in simulate "
                      "--method");
  command->add_option("--ranker", options->ranker, ranker_names() + "; default: the learner's own");
  add_options(*command, simulation_options(), options->spec, {"hidden", "activation"});
  add_options(*command, dataset_options(), options->dataset, {"scaling"});
  add_options(*command, fit_options(), options->fit);
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback([options] { fit(*options); });
}

}  // namespace plackett::command
