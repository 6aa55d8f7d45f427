// Learners: rank, then learn from the clicks, one call each.
#include "plackett/learner.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "arguments.h"
#include "bindings.h"
#include "failure.h"
#include "impression.h"
#include "methods.h"
#include "model.h"
#include "plackett/protocol.h"
#include "plackett/simulation.h"
#include "spec.h"
#include "streams.h"

namespace plackett::python {

std::uint64_t next_learner_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

RankerHandle LearnerHandle::ranker() const {
  return {.ranker = std::shared_ptr<Ranker>(learner, &learner->ranker()), .shape = shape};
}

LearnerState LearnerHandle::state() const {
  LearnerState state = learner->state();
  state.impressions = impressions;
  return state;
}

namespace {

struct LearnerRequest {
  std::string method;
  py::handle ranker;  // none, the text of a kind, or a Ranker
  py::handle features;
  py::handle hidden;
  py::handle activation;
  py::handle shown;
  py::handle seed;
  py::handle run;
  py::handle protocol;
  py::dict settings;
};

// Makes the engine's learner around the ranker.
void equip(LearnerHandle& handle, std::unique_ptr<Ranker> ranker) {
  const ProtocolRules rules = rules_of(take(parse_protocol(handle.protocol)));
  auto made = make_learner(handle.method->name, std::move(ranker),
                           {.shown = handle.shown,
                            .learning_rate_decay = rules.learning_rate_decay,
                            .ties_by_chance = rules.ties_by_chance,
                            .exploit_worst_first = rules.exploit_worst_first,
                            .initial = {handle.seed, handle.run, 0, Purpose::kInitialise}},
                           handle.settings);
  if (!made) {
    throw Failure(Fault::kValue, with_python_names(in_python_words(made.error()),
                                                   handle.method->settings, handle.settings));
  }
  handle.learner = std::move(made).value();
  handle.id = next_learner_id();
}

LearnerHandle make(const LearnerRequest& request) {
  LearnerHandle handle;
  handle.method = take(find_method(request.method));
  handle.shown = whole32(request.shown, "shown", {1, kMaxShown});
  handle.seed = whole(request.seed, "seed", {});
  handle.run = whole32(request.run, "run", {});
  handle.protocol = name_of(take(parse_protocol(text(request.protocol, "protocol"))));
  handle.settings = settings_of(request.settings);
  if (py::isinstance<RankerHandle>(request.ranker)) {
    const RankerHandle& given = engine_ranker(request.ranker);
    if (!request.features.is_none() || !request.hidden.is_none() || !request.activation.is_none()) {
      bad_type("features, hidden and activation: the ranker that was given has its own");
    }
    handle.shape = std::make_shared<ModelShape>(*given.shape);
    equip(handle, given.ranker->clone());
    return handle;
  }
  if (!request.ranker.is_none() && !py::isinstance<py::str>(request.ranker)) {
    bad_type(
        "ranker: {}; it is a kind ({}) or a plackett.Ranker; features= takes the number of "
        "features, or a plackett.Fold",
        shown_value(request.ranker), ranker_names());
  }
  RankerHandle made = make_ranker_handle(
      {.kind = request.ranker,
       .features = request.features,
       .hidden = request.hidden,
       .activation = request.activation,
       .fallback = handle.method->default_ranker,
       .initial = {handle.seed, handle.run, 0, Purpose::kInitialise},
       .initialisation = rules_of(take(parse_protocol(handle.protocol))).initialisation});
  handle.shape = made.shape;
  equip(handle, made.ranker->clone());
  return handle;
}

std::shared_ptr<LearnerHandle> init(const py::object& method, const py::object& ranker,
                                    const py::object& features, const py::object& hidden,
                                    const py::object& activation, const py::object& shown,
                                    const py::object& seed, const py::object& run,
                                    const py::object& protocol, const py::kwargs& settings) {
  return shared(make({text(method, "method"), ranker, features, hidden, activation, shown, seed,
                      run, protocol, settings}));
}

// As Learner and load take them; the learning rate as it is now.
py::dict settings_now(const LearnerHandle& handle) {
  const SettingValues values = take(SettingValues::make(handle.method->settings, handle.settings));
  py::dict settings;
  for (const Setting& setting : handle.method->settings) {
    const double value =
        setting.name == kLearningRate ? handle.state().learning_rate : values.number(setting.name);
    settings[py::str(python_name(setting.name))] = setting_value(setting, value);
  }
  return settings;
}

Impression rank(LearnerHandle& handle, const py::object& features) {
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

void require_learnable(const LearnerHandle& handle, const Impression& impression) {
  if (impression.method != handle.method) {
    bad_value("impression: made by {}; this is {}, which learns from its own",
              impression.method->name, handle.method->name);
  }
  if (impression.rows.view.feature_count() != handle.shape->ranker.feature_count) {
    bad_value("impression: documents of {} features; the ranker reads {}",
              impression.rows.view.feature_count(), handle.shape->ranker.feature_count);
  }
  if (handle.method->servable) return;
  const bool last = impression.learner == handle.id && impression.number + 1 == handle.impressions;
  if (!last) {
    bad_value("impression: number {}; {} learns from the last one that it showed alone",
              impression.number, handle.method->name);
  }
  if (!handle.last_is_open) {
    bad_value("impression: number {} again; {} learns from an impression once", impression.number,
              handle.method->name);
  }
}

void learn(LearnerHandle& handle, const py::object& shown, const py::object& clicks) {
  if (!py::isinstance<Impression>(shown)) {
    bad_type("impression: {}; it is the plackett.Impression that rank gave", shown_value(shown));
  }
  const auto& impression = py::cast<const Impression&>(shown);
  require_learnable(handle, impression);
  const std::vector<std::uint8_t> given = clicks_of(clicks);
  if (given.size() != impression.ranking.shown.size()) {
    bad_value("clicks: {} for {} shown documents; there is one each", given.size(),
              impression.ranking.shown.size());
  }
  handle.learner->learn(impression.rows.view, impression.ranking, given);
  if (impression.learner == handle.id && impression.number + 1 == handle.impressions) {
    handle.last_is_open = false;
  }
}

bool takes_memory(LearnerHandle& handle, const LearnerState& state) {
  handle.learner->restore(state);
  return state.memory.empty() || handle.learner->state().memory.size() == state.memory.size();
}

// What to give so that the memory is used, where one choice more or another does it:
// steps="adagrad".
std::string setting_for(const LearnerHandle& handle, const SavedModel& model) {
  for (const Setting& setting : handle.method->settings) {
    for (const std::string_view name : setting.names) {
      LearnerHandle other = handle;
      std::erase_if(other.settings,
                    [&](const GivenSetting& given) { return given.name == setting.name; });
      other.settings.push_back({std::string(setting.name), std::string(name)});
      equip(other, take(restore_ranker(model)));
      if (takes_memory(other, model.learner)) return fmt::format("{}=\"{}\"", setting.name, name);
    }
  }
  return "the settings that it was saved with";
}

// A learner that goes on where the model's stood. Fails where it would forget what that one kept
// between updates. The request's ranker and features are not read.
LearnerHandle resumed(const SavedModel& model, LearnerRequest request) {
  const py::object ranker = py::cast(shared(restored(model)));
  request.method = model.learner.method;
  request.ranker = ranker;
  LearnerHandle handle = make(request);
  LearnerState state = model.learner;
  // Where settings name a learning rate, it goes on with that one.
  if (request.settings.contains("learning_rate")) {
    state.learning_rate = handle.learner->state().learning_rate;
  }
  if (!takes_memory(handle, state)) {
    bad_value(
        "settings: the saved {} learner keeps {} numbers between updates, which it would not with "
        "these; give {}",
        handle.method->name, state.memory.size(),
        with_python_names(setting_for(handle, model), handle.method->settings, {}));
  }
  handle.impressions = model.learner.impressions;
  return handle;
}

std::shared_ptr<LearnerHandle> load(const py::object& method, const py::object& from,
                                    const py::object& shown, const py::object& seed,
                                    const py::object& run, const py::object& protocol,
                                    const py::kwargs& settings) {
  const std::filesystem::path file = model_to_read(from, "path");
  const SavedModel model = take(load_model(file), "path");
  if (model.learner.method.empty()) {
    bad_value("path: {}: a ranker without a learner; plackett.Ranker.load reads it", file.string());
  }
  if (!method.is_none() && text(method, "method") != model.learner.method) {
    bad_value("path: {}: a model of {}; this is {}", file.string(), model.learner.method,
              text(method, "method"));
  }
  return shared(resumed(model, {.method = {},
                                .ranker = {},
                                .features = py::none(),
                                .hidden = py::none(),
                                .activation = py::none(),
                                .shown = shown,
                                .seed = seed,
                                .run = run,
                                .protocol = protocol,
                                .settings = settings}));
}

py::tuple pickled(const py::object& self) {
  const auto& handle = py::cast<const LearnerHandle&>(self);
  py::list settings;
  for (const GivenSetting& setting : handle.settings) {
    settings.append(py::make_tuple(setting.name, setting.value));
  }
  return py::make_tuple(to_bytes(saved(handle.ranker(), handle.state())), handle.shown, handle.seed,
                        handle.run, handle.protocol, settings, attributes_of(self));
}

std::pair<std::shared_ptr<LearnerHandle>, py::dict> unpickled(const py::tuple& state) {
  const auto refuse = [&] { bad_value("state: {}; it is no pickled learner", shown_value(state)); };
  if (state.size() != 7) refuse();
  const py::object bytes = state[0];
  const py::object settings = state[5];
  const py::object attributes = state[6];
  if (!py::isinstance<py::bytes>(bytes) || !py::isinstance<py::list>(settings) ||
      !py::isinstance<py::dict>(attributes)) {
    refuse();
  }
  const SavedModel model = from_bytes(py::reinterpret_borrow<py::bytes>(bytes));
  LearnerHandle handle;
  handle.method = take(find_method(model.learner.method));
  handle.shown = whole32(state[1], "shown", {1, kMaxShown});
  handle.seed = whole(state[2], "seed", {});
  handle.run = whole32(state[3], "run", {});
  handle.protocol = text(state[4], "protocol");
  for (const py::handle entry : py::reinterpret_borrow<py::list>(settings)) {
    if (!py::isinstance<py::tuple>(entry) || PyTuple_GET_SIZE(entry.ptr()) != 2) refuse();
    const auto pair = py::reinterpret_borrow<py::tuple>(entry);
    handle.settings.push_back({text(pair[0], "setting"), text(pair[1], "setting")});
  }
  handle.shape =
      std::make_shared<ModelShape>(ModelShape{model.ranker, model.feature_ids, model.scaling});
  equip(handle, take(restore_ranker(model)));
  if (!takes_memory(handle, model.learner)) refuse();
  handle.impressions = model.learner.impressions;
  return {shared(std::move(handle)), py::reinterpret_borrow<py::dict>(attributes)};
}

constexpr std::uint32_t kFirstRun = 0;

}  // namespace

void bind_learner(py::module_& module) {
  const MethodRules rules;
  const SimulationSpec& simulation = default_spec();
  const std::string signature = fmt::format(
      "Learner(method, ranker=None, *, features=None, hidden=None, activation=None, "
      "shown={}, seed={}, run={}, protocol=\"{}\", **settings)",
      rules.shown, simulation.seed, kFirstRun, name_of(simulation.protocol));
  py::class_<LearnerHandle, std::shared_ptr<LearnerHandle>> learner(module, "Learner",
                                                                    (signature +
                                                                     R"(

Shows rankings and learns from their clicks. `method` is one of plackett.methods(), with its
settings as keywords; `ranker` a kind or a plackett.Ranker, which is copied; `features` how many a
document has, or a plackett.Fold. What it shows is a function of (seed, run, impression number), as
in plackett.simulate. One thread at a time.

>>> import numpy as np, plackett
>>> learner = plackett.Learner("pdgd", features=3, learning_rate=0.2)
>>> impression = learner.rank(np.eye(3))
>>> learner.learn(impression, clicks=[0, 1, 0])
>>> learner.impressions, learner.updates
(1, 1))")
                                                                        .c_str());
  learner
      .def(py::init(&init), py::arg("method"), py::arg("ranker") = py::none(), py::kw_only(),
           py::arg("features") = py::none(), py::arg("hidden") = py::none(),
           py::arg("activation") = py::none(), py::arg("shown") = rules.shown,
           py::arg("seed") = simulation.seed, py::arg("run") = kFirstRun,
           py::arg("protocol") = name_of(simulation.protocol), init_doc(signature).c_str())
      .def("rank", rank, py::arg("features"), R"(rank(self, features)
--

Chooses what to show: `features` is documents x features, or a plackett.Query. float32 rows are used
where they are: don't change them before the impression's clicks are learned from.

>>> import numpy as np, plackett
>>> plackett.PDGD(features=3, shown=2).rank(np.eye(3))
<plackett.Impression 0: 2 of 3 documents>)")
      .def("learn", learn, py::arg("impression"), py::arg("clicks"),
           R"(learn(self, impression, clicks)
--

Learns from clicks: 1 or True for each shown document that was clicked, else 0, from the top. The
impression's own scores count, however old it is. Methods that learn only from their last
impression, and once (dbgd, mgd, pairwise), refuse others. For pdgd and cascade every call is a step
of its own, so give all clicks on a list in one.

>>> import numpy as np, plackett
>>> learner = plackett.PDGD(features=3)
>>> learner.learn(learner.rank(np.eye(3)), clicks=[0, 1, 0])
>>> learner.updates
1)")
      .def_property_readonly(
          "ranker", [](const LearnerHandle& handle) { return shared(handle.ranker()); },
          "What it has learned so far; it changes as the learner learns.")
      .def_property_readonly(
          "method", [](const LearnerHandle& handle) { return handle.method->name; }, "\"pdgd\".")
      .def_property_readonly(
          "learning_rate", [](const LearnerHandle& handle) { return handle.state().learning_rate; },
          "That the next update has.")
      .def_property_readonly(
          "updates", [](const LearnerHandle& handle) { return handle.state().updates; },
          "How often its parameters changed.")
      .def_readonly("impressions", &LearnerHandle::impressions,
                    "How many rankings it has shown: the number of the next.")
      .def_readonly("shown", &LearnerHandle::shown, "Documents it shows at most.")
      .def_readonly("seed", &LearnerHandle::seed, "Of its randomness.")
      .def_readonly("run", &LearnerHandle::run, "Of its randomness too.")
      .def_readonly("protocol", &LearnerHandle::protocol,
                    "Which of the published ways it follows: \"described\" for none.")
      .def_property_readonly(
          "settings", settings_now,
          "All of its method's settings, by their Python names, the learning rate as it is now. A "
          "model file doesn't hold them: give them to load, as shown, seed, run and protocol.")
      .def(
          "save",
          [](const LearnerHandle& handle, const py::object& to) {
            take(save_model(saved(handle.ranker(), handle.state()), model_to_write(to, "path")),
                 "path");
          },
          py::arg("path"), R"(save(self, path)
--

Writes the model with where its learner stood (docs/formats/model.md); Learner.load goes on there.

>>> import os, plackett, tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     plackett.PDGD(features=3).save(os.path.join(folder, "model.plk"))
...     os.listdir(folder)
['model.plk'])")
      .def("__repr__",
           [](const LearnerHandle& handle) {
             return fmt::format("<plackett {} learner, {} ranker: {} impressions, {} updates>",
                                handle.method->name, name_of(handle.shape->ranker.kind),
                                handle.impressions, handle.state().updates);
           })
      .def(py::pickle(&pickled, &unpickled));
  // A learner of `method`, or of whatever is in the file where that is None.
  module.def("load_learner", load, py::arg("method"), py::arg("path"), py::kw_only(),
             py::arg("shown") = rules.shown, py::arg("seed") = simulation.seed,
             py::arg("run") = kFirstRun, py::arg("protocol") = name_of(simulation.protocol));
}

}  // namespace plackett::python
