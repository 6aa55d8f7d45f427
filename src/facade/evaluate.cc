#include "plackett/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "plackett/split_evaluator.h"

namespace plackett {

Result<MetricMeans> evaluate(Ranker& ranker, const Split& split, std::uint32_t max_label,
                             const EvaluateOptions& options) {
  if (split.feature_count() != ranker.feature_count()) {
    return Error{fmt::format("{} features; the ranker reads {}", split.feature_count(),
                             ranker.feature_count())};
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
  bool finite = true;
  MetricMeans means = evaluator.mean_metrics(
      [&](const FeatureView& docs) {
        scores.resize(docs.doc_count());
        ranker.score(docs, scores);
        for (float& score : scores) {
          if (std::isfinite(score)) continue;
          finite = false;
          score = 0;
        }
        return std::span<const float>(scores);
      },
      max_label, rng);
  if (!finite) {
    return Error{"a score is not finite; was the ranker learned on data of another scale?"};
  }
  return means;
}

}  // namespace plackett
