// The Plackett-Luce distribution, inferred pairs, and PDGD's weights.
#include <algorithm>
#include <numeric>

#include "background.h"
#include "handles.h"
#include "plackett/document_weights.h"
#include "plackett/pairs.h"
#include "plackett/plackett_luce.h"

namespace plackett::python {
namespace {

// On a thread of its own if it takes more than a few milliseconds: steps take a few nanoseconds.
std::vector<WeightedPair> inferred_pairs(const Ranking& ranking,
                                         std::span<const std::uint8_t> clicks) {
  constexpr std::uint64_t kLongWork = 1'000'000;
  const std::uint64_t seen = seen_places(clicks);
  const auto winners = std::accumulate(clicks.begin(), clicks.end(), std::uint64_t{0});
  PairInference inference;
  const auto pairs = winners * seen * seen < kLongWork
                         ? inference.infer(ranking, clicks)
                         : in_background([&](const Watch& watch) {
                             return inference.infer(ranking, clicks, &watch.stop);
                           });
  return {pairs.begin(), pairs.end()};
}

}  // namespace

py::array_t<double> weights_by_doc(const Ranking& ranking, std::span<const std::uint8_t> clicks,
                                   std::size_t doc_count) {
  std::vector<double> by_rank(ranking.shown.size());
  sum_by_rank(inferred_pairs(ranking, clicks), by_rank);
  py::array_t<double> by_doc(static_cast<py::ssize_t>(doc_count));
  std::fill_n(by_doc.mutable_data(), doc_count, 0.0);
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    by_doc.mutable_data()[index(ranking.shown[rank])] = by_rank[rank];
  }
  return by_doc;
}

namespace {

py::array_t<std::int64_t> sample(Given scores, Given k, Given seed, Given rng) {
  const std::vector<float> given = finite_floats(scores, "scores");
  if (given.empty()) bad_value("scores: none; expected at least 1");
  const auto docs = static_cast<std::uint32_t>(given.size());
  std::vector<Doc> ranking(k.is_none() ? docs : std::min(docs, integer32(k, "k", {.least = 1})));
  SamplingScratch scratch;
  std::optional<Rng> own;
  sample_ranking(given, drawn_from(seed, rng, {.purpose = Purpose::kRanking}, own), scratch,
                 ranking);
  return docs_array(ranking);
}

struct Shown {
  Ranking ranking;
  std::vector<std::uint8_t> clicks;
  std::size_t candidates = 0;
};

// Fails if they are an impression's shown_scores: those are by rank, and as many if all documents
// were shown.
void require_by_document(std::span<const double> scores, const Ranking& shown) {
  if (!std::equal(scores.begin(), scores.end(), shown.scores.begin(), shown.scores.end())) return;
  for (std::size_t rank = 0; rank < shown.shown.size(); ++rank) {
    if (scores[index(shown.shown[rank])] != shown.scores[rank]) {
      bad_value(
          "scores: in the order of the ranking, like shown_scores; expected one per document. "
          "impression.document_weights needs none");
    }
  }
}

// `clicks` is null for none.
Shown shown_of(Given scores, Given ranking, Given clicks) {
  const std::vector<double> given = real_numbers(scores, "scores");
  std::vector<std::uint32_t> docs;
  if (py::isinstance<Impression>(ranking)) {
    for (const Doc doc : ranked_docs(ranking, given.size(), "scores")) docs.push_back(index(doc));
    require_by_document(given, py::cast<const Impression&>(ranking).ranking);
  } else {
    docs = ranking_of(ranking);
  }
  auto clicked = clicks ? clicks_of(clicks) : std::vector<std::uint8_t>(docs.size());
  return {take(make_ranking({.scores = given, .ranking = docs, .clicks = clicked})), clicked,
          given.size()};
}

double log_probability_of(Given scores, Given ranking) {
  const Ranking made = shown_of(scores, ranking, {}).ranking;
  return made.shown.empty() ? 0.0 : log_probability(made.scores, made.rest);
}

py::list pairs_of(Given scores, Given ranking, Given clicks) {
  const Shown shown = shown_of(scores, ranking, clicks);
  const std::vector<Doc>& docs = shown.ranking.shown;
  py::list pairs;
  for (const WeightedPair& pair : inferred_pairs(shown.ranking, shown.clicks)) {
    pairs.append(py::make_tuple(index(docs[pair.winner_rank]), index(docs[pair.loser_rank]),
                                pair.winner_rank, pair.loser_rank, pair.rho, pair.weight));
  }
  return pairs;
}

py::array_t<double> weights_of(Given scores, Given ranking, Given clicks) {
  const Shown shown = shown_of(scores, ranking, clicks);
  return weights_by_doc(shown.ranking, shown.clicks, shown.candidates);
}

}  // namespace

void bind_sampling(py::module_& module) {
  add(module, "sample_ranking", sample,
      with("scores"_a, "k"_a = py::none(), py::kw_only(), "seed"_a = py::none(),
           "rng"_a = py::none()),
      R"(Draws a ranking of k documents (all if k is None).

Without replacement, each rank in proportion to exp(score). Scores are taken as float32. Give either
`rng`, which advances from call to call, or `seed`, with which every call draws the same.

>>> plackett.sample_ranking([0.0, 50.0, 100.0], rng=plackett.stream(1))
array([2, 1, 0]))");
  add(module, "log_probability", log_probability_of, with("scores"_a, "ranking"_a),
      R"(Of drawing that ranking: all
documents, or some at the top.

>>> import math
>>> round(math.exp(plackett.log_probability([0.0, 0.0, 0.0], [2, 0])), 12)
0.166666666667)");
  module.def("pairs", pairs_of);
  add(module, "document_weights", weights_of, with("scores"_a, "ranking"_a, "clicks"_a),
      R"(How strongly each score should rise
(below 0: fall): PDGD as a loss.

Minus (weights * scores).sum(), the weights held constant, is the loss for a model that is
differentiated elsewhere. `scores` are those of all candidates when the list was shown, by document
(not an Impression's shown_scores, which are by rank), `ranking` the documents shown or an
Impression, `clicks` a 0 or 1 for each. float64, by document. The time grows with the clicks times
the square of the documents seen. If that is long, the GIL is free and Ctrl-C stops it.

>>> plackett.document_weights([0.0, 0.0, 0.0], ranking=[2, 0, 1], clicks=[0, 1, 0])
array([ 0.25 , -0.125, -0.125]))");
}

}  // namespace plackett::python
