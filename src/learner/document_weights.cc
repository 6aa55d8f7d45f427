#include "plackett/document_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plackett/plackett_luce.h"

namespace plackett {

Result<Ranking> make_ranking(const ShownList& list) {
  for (std::size_t doc = 0; doc < list.scores.size(); ++doc) {
    if (!std::isfinite(list.scores[doc])) {
      return Error{
          fmt::format("scores: {} for document {}; scores are finite", list.scores[doc], doc)};
    }
  }
  if (!list.scores.empty()) {
    const auto [lowest, highest] = std::minmax_element(list.scores.begin(), list.scores.end());
    if (!std::isfinite(*highest - *lowest)) {
      return Error{
          fmt::format("scores: {} and {}; their difference must be finite", *lowest, *highest)};
    }
  }
  if (list.clicks.size() != list.ranking.size()) {
    return Error{fmt::format("clicks: {} for {} ranked documents; there is one each",
                             list.clicks.size(), list.ranking.size())};
  }
  Ranking ranking;
  std::vector<bool> placed(list.scores.size());
  for (const std::uint32_t doc : list.ranking) {
    if (doc >= placed.size()) {
      return Error{fmt::format("ranking: document {}; documents are 0 to {}", doc,
                               static_cast<std::int64_t>(placed.size()) - 1)};
    }
    if (placed[doc]) {
      return Error{fmt::format("ranking: document {} twice; it can be shown once", doc)};
    }
    placed[doc] = true;
    ranking.shown.push_back(Doc{doc});
    ranking.scores.push_back(list.scores[doc]);
  }
  for (const std::uint8_t click : list.clicks) {
    if (click > 1) return Error{fmt::format("clicks: {}; a click is 0 or 1", click)};
  }
  ranking.rest = rest_mass(list.scores, ranking.shown);
  return ranking;
}

Result<std::vector<double>> document_weights(const ShownList& list, const PairRules& rules) {
  const auto ranking = make_ranking(list);
  if (!ranking) return ranking.error();
  PairInference inference(rules);
  std::vector<double> by_rank(ranking->shown.size());
  sum_by_rank(inference.infer(*ranking, list.clicks), by_rank);
  std::vector<double> by_doc(list.scores.size());
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    by_doc[index(ranking->shown[rank])] = by_rank[rank];
  }
  return by_doc;
}

}  // namespace plackett
