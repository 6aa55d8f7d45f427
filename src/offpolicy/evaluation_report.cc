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
        examination_(examination),
        stakes_(sums.shown.stakes()),
        few_units_(units_lack("lists", sums.logged.count, [&sums](std::size_t log) {
          return sums.resampled.at(EvaluationSums::kLists, log);
        })) {}

  [[nodiscard]] OffPolicyReport make() const {
    OffPolicyReport made;
    made.lists = static_cast<std::uint64_t>(sums_.logged.count);
    made.kept = sums_.kept;
    made.logged = sums_.logged.mean();
    if (few_units_.empty() && sums_.logged.deciding() >= kValued) {
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
  // Units whose lists are independent: an interval from fewer is too narrow, as in a live test.
  static constexpr double kUnits = 50;

  // Empty if enough units make a sum over lists, which is `sum`, and in a resampled log
  // resampled(log). Its variance over those is the sum of squares of the units' shares.
  template <typename Resampled>
  [[nodiscard]] std::string units_lack(std::string_view what, double sum,
                                       const Resampled& resampled) const {
    double squares = 0;
    for (std::size_t log = 0; log < options_.bootstraps; ++log) {
      const double off = resampled(log) - sum;
      squares += off * off / options_.bootstraps;
    }
    const double units = sum * sum / squares;
    if (!(squares > 0) || units >= kUnits) return {};
    return fmt::format(
        "{} come from few units, as many as {:.0f} equal ones; at least {:.0f} are needed: a unit "
        "is one user, and a list without one counts alone",
        what, std::max(1.0, std::floor(units)), kUnits);
  }

  // The same of a policy's weights. With `exposed`, of those of ListValue::exposure.
  [[nodiscard]] std::string weighted_units_lack(const PolicySums& own, bool exposed) const {
    if (!few_units_.empty()) return few_units_;
    if (exposed) {
      return units_lack("weighted lists", own.exposure.weight, [&own](std::size_t log) {
        return own.resampled.at(PolicySums::kExposure, log);
      });
    }
    if (own.prefixes.ranks() == 0) return {};
    return units_lack("weighted lists", own.prefixes.of_all().back().weight,
                      [&own](std::size_t log) {
                        double ended = 0;
                        for (std::size_t ranks = 0; ranks <= own.prefixes.ranks(); ++ranks) {
                          ended += own.resampled.at(PolicySums::weight_of_ended_at(ranks), log);
                        }
                        return ended;
                      });
  }

  // The value lies in these bounds, so its interval does, too.
  [[nodiscard]] Interval bounded(Interval interval) const {
    if (options_.metric == ValueMetric::kEvents) return interval;
    interval.low = std::max(interval.low, 0.0);
    double most = 0;
    for (std::size_t rank = 0; rank < sums_.shown.ranks(); ++rank) {
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
    std::string off;
    for (std::size_t rank = 0; rank < own.prefixes.ranks(); ++rank) {
      const RankSums sum = own.prefixes.with_rank(rank);
      made.ranks.push_back(
          {static_cast<std::uint64_t>(sum.lists), own.prefixes.effective_lists(rank), sum.mean()});
      if (made.ranks[rank].effective_lists < made.ranks[weakest].effective_lists) weakest = rank;
      if (off.empty()) off = weights_are_off(sum, rank, stakes_[rank]);
    }
    std::string too_few;
    if (!made.ranks.empty()) {
      too_few = support_lacks(own.prefixes.with_rank(weakest), own.prefixes.lists(), weakest);
    }
    if (too_few.empty()) too_few = off;
    if (too_few.empty()) too_few = weighted_units_lack(own, false);
    for (std::size_t at = 0; at < kEstimatorCount; ++at) {
      if (!asked_[at]) continue;
      ValueEstimate estimate{.estimator = static_cast<Estimator>(at)};
      if (estimate.estimator == Estimator::kExposure) {
        estimate.refused = examination_.why_none;
        // Ranks don't count one by one here: the last one's place stands for all.
        const std::size_t ranks = examination_.by_rank.size();
        const std::size_t last = ranks == 0 ? 0 : ranks - 1;
        if (estimate.refused.empty())
          estimate.refused = support_lacks(own.exposure, own.exposure.lists, last);
        if (estimate.refused.empty()) estimate.refused = weights_are_off(own.exposure, last, 1);
        if (estimate.refused.empty()) estimate.refused = weighted_units_lack(own, true);
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

  // Empty if the rank has enough, for the share of all `lists` that have it.
  [[nodiscard]] std::string support_lacks(const RankSums& sums, double lists,
                                          std::size_t rank) const {
    const double share = lists > 0 ? sums.lists / lists : 1.0;
    const double needed = options_.least_lists * share;
    if (sums.effective_lists() >= needed) return {};
    const std::string of_all = share < 1 ? fmt::format(" of {:.0f}", lists) : "";
    return fmt::format(
        "at rank {} {:.0f}{} lists say as much as {:.0f} of the policy's own; at least {:.0f} are "
        "needed: "
        "log more, evaluate fewer ranks, or a policy closer to the one that was logged",
        rank + 1, sums.lists, of_all, std::floor(sums.effective_lists()), std::ceil(needed));
  }

  // Empty if the mean weight of the rank, over lists that have it, is near 1, its expectation.
  // Rankings that a policy would show and that never came up have no weight, so effective lists
  // alone don't tell.
  [[nodiscard]] static std::string weights_are_off(const RankSums& sums, std::size_t rank,
                                                   double stake) {
    constexpr double kErrors = 4;       // standard errors that it may be lower by
    constexpr double kErrorsAbove = 5;  // or higher
    const double lacking = 1 - sums.mean();
    const double error = sums.mean_error();
    if (stake * lacking > kNegligibleStake && lacking > kErrors * error) {
      return fmt::format(
          "the log lacks {:.0f} % of what the policy would show up to rank {} (mean weight {:.2f}; "
          "expected 1): explore more, or evaluate a policy closer to the one that was logged",
          100 * lacking, rank + 1, sums.mean());
    }
    if (stake * -lacking > kNegligibleStake && -lacking > kErrorsAbove * error) {
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

  // By how much the weighted mean of a rank, over all lists, differs from what the kept ones were
  // worth there: 0 to the bit if the policy is the logged one.
  struct RankTotals {
    double gain = 0;  // and the rest of kept lists
    double weight = 0;
    double logged = 0;
    double keep = 0;
  };
  static double rank_correction(const RankTotals& sums) {
    if (!(sums.weight > 0) || !(sums.keep > 0)) return 0;
    return sums.gain / sums.weight - sums.logged / sums.keep;
  }

  void fill_self_normalised(const PolicySums& own, ValueEstimate& estimate) const {
    estimate.value = sums_.logged.mean();
    for (const RankSums& rank : own.prefixes.of_all()) {
      estimate.value += rank_correction({rank.gain, rank.weight, rank.logged, rank.keep});
    }
    const auto resampled = [&](std::size_t log) {
      double value = sums_.logged_at(log);
      double ended = own.resampled.at(PolicySums::weight_of_ended_at(0), log);
      for (std::size_t rank = 0; rank < own.prefixes.ranks(); ++rank) {
        ended += own.resampled.at(PolicySums::weight_of_ended_at(rank + 1), log);
        value +=
            rank_correction({own.resampled.at(PolicySums::gain_at(rank), log),
                             own.resampled.at(PolicySums::weight_of_longer_at(rank), log) + ended,
                             sums_.resampled.at(EvaluationSums::gain_at(rank), log),
                             sums_.resampled.at(EvaluationSums::kKeep, log)});
      }
      return value;
    };
    fill_intervals(resampled, 0, 0, estimate);
  }

  void fill(const PolicySums& own, ValueEstimate& estimate) const {
    if (estimate.estimator == Estimator::kSelfNormalised) {
      return fill_self_normalised(own, estimate);
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
  std::vector<double> stakes_;  // ShownRanks'
  std::string few_units_;       // why lists of all units are too few
};

}  // namespace

OffPolicyReport evaluation_report(const EvaluationSums& sums, std::span<const NamedPolicy> policies,
                                  const OffPolicyOptions& options, const Estimators& asked,
                                  const Examination& examination) {
  return Report(sums, policies, options, asked, examination).make();
}

}  // namespace plackett
