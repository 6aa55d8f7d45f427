// Rankers.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "handles.h"
#include "plackett/evaluate.h"
#include "plackett/simulation.h"
#include "plackett/top_k.h"

namespace plackett::python {

SavedModel RankerHandle::saved() const {
  SavedModel model = *shape;
  model.parameters.resize(ranker->parameter_count());
  ranker->get_parameters(model.parameters);
  return model;
}

std::shared_ptr<SavedModel> shape_of(SavedModel model) {
  model.parameters.clear();
  model.learner = {};
  model.settings.clear();
  return std::make_shared<SavedModel>(std::move(model));
}

RankerHandle restored(SavedModel model) {
  std::shared_ptr<Ranker> ranker = take(restore_ranker(model));
  return {.ranker = std::move(ranker), .shape = shape_of(std::move(model))};
}

namespace {

py::object features_class() { return py::module_::import("plackett._data").attr("Features"); }

// Whether the features' ids and scaling are known: a plackett.Fold or plackett.Features.
bool is_described(py::handle features) {
  return py::isinstance(features, py::module_::import("plackett._data").attr("Fold")) ||
         py::isinstance(features, features_class());
}

}  // namespace

py::object kept_features(py::handle features) {
  if (!is_described(features)) return py::reinterpret_borrow<py::object>(features);
  if (py::isinstance(features, features_class()))
    return py::reinterpret_borrow<py::object>(features);
  return features_class()(py::tuple(features.attr("feature_ids").attr("tolist")()),
                          features.attr("scaling"));
}

py::dict network_arguments(const SavedModel& shape, py::dict arguments) {
  const std::vector<std::uint32_t>& ids = shape.feature_ids;
  bool plain = shape.scaling == name_of(Scaling::kNone);
  for (std::size_t at = 0; plain && at < ids.size(); ++at) plain = ids[at] == at + 1;
  const bool network = has_network(shape.ranker.kind);
  arguments["features"] = plain ? py::object(py::int_(ids.size()))
                                : features_class()(py::tuple(py::cast(ids)), shape.scaling);
  arguments["hidden"] = network ? py::object(py::tuple(py::cast(shape.ranker.hidden))) : py::none();
  arguments["activation"] = network ? py::cast(name_of(shape.ranker.activation)) : py::none();
  return arguments;
}

RankerHandle make_ranker_handle(const RankerRequest& request) {
  RankerHandle handle;
  SavedModel& shape = *handle.shape;
  RankerSpec& spec = shape.ranker;
  spec.kind = request.fallback;
  if (!request.kind.is_none()) {
    spec.kind = take(parse_ranker_kind(text(request.kind, request.kind_name)));
  }
  if (is_described(request.features)) {
    shape.feature_ids = feature_ids_of(request.features.attr("feature_ids"), "features");
    spec.feature_count = static_cast<std::uint32_t>(shape.feature_ids.size());
    shape.scaling = text(request.features.attr("scaling"), "features");
  } else {
    const py::object count = as_integer(request.features);
    if (!count) {
      bad_type("features: {}; expected the number of features per document, or a plackett.Fold",
               shown_value(request.features));
    }
    spec.feature_count = integer32(count, "features", {1, kLargestFeatureId});
    shape.feature_ids.resize(spec.feature_count);
    std::iota(shape.feature_ids.begin(), shape.feature_ids.end(), 1U);
    shape.scaling = name_of(Scaling::kNone);
  }
  const auto require_network = [&](std::string_view name, py::handle value) {
    if (has_network(spec.kind)) return;
    bad_value("{}: {}; a {} ranker has none; {}=\"{}\" has", name, shown_value(value),
              name_of(spec.kind), request.kind_name, name_of(RankerKind::kNeural));
  };
  if (!request.hidden.is_none()) {
    std::vector<std::uint32_t> layers = hidden_layers(request.hidden);
    // () is what a linear ranker has as its `hidden`.
    if (!layers.empty() || has_network(spec.kind)) {
      require_network("hidden", request.hidden);
      spec.hidden = std::move(layers);
    }
  }
  if (!request.activation.is_none()) {
    require_network("activation", request.activation);
    spec.activation = take(parse_activation(text(request.activation, "activation")));
  }
  spec.initialisation = request.initialisation;
  Rng rng(request.initial);
  handle.ranker = take(make_ranker(spec, rng));
  return handle;
}

const RankerHandle& engine_ranker(py::handle ranker, std::initializer_list<const char*> members) {
  const auto& handle = py::cast<const RankerHandle&>(ranker);
  const py::type engines = py::type::of<RankerHandle>();
  const py::type given = py::type::of(ranker);
  if (given.is(engines)) return handle;
  const py::dict own = attributes_of(py::reinterpret_borrow<py::object>(ranker));
  for (const char* member : members) {
    if (own.contains(member) || !given.attr(member).is(engines.attr(member))) {
      bad_type(
          "ranker: {} overrides {}, which the engine would not call; for your own models use "
          "plackett.document_weights and plackett.evaluate(function, split)",
          std::string(py::str(given.attr("__name__"))), member);
    }
  }
  return handle;
}

py::bytes to_bytes(const SavedModel& model) {
  const auto bytes = serialise_model(model);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

SavedModel from_bytes(std::string_view bytes) {
  const auto* data = reinterpret_cast<const std::byte*>(bytes.data());
  return take(parse_model({data, bytes.size()}, {.name = "pickled model"}));
}

namespace {

py::array_t<float> score(const RankerHandle& handle, Given features) {
  const Rows rows = rows_of(features, handle.ranker->feature_count());
  py::array_t<float> scores(static_cast<py::ssize_t>(rows.view.doc_count()));
  handle.ranker->score(rows.view, {scores.mutable_data(), rows.view.doc_count()});
  return scores;
}

py::array_t<std::int64_t> rank(Given self, Given features, Given k, Given seed) {
  const RankerHandle& handle = engine_ranker(self, {"score", "parameters"});
  const Rows rows = rows_of(features, handle.ranker->feature_count());
  const std::uint32_t docs = rows.view.doc_count();
  std::vector<Doc> best(k.is_none() ? docs : std::min(docs, integer32(k, "k", {.least = 1})));
  std::vector<float> scores(docs);
  handle.ranker->score(rows.view, scores);
  for (const float value : scores) {
    if (!std::isfinite(value)) {
      bad_value("features: a document's score is {}; are features and parameters finite?", value);
    }
  }
  Rng rng = rng_of(seed, {.purpose = Purpose::kTieBreak});
  top_k(scores, rng, best);
  return docs_array(best);
}

// A learner goes on from the parameters of its ranker, which may be another than it explores with.
void assign(const RankerHandle& handle, std::span<const float> parameters) {
  if (handle.learner != nullptr) return handle.learner->set_parameters(parameters);
  handle.ranker->set_parameters(parameters);
}

void step(const RankerHandle& handle, Given features, Given weights, Given rate) {
  const Rows rows = rows_of(features, handle.ranker->feature_count());
  const std::vector<float> given = finite_floats(weights, "weights");
  if (given.size() != rows.view.doc_count()) {
    bad_value("weights: {} for {} documents; expected one each", given.size(),
              rows.view.doc_count());
  }
  std::vector<DocWeight> by_doc;
  for (std::uint32_t doc = 0; doc < given.size(); ++doc) {
    if (given[doc] != 0) by_doc.push_back({Doc{doc}, given[doc]});
  }
  const auto far = static_cast<float>(number(rate, "rate"));
  if (!std::isfinite(far)) bad_value("rate: {}; must be finite as float32", shown_value(rate));
  if (by_doc.empty()) return;
  // On a copy: a network's padding would keep a value that is not finite.
  const RankerHandle stepped{.ranker = handle.ranker->clone(), .shape = handle.shape};
  stepped.ranker->step(rows.view, by_doc, far);
  const std::vector<float> after = stepped.saved().parameters;
  const auto wrong = std::find_if_not(after.begin(), after.end(),
                                      [](float value) { return std::isfinite(value); });
  if (wrong != after.end()) {
    bad_value(
        "features: parameter {} would be {} after the step, which was not taken; features must be "
        "finite, and a smaller rate than {} may help",
        wrong - after.begin(), *wrong, shown_value(rate));
  }
  assign(handle, after);
}

void set_parameters(const RankerHandle& handle, Given given) {
  const std::vector<float> values = finite_floats(given, "parameters");
  if (values.size() != handle.ranker->parameter_count()) {
    bad_value("parameters: {}; the ranker has {}", values.size(), handle.ranker->parameter_count());
  }
  assign(handle, values);
}

void set_feature_ids(const RankerHandle& handle, Given given) {
  std::vector<std::uint32_t> ids = feature_ids_of(given, "feature_ids");
  if (ids.size() != handle.shape->feature_ids.size()) {
    bad_value("feature_ids: {}; the ranker reads {} features", ids.size(),
              handle.shape->feature_ids.size());
  }
  handle.shape->feature_ids = std::move(ids);
}

py::tuple hidden_of(const RankerHandle& handle) {
  const RankerSpec& spec = handle.shape->ranker;
  return has_network(spec.kind) ? py::tuple(py::cast(spec.hidden)) : py::tuple();
}

std::shared_ptr<RankerHandle> make(Given kind, Given features, Given hidden, Given activation,
                                   Given seed) {
  RankerHandle handle = make_ranker_handle(
      {.kind_name = "kind",
       .kind = kind,
       .features = features,
       .hidden = hidden,
       .activation = activation,
       .initial = {.seed = integer(seed, "seed"), .purpose = Purpose::kInitialise}});
  handle.given = py::dict("kind"_a = kind, "features"_a = kept_features(features),
                          "hidden"_a = hidden, "activation"_a = activation, "seed"_a = seed);
  return shared(std::move(handle));
}

// What its constructor was given, or would have to be.
py::object given_to(const RankerHandle& handle) {
  if (handle.given) return handle.given;
  return network_arguments(*handle.shape, py::dict("kind"_a = name_of(handle.shape->ranker.kind),
                                                   "seed"_a = SimulationSpec{}.seed));
}

py::object copied(Given self) {
  const py::type type = py::type::of(self);
  py::object made = type.attr("__new__")(type);
  made.attr("__setstate__")(self.attr("__getstate__")());
  return made;
}

py::tuple pickled(Given self) {
  const auto& handle = py::cast<const RankerHandle&>(self);
  return py::make_tuple(to_bytes(handle.saved()), given_to(handle), attributes_of(self));
}

std::pair<std::shared_ptr<RankerHandle>, py::dict> unpickled(const py::tuple& state) {
  auto [bytes, given, attributes] = unpickled_parts<py::bytes, py::dict, py::dict>(state, "ranker");
  RankerHandle handle = restored(from_bytes(bytes));
  handle.given = given;
  return {shared(std::move(handle)), attributes};
}

}  // namespace

void bind_ranker(py::module_& module) {
  py::class_<RankerHandle, std::shared_ptr<RankerHandle>> ranker(
      module, "Ranker", R"(A differentiable scoring function: "linear", "neural" or "linear+neural".

`kind` None is "linear". `features` is the number of features per document, or a plackett.Fold,
whose feature ids and scaling a saved model then holds. Networks have `hidden` units in each hidden
layer and start from `seed`. The engine does not call methods that a subclass overrides: for your
own models use plackett.document_weights and plackett.evaluate.

>>> ranker = plackett.Ranker(features=2)
>>> ranker.parameters = [1.0, -1.0]
>>> ranker.score(np.array([[1, 2], [3, 1]], dtype=np.float32))
array([-1.,  2.], dtype=float32)
>>> ranker.rank([[1, 2], [3, 1]])
array([1, 0]))");
  constructor(ranker, &make, "kind"_a = py::none(), py::kw_only(), "features"_a,
              "hidden"_a = py::none(), "activation"_a = py::none(),
              "seed"_a = SimulationSpec{}.seed);
  add(ranker, "score", score, with("features"_a), R"(One float32 score per document.

`features` is documents x features, or a plackett.Query.

>>> plackett.Ranker(features=2).score(np.eye(2))
array([0., 0.], dtype=float32))");
  add(ranker, "rank", rank,
      with("features"_a, "k"_a = py::none(), "seed"_a = EvaluateOptions{}.seed),
      R"(The k best documents (all if k is None), best first.

`seed` orders equal scores.

>>> ranker = plackett.Ranker(features=1)
>>> ranker.parameters = [1]
>>> ranker.rank([[0.5], [2.0], [1.0]], k=2)
array([1, 2]))");
  add(ranker, "step", step, with("features"_a, "weights"_a, "rate"_a), R"(One gradient step.

parameters += rate * sum over documents of weights[doc] * d score(doc) / d parameters. Fails and
changes nothing if one would not be finite.

>>> ranker = plackett.Ranker(features=2)
>>> ranker.step([[1, 0], [0, 1]], weights=[1, -1], rate=0.5)
>>> ranker.parameters
array([ 0.5, -0.5], dtype=float32))");
  add(ranker, "copy", copied, with(), R"(An independent copy, with what a subclass set on it.

>>> first = plackett.Ranker(features=2)
>>> second = first.copy()
>>> second.parameters = [1, 2]
>>> first.parameters
array([0., 0.], dtype=float32))");
  add(
      ranker, "save",
      [](const RankerHandle& handle, Given to) {
        take(save_model(handle.saved(), path(to, "path")), "path");
      },
      with("path"_a),
      R"(Writes the model to a file that load and `plackett evaluate` read (docs/formats/model.md).

>>> import os, tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     plackett.Ranker(features=2).save(os.path.join(folder, "model.plk"))
...     os.listdir(folder)
['model.plk'])");
  ranker.def_static(
      "load",
      [](Given from) { return shared(restored(take(load_model(path(from, "path")), "path"))); },
      "path"_a, R"(load(path)
--

The ranker of a saved model.

>>> import os, tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     path = os.path.join(folder, "model.plk")
...     plackett.PDGD(features=2).save(path)
...     plackett.Ranker.load(path)
<plackett.Ranker linear: 2 features, 2 parameters>)");
  ranker.def_static("load", WrongCall{ranker, "load"});
  ranker.def_property_readonly("_given", given_to)
      .def("_become", [](RankerHandle& self, const RankerHandle& other) { self = other; });
  ranker.def_property(
      "parameters", [](const RankerHandle& handle) { return array_of(handle.saved().parameters); },
      set_parameters, "All parameters, flat, float32; a copy: assign all of them to change them.");
  property(ranker, "kind", "\"linear\", \"neural\" or \"linear+neural\".",
           [](const RankerHandle& handle) { return name_of(handle.shape->ranker.kind); });
  property(ranker, "feature_count", "Features per document.",
           [](const RankerHandle& handle) { return handle.ranker->feature_count(); });
  property(ranker, "hidden", "Units of each hidden layer; () without a network.", hidden_of);
  property(ranker, "activation", "Of the hidden units.",
           [](const RankerHandle& handle) { return name_of(handle.shape->ranker.activation); });
  ranker
      .def_property(
          "feature_ids",
          [](const RankerHandle& handle) { return array_of(handle.shape->feature_ids); },
          set_feature_ids, "For each column, its id in the source file, from 1; in a saved model.")
      .def_property(
          "scaling", [](const RankerHandle& handle) { return handle.shape->scaling; },
          [](const RankerHandle& handle, Given scaling) {
            handle.shape->scaling = name_of(take(parse_scaling(text(scaling, "scaling"))));
          },
          "How its features are scaled, \"none\" or \"query-minmax\"; in a saved model.")
      .def("__repr__",
           [](const RankerHandle& handle) {
             return fmt::format("<plackett.Ranker {}: {} features, {} parameters>",
                                name_of(handle.shape->ranker.kind), handle.ranker->feature_count(),
                                handle.ranker->parameter_count());
           })
      .def(py::pickle(&pickled, &unpickled));
}

}  // namespace plackett::python
