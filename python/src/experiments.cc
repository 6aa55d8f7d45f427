// Whole experiments: one method under one click model, or methods x click models x datasets.
#include <algorithm>
#include <tuple>
#include <utility>

#include "background.h"
#include "handles.h"
#include "plackett/report.h"
#include "plackett/simulate.h"

namespace plackett::python {
namespace {

// Fields of a plackett.Cell, with curves as structured arrays.
py::dict cell_of(const CellSummary& cell, const std::vector<RunRecord>& records) {
  py::list runs;
  for (const RunRecord& run : records) {
    runs.append(py::make_tuple(run.fold, run.seconds, run.evaluation_seconds, array_of(run.curve)));
  }
  return py::dict("label"_a = cell.label, "method"_a = cell.method, "ranker_kind"_a = cell.ranker,
                  "click_model"_a = cell.click_model, "dataset"_a = cell.dataset,
                  "protocol"_a = cell.protocol, "baseline"_a = cell.baseline,
                  "impressions"_a = cell.impressions, "seed"_a = cell.seed,
                  "offline"_a = py::make_tuple(cell.offline.mean, cell.offline.std),
                  "online"_a = py::make_tuple(cell.online.mean, cell.online.std),
                  "curve"_a = array_of(cell.curve), "runs"_a = runs, "seconds"_a = cell.seconds,
                  "impressions_per_second"_a = cell.impressions_per_second);
}

// Fails if the network is not the default one, for when no ranker has a network.
void require_default_network(const SimulationSpec& spec) {
  const RankerSpec plain;
  constexpr std::string_view kRule = "a linear ranker has none; \"pdgd:neural\" has";
  if (spec.ranker.hidden != plain.hidden) {
    bad_value("hidden: {}; {}", shown_value(py::tuple(py::cast(spec.ranker.hidden))), kRule);
  }
  if (spec.ranker.activation != plain.activation) {
    bad_value("activation: {}; {}", name_of(spec.ranker.activation), kRule);
  }
}

SimulationSpec simulation_spec(const py::dict& options, Given method, Given ranker,
                               const py::dict& settings) {
  SimulationSpec spec;
  set_options(simulation_options(), options, spec);
  MethodEntry entry = method_entry(text(method, "method"), "method");
  if (!ranker.is_none()) entry.ranker = take(parse_ranker_kind(text(ranker, "ranker")));
  for (GivenSetting& given : settings_of(*take(find_method(entry.method)), settings)) {
    entry.settings.push_back(std::move(given));
  }
  apply(entry, spec);
  if (!has_network(spec.ranker.kind)) require_default_network(spec);
  spec.click_model = path(options["click_model"], "click_model");
  return spec;
}

std::shared_ptr<LearnerHandle> learner_of(Simulated& simulated, const SimulationSpec& spec) {
  simulated.model.ranker.initialisation = rules_of(spec.protocol).initialisation;
  return shared(LearnerHandle{.learner = std::move(simulated.learner),
                              .method = take(find_method(spec.method)),
                              .shape = shape_of(std::move(simulated.model)),
                              .protocol = spec.protocol,
                              .shown = spec.shown,
                              .settings = spec.settings,
                              .seed = spec.seed,
                              .impressions = spec.impressions});
}

py::tuple simulate_data(const DatasetHandle& data, Given method, Given ranker,
                        const py::dict& options, const py::dict& settings, Given threads,
                        Given progress) {
  const SimulationSpec spec = simulation_spec(options, method, ranker, settings);
  RunOptions run;
  run.threads = integer32(threads, "threads", kThreads);
  Simulated simulated = take(in_background(
      [&](const Watch& watch) {
        run.watch = watch;
        return simulate(data, spec, run);
      },
      {.progress = progress, .total = spec.impressions * spec.runs}));
  return py::make_tuple(cell_of(simulated.summary, simulated.runs), learner_of(simulated, spec));
}

// Methods as Python gives them: (text, label or None, whether it is a baseline or None).
using GivenMethods = std::vector<std::tuple<py::object, py::object, py::object>>;

std::vector<ComparedMethod> methods_of(const GivenMethods& given) {
  std::vector<ComparedMethod> methods;
  for (const auto& [method, label, baseline] : given) {
    ComparedMethod& compared = methods.emplace_back();
    compared.entry = method_entry(text(method, "methods"), "methods");
    if (!label.is_none()) compared.label = text(label, "labels");
    if (!baseline.is_none()) compared.baseline = truth(baseline, "baselines");
  }
  return methods;
}

// What the engine loads: (name, path), or a dataset that was loaded before.
ComparedDataset to_load(py::handle given) {
  if (!py::isinstance<DatasetHandle>(given)) {
    const auto [name, where] = py::cast<std::pair<py::object, py::object>>(given);
    return {.name = text(name, "data"), .path = path(where, "data")};
  }
  const auto& data = py::cast<const DatasetHandle&>(given);
  if (!data.source) {
    bad_value(
        "out: {} is made from arrays, or was loaded with keep_feature_ids, which a folder can't "
        "record",
        data.name);
  }
  return *data.source;
}

py::tuple test_of(const MeasureTests& tests) {
  const auto values = [](const TTest& test) {
    return py::make_tuple(test.t, test.degrees, test.p, test.difference, test.half_width,
                          test.holm);
  };
  return py::make_tuple(values(tests.paired), values(tests.welch), values(tests.student));
}

// (title, cells, contrasts, a function that writes the report to a folder).
py::tuple result_of(Compared compared) {
  const auto comparison = std::make_shared<Comparison>(std::move(compared.comparison));
  py::list cells;
  for (std::size_t at = 0; at < comparison->cells.size(); ++at) {
    cells.append(cell_of(comparison->cells[at], compared.runs[at]));
  }
  py::list contrasts;
  for (const Contrast& contrast : comparison->contrasts) {
    contrasts.append(py::make_tuple(contrast.cell, contrast.baseline, test_of(contrast.offline),
                                    test_of(contrast.online)));
  }
  const py::cpp_function report([comparison](Given folder) {
    const std::string to = path(folder, "folder");
    take(in_background([&](const Watch&) { return write_report(*comparison, to); }));
  });
  return py::make_tuple(comparison->title, cells, contrasts, report);
}

py::tuple compare_data(const std::vector<py::object>& data, const GivenMethods& methods,
                       const std::vector<py::object>& click_models, const py::dict& options,
                       Given title, Given threads, Given progress, Given out, Given fresh) {
  ComparisonSpec spec;
  spec.title = text(title, "title");
  set_options(simulation_options(), options, spec.common);
  set_options(report_options(), options, spec);
  spec.methods = methods_of(methods);
  for (const py::object& one : click_models) {
    spec.click_models.push_back(path(one, "click_models"));
  }
  const bool networks =
      std::any_of(spec.methods.begin(), spec.methods.end(),
                  [](const ComparedMethod& method) { return has_network(method.entry.ranker); });
  if (!networks && !spec.methods.empty()) require_default_network(spec.common);
  RunOptions run;
  run.threads = integer32(threads, "threads", kThreads);
  run.fresh = truth(fresh, "fresh");
  if (run.fresh && out.is_none()) bad_value("fresh: True; it needs a folder, and out is None");
  std::vector<Dataset> datasets;
  for (const py::object& one : data) {
    if (out.is_none()) datasets.push_back(py::cast<const DatasetHandle&>(one));
    if (!out.is_none()) spec.datasets.push_back(to_load(one));
  }
  const std::string folder = out.is_none() ? "" : path(out, "out");
  return result_of(take(in_background(
      [&](const Watch& watch) {
        run.watch = watch;
        return folder.empty() ? compare(spec, std::span<const Dataset>(datasets), run)
                              : compare(spec, std::filesystem::path(folder), run);
      },
      {.progress = progress,
       .total = spec.common.impressions * spec.common.runs * methods.size() * click_models.size() *
                data.size()})));
}

}  // namespace

void bind_experiments(py::module_& module) {
  PYBIND11_NUMPY_DTYPE(Moments, mean, std);
  PYBIND11_NUMPY_DTYPE(CurveSummary, impression, offline, online);
  PYBIND11_NUMPY_DTYPE(CurvePoint, impression, offline, online);
  py::dict defaults = defaults_of(simulation_options());
  module.attr("report_defaults") = defaults_of(report_options());
  defaults["method"] = SimulationSpec{}.method;
  defaults["click_model"] = SimulationSpec{}.click_model;
  defaults["threads"] = RunOptions{}.threads;
  module.attr("simulation_defaults") = defaults;
  module.def("simulate", simulate_data);
  module.def("compare", compare_data);
  const ComparisonSpec paper = default_comparison();
  py::list methods;
  for (const ComparedMethod& method : paper.methods) methods.append(to_text(method.entry));
  module.attr("compared_methods") = py::tuple(methods);
  module.attr("compared_click_models") = py::tuple(py::cast(paper.click_models));
}

}  // namespace plackett::python
