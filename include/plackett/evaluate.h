// How well a ranker ranks queries whose labels are known.
#pragma once

#include <cstdint>

#include "plackett/dataset.h"
#include "plackett/export.h"
#include "plackett/metrics.h"
#include "plackett/no_relevant.h"
#include "plackett/ranker.h"
#include "plackett/result.h"

namespace plackett {

// Options of evaluate.
struct EvaluateOptions {
  NoRelevant no_relevant = NoRelevant::kSkip;  // queries without a relevant document
  std::uint64_t seed = 1;                      // orders equal scores
};

// Every metric's mean over the split's queries, each ranked by the ranker's scores. `max_label` is
// the dataset's. Fails if the split's number of features is not the ranker's, if a label is above
// max_label, and at the first score that is not finite; the error names query and document. The
// ranker's parameters stay as they are; no other thread may use it meanwhile. Deterministic in the
// options.
PLACKETT_EXPORT Result<MetricMeans> evaluate(Ranker& ranker, const Split& split,
                                             std::uint32_t max_label,
                                             const EvaluateOptions& options = {});

}  // namespace plackett
