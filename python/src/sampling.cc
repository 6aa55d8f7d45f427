// The Plackett-Luce distribution, inferred pairs, and PDGD's weights.
#include <pybind11/numpy.h>

#include <algorithm>
#include <cmath>

#include "arguments.h"
#include "arrays.h"
#include "bindings.h"
#include "failure.h"
#include "impression.h"
#include "plackett/document_weights.h"
#include "plackett/plackett_luce.h"
#include "preferences.h"
#include "streams.h"

namespace plackett::python {
namespace {

py::array_t<std::int64_t> sample(const py::object& scores, const py::object& k,
                                 const py::object& seed, const py::object& rng) {
  const std::vector<double> given = real_numbers(scores, "scores");
  if (given.empty()) bad_value("scores: none; there is at least 1");
  std::vector<float> rounded;
  for (const double score : given) {
    rounded.push_back(static_cast<float>(score));
    if (!std::isfinite(rounded.back())) {
      bad_value("scores: {} for document {}; scores are finite float32", score, rounded.size() - 1);
    }
  }
  const auto docs = static_cast<std::uint32_t>(given.size());
  const std::uint32_t places = k.is_none() ? docs : std::min(docs, whole32(k, "k", {.least = 1}));
  std::vector<Doc> ranking(places);
  SamplingScratch scratch;
  Draws draws(seed, rng, {.purpose = Purpose::kRanking});
  sample_ranking(rounded, draws.rng(), scratch, ranking);
  return docs_array(ranking);
}

// What a shown list needs, owned.
struct Shown {
  std::vector<double> scores;
  std::vector<std::uint32_t> ranking;
  std::vector<std::uint8_t> clicks;

  [[nodiscard]] ShownList list() const {
    return {.scores = scores, .ranking = ranking, .clicks = clicks};
  }
};

// Fails where they are an impression's shown_scores, which are as many where all documents were
// shown, but by place.
void require_by_document(std::span<const double> scores, const Ranking& shown) {
  if (!std::equal(scores.begin(), scores.end(), shown.scores.begin(), shown.scores.end())) return;
  for (std::size_t rank = 0; rank < shown.shown.size(); ++rank) {
    if (scores[index(shown.shown[rank])] != shown.scores[rank]) {
      bad_value(
          "scores: in the order of the ranking, as shown_scores are; they are by document: "
          "impression.document_weights needs none");
    }
  }
}

Shown scored(const py::object& scores, const py::object& ranking) {
  Shown shown{.scores = real_numbers(scores, "scores"), .ranking = {}, .clicks = {}};
  if (!py::isinstance<Impression>(ranking)) {
    shown.ranking = ranking_of(ranking);
    return shown;
  }
  for (const Doc doc : ranked_docs(ranking, {.name = "scores", .count = shown.scores.size()})) {
    shown.ranking.push_back(index(doc));
  }
  require_by_document(shown.scores, py::cast<const Impression&>(ranking).ranking);
  return shown;
}

Shown shown_of(const py::object& scores, const py::object& ranking, const py::object& clicks) {
  Shown shown = scored(scores, ranking);
  shown.clicks = clicks_of(clicks);
  return shown;
}

double log_probability_of(const py::object& scores, const py::object& ranking) {
  Shown shown = scored(scores, ranking);
  shown.clicks.resize(shown.ranking.size());
  const Ranking made = take(make_ranking(shown.list()));
  return made.shown.empty() ? 0.0 : log_probability(made.scores, made.rest);
}

py::list pairs_of(const py::object& scores, const py::object& ranking, const py::object& clicks) {
  const Shown shown = shown_of(scores, ranking, clicks);
  const Ranking made = take(make_ranking(shown.list()));
  py::list pairs;
  for (const WeightedPair& pair : inferred_pairs(made, shown.clicks)) {
    pairs.append(py::make_tuple(shown.ranking[pair.winner_rank], shown.ranking[pair.loser_rank],
                                pair.winner_rank, pair.loser_rank, pair.rho, pair.weight));
  }
  return pairs;
}

py::array_t<double> weights_of(const py::object& scores, const py::object& ranking,
                               const py::object& clicks) {
  const Shown shown = shown_of(scores, ranking, clicks);
  return weights_by_doc(take(make_ranking(shown.list())), shown.clicks, shown.scores.size());
}

}  // namespace

void bind_sampling(py::module_& module) {
  module.def("sample_ranking", sample, py::arg("scores"), py::arg("k") = py::none(), py::kw_only(),
             py::arg("seed") = py::none(), py::arg("rng") = py::none(),
             R"(sample_ranking(scores, k=None, *, seed=None, rng=None)
--

A ranking of k documents (all where k is None) drawn without replacement, each place in proportion
to exp(score). Scores are taken as float32. Give one of `rng`, which goes on from call to call, and
`seed`, with which every call draws the same.

>>> import plackett
>>> plackett.sample_ranking([0.0, 50.0, 100.0], rng=plackett.stream(1))
array([2, 1, 0]))");
  module.def("log_probability", log_probability_of, py::arg("scores"), py::arg("ranking"),
             R"(log_probability(scores, ranking)
--

Of drawing that ranking, of all documents or of some at the top, from those scores.

>>> import math, plackett
>>> round(math.exp(plackett.log_probability([0.0, 0.0, 0.0], [2, 0])), 12)
0.166666666667)");
  module.def("pairs", pairs_of, py::arg("scores"), py::arg("ranking"), py::arg("clicks"));
  module.def("document_weights", weights_of, py::arg("scores"), py::arg("ranking"),
             py::arg("clicks"), R"(document_weights(scores, ranking, clicks)
--

PDGD as a loss: for each candidate, how strongly its score should rise (below 0: fall). Minus
(weights * scores).sum(), the weights held constant, is the loss for a model that is differentiated
elsewhere. `scores` are those of all candidates when the list was shown, by document (not an
Impression's shown_scores, which are by place), `ranking` the documents shown or an Impression,
`clicks` a 0 or 1 for each. float64, by document. The time grows with the clicks times the square of
the documents seen. Where that is long, the GIL is free and Ctrl-C stops it.

>>> import plackett
>>> plackett.document_weights([0.0, 0.0, 0.0], ranking=[2, 0, 1], clicks=[0, 1, 0])
array([ 0.25 , -0.125, -0.125]))");
}

}  // namespace plackett::python
