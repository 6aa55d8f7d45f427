#include "handles.h"

#include <cmath>
#include <utility>

namespace plackett::python {

std::vector<std::uint8_t> clicks_on(const Impression& impression, py::handle clicks) {
  std::vector<std::uint8_t> given = clicks_of(clicks);
  if (given.size() != impression.ranking.shown.size()) {
    bad_value("clicks: {} for {} shown documents; expected one each", given.size(),
              impression.ranking.shown.size());
  }
  return given;
}

std::vector<Doc> ranked_docs(py::handle ranking, std::size_t count, std::string_view name) {
  if (py::isinstance<Impression>(ranking)) {
    const auto& impression = py::cast<const Impression&>(ranking);
    if (impression.rows.view.doc_count() != count) {
      bad_value("{}: {} for {} documents; expected one each", name, count,
                impression.rows.view.doc_count());
    }
    return impression.ranking.shown;
  }
  std::vector<Doc> docs;
  std::vector<bool> placed(count);
  for (const std::uint32_t doc : ranking_of(ranking)) {
    if (doc >= count) {
      bad_value("ranking: document {}; documents are 0 to {}", doc,
                static_cast<std::int64_t>(count) - 1);
    }
    if (placed[doc]) bad_value("ranking: document {} appears twice", doc);
    placed[doc] = true;
    docs.push_back(Doc{doc});
  }
  return docs;
}

namespace {

py::array_t<double> weights(const Impression& impression, Given clicks) {
  if (!impression.method->servable) {
    bad_value("impression: shown by {}; only lists sampled by their scores have weights",
              impression.method->name);
  }
  return weights_by_doc(impression.ranking, clicks_on(impression, clicks),
                        impression.rows.view.doc_count());
}

py::object features_of(const Impression& impression) {
  const py::object& owner = impression.rows.owner;
  return py::isinstance<py::array>(owner) ? owner : py::object(owner.attr("features"));
}

py::tuple reduced(const Impression& impression) {
  const Ranking& ranking = impression.ranking;
  return py::make_tuple(
      py::module_::import("plackett._impression").attr("impression_again"),
      py::make_tuple(impression.method->name, features_of(impression), docs_array(ranking.shown),
                     array_of(ranking.scores), ranking.rest.shift, ranking.rest.sum,
                     impression.seed, impression.run, impression.number));
}

// What reduced() took apart. It is nobody's last impression: methods that learn only from that one
// keep more of it than a pickle holds.
Impression impression_of(const std::string& method, Given features, Given ranking, Given scores,
                         double shift, double sum, std::uint64_t seed, std::uint32_t run,
                         std::uint64_t number) {
  Impression impression;
  impression.method = take(find_method(method));
  const py::array matrix = matrix_of(features, "features");
  impression.rows = rows_of(matrix, static_cast<std::uint32_t>(matrix.shape(1)));
  impression.ranking.shown = ranked_docs(ranking, impression.rows.view.doc_count(), "features");
  impression.ranking.scores = real_numbers(scores, "scores");
  const std::size_t shown = impression.ranking.shown.size();
  bool sound = shown > 0 && impression.ranking.scores.size() == shown &&
               number <= kMaxStreamImpression &&
               (sum == 0 || (std::isfinite(shift) && std::isfinite(sum) && sum > 0));
  for (const double score : impression.ranking.scores) sound = sound && std::isfinite(score);
  if (!sound) bad_value("state: not a pickled impression");
  if (sum != 0) impression.ranking.rest = {.shift = shift, .sum = sum};
  impression.seed = seed;
  impression.run = run;
  impression.number = number;
  return impression;
}

}  // namespace

void bind_impression(py::module_& module) {
  py::class_<Impression> impression(
      module, "Impression", R"(A ranking that was shown, with what learning from it later needs.

It keeps its features alive; don't change them before the clicks are learned from. Functions that
take a ranking take it too. Pickled or copied, with its features, pdgd and cascade can still learn
from it; the others learn only from the object that rank returned.

>>> impression = plackett.PDGD(features=3, shown=2).rank(np.eye(3))
>>> len(impression.ranking), impression.shown_scores
(2, array([0., 0.])))");
  add(impression, "document_weights", weights, with("clicks"_a),
      R"(As plackett.document_weights, from the scores at
the time of showing: one float64 per candidate. For lists that pdgd and cascade sampled.

>>> impression = plackett.PDGD(features=3).rank(np.eye(3))
>>> weights = impression.document_weights([0, 1, 0])
>>> weights[impression.ranking]
array([-0.125,  0.25 , -0.125]))");
  property(impression, "ranking", "The documents shown, from the top; int64.",
           [](const Impression& one) { return docs_array(one.ranking.shown); });
  property(impression, "shown_scores",
           "The scores of the shown documents when they were shown, in the order of `ranking`: one "
           "per rank, not one per candidate as document_weights takes them; float64.",
           [](const Impression& one) { return array_of(one.ranking.scores); });
  property(impression, "features",
           "All candidates' features: the array that was given, or what was made from it.",
           features_of);
  impression.def_readonly("number", &Impression::number, "How many its learner had shown before.")
      .def("__reduce__", reduced)
      .def("__len__", [](const Impression& one) { return one.ranking.shown.size(); })
      .def("__repr__", [](const Impression& one) {
        return fmt::format("<plackett.Impression {}: {} of {} documents>", one.number,
                           one.ranking.shown.size(), one.rows.view.doc_count());
      });
  no_constructor(impression);
  module.def("impression_of", impression_of);
}

}  // namespace plackett::python
