#include "plackett/off_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>

#include "base/attempt.h"
#include "base/parallel.h"
#include "offpolicy/estimators.h"
#include "offpolicy/evaluation_report.h"
#include "offpolicy/evaluation_sums.h"
#include "offpolicy/examination.h"
#include "offpolicy/expected_gains.h"
#include "offpolicy/list_value.h"
#include "offpolicy/read_parts.h"

namespace plackett {
namespace {

// Any part of the log does for what the doubly robust estimate expects: it stays unbiased.
constexpr std::size_t kGainParts = 32;  // of the log: about 130,000 lists of a store

// What the estimate by exposure needs to know of the whole log.
struct ExposureSums {
  void merge(const ExposureSums& other) {
    examination.merge(other.examination);
    shown.merge(other.shown);
  }

  ShownRanks shown;
  ExaminationSums examination;
};

// Everything that the readings share.
class Evaluation {
 public:
  Evaluation(LoggedLists& lists, std::span<const NamedPolicy> policies,
             const OffPolicyOptions& options, const Estimators& asked)
      : lists_(lists),
        policies_(policies),
        options_(options),
        asked_(asked),
        threads_(thread_count(options.threads)),
        all_parts_(some_parts(lists, lists.parts())),
        gain_parts_(some_parts(lists, kGainParts)),
        gains_(lists.feature_count()) {}

  OffPolicyReport run() {
    parts_to_read_ = all_parts_.size();
    if (asked(Estimator::kDoublyRobust)) parts_to_read_ += gain_parts_.size();
    if (asked(Estimator::kExposure)) parts_to_read_ += all_parts_.size();
    if (asked(Estimator::kDoublyRobust)) expect_gains();
    if (asked(Estimator::kExposure)) settle_examination();
    const EvaluationSums sums = read_values();
    if (sums.kept == 0) {
      if (sums.logged.count > 0) {
        throw Failed{
            Error{fmt::format("{:.0f} lists, none with its other candidates; they are "
                              "kept with \"candidates\": \"all\" or a probability",
                              sums.logged.count)}};
      }
      const std::string why = lists_.why_none();
      throw Failed{Error{why.empty()
                             ? "no sampled list whose feedback is complete: lists count once their "
                               "time for feedback is up, and only sampled ones say what other "
                               "orders would have been worth"
                             : why}};
    }
    return evaluation_report(sums, policies_, options_, asked_, examination_);
  }

 private:
  [[nodiscard]] bool asked(Estimator estimator) const {
    return asked_[static_cast<std::size_t>(estimator)];
  }

  template <typename Sums, typename Make, typename Begin>
  void each_list(std::span<const std::size_t> parts, ListNeed need, Sums& sums, const Make& make,
                 const Begin& begin) {
    read_parts(lists_, parts, need, threads_, sums, make, [&](Sums& part) {
      note_part();
      return [this, since = 0U, worker = begin(part)](const LoggedList& list) mutable {
        constexpr std::uint32_t kBetweenStops = 64;
        if (++since % kBetweenStops == 0) check_stop();
        worker(first_ranks(list, options_.ranks));
      };
    });
  }

  // Tells that another part is begun.
  void note_part() {
    if (!options_.progressed) return;
    const std::lock_guard lock(progress_);
    options_.progressed(parts_begun_++, parts_to_read_);
  }

  void check_stop() {
    if (!options_.stop) return;
    const std::lock_guard lock(progress_);
    if (options_.stop()) throw Failed{{ErrorCode::kStopped, "stopped"}};
  }

  void expect_gains() {
    each_list(
        gain_parts_, ListNeed::kShown, gains_,
        [&] { return ExpectedGains(lists_.feature_count()); },
        [&](ExpectedGains& sums) {
          return [this, &sums, gains = std::vector<double>()](const LoggedList& list) mutable {
            list_gains(list, options_.metric, gains);
            sums.add(list, gains);
          };
        });
    gains_.solve();
  }

  ExposureSums read_exposure() {
    const bool needs_places = options_.examination.empty();
    ExposureSums all;
    each_list(
        all_parts_, needs_places ? ListNeed::kAll : ListNeed::kShown, all,
        [] { return ExposureSums(); },
        [&](ExposureSums& sums) {
          return [this, needs_places, &sums, places = PlaceChances(),
                  gains = std::vector<double>()](const LoggedList& list) mutable {
            list_gains(list, options_.metric, gains);
            sums.shown.add(gains);
            if (!needs_places || !list.kept || list.sampled() == 0) return;
            if (std::none_of(list.clicked.begin(), list.clicked.end(),
                             [](std::uint8_t clicked) { return clicked != 0; })) {
              return;
            }
            places.set(list.scores, list.sampled());
            sums.examination.add(list, places);
          };
        });
    return all;
  }

