#include "offpolicy/evaluation_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "offpolicy/list_value.h"

namespace plackett {
namespace {

class Report {
 public:
  Report(const EvaluationSums& sums, std::span<const NamedPolicy> policies,
         const OffPolicyOptions& options, const Estimators& asked, const Examination& examination)
      : sums_(sums),
        policies_(policies),
        options_(options),
        asked_(asked),
        examination_(examination) {}

  [[nodiscard]] OffPolicyReport make() const {
    OffPolicyReport made;
    made.lists = static_cast<std::uint64_t>(sums_.logged.count);
    made.kept = sums_.kept;
    made.logged = sums_.logged.mean();
    if (sums_.logged.deciding() >= kValued) {
      made.logged_interval = bounded(resampled_interval(
          made.logged, [&](std::size_t log) { return sums_.logged_at(log); },
          sums_.logged.skewness()));
    }
    made.examination = examination_.by_rank;
    made.no_examination = examination_.why_none;
    for (std::size_t at = 0; at < policies_.size(); ++at) {
      made.policies.push_back(value_of(at));
    }
    return made;
  }

 private:
  // Lists with a value that an interval needs: with fewer, rare ones may not have come yet.
  static constexpr double kValued = 50;

  // The value lies in these bounds, so its interval does, too.
  [[nodiscard]] Interval bounded(Interval interval) const {
    if (options_.metric == ValueMetric::kEvents) return interval;
    interval.low = std::max(interval.low, 0.0);
    double most = 0;
    for (std::size_t rank = 0; rank < sums_.lists_with_rank.size(); ++rank) {
      most += rank_discount(options_.metric, rank);
    }
    if (options_.metric == ValueMetric::kClickThrough) most = 1;
    interval.high = std::min(interval.high, most);
    interval.low = std::min(interval.low, interval.high);
    return interval;
  }

  template <typename Value>
  [[nodiscard]] Interval resampled_interval(double value, const Value& resampled,
                                            double skewness) const {
    std::vector<double> values;
    for (std::size_t log = 0; log < options_.bootstraps; ++log) {
      if (const double one = resampled(log); std::isfinite(one)) values.push_back(one);
    }
    if (values.empty()) return {value, value};
    return bootstrap_interval(value, values, skewness, sums_.logged.count, options_.level);
  }

  [[nodiscard]] PolicyValue value_of(std::size_t policy) const {
    const PolicySums& own = sums_.policies[policy];
    PolicyValue made;
    made.name = policies_[policy].name;
    std::size_t weakest = 0;
    for (std::size_t rank = 0; rank < own.ranks.size(); ++rank) {
      const RankSums& sum = own.ranks[rank];
      made.ranks.push_back(
          {static_cast<std::uint64_t>(sum.lists), sum.effective_lists(), sum.mean()});
      if (made.ranks[rank].effective_lists < made.ranks[weakest].effective_lists) weakest = rank;
    }
    std::string too_few = support_lacks(own.ranks[weakest], weakest);
    for (std::size_t rank = 0; rank < own.ranks.size() && too_few.empty(); ++rank) {
      too_few = weights_are_off(own.ranks[rank], rank);
    }
    for (std::size_t at = 0; at < kEstimatorCount; ++at) {
      if (!asked_[at]) continue;
      ValueEstimate estimate{.estimator = static_cast<Estimator>(at)};
      if (estimate.estimator == Estimator::kExposure) {
        estimate.refused = examination_.why_none;
        // Ranks don't count one by one here: the last one's place stands for all.
        const std::size_t last = own.ranks.empty() ? 0 : own.ranks.size() - 1;
        if (estimate.refused.empty()) estimate.refused = support_lacks(own.exposure, last);
        if (estimate.refused.empty()) estimate.refused = weights_are_off(own.exposure, last);
        if (estimate.refused.empty()) estimate.refused = values_lack(own.exposed);
      } else {
        estimate.refused = too_few;
        if (estimate.refused.empty()) estimate.refused = values_lack(own.weighted);
      }
      if (estimate.refused.empty()) fill(own, estimate);
      made.estimates.push_back(std::move(estimate));
    }
    return made;
  }

  // Empty if enough lists have a value: as logged, where few events may be worth most, and
  // weighted.
  [[nodiscard]] std::string values_lack(const Moments& weighted) const {
    const double least = std::min(sums_.logged.deciding(), weighted.effective());
    if (least >= kValued) return {};
    return fmt::format(
        "what lists are worth comes from few of them, as many as {:.0f} equal ones; at least "
        "{:.0f} "
        "are needed: log more",
        std::floor(least), kValued);
  }

  // Empty if the rank has enough.
  [[nodiscard]] std::string support_lacks(const RankSums& sums, std::size_t rank) const {
    if (sums.effective_lists() >= options_.least_lists) return {};
    return fmt::format(
        "at rank {} {:.0f} lists say as much as {:.0f} of the policy's own; at least {} are "
        "needed: "
        "log more, evaluate fewer ranks, or a policy closer to the one that was logged",
        rank + 1, sums.lists, std::floor(sums.effective_lists()), options_.least_lists);
  }

