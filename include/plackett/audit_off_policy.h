// Checks off-policy estimators (off_policy.h) exactly: enumerates every ranking and every click
// pattern of a small case, and compares the expectation of each estimate with the true value of the
// policy. And measures how often their intervals hold it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "plackett/audit.h"
#include "plackett/export.h"
#include "plackett/off_policy.h"
#include "plackett/result.h"
#include "plackett/user.h"

namespace plackett::audit {

// An estimator's bias counts as 0 up to this.
inline constexpr double kBiasTolerance = 1e-12;

// A logged policy, another one, and a user.
struct OffPolicyCase {
  Case logged = {};                 // scores by which lists are sampled, labels, ranks shown
  std::vector<double> target = {};  // scores of the other policy, one per document
  bool sorted = false;              // the other policy sorts by them, instead of sampling
};

// Draws as draw_case does, and the other policy's scores likewise; a quarter of the policies sort.
PLACKETT_EXPORT OffPolicyCase draw_off_policy_case(const CaseOptions& options,
                                                   std::uint32_t grade_count, Rng& rng);

// Of one estimator and one metric.
struct Bias {
  Estimator estimator = Estimator::kPrefixIps;  // whose it is
  ValueMetric metric = ValueMetric::kClicks;    // what a list is worth
  double value = 0;                             // of the other policy
  double expected = 0;  // the estimate's expectation under the logged policy
};

// For prefix IPS, doubly robust with a gain model that `rng` draws, and exposure with the
// examination that the user has for the highest label; each with clicks, click-through and dcg, but
// for exposure without click-through. Uses the estimators' own code.
// Requires: the user's pattern_probability is known. Cost: O(n! 2^n n).
PLACKETT_EXPORT std::vector<Bias> audit_off_policy(const OffPolicyCase& audited, const User& user,
                                                   Rng& rng);

// Whether a click at a rank depends on the ranks from the first to it only, in this case.
PLACKETT_EXPORT bool clicks_look_up(const Case& audited, const User& user);
// Whether it depends on document and rank only: a product of what each contributes.
PLACKETT_EXPORT bool clicks_by_position(const Case& audited, const User& user);

// How often intervals hold the true value.
struct Coverage {
  Estimator estimator = Estimator::kPrefixIps;  // whose they are
  std::uint64_t logs = 0;                       // with an estimate
  std::uint64_t refused = 0;                    // without
  std::uint64_t bernstein = 0;                  // of `logs`, those whose interval holds the value
  std::uint64_t bootstrap = 0;                  // likewise
  double bias = 0;                              // the mean of estimate minus value
};

// What coverage is measured on.
struct CoverageOptions {
  std::uint64_t logs = 1000;       // simulated
  std::uint32_t lists = 2000;      // of each
  std::uint64_t seed = 1;          // of the lists and clicks
  std::uint32_t threads = 0;       // 0: one per core
  OffPolicyOptions estimate = {};  // how each is evaluated
};

// A case and its user.
struct CoverageCase {
  OffPolicyCase audited = {};             // the policies
  std::shared_ptr<const User> user = {};  // who clicks
};

// Simulates logs, each of the next case, and evaluates each: one Coverage per estimator that is
// asked for. Requires: at least one case.
PLACKETT_EXPORT Result<std::vector<Coverage>> measure_coverage(std::span<const CoverageCase> cases,
                                                               const CoverageOptions& options);

}  // namespace plackett::audit
