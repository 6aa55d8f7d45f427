// Whole experiments: one method under one click model, or methods x click models x datasets.
#include <algorithm>
#include <array>
#include <filesystem>
#include <tuple>
#include <utility>

#include "background.h"
#include "handles.h"
#include "plackett/options.h"
#include "plackett/report.h"
#include "plackett/results.h"
#include "plackett/simulate.h"

namespace plackett::python {
namespace {

// Fields of a plackett.Cell, with curves as structured arrays.
py::dict cell_of(const CellSummary& cell, const std::vector<RunRecord>& records) {
  py::list runs;
  for (const RunRecord& run : records) {
    py::dict metrics;
    for (const MetricCurve& metric : run.metrics) {
      metrics[metric.name.c_str()] = array_of(metric.values);
    }
    runs.append(py::make_tuple(run.run, run.fold, run.validation, run.seconds,
                               run.evaluation_seconds, array_of(run.curve), metrics));
  }
  py::dict swept;
  for (const auto* values : {&cell.swept, &cell.surroundings}) {
    for (const auto& [name, value] : *values) swept[python_name(name).c_str()] = value;
  }
  return py::dict("label"_a = cell.label, "method"_a = cell.method, "ranker_kind"_a = cell.ranker,
                  "click_model"_a = cell.click_model, "dataset"_a = cell.dataset,
                  "protocol"_a = cell.protocol, "baseline"_a = cell.baseline, "swept"_a = swept,
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
  for (GivenSetting& given : settings_of(*take(find_method(entry.method)), settings, "simulate")) {
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
                        Given device, Given progress) {
  const SimulationSpec spec = simulation_spec(options, method, ranker, settings);
  RunOptions run;
  run.threads = integer32(threads, "threads", kThreads);
  run.device = take(parse_device(text(device, "device")), "device");
  Simulated simulated = take(in_background(
      [&](const Watch& watch) {
        run.watch = watch;
        return simulate(data, spec, run);
      },
      {.progress = progress, .total = spec.impressions * spec.runs}));
  return py::make_tuple(cell_of(simulated.summary, simulated.runs), learner_of(simulated, spec));
}

// Methods as Python gives them: (text, label or None).
using GivenMethods = std::vector<std::pair<py::object, py::object>>;

std::vector<ComparedMethod> methods_of(const GivenMethods& given) {
  std::vector<ComparedMethod> methods;
  for (const auto& [method, label] : given) {
    auto entries = take(parse_methods(with_dashes(text(method, "methods"))), "methods");
    if (!label.is_none() && entries.size() > 1) {
      bad_value("labels: {}; a group of methods has no label of its own", text(label, "labels"));
    }
    for (MethodEntry& entry : entries) {
      ComparedMethod& compared = methods.emplace_back();
      compared.entry = std::move(entry);
      if (!label.is_none()) compared.label = text(label, "labels");
    }
  }
  return methods;
}

// Methods or labels as Python gives them.
std::vector<std::string> baselines_of(const std::vector<py::object>& given) {
  std::vector<std::string> names;
  for (const py::object& one : given) {
    names.push_back(text(one, "baselines"));
    const std::string method = with_dashes(names.back());
    if (parse_method_entry(method)) names.back() = method;
  }
  return names;
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

// (the engine's part of a plackett.Compared, cells, contrasts).
py::tuple result_of(Compared compared) {
  const auto comparison = std::make_shared<Comparison>(std::move(compared.comparison));
  py::list cells;
  for (std::size_t at = 0; at < comparison->cells.size(); ++at) {
    cells.append(cell_of(comparison->cells[at], compared.runs[at]));
  }
  py::list contrasts;
  for (const Contrast& contrast : comparison->contrasts) {
    py::dict metrics;
    for (const MetricTests& one : contrast.metrics) metrics[one.name.c_str()] = test_of(one.tests);
    contrasts.append(py::make_tuple(contrast.cell, contrast.baseline, test_of(contrast.offline),
                                    test_of(contrast.online), metrics));
  }
  return py::make_tuple(comparison, cells, contrasts);
}

// A comparison of one cell, from a plackett.Cell's own fields.
std::shared_ptr<Comparison> comparison_of(const py::dict& fields,
                                          const std::vector<std::uint64_t>& impressions,
                                          const std::vector<std::array<double, 4>>& points) {
  const auto text_of = [&](const char* name) { return text(fields[name], name); };
  CellSummary cell;
  cell.label = text_of("label");
  cell.method = text_of("method");
  cell.ranker = text_of("ranker_kind");
  cell.click_model = text_of("click_model");
  cell.dataset = text_of("dataset");
  cell.protocol = text_of("protocol");
  cell.impressions = integer(fields["impressions"], "impressions");
  cell.seed = integer(fields["seed"], "seed");
  cell.runs = static_cast<std::uint32_t>(py::len(fields["runs"]));
  for (std::size_t at = 0; at < impressions.size(); ++at) {
    const auto& [offline, offline_std, online, online_std] = points.at(at);
    cell.curve.push_back({impressions[at], {offline, offline_std}, {online, online_std}});
  }
  if (!cell.curve.empty()) {
    cell.offline = cell.curve.back().offline;
    cell.online = cell.curve.back().online;
  }
  return std::make_shared<Comparison>(Comparison{.cells = {std::move(cell)}});
}

// Values as Python gives them, by the names of options and settings.
std::vector<Sweep> sweeps_of(const py::dict& given) {
  std::vector<Sweep> sweeps;
  for (const auto& [key, values] : given) {
    const std::string place = fmt::format("sweep: {}", text(key, "sweep"));
    Sweep& sweep = sweeps.emplace_back(Sweep{text(key, "sweep"), {}});
    std::replace(sweep.name.begin(), sweep.name.end(), '_', '-');
    const auto options = simulation_options();
    const auto option = std::find_if(options.begin(), options.end(),
                                     [&](const auto& one) { return one.name == sweep.name; });
    for (const py::handle value : values) {
      sweep.values.push_back(option == options.end() ? setting_text(value, place)
                                                     : option_text(form_of(*option), value, place));
    }
  }
  return sweeps;
}

// The spec's cells. Fails if there are none, naming sweep= where that is to blame.
std::vector<ComparedCell> cells_in(const ComparisonSpec& spec) {
  auto cells = cells_of(spec);
  ComparisonSpec plain = spec;
  plain.sweeps.clear();
  return take(std::move(cells), cells_of(plain) ? "sweep" : "");
}

py::tuple compare_data(const std::vector<py::object>& data, const GivenMethods& methods,
                       const std::optional<std::vector<py::object>>& baselines,
                       const std::vector<py::object>& click_models, const py::dict& sweep,
                       const py::dict& options, Given select, Given drift, Given title,
                       Given threads, Given device, Given progress, Given out, Given fresh) {
  ComparisonSpec spec;
  spec.title = text(title, "title");
  set_options(simulation_options(), options, spec.common);
  set_options(report_options(), options, spec);
  spec.methods = methods_of(methods);
  if (baselines) {
    spec.baselines = baselines_of(*baselines);
    for (ComparedMethod& method : spec.methods) method.baseline = false;
  }
  spec.sweeps = sweeps_of(sweep);
  if (!select.is_none()) {
    if (text(select, "select") != name_of(MeasuredSplit::kValidation)) {
      bad_value("select: {}; expected \"{}\" or None", shown_value(select),
                name_of(MeasuredSplit::kValidation));
    }
    spec.select = true;
  }
  spec.common.drift = take(parse_spec(text(drift, "drift"), "drift")).common.drift;
  for (const py::object& one : click_models) {
    spec.click_models.push_back(path(one, "click_models"));
  }
  RunOptions run;
  run.threads = integer32(threads, "threads", kThreads);
  run.device = take(parse_device(text(device, "device")), "device");
  run.fresh = truth(fresh, "fresh");
  if (run.fresh && out.is_none()) bad_value("fresh: True; it needs a folder, and out is None");
  std::vector<Dataset> datasets;
  for (const py::object& one : data) {
    if (out.is_none()) {
      datasets.push_back(py::cast<const DatasetHandle&>(one));
      spec.datasets.push_back({.name = datasets.back().name, .path = datasets.back().name});
    } else {
      spec.datasets.push_back(to_load(one));
    }
  }
  const std::string folder = out.is_none() ? "" : path(out, "out");
  bool networks = false;
  std::uint64_t impressions = 0;
  const std::vector<ComparedCell> cells = cells_in(spec);
  for (const ComparedCell& cell : cells) {
    networks = networks || has_network(cell.simulation.ranker.kind);
    impressions += cell.simulation.impressions * spec.common.runs;
  }
  if (!networks && !cells.empty()) require_default_network(spec.common);
  return result_of(take(in_background(
      [&](const Watch& watch) {
        run.watch = watch;
        return folder.empty() ? compare(spec, std::span<const Dataset>(datasets), run)
                              : compare(spec, std::filesystem::path(folder), run);
      },
      {.progress = progress, .total = impressions})));
}

py::tuple load_results(const std::vector<py::object>& folders,
                       const std::vector<py::object>& baselines, Given test) {
  std::vector<std::filesystem::path> paths;
  for (const py::object& folder : folders) paths.emplace_back(path(folder, "folders"));
  if (paths.empty()) bad_value("folders: none; expected at least one");
  StoredResults stored = take(in_background([&](const Watch&) {
                                return read_results(std::span<const std::filesystem::path>(paths));
                              }),
                              "folders");
  if (stored.empty()) bad_value("folders: no run is finished yet");
  if (!test.is_none()) {
    stored.spec.test = take(parse_significance_test(text(test, "test")), "test");
  }
  if (!baselines.empty()) {
    stored.spec.baselines = baselines_of(baselines);
    take(name_cells(stored));
  }
  return result_of(compared(stored));
}

void bind_comparison(py::module_& module) {
  py::class_<Comparison, std::shared_ptr<Comparison>> comparison(
      module, "Comparison", "The engine's part of a Compared: what reports are made from.");
  comparison.def_readonly("title", &Comparison::title)
      .def("text", [](const Comparison& self) { return text_table(self); })
      .def("html", html_table)
      .def("svg", [](const Comparison& self) { return py::bytes(take(curves_svg(self))); })
      .def("report", [](const Comparison& self, Given folder) {
        const std::string to = path(folder, "folder");
        take(in_background([&](const Watch&) { return write_report(self, to); }));
      });
  data_only(comparison, "pickle the cells and contrasts");
  module.def("comparison_of", comparison_of);
}

}  // namespace

void bind_experiments(py::module_& module) {
  PYBIND11_NUMPY_DTYPE(Moments, mean, std);
  PYBIND11_NUMPY_DTYPE(CurveSummary, impression, offline, online);
  PYBIND11_NUMPY_DTYPE(CurvePoint, impression, offline, online);
  py::dict defaults = defaults_of(simulation_options());
  module.attr("report_defaults") = defaults_of(report_options());
  defaults["method"] = kDefaultMethod;
  defaults["click_model"] = SimulationSpec{}.click_model;
  defaults["threads"] = RunOptions{}.threads;
  defaults["device"] = name_of(RunOptions{}.device);
  module.attr("simulation_defaults") = defaults;
  module.def("simulate", simulate_data);
  module.def("compare", compare_data);
  module.def("load_results", load_results);
  bind_comparison(module);
  const ComparisonSpec paper = default_comparison();
  py::list methods;
  for (const ComparedMethod& method : paper.methods) methods.append(to_text(method.entry));
  module.attr("compared_methods") = py::tuple(methods);
  module.attr("compared_click_models") = py::tuple(py::cast(paper.click_models));
}

}  // namespace plackett::python
