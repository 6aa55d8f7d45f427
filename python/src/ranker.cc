// Rankers.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "arguments.h"
#include "arrays.h"
#include "bindings.h"
#include "data.h"
#include "failure.h"
#include "model.h"
#include "plackett/evaluate.h"
#include "plackett/scaling.h"
#include "plackett/simulation.h"
#include "plackett/top_k.h"
#include "spec.h"
#include "streams.h"

namespace plackett::python {

std::vector<float> RankerHandle::parameters() const {
  std::vector<float> values(ranker->parameter_count());
  ranker->get_parameters(values);
  return values;
}

namespace {

std::uint32_t feature_count(py::handle given) {
  const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(given.ptr()));
  if (!number) {
    forget_error();
    bad_type("features: {}; it is a whole number, how many a document has, or a plackett.Fold",
             shown_value(given));
  }
  return whole32(number, "features", {1, kLargestFeatureId});
}

}  // namespace

RankerHandle make_ranker_handle(const RankerRequest& request) {
  RankerHandle handle;
  ModelShape& shape = *handle.shape;
  shape.ranker.kind = request.kind.is_none()
                          ? request.fallback
                          : take(parse_ranker_kind(text(request.kind, request.kind_name)));
  if (request.features.is_none()) {
    bad_type("features: None; say how many features a document has, or give a plackett.Fold");
  }
  if (py::isinstance<FoldHandle>(request.features)) {
    const auto& fold = py::cast<const FoldHandle&>(request.features);
    shape.ranker.feature_count = fold.train->split.feature_count();
    shape.feature_ids = fold.feature_ids;
    shape.scaling = fold.scaling;
  } else {
    shape.ranker.feature_count = feature_count(request.features);
    shape.feature_ids.resize(shape.ranker.feature_count);
    std::iota(shape.feature_ids.begin(), shape.feature_ids.end(), 1U);
    shape.scaling = name_of(Scaling::kNone);
  }
  const auto require_network = [&](std::string_view name, py::handle value) {
    if (has_network(shape.ranker.kind)) return;
    bad_value("{}: {}; a {} ranker has none; {}=\"{}\" has", name, shown_value(value),
              name_of(shape.ranker.kind), request.kind_name, name_of(RankerKind::kNeural));
  };
  if (!request.hidden.is_none()) {
    std::vector<std::uint32_t> layers = hidden_layers(request.hidden);
    // () is what such a ranker says of itself.
    if (!layers.empty() || has_network(shape.ranker.kind)) {
      require_network("hidden", request.hidden);
      shape.ranker.hidden = std::move(layers);
    }
  }
  if (!request.activation.is_none()) {
    require_network("activation", request.activation);
    shape.ranker.activation = take(parse_activation(text(request.activation, "activation")));
  }
  shape.ranker.initialisation = request.initialisation;
  Rng rng(request.initial);
  handle.ranker = take(make_ranker(shape.ranker, rng));
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
          "ranker: {} has a {} of its own, which the engine would not use; for models of your own "
          "there are plackett.document_weights and plackett.evaluate(function, split)",
          type_name(ranker), member);
    }
  }
  return handle;
}

SavedModel saved(const RankerHandle& ranker, LearnerState learner) {
  return {.ranker = ranker.shape->ranker,
          .feature_ids = ranker.shape->feature_ids,
          .scaling = ranker.shape->scaling,
          .parameters = ranker.parameters(),
          .learner = std::move(learner)};
}

RankerHandle restored(const SavedModel& model) {
  return {.ranker = take(restore_ranker(model)),
          .shape = std::make_shared<ModelShape>(
              ModelShape{model.ranker, model.feature_ids, model.scaling})};
}

py::dict attributes_of(const py::object& self) {
  const py::object attributes = py::getattr(self, "__dict__", py::none());
  if (!py::isinstance<py::dict>(attributes)) return {};
  return py::reinterpret_steal<py::dict>(PyDict_Copy(attributes.ptr()));
}

