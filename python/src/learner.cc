// Learners: rank, then learn from the clicks, one call each.
#include "plackett/learner.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "handles.h"
#include "plackett/simulation.h"

namespace plackett::python {

std::uint64_t LearnerHandle::next_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

RankerHandle LearnerHandle::ranker() const {
  return {.ranker = std::shared_ptr<Ranker>(learner, &learner->ranker()),
          .learner = learner,
          .shape = shape};
}

RankerHandle LearnerHandle::explorer() const {
  if (&learner->explorer() == &learner->ranker()) return ranker();
  return {.ranker = learner->explorer().clone(), .shape = shape};
}

SavedModel LearnerHandle::saved() const {
  SavedModel model = ranker().saved();
  model.learner = state();
  model.settings = saved_settings(method->name, settings);
  return model;
}

LearnerState LearnerHandle::state() const {
  LearnerState state = learner->state();
  state.impressions = impressions;
  return state;
}

namespace {

// What a learner is asked to be, apart from its ranker.
LearnerHandle described(const std::string& method, Given shown, Given seed, Given run,
                        Given protocol, const py::dict& settings) {
  LearnerHandle handle;
  handle.method = take(find_method(method));
  handle.shown = integer32(shown, "shown", {1, kMaxShown});
  handle.seed = integer(seed, "seed");
  handle.run = integer32(run, "run");
  handle.protocol = take(parse_protocol(text(protocol, "protocol")));
  handle.settings = settings_of(*handle.method, settings, "Learner");
  return handle;
}

Rng::Stream initial_stream(const LearnerHandle& handle) {
  return {handle.seed, handle.run, 0, Purpose::kInitialise};
}

// Makes the engine's learner around a copy of the ranker.
void equip(LearnerHandle& handle, const RankerHandle& ranker) {
  MethodRules rules = rules_of(handle.protocol).methods;
  rules.shown = handle.shown;
  rules.initial = initial_stream(handle);
  handle.learner =
      take(make_learner(handle.method->name, ranker.ranker->clone(), rules, handle.settings));
  handle.shape = std::make_shared<SavedModel>(*ranker.shape);
}

std::shared_ptr<LearnerHandle> make(Given method, Given ranker, Given features, Given hidden,
                                    Given activation, Given shown, Given seed, Given run,
                                    Given protocol, const py::kwargs& settings) {
  LearnerHandle handle = described(text(method, "method"), shown, seed, run, protocol, settings);
  py::dict given("method"_a = method, "ranker"_a = ranker, "features"_a = kept_features(features),
                 "hidden"_a = hidden, "activation"_a = activation, "shown"_a = shown,
                 "seed"_a = seed, "run"_a = run, "protocol"_a = protocol);
  given.attr("update")(settings);
  handle.given = given;
  if (py::isinstance<RankerHandle>(ranker)) {
    if (!features.is_none() || !hidden.is_none() || !activation.is_none()) {
      bad_type("features, hidden and activation: the given ranker has its own");
    }
    equip(handle, engine_ranker(ranker));
    return shared(std::move(handle));
  }
  if (!ranker.is_none() && !py::isinstance<py::str>(ranker)) {
    bad_type(
        "ranker: {}; expected a kind ({}) or a plackett.Ranker; features= takes the number of "
        "features, or a plackett.Fold",
        shown_value(ranker), ranker_names());
  }
  equip(handle, make_ranker_handle({.kind_name = "ranker",
                                    .kind = ranker,
                                    .features = features,
                                    .hidden = hidden,
                                    .activation = activation,
                                    .fallback = handle.method->default_ranker,
                                    .initial = initial_stream(handle),
                                    .initialisation = rules_of(handle.protocol).initialisation}));
  return shared(std::move(handle));
}

// As Learner and load take them.
py::dict settings_at_start(const LearnerHandle& handle) {
  const SettingValues values = take(SettingValues::make(handle.method->settings, handle.settings));
  py::dict settings;
  for (const Setting& setting : handle.method->settings) {
    settings[py::str(python_name(setting.name))] =
        setting_value(setting, values.number(setting.name));
  }
  return settings;
}

// The learning rate as it is now.
py::dict settings_now(const LearnerHandle& handle) {
  py::dict settings = settings_at_start(handle);
  const std::string rate = python_name(kLearningRate);
  if (settings.contains(rate)) settings[py::str(rate)] = handle.state().learning_rate;
  return settings;
}

// What its constructor was given, or would have to be.
py::object given_to(const LearnerHandle& handle) {
  if (handle.given) return handle.given;
  py::dict given = network_arguments(
      *handle.shape,
      py::dict("method"_a = handle.method->name, "ranker"_a = name_of(handle.shape->ranker.kind),
               "shown"_a = handle.shown, "seed"_a = handle.seed, "run"_a = handle.run,
               "protocol"_a = name_of(handle.protocol)));
  given.attr("update")(settings_at_start(handle));
  return given;
}

Impression rank(LearnerHandle& handle, Given features) {
  Impression impression;
  impression.rows = rows_of(features, handle.shape->ranker.feature_count);
  if (handle.impressions > kMaxStreamImpression) {
    bad_value("impressions: {}; a learner can have fewer than 2^56", handle.impressions);
  }
  Rng rng({handle.seed, handle.run, handle.impressions, Purpose::kRanking});
  if (!handle.learner->rank(impression.rows.view, rng, impression.ranking)) {
    bad_value(
        "features: a document's score is not finite; features and parameters must be, and a "
        "smaller learning rate or scaled features may help");
  }
  impression.method = handle.method;
  impression.learner = handle.id;
  impression.seed = handle.seed;
  impression.run = handle.run;
  impression.number = handle.impressions++;
  handle.last_is_open = true;
  return impression;
}

void learn(LearnerHandle& handle, Given shown, Given clicks) {
  if (!py::isinstance<Impression>(shown)) {
    bad_type("impression: {}; expected the plackett.Impression that rank returned",
             shown_value(shown));
  }
  const auto& impression = py::cast<const Impression&>(shown);
  if (impression.method != handle.method) {
    bad_value("impression: made by {}; {} learns only from its own", impression.method->name,
              handle.method->name);
  }
  if (impression.rows.view.feature_count() != handle.shape->ranker.feature_count) {
    bad_value("impression: documents of {} features; the ranker reads {}",
              impression.rows.view.feature_count(), handle.shape->ranker.feature_count);
  }
  const bool last = impression.learner == handle.id && impression.number + 1 == handle.impressions;
  if (!handle.method->servable && (!last || !handle.last_is_open)) {
    bad_value("impression: number {}; {} learns only from the last one that it showed, once",
              impression.number, handle.method->name);
  }
  handle.learner->learn(impression.rows.view, impression.ranking, clicks_on(impression, clicks));
  if (last) handle.last_is_open = false;
}

// Continues where the model's learner was. Fails if settings would drop what that one kept between
// updates.
std::shared_ptr<LearnerHandle> resumed(LearnerHandle handle, const SavedModel& model,
                                       bool new_learning_rate) {
  equip(handle, restored(model));
  LearnerState state = model.learner;
  if (new_learning_rate) state.learning_rate = handle.learner->state().learning_rate;
  handle.learner->restore(state);
  if (!state.memory.empty() && handle.learner->state().memory.size() != state.memory.size()) {
    bad_value(
        "settings: the saved {} learner keeps {} numbers between updates, which these settings "
        "would drop; give those that it had, its `settings`",
        handle.method->name, state.memory.size());
  }
  handle.impressions = model.learner.impressions;
  return shared(std::move(handle));
}

// A learner of `method`, or of the file's if that is None.
std::shared_ptr<LearnerHandle> load(Given method, Given from, Given shown, Given seed, Given run,
                                    Given protocol, const py::kwargs& settings) {
  const std::string file = path(from, "path");
  const SavedModel model = take(load_model(file), "path");
  const std::string& found = model.learner.method;
  if (found.empty()) {
    bad_value("path: {}: a ranker without a learner; use plackett.Ranker.load", file);
  }
  if (!method.is_none() && text(method, "method") != found) {
    bad_value("path: {}: a model of {}, not of {}", file, found, text(method, "method"));
  }
  py::dict all = settings;
  for (const GivenSetting& saved : settings_of(model)) {
    const std::string name = python_name(saved.name);
    if (saved.name != kLearningRate && !all.contains(name)) all[py::str(name)] = saved.value;
  }
  return resumed(described(found, shown, seed, run, protocol, all), model,
                 settings.contains("learning_rate"));
}

py::tuple pickled(Given self) {
  const auto& handle = py::cast<const LearnerHandle&>(self);
  py::dict settings;
  for (const GivenSetting& given : handle.settings) settings[given.name.c_str()] = given.value;
  return py::make_tuple(to_bytes(handle.saved()), handle.shown, handle.seed, handle.run,
                        name_of(handle.protocol), settings, given_to(handle), attributes_of(self));
}

std::pair<std::shared_ptr<LearnerHandle>, py::dict> unpickled(const py::tuple& state) {
  auto [bytes, shown, seed, run, protocol, settings, given, attributes] =
      unpickled_parts<py::bytes, py::object, py::object, py::object, py::object, py::dict, py::dict,
                      py::dict>(state, "learner");
  const SavedModel model = from_bytes(bytes);
  LearnerHandle handle = described(model.learner.method, shown, seed, run, protocol, settings);
  handle.given = given;
  return {resumed(handle, model, false), attributes};
}

py::dict setting_entry(const Setting& setting) {
  py::dict entry("name"_a = setting.name, "help"_a = setting.help,
                 "default"_a = setting_value(setting, setting.fallback));
  if (setting.names.empty()) {
    entry["least"] = setting.least;
    entry["most"] = setting.most;
  } else {
    entry["names"] = std::vector(setting.names.begin(), setting.names.end());
  }
  return entry;
}

py::list method_table() {
  py::list table;
  for (const Method* method : methods()) {
    py::list settings;
    for (const Setting& setting : method->settings) settings.append(setting_entry(setting));
    table.append(py::dict("name"_a = method->name, "title"_a = method->title,
                          "summary"_a = method->summary, "baseline"_a = method->baseline,
                          "learns_late"_a = method->servable,
                          "ranker"_a = name_of(method->default_ranker), "settings"_a = settings));
  }
  return table;
}

}  // namespace

void bind_learner(py::module_& module) {
  add(module, "methods", method_table, with(), R"(All methods with their settings: a list of dicts.

>>> [method["name"] for method in plackett.methods()]
['cascade', 'coltr', 'dbgd', 'mgd', 'pairrank', 'pairwise', 'pdgd', 'pl-gradient', 'steady'])");
  py::class_<LearnerHandle, std::shared_ptr<LearnerHandle>> learner(
      module, "Learner", R"(Shows rankings and learns from their clicks.

`method` is one of plackett.methods(), with its settings as keywords; `ranker` a kind or a
plackett.Ranker, which is copied; `features` the number of features per document, or a
plackett.Fold. What it shows is a function of (seed, run, impression number), as in
plackett.simulate. One thread at a time.

>>> learner = plackett.Learner("pdgd", features=3, learning_rate=0.2)
>>> impression = learner.rank(np.eye(3))
>>> learner.learn(impression, clicks=[0, 1, 0])
>>> learner.impressions, learner.updates
(1, 1))");
  const auto shown = "shown"_a = MethodRules{}.shown;
  const auto seed = "seed"_a = SimulationSpec{}.seed;
  const auto run = "run"_a = 0;
  const auto protocol = "protocol"_a = name_of(SimulationSpec{}.protocol);
  const auto add_constructor = [&](const auto&... arguments) {
    learner.def(py::init(&make), arguments...,
                signature("__init__", "self", arguments..., "**settings").c_str());
  };
  add_constructor("method"_a, "ranker"_a = py::none(), py::kw_only(), "features"_a = py::none(),
                  "hidden"_a = py::none(), "activation"_a = py::none(), shown, seed, run, protocol);
  refuse_other_arguments(learner);
  add(learner, "rank", rank, with("features"_a), R"(Chooses what to show: an Impression.

`features` is documents x features, or a plackett.Query. float32 rows are used in place: don't
change them before the impression's clicks are learned from.

>>> plackett.PDGD(features=3, shown=2).rank(np.eye(3))
<plackett.Impression 0: 2 of 3 documents>)");
  add(learner, "learn", learn, with("impression"_a, "clicks"_a),
      R"(Learns from a 0 or 1 for each shown document, from the top.

The scores at the time of showing count, however old the list is. Methods that learn only from
their last impression, and once (all but pdgd, cascade and steady), refuse others. For those three
every call is a step, so give all clicks on a list in one call.

>>> learner = plackett.PDGD(features=3)
>>> learner.learn(learner.rank(np.eye(3)), clicks=[0, 1, 0])
>>> learner.updates
1)");
  add(
      learner, "save",
      [](const LearnerHandle& handle, Given to) {
        take(save_model(handle.saved(), path(to, "path")), "path");
      },
      with("path"_a),
      R"(Writes the model and its learner's state (docs/formats/model.md) for Learner.load.

>>> import os, tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     plackett.PDGD(features=3).save(os.path.join(folder, "model.plk"))
...     os.listdir(folder)
['model.plk'])");
  property(learner, "ranker", "What it has learned so far; it changes as the learner learns.",
           [](const LearnerHandle& handle) { return shared(handle.ranker()); });
  property(
      learner, "explorer",
      "What rank samples from, as it is now: the ranker, or a copy of another where that is an "
      "average of it (steady).",
      [](const LearnerHandle& handle) { return shared(handle.explorer()); });
  property(learner, "method", "\"pdgd\".",
           [](const LearnerHandle& handle) { return handle.method->name; });
  property(learner, "learning_rate", "Of the next update; 0 if the method has none.",
           [](const LearnerHandle& handle) { return handle.state().learning_rate; });
  property(learner, "updates", "How often its parameters changed.",
           [](const LearnerHandle& handle) { return handle.state().updates; });
  learner
      .def_readonly("impressions", &LearnerHandle::impressions,
                    "How many rankings it has shown: the number of the next.")
      .def_readonly("shown", &LearnerHandle::shown, "The most documents that it shows.")
      .def_readonly("seed", &LearnerHandle::seed, "Of its randomness.")
      .def_readonly("run", &LearnerHandle::run, "Of its randomness too.");
  property(learner, "protocol", "Which published variant it follows: \"described\" for none.",
           [](const LearnerHandle& handle) { return name_of(handle.protocol); });
  property(learner, "settings",
           "All of its method's settings, by their Python names, the learning rate as it is now. A "
           "model file doesn't hold them: give them to load, as shown, seed, run and protocol.",
           settings_now);
  learner
      .def("__repr__",
           [](const LearnerHandle& handle) {
             return fmt::format("<plackett {} learner, {} ranker: {} impressions, {} updates>",
                                handle.method->name, name_of(handle.shape->ranker.kind),
                                handle.impressions, handle.state().updates);
           })
      .def(py::pickle(&pickled, &unpickled))
      .def_property_readonly("_given", given_to)
      .def("_become", [](LearnerHandle& self, const LearnerHandle& other) { self = other; });
  module.def("load_learner", load, "method"_a, "path"_a, py::kw_only(), shown, seed, run, protocol);
}

}  // namespace plackett::python
