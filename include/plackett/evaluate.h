// How well a ranker ranks queries with known labels.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "plackett/dataset.h"
#include "plackett/export.h"
#include "plackett/index.h"
#include "plackett/metrics.h"
#include "plackett/no_relevant.h"
#include "plackett/ranker.h"
#include "plackett/result.h"

namespace plackett {

// How a ranker ranked one query.
struct QueryResult {
  Query query = {};                       // in the split
  std::uint32_t relevant = 0;             // documents with a label above 0
  std::optional<MetricSet> metrics = {};  // as they count in the means; absent if they don't
  std::span<const Doc> ranking = {};      // all its documents, best first; borrowed for the call
  std::span<const float> scores = {};     // one per document, likewise
};

// How evaluate measures.
struct EvaluateOptions {
  NoRelevant no_relevant = NoRelevant::kSkip;  // queries without a relevant document
  std::uint64_t seed = 1;                      // orders equal scores
  // If set, is called with each query in order, also those without a relevant document, which are
  // ranked for it alone; the means are the same with and without it. evaluate ends with its first
  // failure.
  std::function<Result<void>(const QueryResult&)> each_query = {};
};

// Every metric's mean over the split's queries, each ranked by the ranker's scores. `max_label` is
// the dataset's. Fails if the split has another number of features than the ranker reads or a label
// above max_label, and at the first score that is not finite, naming query and document. Does not
// change the ranker's parameters; it must not be in use elsewhere meanwhile. Deterministic in the
// options.
PLACKETT_EXPORT Result<MetricMeans> evaluate(Ranker& ranker, const Split& split,
                                             std::uint32_t max_label,
                                             const EvaluateOptions& options = {});

// One metric of two rankers, query by query. What depends on the differences' spread is NaN if
// there are fewer than two queries.
struct PairedContrast {
  double difference = 0;     // the first's mean minus the second's
  double half_width = 0;     // of its 95 % confidence interval
  double t = 0;              // of the paired t-test
  double degrees = 0;        // of freedom
  double p = 0;              // two-tailed
  std::uint64_t wins = 0;    // queries where the first is better
  std::uint64_t ties = 0;    // where both are the same
  std::uint64_t losses = 0;  // where the second is better
};

// Compares the metrics of the same queries, in the same order. Requires: as many of one as of the
// other.
PLACKETT_EXPORT PairedContrast contrast(std::span<const MetricSet> one,
                                        std::span<const MetricSet> other, Metric metric);

}  // namespace plackett
