// Other policies on a service's log, and models that are learned from it.
#include "plackett/off_policy.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "background.h"
#include "handles.h"
#include "plackett/learn_model.h"
#include "plackett/scaling.h"
#include "serving/logged_lists.h"
#include "serving/logged_policy.h"
#include "serving/model.h"
#include "serving/service.h"
#include "store/open.h"

namespace plackett::python {
namespace {

// A model's log, from a store that may be served meanwhile.
struct ServiceLog {
  ServiceLog(Given log, Given named) : path(python::path(log, "log")) {
    take(store::check_name(path), "log");
    if (!store::is_postgres(path) && !std::filesystem::exists(path)) {
      throw Failure("MissingFile", fmt::format("log: {}: no such file", path));
    }
    reader = take(store::read_store(path), "log");
    const std::string name = named.is_none() ? "" : text(named, "model");
    auto found = serving::logged_model(*reader, name);
    // A model that is missing is a wrong value, not a missing file.
    if (!found) bad_value("model: {} in {}", found.error().message, store::shown_name(path));
    model = *std::move(found);
  }
  // Those from a number on.
  [[nodiscard]] std::unique_ptr<serving::StoredLists> lists(std::uint64_t first = 0) const {
    return take(serving::StoredLists::open([from = path] { return store::read_store(from); }, model,
                                           serving::system_ms(), {.from = first}),
                "log");
  }

