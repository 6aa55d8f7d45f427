// How well a ranker ranks queries with known labels.
#pragma once

#include <cstdint>

#include "plackett/dataset.h"
#include "plackett/export.h"
#include "plackett/metrics.h"
#include "plackett/no_relevant.h"
#include "plackett/ranker.h"
#include "plackett/result.h"

namespace plackett {

// How evaluate measures.
struct EvaluateOptions {
  NoRelevant no_relevant = NoRelevant::kSkip;  // queries without a relevant document
  std::uint64_t seed = 1;                      // orders equal scores
};

// Every metric's mean over the split's queries, each ranked by the ranker's scores. `max_label` is
// the dataset's. Fails if the split has another number of features than the ranker reads or a label
// above max_label, and at the first score that is not finite, naming query and document. Does not
// change the ranker's parameters; it must not be in use elsewhere meanwhile. Deterministic in the
// options.
PLACKETT_EXPORT Result<MetricMeans> evaluate(Ranker& ranker, const Split& split,
                                             std::uint32_t max_label,
                                             const EvaluateOptions& options = {});

}  // namespace plackett
