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

struct EvaluateOptions {
  NoRelevant no_relevant = NoRelevant::kSkip;
  std::uint64_t seed = 1;  // orders equal scores
};

// Every metric's mean over the split's queries. `max_label` is the dataset's. Fails where the
// split has other features than the ranker reads, or a score is not finite.
PLACKETT_EXPORT Result<MetricMeans> evaluate(Ranker& ranker, const Split& split,
                                             std::uint32_t max_label,
                                             const EvaluateOptions& options = {});

}  // namespace plackett
