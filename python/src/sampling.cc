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
#include "plackett/pairs.h"
#include "plackett/plackett_luce.h"
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

Shown shown_of(const py::object& scores, const py::object& ranking, const py::object& clicks) {
  return {real_numbers(scores, "scores"), ranking_of(ranking), clicks_of(clicks)};
}

double log_probability_of(const py::object& scores, const py::object& ranking) {
  Shown shown{real_numbers(scores, "scores"), ranking_of(ranking), {}};
  shown.clicks.resize(shown.ranking.size());
  const Ranking made = take(make_ranking(shown.list()));
  return made.shown.empty() ? 0.0 : log_probability(made.scores, made.rest);
}

py::list pairs_of(const py::object& scores, const py::object& ranking, const py::object& clicks) {
  const Shown shown = shown_of(scores, ranking, clicks);
  const Ranking made = take(make_ranking(shown.list()));
  PairInference inference;
  py::list pairs;
  for (const WeightedPair& pair : inference.infer(made, shown.clicks)) {
    pairs.append(py::make_tuple(shown.ranking[pair.winner_rank], shown.ranking[pair.loser_rank],
                                pair.winner_rank, pair.loser_rank, pair.rho, pair.weight));
  }
  return pairs;
}

py::array_t<double> weights_of(const py::object& scores, const py::object& ranking,
                               const py::object& clicks) {
  const Shown shown = shown_of(scores, ranking, clicks);
  return array_of(std::span<const double>(take(document_weights(shown.list()))));
}

}  // namespace

void bind_sampling(py::module_& module) {
  module.def("sample_ranking", sample, py::arg("scores"), py::arg("k") = py::none(), py::kw_only(),
             py::arg("seed") = py::none(), py::arg("rng") = py::none(),
             R"(sample_ranking(scores, k=None, *, seed=None, rng=None)

A ranking of k documents (all where k is None) drawn without replacement, each place in proportion
to exp(score). Scores are taken as float32. Give one of `rng`, which goes on from call to call, and
`seed`, with which every call draws the same.

>>> import plackett
>>> plackett.sample_ranking([0.0, 50.0, 100.0], rng=plackett.stream(1))
array([2, 1, 0]))");
  module.def("log_probability", log_probability_of, py::arg("scores"), py::arg("ranking"),
             R"(log_probability(scores, ranking)

Of drawing that ranking, of all documents or of some at the top, from those scores.

>>> import math, plackett
>>> round(math.exp(plackett.log_probability([0.0, 0.0, 0.0], [2, 0])), 12)
0.166666666667)");
  module.def("pairs", pairs_of, py::arg("scores"), py::arg("ranking"), py::arg("clicks"));
  module.def("document_weights", weights_of, py::arg("scores"), py::arg("ranking"),
             py::arg("clicks"), R"(document_weights(scores, ranking, clicks)

PDGD as a loss: for each candidate, how strongly its score should rise (below 0: fall). Minus
(weights * scores).sum(), the weights held constant, is the loss for a model that is differentiated
elsewhere. `scores` are those of all candidates when the list was shown, by document (not an
Impression's shown_scores, which are by place), `ranking` the documents shown, `clicks` a 0 or 1 for
each. float64, by document.

>>> import plackett
>>> plackett.document_weights([0.0, 0.0, 0.0], ranking=[2, 0, 1], clicks=[0, 1, 0])
array([ 0.25 , -0.125, -0.125]))");
}

}  // namespace plackett::python