py::bytes to_bytes(const SavedModel& model) {
  const auto bytes = serialise_model(model);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

SavedModel from_bytes(const py::bytes& bytes) {
  const std::string_view view = bytes;
  const auto* data = reinterpret_cast<const std::byte*>(view.data());
  return take(parse_model({data, view.size()}, {.name = "pickled model"}));
}

namespace {

py::array_t<float> score(const RankerHandle& handle, const py::object& features) {
  const Rows rows = rows_of(features, handle.ranker->feature_count());
  py::array_t<float> scores(static_cast<py::ssize_t>(rows.view.doc_count()));
  handle.ranker->score(rows.view, {scores.mutable_data(), rows.view.doc_count()});
  return scores;
}

py::array_t<std::int64_t> rank(const py::object& self, const py::object& features,
                               const py::object& k, const py::object& seed) {
  const RankerHandle& handle = engine_ranker(self, {"score", "parameters"});
  const Rows rows = rows_of(features, handle.ranker->feature_count());
  const std::uint32_t docs = rows.view.doc_count();
  const std::uint32_t places = k.is_none() ? docs : std::min(docs, whole32(k, "k", {.least = 1}));
  std::vector<float> scores(docs);
  handle.ranker->score(rows.view, scores);
  for (const float value : scores) {
    if (!std::isfinite(value)) {
      bad_value("features: a document's score is {}; are features and parameters finite?", value);
    }
  }
  Rng rng = rng_of(seed, {.purpose = Purpose::kTieBreak});
  std::vector<Doc> best(places);
  top_k(scores, rng, best);
  py::array_t<std::int64_t> ranking(static_cast<py::ssize_t>(places));
  for (std::uint32_t place = 0; place < places; ++place) {
    ranking.mutable_at(static_cast<py::ssize_t>(place)) = index(best[place]);
  }
  return ranking;
}

void step(const RankerHandle& handle, const py::object& features, const py::object& weights,
          const py::object& rate) {
  const Rows rows = rows_of(features, handle.ranker->feature_count());
  const std::vector<double> given = real_numbers(weights, "weights");
  if (given.size() != rows.view.doc_count()) {
    bad_value("weights: {} for {} documents; there is one each", given.size(),
              rows.view.doc_count());
  }
  std::vector<DocWeight> by_doc;
  for (std::size_t doc = 0; doc < given.size(); ++doc) {
    if (!std::isfinite(static_cast<float>(given[doc]))) {
      bad_value("weights: {} for document {}; they are finite", given[doc], doc);
    }
    if (given[doc] == 0) continue;
    by_doc.push_back({Doc{static_cast<std::uint32_t>(doc)}, static_cast<float>(given[doc])});
  }
  const auto far = static_cast<float>(number(rate, "rate"));
  if (!std::isfinite(far)) bad_value("rate: {}; it is finite as float32", shown_value(rate));
  if (by_doc.empty()) return;
  // A copy steps: a network's padding would keep what is not finite, whatever is set later.
  const RankerHandle stepped{.ranker = handle.ranker->clone(), .shape = handle.shape};
  stepped.ranker->step(rows.view, by_doc, far);
  const std::vector<float> after = stepped.parameters();
  const auto wrong = std::find_if_not(after.begin(), after.end(),
                                      [](float value) { return std::isfinite(value); });
  if (wrong == after.end()) {
    handle.ranker->set_parameters(after);
    return;
  }
  bad_value(
      "features: parameter {} would be {} after the step, and stays; features are finite, and a "
      "smaller rate than {} may help",
      wrong - after.begin(), *wrong, shown_value(rate));
}

py::array_t<float> get_parameters(const RankerHandle& handle) {
  py::array_t<float> values(static_cast<py::ssize_t>(handle.ranker->parameter_count()));
  handle.ranker->get_parameters({values.mutable_data(), handle.ranker->parameter_count()});
  return values;
}

void set_parameters(const RankerHandle& handle, const py::object& given) {
  const std::vector<double> numbers = real_numbers(given, "parameters");
  if (numbers.size() != handle.ranker->parameter_count()) {
    bad_value("parameters: {}; the ranker has {}", numbers.size(),
              handle.ranker->parameter_count());
  }
  std::vector<float> values;
  for (const double value : numbers) {
    values.push_back(static_cast<float>(value));
    if (!std::isfinite(values.back())) {
      bad_value("parameters: {} at {}; they are finite", value, values.size() - 1);
    }
  }
  handle.ranker->set_parameters(values);
}

void set_feature_ids(RankerHandle& handle, const py::object& given) {
  std::vector<std::uint32_t> ids = feature_ids_of(given, "feature_ids");
  if (ids.size() != handle.shape->feature_ids.size()) {
    bad_value("feature_ids: {}; the ranker reads {} features", ids.size(),
              handle.shape->feature_ids.size());
  }
  handle.shape->feature_ids = std::move(ids);
}

std::shared_ptr<RankerHandle> make(const py::object& kind, const py::object& features,
                                   const py::object& hidden, const py::object& activation,
                                   const py::object& seed) {
  return shared(make_ranker_handle(
      {.kind_name = "kind",
       .kind = kind,
       .features = features,
       .hidden = hidden,
       .activation = activation,
       .initial = {.seed = whole(seed, "seed", {}), .purpose = Purpose::kInitialise}}));
}

std::pair<std::shared_ptr<RankerHandle>, py::dict> unpickled(const py::tuple& state) {
  const auto refuse = [&] { bad_value("state: {}; it is no pickled ranker", shown_value(state)); };
  if (state.size() != 2) refuse();
  const py::object bytes = state[0];
  const py::object attributes = state[1];
  if (!py::isinstance<py::bytes>(bytes) || !py::isinstance<py::dict>(attributes)) refuse();
  return {shared(restored(from_bytes(py::reinterpret_borrow<py::bytes>(bytes)))),
          py::reinterpret_borrow<py::dict>(attributes)};
}

}  // namespace

void bind_ranker(py::module_& module) {
  const std::string signature = fmt::format(
      "Ranker(kind=None, *, features, hidden=None, activation=None, seed={})", default_spec().seed);
  py::class_<RankerHandle, std::shared_ptr<RankerHandle>> ranker(module, "Ranker",
                                                                 (signature +
                                                                  R"(

A differentiable scoring function: "linear" (where no kind is given), "neural" or "linear+neural".
`features` is how many a document has, or a plackett.Fold, whose feature ids and scaling a saved
model then names. Networks have `hidden` units in each hidden layer and start from `seed`. A
subclass that scores in its own way is no ranker for the engine: plackett.document_weights and
plackett.evaluate are for such models.

>>> import numpy as np, plackett
>>> ranker = plackett.Ranker(features=2)
>>> ranker.parameters = [1.0, -1.0]
>>> ranker.score(np.array([[1, 2], [3, 1]], dtype=np.float32))
array([-1.,  2.], dtype=float32)
>>> ranker.rank([[1, 2], [3, 1]])
array([1, 0]))")
                                                                     .c_str());
  ranker
      .def(py::init(&make), py::arg("kind") = py::none(), py::kw_only(), py::arg("features"),
           py::arg("hidden") = py::none(), py::arg("activation") = py::none(),
           py::arg("seed") = default_spec().seed, init_doc(signature).c_str())
      .def("score", score, py::arg("features"), R"(score(self, features)
--

A float32 score for each document: features is documents x features, or a plackett.Query.

>>> import numpy as np, plackett
>>> plackett.Ranker(features=2).score(np.eye(2))
array([0., 0.], dtype=float32))")
      .def("rank", rank, py::arg("features"), py::arg("k") = py::none(),
           py::arg("seed") = EvaluateOptions{}.seed,
           (fmt::format("rank(self, features, k=None, seed={})", EvaluateOptions{}.seed) + R"(
--

The k best documents (all where k is None), best first; `seed` orders equal scores.

>>> import plackett
>>> ranker = plackett.Ranker(features=1)
>>> ranker.parameters = [1]
>>> ranker.rank([[0.5], [2.0], [1.0]], k=2)
array([1, 2]))")
               .c_str())
      .def("step", step, py::arg("features"), py::arg("weights"), py::arg("rate"),
           R"(step(self, features, weights, rate)
--

parameters += rate * sum over documents of weights[doc] * d score(doc) / d parameters. A step after
which one would not be finite is refused, and none is taken.

>>> import plackett
>>> ranker = plackett.Ranker(features=2)
>>> ranker.step([[1, 0], [0, 1]], weights=[1, -1], rate=0.5)
>>> ranker.parameters
array([ 0.5, -0.5], dtype=float32))")
      .def_property("parameters", get_parameters, set_parameters,
                    "All parameters, flat, float32; a copy, so assign the whole to change them.")
      .def_property_readonly(
          "kind", [](const RankerHandle& handle) { return name_of(handle.shape->ranker.kind); },
          "\"linear\", \"neural\" or \"linear+neural\".")
      .def_property_readonly(
          "feature_count",
          [](const RankerHandle& handle) { return handle.ranker->feature_count(); },
          "Features that a document has.")
      .def_property_readonly(
          "hidden",
          [](const RankerHandle& handle) {
            const RankerSpec& spec = handle.shape->ranker;
            return py::tuple(
                py::cast(has_network(spec.kind) ? spec.hidden : std::vector<std::uint32_t>{}));
          },
          "Units of each hidden layer; () without a network.")
      .def_property_readonly(
          "activation",
          [](const RankerHandle& handle) { return name_of(handle.shape->ranker.activation); },
          "Of the hidden units.")
      .def_property(
          "feature_ids",
          [](const RankerHandle& handle) {
            return array_of(std::span<const std::uint32_t>(handle.shape->feature_ids));
          },
          set_feature_ids, "For each column, its id in the source file, from 1; in a saved model.")
      .def_property(
          "scaling", [](const RankerHandle& handle) { return handle.shape->scaling; },
          [](RankerHandle& handle, const py::object& scaling) {
            handle.shape->scaling = name_of(take(parse_scaling(text(scaling, "scaling"))));
          },
          "How its features are scaled, \"none\" or \"query-minmax\"; in a saved model.")
      .def(
          "copy",
          [](const py::object& self) -> py::object {
            if (!py::type::of(self).is(py::type::of<RankerHandle>())) {
              py::object made = py::type::of(self).attr("__new__")(py::type::of(self));
              made.attr("__setstate__")(self.attr("__getstate__")());
              return made;
            }
            const auto& handle = py::cast<const RankerHandle&>(self);
            return py::cast(shared({std::shared_ptr<Ranker>(handle.ranker->clone()),
                                    std::make_shared<ModelShape>(*handle.shape)}));
          },
          R"(copy(self)
--

A ranker of its own with the same parameters; of a subclass, with what was set on it.

>>> import plackett
>>> first = plackett.Ranker(features=2)
>>> second = first.copy()
>>> second.parameters = [1, 2]
>>> first.parameters
array([0., 0.], dtype=float32))")
      .def(
          "save",
          [](const RankerHandle& handle, const py::object& to) {
            take(save_model(saved(handle, {}), model_to_write(to, "path")), "path");
          },
          py::arg("path"), R"(save(self, path)
--

Writes the model to a file that load and `plackett evaluate` read (docs/formats/model.md).

>>> import os, plackett, tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     plackett.Ranker(features=2).save(os.path.join(folder, "model.plk"))
...     os.listdir(folder)
['model.plk'])")
      .def_static(
          "load",
          [](const py::object& from) {
            return shared(restored(take(load_model(model_to_read(from, "path")), "path")));
          },
          py::arg("path"), R"(load(path)
--

The ranker of a saved model.

>>> import os, plackett, tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     path = os.path.join(folder, "model.plk")
...     plackett.PDGD(features=2).save(path)
...     plackett.Ranker.load(path)
<plackett.Ranker linear: 2 features, 2 parameters>)")
      .def("__repr__",
           [](const RankerHandle& handle) {
             return fmt::format("<plackett.Ranker {}: {} features, {} parameters>",
                                name_of(handle.shape->ranker.kind), handle.ranker->feature_count(),
                                handle.ranker->parameter_count());
           })
      .def(py::pickle(
          [](const py::object& self) {
            return py::make_tuple(to_bytes(saved(py::cast<const RankerHandle&>(self), {})),
                                  attributes_of(self));
          },
          &unpickled));
}

}  // namespace plackett::python
