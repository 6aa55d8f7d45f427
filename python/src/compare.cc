// Methods x click models x datasets.
#include <pybind11/stl.h>

#include <tuple>
#include <utility>

#include "arguments.h"
#include "background.h"
#include "bindings.h"
#include "data.h"
#include "failure.h"
#include "made.h"
#include "methods.h"
#include "plackett/report.h"
#include "plackett/simulate.h"
#include "spec.h"

namespace plackett::python {
namespace {

// Methods as Python gives them: (text, label or None, whether it is a baseline or None).
std::vector<ComparedMethod> methods_of(const py::list& given) {
  std::vector<ComparedMethod> methods;
  for (const py::handle one : given) {
    const auto [method, label, baseline] =
        py::cast<std::tuple<py::object, py::object, py::object>>(one);
    ComparedMethod compared;
    compared.entry = method_entry(text(method, "methods"), "methods");
    if (!label.is_none()) compared.label = text(label, "labels");
    if (!baseline.is_none()) compared.baseline = truth(baseline, "baselines");
    methods.push_back(std::move(compared));
  }
  return methods;
}

// Fails where there are hidden layers for none of the methods.
void require_some_network(const ComparisonSpec& spec) {
  for (const ComparedMethod& method : spec.methods) {
    if (has_network(method.entry.ranker)) return;
  }
  if (!spec.methods.empty()) require_default_network(spec.common);
}

py::dict test_of(const TTest& test) {
  py::dict result;
  result["t"] = test.t;
  result["degrees"] = test.degrees;
  result["p"] = test.p;
  return result;
}

py::dict tests_of(const MeasureTests& tests) {
  py::dict result;
  result["student"] = test_of(tests.student);
  result["welch"] = test_of(tests.welch);
  return result;
}

py::dict result_of(Compared compared) {
  py::dict result;
  result["title"] = compared.comparison.title;
  py::list cells;
  for (std::size_t at = 0; at < compared.comparison.cells.size(); ++at) {
    const CellSummary& cell = compared.comparison.cells[at];
    py::dict entry;
    entry["summary"] = summary_of(cell);
    entry["curve"] = curve_of(cell);
    entry["runs"] = runs_of(compared.runs[at]);
    cells.append(entry);
  }
  result["cells"] = cells;
  py::list contrasts;
  for (const Contrast& contrast : compared.comparison.contrasts) {
    py::dict entry;
    entry["cell"] = contrast.cell;
    entry["baseline"] = contrast.baseline;
    entry["offline"] = tests_of(contrast.offline);
    entry["online"] = tests_of(contrast.online);
    contrasts.append(entry);
  }
  result["contrasts"] = contrasts;
  result["comparison"] = std::make_shared<Comparison>(std::move(compared.comparison));
  return result;
}

// As the engine loads it: (name, path), or a dataset that was loaded before.
ComparedDataset to_load(py::handle given) {
  if (!py::isinstance<DatasetHandle>(given)) {
    const auto [name, where] = py::cast<std::pair<py::object, py::object>>(given);
    return {.name = text(name, "data"), .path = path(where, "data").string()};
  }
  const auto& data = py::cast<const DatasetHandle&>(given);
  if (data.where.empty()) {
    bad_value("out: {} is made of arrays; with a folder, data is what plackett.load reads",
              data.dataset.name);
  }
  if (data.load.keep_feature_ids) {
    bad_value("out: {} was loaded with keep_feature_ids; a folder can't say so", data.dataset.name);
  }
  return {.name = data.dataset.name,
          .path = data.where,
          .scaling = data.load.scaling,
          .keep_constant_features = !data.load.drop_constant_features,
          .max_feature_id = data.load.max_feature_id};
}

std::vector<std::string> click_models_of(const py::list& given) {
  std::vector<std::string> names;
  for (const py::handle one : given) names.push_back(click_model_name(one, "click_models"));
  return names;
}

py::dict compare_data(const py::list& data, const py::list& methods, const py::list& click_models,
                      const py::dict& options, const py::object& title, const py::object& threads,
                      const py::object& progress, const py::object& out, const py::object& fresh) {
  ComparisonSpec spec;
  spec.title = text(title, "title");
  spec.common = spec_of(options);
  spec.methods = methods_of(methods);
  spec.click_models = click_models_of(click_models);
  require_some_network(spec);
  RunOptions run;
  run.threads = thread_number(threads);
  run.fresh = truth(fresh, "fresh");
  if (run.fresh && out.is_none()) bad_value("fresh: True; it is for a folder, and out is None");
  const Waiting waiting{.progress = progress,
                        .total = spec.common.impressions * spec.common.runs * methods.size() *
                                 click_models.size() * data.size()};
  if (out.is_none()) {
    std::vector<Dataset> datasets;
    for (const py::handle one : data) {
      datasets.push_back(py::cast<const DatasetHandle&>(one).dataset);
    }
    return result_of(take(in_background<Result<Compared>>(
        [&](const Watch& watch) {
          run.watch = watch;
          return compare(spec, std::span<const Dataset>(datasets), run);
        },
        waiting)));
  }
  for (const py::handle one : data) spec.datasets.push_back(to_load(one));
  const std::filesystem::path folder = path(out, "out");
  return result_of(take(in_background<Result<Compared>>(
      [&](const Watch& watch) {
        run.watch = watch;
        return compare(spec, folder, run);
      },
      waiting)));
}

void report(const Comparison& comparison, const py::object& folder) {
  const std::filesystem::path to = path(folder, "folder");
  take(in_background<Result<void>>([&](const Watch&) { return write_report(comparison, to); }, {}));
}

}  // namespace

void bind_compare(py::module_& module) {
  py::class_<Comparison, std::shared_ptr<Comparison>> comparison_type(
      module, "Comparison", "A comparison's results, for its report.");
  comparison_type.def("report", report, py::arg("folder"));
  from_the_engine_alone(comparison_type);
  module.def("compare", compare_data, py::arg("data"), py::arg("methods"), py::arg("click_models"),
             py::arg("options"), py::arg("title"), py::arg("threads"), py::arg("progress"),
             py::arg("out"), py::arg("fresh"));
  const ComparisonSpec paper = default_comparison();
  py::list methods;
  for (const ComparedMethod& method : paper.methods) methods.append(to_text(method.entry));
  module.attr("compared_methods") = py::tuple(methods);
  module.attr("compared_click_models") = py::tuple(py::cast(paper.click_models));
}

}  // namespace plackett::python
