#include "plackett/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "plackett/split_evaluator.h"

namespace plackett {

Result<MetricMeans> evaluate(Ranker& ranker, const Split& split, std::uint32_t max_label,
                             const EvaluateOptions& options) {
  if (split.feature_count() != ranker.feature_count()) {
    return Error{fmt::format("{} features; the ranker reads {}", split.feature_count(),
                             ranker.feature_count())};
  }
  if (max_label > kMaxLabel) {
    return Error{fmt::format("max_label {}; labels are 0 to {}", max_label, kMaxLabel)};
  }
  for (std::uint32_t query = 0; query < split.query_count(); ++query) {
    for (const std::uint8_t label : split.judgments(Query{query}).labels()) {
      if (label <= max_label) continue;
      return Error{
          fmt::format("label {} in query {}; labels are 0 to {}", label, query, max_label)};
    }
  }
  SplitEvaluator evaluator(split, {.no_relevant = options.no_relevant});
  Rng rng({.seed = options.seed, .purpose = Purpose::kTieBreak});
  std::vector<float> scores;
  std::optional<Error> not_finite;
  std::uint32_t query = 0;  // that is asked about next, or one before it
  MetricMeans means = evaluator.mean_metrics(
      [&](const FeatureView& docs) {
        while (!evaluator.ndcg().has_relevant(Query{query})) ++query;
        scores.assign(docs.doc_count(), 0);
        if (not_finite) return std::span<const float>(scores);
        ranker.score(docs, scores);
        for (std::size_t doc = 0; doc < scores.size() && !not_finite; ++doc) {
          if (std::isfinite(scores[doc])) continue;
          not_finite = Error{fmt::format(
              "query {}, document {}: score {}; scores are finite (was the ranker learned on data "
              "of another scale?)",
              query, doc, scores[doc])};
        }
        if (not_finite) std::fill(scores.begin(), scores.end(), 0.0F);
        ++query;
        return std::span<const float>(scores);
      },
      max_label, rng);
  if (not_finite) return *not_finite;
  return means;
}

}  // namespace plackett