  std::string path;
  std::unique_ptr<serving::StoreReader> reader;
  serving::LoggedModel model;
};

py::object pair_of(const std::optional<Interval>& interval) {
  if (!interval) return py::none();
  return py::make_tuple(interval->low, interval->high);
}

py::list policies_of(const OffPolicyReport& report) {
  py::list policies;
  for (const PolicyValue& policy : report.policies) {
    py::list estimates;
    for (const ValueEstimate& one : policy.estimates) {
      const bool known = one.refused.empty();
      const auto value = [&](double number) -> py::object {
        return known ? py::object(py::float_(number)) : py::none();
      };
      estimates.append(
          py::dict("estimator"_a = name_of(one.estimator), "value"_a = value(one.value),
                   "bootstrap"_a = pair_of(known ? one.bootstrap : std::nullopt),
                   "bernstein"_a = pair_of(known ? one.bernstein : std::nullopt),
                   "difference"_a = value(one.value - report.logged),
                   "difference_interval"_a = pair_of(known ? one.difference : std::nullopt),
                   "refused"_a = known ? py::object(py::none()) : py::str(one.refused)));
    }
    py::list ranks;
    for (const RankSupport& rank : policy.ranks) {
      ranks.append(py::make_tuple(rank.lists, rank.effective_lists, rank.mean_weight));
    }
    policies.append(
        py::dict("policy"_a = policy.name, "estimates"_a = estimates, "ranks"_a = ranks));
  }
  return policies;
}

py::dict report_of(const OffPolicyReport& report, const serving::LeftOut& left_out,
                   const std::string& model, const OffPolicyOptions& options) {
  return py::dict("model"_a = model, "metric"_a = name_of(options.metric),
                  "level"_a = options.level, "lists"_a = report.lists, "kept"_a = report.kept,
                  "left_out"_a = py::dict(
                      "not_sampled"_a = left_out.not_sampled, "open"_a = left_out.open,
                      "candidates_never_kept"_a = left_out.no_keep, "damaged"_a = left_out.damaged,
                      "unit_deleted"_a = left_out.forgotten),
                  "logged"_a = report.logged, "logged_interval"_a = pair_of(report.logged_interval),
                  "examination"_a = report.examination, "policies"_a = policies_of(report));
}

py::dict evaluate_policies(Given log, Given model, const std::vector<py::object>& policies,
                           Given from_impression, const py::dict& options) {
  std::uint64_t first = 0;
  if (!from_impression.is_none()) {
    first =
        take(serving::first_number(text(from_impression, "from_impression")), "from_impression");
  }
  OffPolicyOptions estimate;
  set_options(off_policy_options(), options, estimate);
  std::vector<std::string> names;
  for (const py::object& policy : policies) names.push_back(python::path(policy, "policies"));
  if (names.empty()) bad_value("policies: none; expected at least one");
  const ServiceLog from(log, model);
  serving::LeftOut left_out;
  const auto report = take(in_background([&](const Watch& watch) -> Result<OffPolicyReport> {
    std::vector<std::unique_ptr<TargetPolicy>> made;
    std::vector<NamedPolicy> named;
    for (const std::string& name : names) {
      auto policy = serving::find_policy(name, from.model, *from.reader);
      if (!policy) return policy.error().in("policies");
      made.push_back(*std::move(policy));
      named.push_back({name, made.back().get()});
    }
    estimate.stop = watch.stop;
    const auto lists = from.lists(first);
    if (std::any_of(names.begin(), names.end(), serving::needs_ids)) lists->leave_out_forgotten();
    auto found = off_policy(*lists, named, estimate);
    left_out = lists->left_out();
    return found;
  }));
  return report_of(report, left_out, from.model.row.name, estimate);
}

// Of the table of simulations' options, those that learning shares.
constexpr std::string_view kOfSimulations[] = {"hidden", "activation"};

std::vector<Option<SimulationSpec>> network_options() {
  std::vector<Option<SimulationSpec>> some;
  for (const Option<SimulationSpec>& option : simulation_options()) {
    if (std::find(std::begin(kOfSimulations), std::end(kOfSimulations), option.name) !=
        std::end(kOfSimulations)) {
      some.push_back(option);
    }
  }
  return some;
}

LearnModelSpec learn_spec(const serving::LoggedModel& logged, Given learner, Given ranker,
                          const py::dict& options) {
  LearnModelSpec spec{.method = logged.spec.learner,
                      .settings = logged.spec.settings,
                      .ranker = logged.spec.ranker,
                      .scaling = take(parse_scaling(logged.spec.scaling)),
                      .feature_ids = logged.spec.feature_ids,
                      .shown = logged.spec.shown};
  set_options(learn_options(), options, spec.learn);
  spec.learn.temperature = static_cast<float>(logged.spec.temperature);
  SimulationSpec simulation;
  set_options<SimulationSpec>(network_options(), options, simulation);
  if (!learner.is_none()) {
    const MethodEntry entry = method_entry(text(learner, "learner"), "learner");
    spec.method = entry.method;
    spec.settings = entry.settings;
    spec.ranker.kind = entry.ranker;
  }
  if (!ranker.is_none()) {
    spec.ranker.kind = take(parse_ranker_kind(text(ranker, "ranker")), "ranker");
    spec.ranker.hidden = simulation.ranker.hidden;
    spec.ranker.activation = simulation.ranker.activation;
  }
  return spec;
}

// The learner that goes on from a model.
LearnerHandle learner_of(SavedModel model, const LearnModelSpec& spec) {
  std::shared_ptr<Learner> learner = take(
      make_learner(spec.method, take(restore_ranker(model)), {.shown = spec.shown}, spec.settings));
  learner->restore(model.learner);
  return {.learner = std::move(learner),
          .method = take(find_method(spec.method)),
          .shape = shape_of(std::move(model)),
          .protocol = SimulationSpec{}.protocol,
          .shown = spec.shown,
          .settings = spec.settings,
          .seed = spec.learn.seed};
}

py::tuple learn_from(Given log, Given model, Given learner, Given ranker, const py::dict& options) {
  const ServiceLog from(log, model);
  LearnModelSpec spec = learn_spec(from.model, learner, ranker, options);
  serving::LeftOut left_out;
  LearnedModel learned = take(in_background([&](const Watch& watch) -> Result<LearnedModel> {
    spec.learn.stop = watch.stop;
    const auto lists = from.lists();
    auto copy = MemoryLog::copy_if_small(*lists);
    if (!copy) return copy.error();
    left_out = lists->left_out();
    return learn_model(*copy ? static_cast<LoggedLists&>(**copy) : *lists, spec);
  }));
  py::list stages;
  for (const LearnStage& stage : learned.report.stages) {
    stages.append(py::dict("closeness"_a = stage.closeness, "iterations"_a = stage.iterations,
                           "value"_a = stage.value, "error"_a = stage.error,
                           "effective_lists"_a = stage.effective_lists, "chosen"_a = stage.chosen));
  }
  OffPolicyOptions measured;
  measured.metric = spec.learn.metric;
  const py::dict fields(
      "lists"_a = learned.report.lists, "deciding_lists"_a = learned.report.deciding_lists,
      "stages"_a = stages,
      "measured"_a = report_of(learned.report.measured, left_out, from.model.row.name, measured));
  return py::make_tuple(fields, shared(learner_of(std::move(learned.model), spec)));
}

}  // namespace

void bind_off_policy(py::module_& module) {
  module.attr("off_policy_defaults") = defaults_of(off_policy_options());
  module.def("off_policy", evaluate_policies);
  py::dict learning = defaults_of(learn_options());
  learning.attr("update")(defaults_of<SimulationSpec>(network_options()));
  module.attr("learn_defaults") = learning;
  module.def("learn", learn_from);
}

}  // namespace plackett::python
