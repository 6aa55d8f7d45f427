// Simulated users.
#include <pybind11/stl.h>

#include <filesystem>
#include <limits>
#include <utility>

#include "arguments.h"
#include "arrays.h"
#include "bindings.h"
#include "data.h"
#include "failure.h"
#include "impression.h"
#include "made.h"
#include "model.h"
#include "plackett/make_user.h"
#include "plackett/protocol.h"
#include "plackett/simulation.h"
#include "spec.h"
#include "streams.h"

namespace plackett::python {
namespace {

struct ClickModel {
  std::unique_ptr<User> user;
  // As it was asked for, to make it again.
  std::string name;
  std::uint32_t grades = 0;
  std::string protocol;
  double eta = 0;

  static void* operator new(std::size_t) { return refuse_half_made(); }
};

std::shared_ptr<ClickModel> make(const py::object& name, const py::object& grades,
                                 const py::object& protocol, const py::object& eta) {
  UserOptions options;
  options.grade_count = whole32(grades, "grades", {1, kMaxLabel + 1});
  options.stop_rule = rules_of(take(parse_protocol(text(protocol, "protocol")))).stop_rule;
  options.eta = number(eta, "eta");
  auto model = std::make_shared<ClickModel>();
  model->name = click_model_name(name, "name");
  model->grades = options.grade_count;
  model->protocol = text(protocol, "protocol");
  model->eta = options.eta;
  model->user = take(make_user(model->name, options));
  return model;
}

// By its name; a file by where it is, whatever folder the other process works in.
py::tuple pickled(const py::object& self) {
  const auto& model = py::cast<const ClickModel&>(self);
  const std::string name =
      model.name.ends_with(".toml") ? std::filesystem::absolute(model.name).string() : model.name;
  return py::make_tuple(name, model.grades, model.protocol, model.eta, attributes_of(self));
}

std::pair<std::shared_ptr<ClickModel>, py::dict> unpickled(const py::tuple& state) {
  if (state.size() != 5 || !py::isinstance<py::dict>(state[4])) {
    bad_value("state: {}; it is no pickled click model", shown_value(state));
  }
  return {make(state[0], state[1], state[2], state[3]),
          py::reinterpret_borrow<py::dict>(py::object(state[4]))};
}

// Labels as the user takes them, without a copy where they are the engine's own or plain bytes.
class Labels {
 public:
  Labels(py::handle given, const User& user) {
    if (py::isinstance<QueryHandle>(given)) {
      labels_ = py::cast<const QueryHandle&>(given).judgments().labels();
    } else {
      copied_ = labels_of(given);
      labels_ = copied_;
    }
    for (const std::uint8_t label : labels_) {
      if (label >= user.grade_count()) {
        bad_value("labels: {}; {} users know labels 0 to {}", label, user.name(),
                  user.grade_count() - 1);
      }
    }
  }
  [[nodiscard]] Judgments judgments() const { return Judgments(labels_); }