  // Empty if the mean weight of the rank is near 1, its expectation. Rankings that a policy would
  // show and that never came up have no weight, so effective lists alone don't tell.
  [[nodiscard]] static std::string weights_are_off(const RankSums& sums, std::size_t rank) {
    constexpr double kErrors = 4;       // standard errors that it may be lower by
    constexpr double kErrorsAbove = 5;  // or higher
    constexpr double kNegligible = 0.01;
    const double lacking = 1 - sums.mean();
    if (lacking > std::max(kNegligible, kErrors * sums.mean_error())) {
      return fmt::format(
          "the log lacks {:.0f} % of what the policy would show up to rank {} (mean weight {:.2f}; "
          "expected 1): explore more, or evaluate a policy closer to the one that was logged",
          100 * lacking, rank + 1, sums.mean());
    }
    if (-lacking > std::max(kNegligible, kErrorsAbove * sums.mean_error())) {
      return fmt::format(
          "the policy shows what was logged up to rank {} more often than by chance (mean weight "
          "{:.2f}; expected 1): a policy must not know the order that was shown",
          rank + 1, sums.mean());
    }
    return {};
  }

  // Both intervals of a value that resampled(log) gives for each resampled log.
  template <typename Value>
  void fill_intervals(const Value& resampled, double skewness, double difference_skewness,
                      ValueEstimate& estimate) const {
    estimate.bootstrap = bounded(resampled_interval(estimate.value, resampled, skewness));
    estimate.difference = resampled_interval(
        estimate.value - sums_.logged.mean(),
        [&](std::size_t log) { return resampled(log) - sums_.logged_at(log); },
        difference_skewness);
  }

  // By how much the weighted mean of a rank differs from what the kept lists were worth there, as
  // often as lists have it: 0 to the bit if the policy is the logged one.
  struct RankTotals {
    double share = 0;  // of lists
    double gain = 0;   // and the rest of kept lists
    double weight = 0;
    double logged = 0;
    double keep = 0;
  };
  static double rank_correction(const RankTotals& sums) {
    if (!(sums.weight > 0) || !(sums.keep > 0)) return 0;
    return sums.share * (sums.gain / sums.weight - sums.logged / sums.keep);
  }

  void fill(const PolicySums& own, ValueEstimate& estimate) const {
    if (estimate.estimator == Estimator::kSelfNormalised) {
      estimate.value = sums_.logged.mean();
      for (std::size_t rank = 0; rank < own.ranks.size(); ++rank) {
        const RankSums& sum = own.ranks[rank];
        estimate.value += rank_correction({sums_.lists_with_rank[rank] / sums_.logged.count,
                                           sum.gain, sum.weight, sum.logged, sum.keep});
      }
      const auto resampled = [&](std::size_t log) {
        const auto at = [&](std::size_t quantity) { return sums_.resampled.at(quantity, log); };
        double value = sums_.logged_at(log);
        for (std::size_t rank = 0; rank < own.ranks.size(); ++rank) {
          const double lists = at(EvaluationSums::with_rank_at(rank));
          value += rank_correction(
              {lists / at(EvaluationSums::kLists), own.resampled.at(PolicySums::gain_at(rank), log),
               own.resampled.at(PolicySums::weight_at(rank), log),
               at(EvaluationSums::gain_at(rank)) - at(EvaluationSums::gain_not_kept_at(rank)),
               lists - at(EvaluationSums::rank_not_kept_at(rank))});
        }
        return value;
      };
      fill_intervals(resampled, 0, 0, estimate);
      return;
    }
    const auto at = static_cast<std::size_t>(
        std::find(kMeans.begin(), kMeans.end(), estimate.estimator) - kMeans.begin());
    Moments moments = own.means[at];
    estimate.value = moments.mean();
    if (options_.metric == ValueMetric::kEvents) {
      const double most = own.largest_weights[at] * sums_.largest_gain;
      moments.greatest = std::max(moments.greatest, moments.least + most);
    }
    if (moments.count >= 2) {
      estimate.bernstein = bounded(bernstein_interval(moments, options_.level));
    }
    const auto resampled = [&](std::size_t log) {
      return own.resampled.at(PolicySums::mean_at(at), log) /
             sums_.resampled.at(EvaluationSums::kLists, log);
    };
    fill_intervals(resampled, moments.skewness(), own.differences[at].skewness(), estimate);
  }

  const EvaluationSums& sums_;
  std::span<const NamedPolicy> policies_;
  const OffPolicyOptions& options_;
  const Estimators& asked_;
  const Examination& examination_;
};

}  // namespace

OffPolicyReport evaluation_report(const EvaluationSums& sums, std::span<const NamedPolicy> policies,
                                  const OffPolicyOptions& options, const Estimators& asked,
                                  const Examination& examination) {
  return Report(sums, policies, options, asked, examination).make();
}

}  // namespace plackett
