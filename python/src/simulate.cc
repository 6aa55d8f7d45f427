// One method learning from one kind of simulated user.
#include "plackett/simulate.h"

#include <utility>

#include "arguments.h"
#include "background.h"
#include "bindings.h"
#include "data.h"
#include "failure.h"
#include "methods.h"
#include "model.h"
#include "plackett/method_entry.h"
#include "spec.h"

namespace plackett::python {
namespace {

SimulationSpec spec_with_method(const py::dict& options, const py::object& method,
                                const py::object& ranker, const py::dict& settings) {
  SimulationSpec spec = spec_of(options);
  MethodEntry entry = method_entry(text(method, "method"), "method");
  if (!ranker.is_none()) entry.ranker = take(parse_ranker_kind(text(ranker, "ranker")));
  for (GivenSetting& setting : settings_of(settings)) entry.settings.push_back(std::move(setting));
  apply(entry, spec);
  if (!has_network(spec.ranker.kind)) require_default_network(spec);
  spec.click_model = click_model_name(options["click_model"], "click_model");
  return spec;
}

std::shared_ptr<LearnerHandle> learner_of(std::unique_ptr<Learner> learner,
                                          const SimulationSpec& spec, const DatasetHandle& data) {
  LearnerHandle handle;
  const Fold& fold = data.dataset.folds.front();
  handle.learner = std::move(learner);
  handle.method = take(find_method(spec.method));
  handle.shape =
      std::make_shared<ModelShape>(ModelShape{spec.ranker, fold.feature_ids, data.scaling});
  handle.shape->ranker.feature_count = fold.train.feature_count();
  handle.shape->ranker.initialisation = rules_of(spec.protocol).initialisation;
  handle.protocol = name_of(spec.protocol);
  handle.shown = spec.shown;
  handle.settings = spec.settings;
  handle.seed = spec.seed;
  handle.impressions = spec.impressions;
  handle.id = next_learner_id();
  return shared(std::move(handle));
}

py::dict simulate_data(const std::shared_ptr<DatasetHandle>& data, const py::object& method,
                       const py::object& ranker, const py::dict& options, const py::dict& settings,
                       const py::object& threads, const py::object& progress) {
  const SimulationSpec spec = spec_with_method(options, method, ranker, settings);
  RunOptions run;
  run.threads = thread_number(threads);
  auto outcome = in_background<Result<Simulated>>(
      [&](const Watch& watch) {
        run.watch = watch;
        return simulate(data->dataset, spec, run);
      },
      {.progress = progress, .total = spec.impressions * spec.runs});
  if (!outcome && !settings.empty()) {
    const auto method_of = find_method(spec.method);
    throw Failure(Fault::kValue, with_python_names(in_python_words(outcome.error()),
                                                   method_of ? method_of.value()->settings
                                                             : std::span<const Setting>{},
                                                   spec.settings));
  }
  Simulated simulated = take(std::move(outcome));
  py::dict result;
  result["summary"] = summary_of(simulated.summary);
  result["curve"] = curve_of(simulated.summary);
  result["runs"] = runs_of(simulated.runs);
  result["learner"] = learner_of(std::move(simulated.learner), spec, *data);
  return result;
}

}  // namespace

void bind_simulate(py::module_& module) {
  module.attr("simulation_defaults") = simulation_defaults();
  module.def("simulate", simulate_data, py::arg("data"), py::arg("method"), py::arg("ranker"),
             py::arg("options"), py::arg("settings"), py::arg("threads"), py::arg("progress"));
}

}  // namespace plackett::python
