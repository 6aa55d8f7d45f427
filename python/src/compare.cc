// Methods x click models x datasets.
#include <pybind11/stl.h>

#include <utility>

#include "arguments.h"
#include "background.h"
#include "bindings.h"
#include "data.h"
#include "failure.h"
#include "made.h"
#include "plackett/report.h"
#include "plackett/simulate.h"
#include "spec.h"

namespace plackett::python {
namespace {

ComparisonSpec comparison_of(const py::dict& options, const std::vector<std::string>& methods,
                             const std::vector<std::string>& click_models,
                             const std::string& title) {
  ComparisonSpec spec;
  spec.title = title;
  spec.common = spec_of(options);
  bool network = methods.empty();
  for (const std::string& method : methods) {
    spec.methods.push_back({.entry = take(parse_method_entry(method))});
    network = network || has_network(spec.methods.back().entry.ranker);
  }
  if (!network) require_default_network(spec.common);
  spec.click_models = click_models;
  return spec;
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

// As the engine can load it again.
ComparedDataset to_load_again(const DatasetHandle& data) {
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

using ReadText = std::string (*)(py::handle value, std::string_view name);

std::vector<std::string> texts(const py::list& given, std::string_view name, ReadText read) {
  std::vector<std::string> all;
  for (const py::handle one : given) all.push_back(read(one, name));
  return all;
}

py::dict compare_data(const std::vector<std::shared_ptr<DatasetHandle>>& data,
                      const py::list& given_methods, const py::list& given_click_models,
                      const py::dict& options, const py::object& title, const py::object& threads,
                      const py::object& progress, const py::object& out) {
  const std::vector<std::string> methods = texts(given_methods, "methods", text);
  const std::vector<std::string> click_models =
      texts(given_click_models, "click_models", click_model_name);
  ComparisonSpec spec = comparison_of(options, methods, click_models, text(title, "title"));
  RunOptions run;
  run.threads = thread_number(threads);
  const Waiting waiting{.progress = progress,
                        .total = spec.common.impressions * spec.common.runs * methods.size() *
                                 click_models.size() * data.size()};
  if (out.is_none()) {
    std::vector<Dataset> datasets;
    for (const auto& one : data) datasets.push_back(one->dataset);
    return result_of(take(in_background<Result<Compared>>(
        [&](const Watch& watch) {
          run.watch = watch;
          return compare(spec, std::span<const Dataset>(datasets), run);
        },
        waiting)));
  }
  for (const auto& one : data) spec.datasets.push_back(to_load_again(*one));
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
             py::arg("out"));
  const ComparisonSpec paper = default_comparison();
  py::list methods;
  for (const ComparedMethod& method : paper.methods) methods.append(to_text(method.entry));
  module.attr("compared_methods") = py::tuple(methods);
  module.attr("compared_click_models") = py::tuple(py::cast(paper.click_models));
}

}  // namespace plackett::python
