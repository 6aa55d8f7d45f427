// What another policy would have been worth, estimated from lists that were shown: off-policy
// evaluation. docs/off_policy.md says when an estimate can be trusted.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plackett/export.h"
#include "plackett/index.h"
#include "plackett/logged_list.h"
#include "plackett/option.h"
#include "plackett/ranker.h"
#include "plackett/result.h"

namespace plackett {

// What a list is worth: a sum over its ranks.
enum class ValueMetric : std::uint8_t {
  kClicks,        // clicks
  kClickThrough,  // 1 if there was a click
  kDcg,           // of clicks: 1 / log2(rank + 1) each, ranks from 1
  kEvents,        // rewards of all events, by their weights
};
// "clicks", "click-through", "dcg", "events".
PLACKETT_EXPORT std::span<const std::string_view> value_metric_names();
// One of them.
PLACKETT_EXPORT std::string_view name_of(ValueMetric metric);
// From its name.
PLACKETT_EXPORT Result<ValueMetric> parse_value_metric(std::string_view name);

// How it is estimated. W_k is the probability of the first k ranks under the other policy over that
// under the policy that was logged, g_k what rank k was worth. Below a list's last rank, W_k is
// that of the last one, and g_k is 0.
enum class Estimator : std::uint8_t {
  kPrefixIps,       // mean of sum_k W_k g_k: unbiased if g_k depends on ranks 1 to k only
  kSelfNormalised,  // per rank, the weighted mean of g_k: less variance, a bias that vanishes
  kDoublyRobust,    // prefix IPS of what a regression leaves unexplained: unbiased likewise
  kExposure,        // clicks by exposure: unbiased if a click depends on item and rank only
};
// How many there are.
inline constexpr std::size_t kEstimatorCount = 4;
// "prefix-ips", "self-normalised", "doubly-robust", "exposure".
PLACKETT_EXPORT std::span<const std::string_view> estimator_names();
// One of them.
PLACKETT_EXPORT std::string_view name_of(Estimator estimator);

// How a policy would have ordered a list's candidates.
struct PolicyChoice {
  // Whether it samples from the Plackett-Luce distribution over `scores`; otherwise it shows
  // `order`.
  bool sampled = true;
  std::vector<float> scores = {};  // one per candidate
  std::vector<Doc> order = {};     // at least as many as there are sampled ranks
};

// A policy to evaluate. One thread at a time; clone() for more.
class PLACKETT_EXPORT TargetPolicy {
 public:
  virtual ~TargetPolicy() = default;
  TargetPolicy& operator=(const TargetPolicy&) = delete;
  // A copy that gives the same choices.
  [[nodiscard]] virtual std::unique_ptr<TargetPolicy> clone() const = 0;
  // Fails if a score is not finite, or if it does not know an order for this list.
  virtual Result<void> choose(const LoggedList& list, PolicyChoice& choice) = 0;

 protected:
  TargetPolicy() = default;
  TargetPolicy(const TargetPolicy&) = default;
};

// A ranker's scores divided by a temperature, sampled as a service samples; temperature 0: the
// candidates sorted by score, equal ones by id or features. Requires: temperature finite, >= 0.
PLACKETT_EXPORT std::unique_ptr<TargetPolicy> ranker_policy(const Ranker& ranker,
                                                            float temperature);
// The scores that the list was sampled by, divided by a temperature: the policy that was logged, as
// it was at each list, exploring more or less.
PLACKETT_EXPORT std::unique_ptr<TargetPolicy> logged_policy(float temperature);

// How values are estimated.
struct OffPolicyOptions {
  ValueMetric metric = ValueMetric::kClicks;  // what a list is worth
  // By their names; those that are not here are not computed.
  std::vector<std::string> estimators = {"prefix-ips", "self-normalised", "doubly-robust"};
  double level = 0.95;              // of the intervals
  std::uint32_t ranks = 0;          // only the first few count; 0: all
  std::uint32_t bootstraps = 500;   // resampled logs
  std::uint32_t least_lists = 100;  // effective lists at each rank; with fewer, none is estimated
  std::uint64_t seed = 1;           // of the resampling
  std::uint32_t threads = 0;        // 0: one per core; the bits don't depend on it
  // Exposure by rank for Estimator::kExposure; empty: estimated from the log.
  std::vector<double> examination = {};
  // Asked now and then; once it returns true, the evaluation fails with ErrorCode::kStopped.
  std::function<bool()> stop = {};
  // Told how many parts of how many were read, from any thread, one at a time.
  std::function<void(std::size_t done, std::size_t all)> progressed = {};
};
// Their declarations.
PLACKETT_EXPORT std::span<const Option<OffPolicyOptions>> off_policy_options();

// As many resampled logs have one beyond each end of a bootstrap interval at this level; with
// fewer, its ends would be those of a lower level. Requires: 0 < level < 1.
PLACKETT_EXPORT std::uint32_t least_bootstraps(double level);

// From low to high.
struct Interval {
  double low = 0;   // where it begins
  double high = 0;  // where it ends
};

// A value, or why there is none.
struct ValueEstimate {
  Estimator estimator = Estimator::kPrefixIps;  // how it was estimated
  double value = 0;                             // per list
  // Empirical Bernstein, over the range of values that the weights seen allow (for events, with the
  // largest gain seen); lists count as independent, also those of one unit.
  std::optional<Interval> bernstein = {};
  // BCa, whole units resampled; the skewness is that of lists, and 0 for kSelfNormalised.
  std::optional<Interval> bootstrap = {};
  // Likewise, of the value minus what the lists were worth as logged.
  std::optional<Interval> difference = {};
  std::string refused = {};  // why there is no value; empty if there is
};

// How much a log says about a policy at one rank.
struct RankSupport {
  std::uint64_t lists = 0;  // with this rank and their candidates
  // (sum W)^2 / sum W^2 of these lists, over their share of all lists with candidates.
  double effective_lists = 0;
  double mean_weight = 0;  // of W: near 1 if the log has what the policy would show
};

// What a log says about a policy.
struct PolicyValue {
  std::string name = {};                      // its NamedPolicy's
  std::vector<RankSupport> ranks = {};        // from the first
  std::vector<ValueEstimate> estimates = {};  // one per estimator that was asked for
};

// What a log says about policies.
struct OffPolicyReport {
  std::uint64_t lists = 0;  // evaluated on
  std::uint64_t kept = 0;   // of them, with their candidates
  double logged = 0;        // their mean value, as it was
  // Its bootstrap interval; none while fewer than 50 effective lists have a value, or while lists
  // come from fewer than 50 effective units.
  std::optional<Interval> logged_interval = {};
  std::vector<double> examination{};       // by rank, the first is 1; empty if there is none
  std::string no_examination = {};         // why
  std::vector<PolicyValue> policies = {};  // in the order given
};

// A policy and its name.
struct NamedPolicy {
  std::string name = {};                 // for messages and the report
  const TargetPolicy* policy = nullptr;  // its owner keeps it
};

// Reads the log once, and once more for exposure; the regression of "doubly-robust" reads 32 parts
// of it before. A function of (log, policies, options),
// to the bit; memory does not grow with the log. Fails if an option is not allowed, or the
// resampled logs are too few for the level, the log has no list with its candidates, can't be read,
// or a policy fails.
PLACKETT_EXPORT Result<OffPolicyReport> off_policy(LoggedLists& lists,
                                                   std::span<const NamedPolicy> policies,
                                                   const OffPolicyOptions& options);

}  // namespace plackett