 private:
  std::vector<std::uint8_t> copied_;
  std::span<const std::uint8_t> labels_;
};

py::array_t<bool> clicked(const ClickModel& model, std::span<const Doc> shown,
                          const Judgments& judgments, Rng& rng) {
  static_assert(sizeof(bool) == 1);
  py::array_t<bool> clicks(static_cast<py::ssize_t>(shown.size()));
  model.user->click(shown, judgments, rng,
                    {reinterpret_cast<std::uint8_t*>(clicks.mutable_data()), shown.size()});
  return clicks;
}

py::array_t<bool> click(const ClickModel& model, const py::object& ranking,
                        const py::object& labels, const py::object& seed, const py::object& rng) {
  const Labels known(labels, *model.user);
  const std::vector<Doc> shown =
      ranked_docs(ranking, {.name = "labels", .count = known.judgments().doc_count()});
  if (py::isinstance<Impression>(ranking)) {
    const auto& impression = py::cast<const Impression&>(ranking);
    Draws draws = Draws::or_from(
        {impression.seed, impression.run, impression.number, Purpose::kClicks}, seed, rng);
    return clicked(model, shown, known.judgments(), draws.rng());
  }
  Draws draws(seed, rng, {.purpose = Purpose::kClicks});
  return clicked(model, shown, known.judgments(), draws.rng());
}

double probability(const ClickModel& model, const py::object& labels, const py::object& clicks) {
  const Labels known(labels, *model.user);
  const std::vector<std::uint8_t> given = clicks_of(clicks);
  if (given.size() != known.judgments().doc_count()) {
    bad_value("clicks: {} for {} labels; there is one each", given.size(),
              known.judgments().doc_count());
  }
  return model.user->pattern_probability(known.judgments().labels(), given);
}

}  // namespace

void bind_click_model(py::module_& module) {
  const UserOptions defaults;
  const std::string signature =
      fmt::format("ClickModel(name, *, grades={}, protocol=\"{}\", eta={:.1f})",
                  defaults.grade_count, name_of(default_spec().protocol), defaults.eta);
  py::class_<ClickModel, std::shared_ptr<ClickModel>>(module, "ClickModel",
                                                      (signature +
                                                       R"(

A simulated user: one of plackett.click_model_names(), or a .toml file (docs/click_models.md).
`grades` is how many labels there are: a Dataset's grade_count. `protocol` says when cascade users
may stop; `eta` how fast position-based ones look away. Pickled, one of a file is read from the file
again.

>>> import plackett
>>> user = plackett.ClickModel("perfect", grades=3)
>>> user.click([2, 0, 1], labels=[0, 0, 2], rng=plackett.stream(1))
array([ True, False, False]))")
                                                          .c_str())
      .def(py::init(&make), py::arg("name"), py::kw_only(),
           py::arg("grades") = defaults.grade_count,
           py::arg("protocol") = name_of(default_spec().protocol), py::arg("eta") = defaults.eta,
           init_doc(signature).c_str())
      .def("click", click, py::arg("ranking"), py::arg("labels"), py::kw_only(),
           py::arg("seed") = py::none(), py::arg("rng") = py::none(),
           R"(click(self, ranking, labels, *, seed=None, rng=None)
--

Which shown documents are clicked: a bool for each, from the top. `ranking` is a plackett.Impression
or documents from the top; `labels` those of all candidates, or a plackett.Query. For documents give
one of `rng`, which goes on from call to call, and `seed`, with which every call draws the same. An
impression needs neither: its clicks come from the stream of its learner's seed, run and its number,
as plackett.simulate draws.

>>> import plackett
>>> plackett.ClickModel("perfect").click([1, 0], labels=[4, 0], rng=plackett.stream(1))
array([False,  True]))")
      .def("probability", probability, py::arg("labels"), py::arg("clicks"),
           R"(probability(self, labels, clicks)
--

Of exactly these clicks on a list with these labels, both from the top.

>>> import plackett
>>> plackett.ClickModel("perfect").probability(labels=[4, 0], clicks=[1, 0])
1.0)")
      .def_property_readonly(
          "name", [](const ClickModel& model) { return model.user->name(); }, "\"perfect\".")
      .def_property_readonly(
          "grades", [](const ClickModel& model) { return model.user->grade_count(); },
          "How many labels it knows.")
      .def("__repr__",
           [](const ClickModel& model) {
             return fmt::format("<plackett.ClickModel {}, {} grades>", model.user->name(),
                                model.user->grade_count());
           })
      .def(py::pickle(&pickled, &unpickled));
  module.def(
      "click_model_names",
      [] {
        py::list names;
        for (const std::string_view name : click_model_names()) names.append(name);
        return names;
      },
      R"(click_model_names()
--

>>> import plackett
>>> plackett.click_model_names()[0]
'perfect')");
}

}  // namespace plackett::python