  void settle_examination() {
    if (options_.metric == ValueMetric::kClickThrough) {
      examination_.why_none =
          "click-through depends on all of a list; exposure values clicks, dcg and events";
      return;
    }
    const ExposureSums all = read_exposure();
    const std::size_t longest = all.shown.ranks();
    for (std::size_t rank = 0; rank < longest; ++rank) {
      discounts_.push_back(rank_discount(options_.metric, rank));
    }
    if (!options_.examination.empty()) {
      if (options_.examination.size() < longest) {
        throw Failed{Error{fmt::format("examination: {} values; lists have up to {} ranks",
                                       options_.examination.size(), longest)}};
      }
      examination_.by_rank = options_.examination;
      examination_.by_rank.resize(longest);
      return;
    }
    // A few longer lists don't say how often their last ranks are examined.
    const std::vector<double> stakes = all.shown.stakes();
    const auto matter = std::count_if(stakes.begin(), stakes.end(),
                                      [](double stake) { return stake > kNegligibleStake; });
    auto solved = all.examination.solve(std::max(1U, static_cast<std::uint32_t>(matter)));
    if (solved) {
      examination_.by_rank = *std::move(solved);
    } else {
      examination_.why_none = solved.error().message;
    }
  }

  // One thread's part of the reading that gives the values.
  class Worker {
   public:
    Worker(const Evaluation& all, EvaluationSums& sums)
        : all_(all), sums_(sums), counts_(all.options_.bootstraps) {
      for (const NamedPolicy& named : all.policies_) policies_.push_back(named.policy->clone());
    }

    void add(const LoggedList& list) {
      list_gains(list, all_.options_.metric, gains_);
      sums_.grow(gains_.size());
      resample(all_.options_.seed, list.unit, counts_);
      double logged = 0;
      for (const double gain : gains_) logged += gain;
      sums_.logged.add(logged);
      double gained = 0;
      for (const double gain : gains_) gained += std::abs(gain);
      sums_.largest_gain = std::max(sums_.largest_gain, gained);
      sums_.resampled.add(EvaluationSums::kLists, 1, counts_);
      sums_.resampled.add(EvaluationSums::kLogged, logged, counts_);
      sums_.shown.add(gains_);
      if (list.kept) {
        ++sums_.kept;
        resample_kept(list);
        prepare(list);
        for (std::size_t at = 0; at < policies_.size(); ++at) add_kept(list, at, logged);
      } else {
        for (PolicySums& sums : sums_.policies) {
          sums.weighted.add(std::abs(logged));
          sums.exposed.add(std::abs(logged));
          for (std::size_t at = 0; at < kMeans.size(); ++at) {
            if (!all_.asked(kMeans[at])) continue;
            add_mean(sums, at, logged, 0);
            sums.means[at].allow(0, most_gained());
            sums.largest_weights[at] = std::max(sums.largest_weights[at], 1.0);
          }
        }
      }
    }

   private:
    // What self-normalised values are corrected from.
    void resample_kept(const LoggedList& list) {
      if (!all_.asked(Estimator::kSelfNormalised)) return;
      sums_.resampled.add(EvaluationSums::kKeep, 1 / list.keep, counts_);
      for (std::size_t rank = 0; rank < gains_.size(); ++rank) {
        sums_.resampled.add(EvaluationSums::gain_at(rank), 1 / list.keep * gains_[rank], counts_);
      }
    }

    // What does not depend on the policy.
    void prepare(const LoggedList& list) {
      const std::size_t examined = all_.examination_.by_rank.size();
      if (const std::uint32_t places = sampled_in(list, examined); places > 0) {
        places_.set(list.scores, places);
      }
      if (all_.asked(Estimator::kDoublyRobust)) {
        expected_ = all_.gains_.of(list, gains_.size(), scratch_);
      }
    }

    void add_kept(const LoggedList& list, std::size_t policy, double logged) {
      PolicySums& sums = sums_.policies[policy];
      auto chosen = policies_[policy]->choose(list, choice_);
      if (!chosen) throw Failed{chosen.error().in(all_.policies_[policy].name)};
      value_.set(list, choice_, gains_);
      for (std::size_t at = 0; at < kMeans.size(); ++at) {
        if (!all_.asked(kMeans[at])) continue;
        double value = 0;
        double without = 0;  // the value without a click
        double most = 0;     // what clicks at all ranks add to it
        double largest = 0;  // weight of a gain
        if (kMeans[at] == Estimator::kExposure) {
          if (!all_.examination_.by_rank.empty()) {
            const auto exposed =
                value_.exposure(all_.discounts_, all_.examination_.by_rank, places_);
            value = exposed.value;
            most = exposed.most;
            largest = exposed.largest_ratio;
            sums.exposure.add(exposed.weight, list.keep, 0);
            sums.resampled.add(PolicySums::kExposure, exposed.weight / list.keep, counts_);
            sums.exposed.add(std::abs(logged + (value - logged) / list.keep));
          }
        } else {
          const double weighted = value_.prefix_ips();
          value = kMeans[at] == Estimator::kPrefixIps ? weighted : value_.doubly_robust(expected_);
          without = value - weighted;
          most = most_weighted();
          for (const double weight : value_.weights()) largest = std::max(largest, weight);
        }
        // As it was logged, corrected where the candidates are known: exact if both agree, and
        // unbiased, since which lists were kept was drawn apart.
        add_mean(sums, at, logged, (value - logged) / list.keep);
        // Each gain counts once as logged, which is taken away 1 / keep times where it was kept.
        const double taken = (1 / list.keep - 1) * most_gained();
        sums.means[at].allow(without / list.keep - taken, (without + most) / list.keep);
        sums.largest_weights[at] = std::max(sums.largest_weights[at], largest / list.keep);
      }
      sums.weighted.add(std::abs(logged + (value_.prefix_ips() - logged) / list.keep));
      sums.prefixes.add(value_.weights(), list.keep, gains_);
      resample_weights(list, sums);
    }

