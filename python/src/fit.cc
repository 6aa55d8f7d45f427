// A model that starts as a present ranking.
#include "plackett/fit_model.h"

#include <utility>

#include "background.h"
#include "handles.h"
#include "plackett/scaling.h"

namespace plackett::python {
namespace {

// Of the tables of options, those that a fit shares with simulations and datasets.
constexpr std::string_view kOfSimulations[] = {"hidden", "activation", "shown"};
constexpr std::string_view kOfDatasets[] = {"scaling"};

template <typename Target>
std::vector<Option<Target>> some_of(std::span<const Option<Target>> options,
                                    std::span<const std::string_view> names) {
  std::vector<Option<Target>> some;
  for (const Option<Target>& option : options) {
    if (std::find(names.begin(), names.end(), option.name) != names.end()) some.push_back(option);
  }
  return some;
}

// A list of candidates, scaled, in the order given.
void add_order(py::handle features, py::handle shown, Scaling scaling, const std::string& name,
               std::optional<ObservedOrders>& orders) {
  const py::array matrix = matrix_of(features, name);
  const auto docs = static_cast<std::uint32_t>(matrix.shape(0));
  const auto width = static_cast<std::uint32_t>(matrix.shape(1));
  const auto given = FeatureView::of(static_cast<const float*>(matrix.data()), docs, width,
                                     std::max<std::size_t>(stride_of(matrix), width));
  if (!orders) orders.emplace(width);
  // Refuses what is not finite before it is scaled.
  std::vector<float> rows;
  for (std::uint32_t doc = 0; doc < docs; ++doc) {
    for (const float value : given.row(Doc{doc})) {
      if (!std::isfinite(value)) bad_value("{}: {}; features must be finite", name, value);
      rows.push_back(value);
    }
  }
  if (scaling == Scaling::kQueryMinMax && docs > 0) {
    scale_query_minmax(rows.data(), docs, width, width);
  }
  const std::uint32_t count = shown.is_none() ? docs : integer32(shown, name + ": shown");
  take(orders->add(FeatureView::of(rows.data(), docs, width, width), count), name);
}

py::object agreement_of(const Agreement& agreement) {
  if (agreement.lists == 0) return py::none();
  return py::dict("lists"_a = agreement.lists, "kendall_tau"_a = agreement.kendall_tau,
                  "same_first"_a = agreement.same_first,
                  "sampled_kendall_tau"_a = agreement.sampled_kendall_tau,
                  "sampled_same_first"_a = agreement.sampled_same_first,
                  "log_likelihood"_a = agreement.log_likelihood);
}

FitModelSpec spec_of(Given learner, Given ranker, const py::dict& options,
                     const py::dict& settings) {
  SimulationSpec simulation;
  ComparedDataset dataset;
  FitModelSpec spec;
  set_options<SimulationSpec>(some_of(simulation_options(), kOfSimulations), options, simulation);
  set_options<ComparedDataset>(some_of(dataset_options(), kOfDatasets), options, dataset);
  set_options(fit_options(), options, spec.fit);
  const MethodEntry entry = method_entry(text(learner, "learner"), "learner");
  spec.method = take(find_method(entry.method))->name;
  spec.settings = entry.settings;
  for (GivenSetting& given : settings_of(*take(find_method(spec.method)), settings, "fit")) {
    spec.settings.push_back(std::move(given));
  }
  spec.ranker = simulation.ranker;
  spec.ranker.kind =
      ranker.is_none() ? entry.ranker : take(parse_ranker_kind(text(ranker, "ranker")), "ranker");
  spec.scaling = dataset.scaling;
  spec.shown = simulation.shown;
  return spec;
}

py::tuple fit_orders(const std::vector<std::pair<py::object, py::object>>& given, Given learner,
                     Given ranker, const py::dict& options, const py::dict& settings) {
  FitModelSpec spec = spec_of(learner, ranker, options, settings);
  std::optional<ObservedOrders> orders;
  for (std::size_t list = 0; list < given.size(); ++list) {
    add_order(given[list].first, given[list].second, spec.scaling, fmt::format("orders[{}]", list),
              orders);
  }
  if (!orders) bad_value("orders: none; expected at least one");
  FittedModel fitted = take(in_background([&](const Watch& watch) {
    spec.fit.stop = watch.stop;
    return fit_model(*orders, spec);
  }));
  const FitReport& report = fitted.report;
  const py::dict fields("fitted"_a = agreement_of(report.fitted),
                        "held_out"_a = agreement_of(report.held_out),
                        "iterations"_a = report.iterations, "converged"_a = report.converged);
  return py::make_tuple(fields, shared(LearnerHandle{.learner = std::move(fitted.learner),
                                                     .method = take(find_method(spec.method)),
                                                     .shape = shape_of(std::move(fitted.model)),
                                                     .protocol = SimulationSpec{}.protocol,
                                                     .shown = spec.shown,
                                                     .settings = spec.settings,
                                                     .seed = spec.fit.seed}));
}

}  // namespace

void bind_fit(py::module_& module) {
  py::dict defaults = defaults_of(fit_options());
  const auto add_defaults = [&](const py::dict& more) { defaults.attr("update")(more); };
  add_defaults(defaults_of<SimulationSpec>(some_of(simulation_options(), kOfSimulations)));
  add_defaults(defaults_of<ComparedDataset>(some_of(dataset_options(), kOfDatasets)));
  defaults["learner"] = kDefaultMethod;
  module.attr("fit_defaults") = defaults;
  module.def("fit", fit_orders);
}

}  // namespace plackett::python
