#include "impression.h"

#include <cmath>
#include <utility>

#include "arguments.h"
#include "bindings.h"
#include "failure.h"
#include "made.h"
#include "preferences.h"
#include "streams.h"

namespace plackett::python {

py::array_t<std::int64_t> docs_array(std::span<const Doc> docs) {
  py::array_t<std::int64_t> array(static_cast<py::ssize_t>(docs.size()));
  std::int64_t* out = array.mutable_data();
  for (const Doc doc : docs) *out++ = index(doc);
  return array;
}

std::vector<Doc> ranked_docs(py::handle ranking, const Candidates& candidates) {
  if (py::isinstance<Impression>(ranking)) {
    const auto& impression = py::cast<const Impression&>(ranking);
    if (impression.rows.view.doc_count() != candidates.count) {
      bad_value("{}: {} for {} documents; there is one each", candidates.name, candidates.count,
                impression.rows.view.doc_count());
    }
    return impression.ranking.shown;
  }
  std::vector<Doc> docs;
  std::vector<bool> placed(candidates.count);
  for (const std::uint32_t doc : ranking_of(ranking)) {
    if (doc >= candidates.count) {
      bad_value("ranking: document {}; documents are 0 to {}", doc,
                static_cast<std::int64_t>(candidates.count) - 1);
    }
    if (placed[doc]) bad_value("ranking: document {} twice; it can be ranked once", doc);
    placed[doc] = true;
    docs.push_back(Doc{doc});
  }
  return docs;
}

namespace {

py::array_t<double> weights(const Impression& impression, const py::object& clicks) {
  if (!impression.method->servable) {
    bad_value("impression: shown by {}; weights are of lists sampled by their scores",
              impression.method->name);
  }
  const std::vector<std::uint8_t> given = clicks_of(clicks);
  if (given.size() != impression.ranking.shown.size()) {
    bad_value("clicks: {} for {} shown documents; there is one each", given.size(),
              impression.ranking.shown.size());
  }
  return weights_by_doc(impression.ranking, given, impression.rows.view.doc_count());
}

py::object features_of(const Impression& impression) {
  const py::object& owner = impression.rows.owner;
  if (py::isinstance<py::array>(owner)) return owner;
  return owner.attr("features");
}

py::tuple reduced(const Impression& impression) {
  const Ranking& ranking = impression.ranking;
  return py::make_tuple(
      py::module_::import("plackett._impression").attr("impression_again"),
      py::make_tuple(impression.method->name, features_of(impression), docs_array(ranking.shown),
                     array_of(std::span<const double>(ranking.scores)), ranking.rest.shift,
                     ranking.rest.sum, impression.seed, impression.run, impression.number));
}

// What reduced() took apart. No learner's last one: those that learn from that alone keep more of
// it than it holds.
Impression restored(const py::object& method, const py::object& features, const py::object& ranking,
                    const py::object& scores, double shift, double sum, const py::object& seed,
                    const py::object& run, const py::object& number) {
  Impression impression;
  impression.method = take(find_method(text(method, "method")));
  const py::array matrix = matrix_of(features, "features");
  impression.rows = rows_of(matrix, static_cast<std::uint32_t>(matrix.shape(1)));
  impression.ranking.shown =
      ranked_docs(ranking, {.name = "features", .count = impression.rows.view.doc_count()});
  impression.ranking.scores = real_numbers(scores, "scores");
  if (impression.ranking.shown.empty() ||
      impression.ranking.scores.size() != impression.ranking.shown.size()) {
    bad_value("scores: {} for {} shown documents; there is one each",
              impression.ranking.scores.size(), impression.ranking.shown.size());
  }
  bool sound = sum == 0 || (std::isfinite(shift) && std::isfinite(sum) && sum > 0);
  for (const double score : impression.ranking.scores) sound = sound && std::isfinite(score);
  if (!sound) bad_value("scores: not finite; it is no pickled impression");
  if (sum != 0) impression.ranking.rest = {.shift = shift, .sum = sum};
  impression.seed = whole(seed, "seed", {});
  impression.run = whole32(run, "run", {});
  impression.number = whole(number, "number", {0, kMaxStreamImpression});
  return impression;
}

}  // namespace

void bind_impression(py::module_& module) {
  py::class_<Impression> impression_type(
      module, "Impression",
      R"(A ranking that was shown, with what learning from it later needs.

It keeps its features alive; don't change them before the clicks are learned from. It stands for its
ranking wherever one is taken. Pickled or copied, with its features, it is as good for pdgd and
cascade; the others learn from the one alone that rank gave.

>>> import numpy as np, plackett
>>> impression = plackett.PDGD(features=3, shown=2).rank(np.eye(3))
>>> len(impression.ranking), impression.shown_scores
(2, array([0., 0.])))");
  impression_type
      .def_property_readonly(
          "ranking",
          [](const Impression& impression) { return docs_array(impression.ranking.shown); },
          "The documents shown, from the top; int64.")
      .def_property_readonly(
          "shown_scores",
          [](const Impression& impression) {
            return array_of(std::span<const double>(impression.ranking.scores));
          },
          "The shown documents' scores when they were shown, in the order of `ranking`: one a "
          "place, not one a candidate as document_weights takes them; float64.")
      .def_property_readonly(
          "features", features_of,
          "All candidates' features: the array that was given, or what was made of it.")
      .def("document_weights", weights, py::arg("clicks"), R"(document_weights(self, clicks)
--

What plackett.document_weights gives for this list, from the scores of the moment of showing: a
float64 for each candidate. For lists that pdgd and cascade sampled.

>>> import numpy as np, plackett
>>> impression = plackett.PDGD(features=3).rank(np.eye(3))
>>> weights = impression.document_weights([0, 1, 0])
>>> weights[impression.ranking]
array([-0.125,  0.25 , -0.125]))")
      .def("__reduce__", reduced)
      .def_readonly("number", &Impression::number, "How many its learner had shown before.")
      .def("__len__", [](const Impression& impression) { return impression.ranking.shown.size(); })
      .def("__repr__", [](const Impression& impression) {
        return fmt::format("<plackett.Impression {}: {} of {} documents>", impression.number,
                           impression.ranking.shown.size(), impression.rows.view.doc_count());
      });
  from_the_engine_alone(impression_type);
  module.def("impression_of", restored);
}

}  // namespace plackett::python