    void resample_weights(const LoggedList& list, PolicySums& sums) {
      const std::size_t ranks = gains_.size();
      const double last = ranks == 0 ? 1.0 : value_.weights()[ranks - 1];
      sums.resampled.add(PolicySums::weight_of_ended_at(ranks), last / list.keep, counts_);
      if (!all_.asked(Estimator::kSelfNormalised)) return;
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        const double weight = value_.weights()[rank] / list.keep;
        sums.resampled.add(PolicySums::gain_at(rank), weight * gains_[rank], counts_);
        if (rank + 1 < ranks) {
          sums.resampled.add(PolicySums::weight_of_longer_at(rank), weight, counts_);
        }
      }
    }

    // What a list of this many ranks is worth at most; 0 for events, which have no bound.
    [[nodiscard]] double most_gained() const {
      const ValueMetric metric = all_.options_.metric;
      if (metric == ValueMetric::kEvents) return 0;
      if (metric == ValueMetric::kClickThrough) return 1;
      double most = 0;
      for (std::size_t rank = 0; rank < gains_.size(); ++rank) most += rank_discount(metric, rank);
      return most;
    }
    // The same, each gain with its weight.
    [[nodiscard]] double most_weighted() const {
      const ValueMetric metric = all_.options_.metric;
      if (metric == ValueMetric::kEvents) return 0;
      double most = 0;
      for (std::size_t rank = 0; rank < gains_.size(); ++rank) {
        const double one = value_.weights()[rank] * rank_discount(metric, rank);
        most = metric == ValueMetric::kClickThrough ? std::max(most, one) : most + one;
      }
      return most;
    }

    void add_mean(PolicySums& sums, std::size_t at, double logged, double difference) {
      sums.means[at].add(logged + difference);
      sums.differences[at].add(difference);
      sums.resampled.add(PolicySums::mean_at(at), logged + difference, counts_);
    }

    const Evaluation& all_;
    EvaluationSums& sums_;
    std::vector<std::unique_ptr<TargetPolicy>> policies_;
    std::vector<double> counts_;
    std::vector<double> gains_;
    PolicyChoice choice_;
    ListValue value_;
    PlaceChances places_;
    ExpectedGains::Scratch scratch_;
    GainModel expected_;
  };

  EvaluationSums read_values() {
    const auto make = [&] { return EvaluationSums(policies_.size(), options_.bootstraps); };
    EvaluationSums sums = make();
    each_list(all_parts_, ListNeed::kAll, sums, make, [&](EvaluationSums& part) {
      return [worker = std::make_shared<Worker>(*this, part)](const LoggedList& list) {
        worker->add(list);
      };
    });
    return sums;
  }

  LoggedLists& lists_;
  std::span<const NamedPolicy> policies_;
  const OffPolicyOptions& options_;
  Estimators asked_;
  unsigned threads_;
  std::vector<std::size_t> all_parts_;
  std::vector<std::size_t> gain_parts_;
  ExpectedGains gains_;
  std::vector<double> discounts_;
  Examination examination_;
  std::mutex progress_;
  std::size_t parts_to_read_ = 0;
  std::size_t parts_begun_ = 0;
};

}  // namespace

Result<OffPolicyReport> off_policy(LoggedLists& lists, std::span<const NamedPolicy> policies,
                                   const OffPolicyOptions& options) {
  if (auto valid = check_options(off_policy_options(), options); !valid) return valid.error();
  if (const std::uint32_t least = least_bootstraps(options.level); options.bootstraps < least) {
    return Error{fmt::format("bootstraps: {}; a level of {} needs at least {}", options.bootstraps,
                             options.level, least)};
  }
  return attempt([&] {
    return Evaluation(lists, policies, options, take(estimators_of(options.estimators))).run();
  });
}

}  // namespace plackett
