// A whole split's averages under any scoring function.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "plackett/dataset.h"
#include "plackett/index.h"
#include "plackett/metrics.h"
#include "plackett/ndcg.h"
#include "plackett/no_relevant.h"
#include "plackett/rng.h"
#include "plackett/top_k.h"

namespace plackett {

// What is measured.
struct EvaluationOptions {
  std::uint32_t k = 10;                        // cut of NDCG
  NoRelevant no_relevant = NoRelevant::kSkip;  // what queries without a relevant document count
};

// Holds what doesn't change between evaluations of one split, and the scratch. One thread at a
// time; allocates only while it meets its largest query.
class SplitEvaluator {
 public:
  // Shares the split's memory. Cost: O(documents).
  SplitEvaluator(Split split, const EvaluationOptions& options)
      : split_(std::move(split)), ndcg_(split_, options.k), no_relevant_(options.no_relevant) {}

  // What is evaluated on.
  [[nodiscard]] const Split& split() const { return split_; }
  // Its ideal DCG.
  [[nodiscard]] const NdcgTable& ndcg() const { return ndcg_; }

  // Mean NDCG, cut at k, over the split's queries; 0 where none counts. `score(FeatureView)` gives
  // a span of one finite score a document, which must live until its next call; it isn't asked
  // about queries without relevant documents, whose value no score changes. Equal scores are
  // ordered at random, by `rng`.
  template <typename Score>
  double mean_ndcg(Score&& score, Rng& rng) {
    QueryMean mean(no_relevant_);
    rank_all(score, ndcg_.k(), rng, mean,
             [&](Query query) { return ndcg_.ndcg(query, split_.judgments(query), ranking_); });
    return mean.mean();
  }

  // All metrics' means, as mean_ndcg. `max_label` is the dataset's.
  template <typename Score>
  MetricMeans mean_metrics(Score&& score, std::uint32_t max_label, Rng& rng) {
    MetricMeans means(no_relevant_);
    rank_all(score, ~std::size_t{0}, rng, means,
             [&](Query query) { return metrics(ranking_, split_.judgments(query), max_label); });
    return means;
  }

 private:
  // Adds value(query) to `mean` for each query, with its best k documents in ranking_.
  template <typename Score, typename Mean, typename Value>
  void rank_all(Score& score, std::size_t k, Rng& rng, Mean& mean, Value value) {
    for (std::uint32_t at = 0; at < split_.query_count(); ++at) {
      const Query query{at};
      if (!ndcg_.has_relevant(query)) {
        mean.add_without_relevant();
        continue;
      }
      const std::span<const float> scores = score(split_.features(query));
      ranking_.resize(std::min(scores.size(), k));
      top_k(scores, rng, ranking_);
      mean.add(value(query));
    }
  }

  Split split_;
  NdcgTable ndcg_;
  NoRelevant no_relevant_;
  std::vector<Doc> ranking_;
};

}  // namespace plackett
