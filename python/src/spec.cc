#include "spec.h"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <string>
#include <string_view>

#include "arguments.h"
#include "failure.h"
#include "plackett/simulate.h"

namespace plackett::python {

const SimulationSpec& default_spec() {
  static const SimulationSpec spec;
  return spec;
}

py::dict simulation_defaults() {
  const SimulationSpec& spec = default_spec();
  py::dict options;
  options["method"] = spec.method;
  options["click_model"] = spec.click_model;
  options["runs"] = spec.runs;
  options["impressions"] = spec.impressions;
  options["seed"] = spec.seed;
  options["shown"] = spec.shown;
  options["hidden"] = py::tuple(py::cast(spec.ranker.hidden));
  options["activation"] = name_of(spec.ranker.activation);
  options["protocol"] = name_of(spec.protocol);
  options["eta"] = spec.eta;
  options["no_relevant"] = name_of(spec.no_relevant);
  options["threads"] = RunOptions{}.threads;
  return options;
}

SimulationSpec spec_of(const py::dict& options) {
  SimulationSpec spec = default_spec();
  spec.runs = whole32(options["runs"], "runs", {1, kMaxRuns});
  spec.impressions = whole(options["impressions"], "impressions", {1, kMaxImpressions});
  spec.seed = whole(options["seed"], "seed", {});
  spec.shown = whole32(options["shown"], "shown", {1, kMaxShown});
  spec.ranker.hidden = hidden_layers(options["hidden"]);
  spec.ranker.activation = take(parse_activation(text(options["activation"], "activation")));
  spec.protocol = take(parse_protocol(text(options["protocol"], "protocol")));
  spec.eta = number(options["eta"], "eta");
  spec.no_relevant = take(parse_no_relevant(text(options["no_relevant"], "no_relevant")));
  return spec;
}

void require_default_network(const SimulationSpec& spec) {
  const RankerSpec& plain = default_spec().ranker;
  constexpr std::string_view kRule = "a linear ranker has none; \"pdgd:neural\" has";
  if (spec.ranker.hidden != plain.hidden) {
    bad_value("hidden: {}; {}", shown_value(py::tuple(py::cast(spec.ranker.hidden))), kRule);
  }
  if (spec.ranker.activation != plain.activation) {
    bad_value("activation: {}; {}", name_of(spec.ranker.activation), kRule);
  }
}

namespace {

template <typename T, typename Of>
py::array_t<T> column(const std::vector<CurveSummary>& curve, const Of& of) {
  py::array_t<T> values(static_cast<py::ssize_t>(curve.size()));
  T* out = values.mutable_data();
  for (const CurveSummary& point : curve) *out++ = static_cast<T>(of(point));
  return values;
}

template <typename Of>
py::array_t<double> table(const std::vector<RunRecord>& runs, const Of& of) {
  const std::size_t points = runs.empty() ? 0 : runs.front().curve.size();
  py::array_t<double> values(
      {static_cast<py::ssize_t>(runs.size()), static_cast<py::ssize_t>(points)});
  double* out = values.mutable_data();
  for (const RunRecord& run : runs) {
    for (std::size_t point = 0; point < points; ++point) *out++ = of(run.curve[point]);
  }
  return values;
}

}  // namespace

py::dict curve_of(const CellSummary& cell) {
  py::dict curve;
  curve["impression"] =
      column<std::int64_t>(cell.curve, [](const CurveSummary& at) { return at.impression; });
  curve["offline_mean"] =
      column<double>(cell.curve, [](const CurveSummary& at) { return at.offline.mean; });
  curve["offline_std"] =
      column<double>(cell.curve, [](const CurveSummary& at) { return at.offline.std; });
  curve["online_mean"] =
      column<double>(cell.curve, [](const CurveSummary& at) { return at.online.mean; });
  curve["online_std"] =
      column<double>(cell.curve, [](const CurveSummary& at) { return at.online.std; });
  return curve;
}

py::dict runs_of(const std::vector<RunRecord>& runs) {
  py::dict result;
  py::array_t<std::int64_t> folds(static_cast<py::ssize_t>(runs.size()));
  py::array_t<double> seconds(static_cast<py::ssize_t>(runs.size()));
  py::array_t<double> evaluation_seconds(static_cast<py::ssize_t>(runs.size()));
  for (std::size_t at = 0; at < runs.size(); ++at) {
    folds.mutable_at(static_cast<py::ssize_t>(at)) = runs[at].fold;
    seconds.mutable_at(static_cast<py::ssize_t>(at)) = runs[at].seconds;
    evaluation_seconds.mutable_at(static_cast<py::ssize_t>(at)) = runs[at].evaluation_seconds;
  }
  result["fold"] = folds;
  result["seconds"] = seconds;
  result["evaluation_seconds"] = evaluation_seconds;
  result["offline"] = table(runs, [](const CurvePoint& point) { return point.offline; });
  result["online"] = table(runs, [](const CurvePoint& point) { return point.online; });
  return result;
}

py::dict summary_of(const CellSummary& cell) {
  py::dict summary;
  summary["label"] = cell.label;
  summary["method"] = cell.method;
  summary["ranker"] = cell.ranker;
  summary["click_model"] = cell.click_model;
  summary["dataset"] = cell.dataset;
  summary["protocol"] = cell.protocol;
  summary["baseline"] = cell.baseline;
  summary["impressions"] = cell.impressions;
  summary["seed"] = cell.seed;
  summary["offline"] = py::make_tuple(cell.offline.mean, cell.offline.std);
  summary["online"] = py::make_tuple(cell.online.mean, cell.online.std);
  summary["seconds"] = cell.seconds;
  summary["impressions_per_second"] = cell.impressions_per_second;
  return summary;
}

}  // namespace plackett::python
