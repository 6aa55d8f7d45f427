// From the sums over a log to values, intervals and refusals.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "offpolicy/estimators.h"
#include "offpolicy/evaluation_sums.h"
#include "plackett/off_policy.h"

namespace plackett {

// What is known of examination by rank.
struct Examination {
  std::vector<double> by_rank = {};  // empty if there is none
  std::string why_none = {};
};

// Requires: sums.kept > 0.
OffPolicyReport evaluation_report(const EvaluationSums& sums, std::span<const NamedPolicy> policies,
                                  const OffPolicyOptions& options, const Estimators& asked,
                                  const Examination& examination);

}  // namespace plackett
