// What one reading of a log adds up about each policy.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "offpolicy/prefix_sums.h"
#include "offpolicy/value_sums.h"
#include "plackett/off_policy.h"

namespace plackett {

// A sum per resampled log, for each of some quantities.
class Resampled {
 public:
  Resampled(std::size_t quantities, std::size_t logs) : logs_(logs), sums_(quantities * logs) {}

  void grow(std::size_t quantities) {
    if (sums_.size() < quantities * logs_) sums_.resize(quantities * logs_);
  }
  void add(std::size_t quantity, double value, std::span<const double> counts) {
    if (value == 0) return;
    double* sums = sums_.data() + quantity * logs_;
    for (std::size_t log = 0; log < logs_; ++log) sums[log] += value * counts[log];
  }
  void merge(const Resampled& other) {
    if (sums_.size() < other.sums_.size()) sums_.resize(other.sums_.size());
    for (std::size_t at = 0; at < other.sums_.size(); ++at) sums_[at] += other.sums_[at];
  }
  [[nodiscard]] double at(std::size_t quantity, std::size_t log) const {
    return sums_[quantity * logs_ + log];
  }

 private:
  std::size_t logs_;
  std::vector<double> sums_;
};

// Estimators that are a mean over lists.
inline constexpr std::array kMeans{Estimator::kPrefixIps, Estimator::kDoublyRobust,
                                   Estimator::kExposure};

// Of one policy.
struct PolicySums {
  explicit PolicySums(std::size_t logs) : resampled(kEnded, logs) {}

  void merge(const PolicySums& other) {
    for (std::size_t at = 0; at < kMeans.size(); ++at) {
      means[at].merge(other.means[at]);
      differences[at].merge(other.differences[at]);
    }
    prefixes.merge(other.prefixes);
    exposure.merge(other.exposure);
    weighted.merge(other.weighted);
    exposed.merge(other.exposed);
    for (std::size_t at = 0; at < kMeans.size(); ++at) {
      largest_weights[at] = std::max(largest_weights[at], other.largest_weights[at]);
    }
    resampled.merge(other.resampled);
  }
  // Quantities of `resampled`. The weights are those of lists that end with so many ranks, and at a
  // rank those of lists that have more.
  static std::size_t mean_at(std::size_t at) { return at; }
  static constexpr std::size_t kExposure = kMeans.size();  // the weights of `exposure`
  static constexpr std::size_t kEnded = kExposure + 1;
  static std::size_t weight_of_ended_at(std::size_t ranks) { return kEnded + 3 * ranks; }
  static std::size_t weight_of_longer_at(std::size_t rank) { return kEnded + 3 * rank + 1; }
  static std::size_t gain_at(std::size_t rank) { return kEnded + 3 * rank + 2; }
  void grow(std::size_t rank_count) { resampled.grow(weight_of_ended_at(rank_count) + 1); }

  std::array<Moments, kMeans.size()> means;
  std::array<Moments, kMeans.size()> differences;       // from what the lists were worth
  std::array<double, kMeans.size()> largest_weights{};  // of a gain, over all lists and ranks
  Moments weighted;  // the sizes of what prefix IPS is the mean of
  Moments exposed;   // the same with the weights of ListValue::exposure
  PrefixSums prefixes;
  RankSums exposure;  // of all ranks together, with the weights of ListValue::exposure
  Resampled resampled;
};

// Of all lists and policies.
struct EvaluationSums {
  EvaluationSums(std::size_t policy_count, std::size_t logs)
      : resampled(kGains, logs), policies(policy_count, PolicySums(logs)) {}

  void grow(std::size_t rank_count) {
    shown.grow(rank_count);
    resampled.grow(gain_at(shown.ranks()));
    for (PolicySums& policy : policies) policy.grow(rank_count);
  }
  void merge(const EvaluationSums& other) {
    grow(other.shown.ranks());
    kept += other.kept;
    logged.merge(other.logged);
    largest_gain = std::max(largest_gain, other.largest_gain);
    shown.merge(other.shown);
    resampled.merge(other.resampled);
    for (std::size_t at = 0; at < policies.size(); ++at) policies[at].merge(other.policies[at]);
  }
  // Quantities of `resampled`. Of lists with their candidates: 1 / keep, and the gain of a rank
  // over keep.
  static constexpr std::size_t kLists = 0;
  static constexpr std::size_t kLogged = 1;
  static constexpr std::size_t kKeep = 2;
  static constexpr std::size_t kGains = 3;
  static std::size_t gain_at(std::size_t rank) { return kGains + rank; }

  // What the lists were worth in a resampled log.
  [[nodiscard]] double logged_at(std::size_t log) const {
    return resampled.at(kLogged, log) / resampled.at(kLists, log);
  }

  std::uint64_t kept = 0;
  Moments logged;
  double largest_gain = 0;  // of a list, whatever its sign
  ShownRanks shown;
  Resampled resampled;
  std::vector<PolicySums> policies;
};

}  // namespace plackett
