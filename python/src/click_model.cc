// Simulated users.
#include <filesystem>
#include <utility>

#include "handles.h"
#include "plackett/make_user.h"
#include "plackett/protocol.h"
#include "plackett/simulation.h"

namespace plackett::python {
namespace {

struct ClickModel {
  std::unique_ptr<User> user;
  // As it was asked for, to make it again.
  std::string name;
  UserOptions options;
  Protocol protocol{};

  static void* operator new(std::size_t) { return refuse_half_made(); }
};

std::shared_ptr<ClickModel> make(Given name, Given grades, Given protocol, Given eta) {
  auto model = std::make_shared<ClickModel>();
  model->name = path(name, "name");
  model->protocol = take(parse_protocol(text(protocol, "protocol")));
  model->options = {.grade_count = integer32(grades, "grades", {1, kMaxLabel + 1}),
                    .stop_rule = rules_of(model->protocol).stop_rule,
                    .eta = number(eta, "eta")};
  model->user = take(make_user(model->name, model->options));
  return model;
}

// By its name; a file by its absolute path, as the other process may work in another folder.
py::tuple pickled(Given self) {
  const auto& model = py::cast<const ClickModel&>(self);
  const std::string name =
      model.name.ends_with(".toml") ? std::filesystem::absolute(model.name).string() : model.name;
  return py::make_tuple(name, model.options.grade_count, name_of(model.protocol), model.options.eta,
                        attributes_of(self));
}

std::pair<std::shared_ptr<ClickModel>, py::dict> unpickled(const py::tuple& state) {
  auto [name, grades, protocol, eta, attributes] =
      unpickled_parts<py::object, py::object, py::object, py::object, py::dict>(state,
                                                                                "click model");
  return {make(name, grades, protocol, eta), attributes};
}

// Labels that the user knows.
Judgments known_labels(const User& user, py::handle given, std::vector<std::uint8_t>& copied) {
  const auto labels = labels_in(given, copied);
  for (const std::uint8_t label : labels) {
    if (label >= user.grade_count()) {
      bad_value("labels: {}; {} users know labels 0 to {}", label, user.name(),
                user.grade_count() - 1);
    }
  }
  return Judgments(labels);
}

py::array_t<bool> click(const ClickModel& model, Given ranking, Given labels, Given seed,
                        Given rng) {
  static_assert(sizeof(bool) == 1);
  std::vector<std::uint8_t> copied;
  const Judgments known = known_labels(*model.user, labels, copied);
  const std::vector<Doc> shown = ranked_docs(ranking, known.doc_count(), "labels");
  std::optional<Rng> own;
  Rng::Stream stream{.purpose = Purpose::kClicks};
  if (py::isinstance<Impression>(ranking) && seed.is_none() && rng.is_none()) {
    const auto& impression = py::cast<const Impression&>(ranking);
    own.emplace(Rng::Stream{impression.seed, impression.run, impression.number, stream.purpose});
  }
  Rng& source = own ? *own : drawn_from(seed, rng, stream, own);
  py::array_t<bool> clicks(static_cast<py::ssize_t>(shown.size()));
  model.user->click(shown, known, source,
                    {reinterpret_cast<std::uint8_t*>(clicks.mutable_data()), shown.size()});
  return clicks;
}

double probability(const ClickModel& model, Given labels, Given clicks) {
  std::vector<std::uint8_t> copied;
  const Judgments known = known_labels(*model.user, labels, copied);
  const std::vector<std::uint8_t> given = clicks_of(clicks);
  if (given.size() != known.doc_count()) {
    bad_value("clicks: {} for {} labels; expected one each", given.size(), known.doc_count());
  }
  return model.user->pattern_probability(known.labels(), given);
}

}  // namespace

void bind_click_model(py::module_& module) {
  const UserOptions defaults;
  py::class_<ClickModel, std::shared_ptr<ClickModel>> model(module, "ClickModel",
                                                            R"(A simulated user.

`name` is one of plackett.click_model_names(), or a .toml file (docs/click_models.md). `grades` is
the number of labels, a Dataset's grade_count. `protocol` says when cascade users may stop; `eta`
how fast position-based and trust-bias ones look away. Unpickling reads a file again.

>>> user = plackett.ClickModel("perfect", grades=3)
>>> user.click([2, 0, 1], labels=[0, 0, 2], rng=plackett.stream(1))
array([ True, False, False]))");
  constructor(model, &make, "name"_a, py::kw_only(), "grades"_a = defaults.grade_count,
              "protocol"_a = name_of(SimulationSpec{}.protocol), "eta"_a = defaults.eta);
  add(model, "click", click,
      with("ranking"_a, "labels"_a, py::kw_only(), "seed"_a = py::none(), "rng"_a = py::none()),
      R"(Which shown documents are clicked: one bool each, from the top.

`ranking` is a plackett.Impression or documents from the top; `labels` those of all candidates, or a
plackett.Query. For documents give either `rng`, which advances from call to call, or `seed`, with
which every call draws the same. An impression needs neither: its clicks come from the stream of its
learner's seed and run and its number, as in plackett.simulate.

>>> plackett.ClickModel("perfect").click([1, 0], labels=[4, 0], rng=plackett.stream(1))
array([False,  True]))");
  add(model, "probability", probability, with("labels"_a, "clicks"_a),
      R"(Of exactly these clicks on these labels, from the top.

>>> plackett.ClickModel("perfect").probability(labels=[4, 0], clicks=[1, 0])
1.0)");
  property(model, "name", "\"perfect\".", [](const ClickModel& one) { return one.user->name(); });
  property(model, "grades", "How many labels it knows.",
           [](const ClickModel& one) { return one.user->grade_count(); });
  model
      .def("__repr__",
           [](const ClickModel& one) {
             return fmt::format("<plackett.ClickModel {}, {} grades>", one.user->name(),
                                one.user->grade_count());
           })
      .def(py::pickle(&pickled, &unpickled));
  add(
      module, "click_model_names",
      [] {
        const auto names = click_model_names();
        return std::vector(names.begin(), names.end());
      },
      with(), R"(The built-in click models.

>>> plackett.click_model_names()[0]
'perfect')");
}

}  // namespace plackett::python
