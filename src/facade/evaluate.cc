#include "plackett/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

#include "evaluation/t_test.h"
#include "plackett/top_k.h"

namespace plackett {
namespace {

Result<void> check(const Ranker& ranker, const Split& split, std::uint32_t max_label) {
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
  return {};
}

Result<void> check_scores(std::span<const float> scores, std::uint32_t query) {
  const auto wrong = std::find_if_not(scores.begin(), scores.end(),
                                      [](float score) { return std::isfinite(score); });
  if (wrong == scores.end()) return {};
  return Error{fmt::format(
      "query {}, document {}: score {}; scores are finite (was the ranker learned on data of "
      "another scale?)",
      query, wrong - scores.begin(), *wrong)};
}

std::optional<MetricSet> without_relevant(NoRelevant policy) {
  const auto value = value_without_relevant(policy);
  if (!value) return std::nullopt;
  MetricSet all;
  for (std::size_t at = 0; at < kMetricCount; ++at) all[static_cast<Metric>(at)] = *value;
  return all;
}

}  // namespace

Result<MetricMeans> evaluate(Ranker& ranker, const Split& split, std::uint32_t max_label,
                             const EvaluateOptions& options) {
  if (auto valid = check(ranker, split, max_label); !valid) return valid.error();
  MetricMeans means(options.no_relevant);
  // Queries that are ranked for each_query alone have a stream of their own.
  Rng rng({.seed = options.seed, .purpose = Purpose::kTieBreak});
  Rng unmeasured_rng({.seed = options.seed, .impression = 1, .purpose = Purpose::kTieBreak});
  std::vector<float> scores;
  std::vector<Doc> ranking;
  for (std::uint32_t at = 0; at < split.query_count(); ++at) {
    const Judgments judgments = split.judgments(Query{at});
    const auto labels = judgments.labels();
    QueryResult result{.query = Query{at}};
    result.relevant = static_cast<std::uint32_t>(labels.size()) -
                      static_cast<std::uint32_t>(std::count(labels.begin(), labels.end(), 0));
    if (result.relevant == 0) {
      means.add_without_relevant();
      if (!options.each_query) continue;
    }
    scores.resize(labels.size());
    ranker.score(split.features(Query{at}), scores);
    if (auto finite = check_scores(scores, at); !finite) return finite.error();
    ranking.resize(labels.size());
    top_k(scores, result.relevant > 0 ? rng : unmeasured_rng, ranking);
    if (result.relevant > 0) {
      result.metrics = metrics(ranking, judgments, max_label);
      means.add(*result.metrics);
    } else {
      result.metrics = without_relevant(options.no_relevant);
    }
    if (!options.each_query) continue;
    result.ranking = ranking;
    result.scores = scores;
    if (auto taken = options.each_query(result); !taken) return taken.error();
  }
  return means;
}

PairedContrast contrast(std::span<const MetricSet> one, std::span<const MetricSet> other,
                        Metric metric) {
  assert(one.size() == other.size());
  PairedContrast found;
  std::vector<double> differences;
  for (std::size_t query = 0; query < one.size(); ++query) {
    const double difference = one[query][metric] - other[query][metric];
    differences.push_back(difference);
    ++(difference > 0 ? found.wins : difference < 0 ? found.losses : found.ties);
  }
  const TTestResult test = paired_t_test(differences);
  found.difference = test.difference;
  found.half_width = test.half_width;
  found.t = test.t;
  found.degrees = test.degrees;
  found.p = test.p;
  return found;
}

}  // namespace plackett
