// What one reading of a log adds up about each policy.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

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

// Over lists with their candidates; p is the probability to be kept.
struct RankSums {
  double lists = 0;
  double weight = 0;          // W / p
  double squared_weight = 0;  // (W / p)^2
  double gain = 0;            // of W / p times the gain
  double logged = 0;          // of the gain / p
  double keep = 0;            // 1 / p
  double squared_keep = 0;    // 1 / p^2
  double cross = 0;           // W / p^2

  void add(double w, double p, double gained) {
    lists += 1;
    weight += w / p;
    squared_weight += w / p * (w / p);
    gain += w / p * gained;
    logged += gained / p;
    keep += 1 / p;
    squared_keep += 1 / (p * p);
    cross += w / (p * p);
  }
  void merge(const RankSums& other) {
    lists += other.lists;
    weight += other.weight;
    squared_weight += other.squared_weight;
    gain += other.gain;
    logged += other.logged;
    keep += other.keep;
    squared_keep += other.squared_keep;
    cross += other.cross;
  }
  [[nodiscard]] double effective_lists() const {
    return squared_weight > 0 ? weight * weight / squared_weight : 0.0;
  }
  // The mean of W over lists, and its standard error. Its expectation is 1: less means that the log
  // lacks some of what the policy would show.
  [[nodiscard]] double mean() const { return keep > 0 ? weight / keep : 0.0; }
  [[nodiscard]] double mean_error() const {
    const double m = mean();
    const double squares = squared_weight - 2 * m * cross + m * m * squared_keep;
    return keep > 0 ? std::sqrt(std::max(0.0, squares)) / keep : 0.0;
  }
};

// Of one policy.
struct PolicySums {
  explicit PolicySums(std::size_t logs) : resampled(kMeans.size(), logs) {}

  void grow(std::size_t rank_count) {
    if (rank_count <= ranks.size()) return;
    ranks.resize(rank_count);
    resampled.grow(gain_at(rank_count));
  }
  void merge(const PolicySums& other) {
    for (std::size_t at = 0; at < kMeans.size(); ++at) {
      means[at].merge(other.means[at]);
      differences[at].merge(other.differences[at]);
    }
    grow(other.ranks.size());
    for (std::size_t rank = 0; rank < other.ranks.size(); ++rank) {
      ranks[rank].merge(other.ranks[rank]);
    }
    exposure.merge(other.exposure);
    weighted.merge(other.weighted);
    exposed.merge(other.exposed);
    for (std::size_t at = 0; at < kMeans.size(); ++at) {
      largest_weights[at] = std::max(largest_weights[at], other.largest_weights[at]);
    }
    resampled.merge(other.resampled);
  }
  // Quantities of `resampled`.
  static std::size_t mean_at(std::size_t at) { return at; }
  static std::size_t gain_at(std::size_t rank) { return kMeans.size() + 2 * rank; }
  static std::size_t weight_at(std::size_t rank) { return kMeans.size() + 2 * rank + 1; }

  std::array<Moments, kMeans.size()> means;
  std::array<Moments, kMeans.size()> differences;       // from what the lists were worth
  std::array<double, kMeans.size()> largest_weights{};  // of a gain, over all lists and ranks
  Moments weighted;  // the sizes of what prefix IPS is the mean of
  Moments exposed;   // the same with the weights of ListValue::exposure
  std::vector<RankSums> ranks;
  RankSums exposure;  // of all ranks together, with the weights of ListValue::exposure
  Resampled resampled;
};

// Of all lists and policies.
struct EvaluationSums {
  EvaluationSums(std::size_t policy_count, std::size_t logs)
      : resampled(2, logs), policies(policy_count, PolicySums(logs)) {}

  void grow(std::size_t rank_count) {
    if (rank_count <= lists_with_rank.size()) return;
    lists_with_rank.resize(rank_count);
    resampled.grow(with_rank_at(rank_count));
    for (PolicySums& policy : policies) policy.grow(rank_count);
  }
  void merge(const EvaluationSums& other) {
    grow(other.lists_with_rank.size());
    kept += other.kept;
    logged.merge(other.logged);
    largest_gain = std::max(largest_gain, other.largest_gain);
    resampled.merge(other.resampled);
    for (std::size_t rank = 0; rank < other.lists_with_rank.size(); ++rank) {
      lists_with_rank[rank] += other.lists_with_rank[rank];
    }
    for (std::size_t at = 0; at < policies.size(); ++at) policies[at].merge(other.policies[at]);
  }
  // Quantities of `resampled`.
  static constexpr std::size_t kLists = 0;
  static constexpr std::size_t kLogged = 1;
  static std::size_t with_rank_at(std::size_t rank) { return 2 + 4 * rank; }
  static std::size_t gain_at(std::size_t rank) { return 3 + 4 * rank; }
  // What lists that were not kept have more than the kept ones stand for: 0 if all are.
  static std::size_t rank_not_kept_at(std::size_t rank) { return 4 + 4 * rank; }
  static std::size_t gain_not_kept_at(std::size_t rank) { return 5 + 4 * rank; }

  // What the lists were worth in a resampled log.
  [[nodiscard]] double logged_at(std::size_t log) const {
    return resampled.at(kLogged, log) / resampled.at(kLists, log);
  }

  std::uint64_t kept = 0;
  Moments logged;
  double largest_gain = 0;  // of a list, whatever its sign
  std::vector<double> lists_with_rank;
  Resampled resampled;
  std::vector<PolicySums> policies;
};

}  // namespace plackett
