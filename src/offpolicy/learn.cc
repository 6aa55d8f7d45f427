#include "plackett/learn.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "base/attempt.h"
#include "base/declare_option.h"
#include "base/parallel.h"
#include "offpolicy/evaluation_sums.h"
#include "offpolicy/expected_gains.h"
#include "offpolicy/list_gradient.h"
#include "offpolicy/minimise.h"
#include "offpolicy/order_likelihood.h"
#include "offpolicy/prefix_sums.h"
#include "offpolicy/read_parts.h"
#include "offpolicy/value_sums.h"
#include "sampling/finite.h"

namespace plackett {
namespace {

constexpr std::string_view kDoublyRobust = "doubly-robust";
constexpr std::string_view kPrefixIps = "prefix-ips";
constexpr std::uint64_t kLeastLists = 100;
constexpr std::size_t kResampled = 400;  // logs, for standard errors within about 4 %
// From close to the logged policy to far from it.
constexpr std::array kCloseness{1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001};

Result<double> parse_share(std::string_view text) {
  auto share = option_value::read_number(text, {});
  if (share && *share >= 0.05 && *share <= 0.4) return share;
  return Error{fmt::format("\"{}\"; expected a number from 0.05 to 0.4", text)};
}

Result<std::string> parse_method(std::string_view name) {
  if (name == kDoublyRobust || name == kPrefixIps) return std::string(name);
  return Error{
      fmt::format("\"{}\"; expected {} or {}: methods that learn online, PDGD among them, are "
                  "unbiased only for "
                  "lists that they sampled themselves, from the parameters that they had then",
                  name, kDoublyRobust, kPrefixIps)};
}

// What a unit's lists are for.
enum class Role : std::uint8_t { kLearn, kDecide, kMeasure };

// Independent of the folds of the regression, which are the remainder of the unit.
Role role_of(const LoggedList& list, double held_out) {
  constexpr std::uint64_t kSteps = 1000;
  const auto step = static_cast<double>((list.unit / RankMeans::kFolds) % kSteps) / kSteps;
  if (step < held_out) return Role::kMeasure;
  return step < 2 * held_out ? Role::kDecide : Role::kLearn;
}

// Lists of one role.
class ListsOf final : public LoggedLists {
 public:
  ListsOf(LoggedLists& all, Role role, double held_out)
      : all_(all), role_(role), held_out_(held_out) {}
  [[nodiscard]] std::uint32_t feature_count() const override { return all_.feature_count(); }
  [[nodiscard]] std::size_t parts() const override { return all_.parts(); }
  Result<void> each(std::size_t part, ListNeed need,
                    const std::function<void(const LoggedList&)>& use) override {
    return all_.each(part, need, [&](const LoggedList& list) {
      if (role_of(list, held_out_) == role_) use(list);
    });
  }

 private:
  LoggedLists& all_;
  Role role_;
  double held_out_;
};

class Learning {
 public:
  Learning(LoggedLists& lists, Ranker& ranker, const LearnOptions& options)
      : lists_(lists),
        ranker_(ranker),
        options_(options),
        threads_(thread_count(options.threads)),
        expected_(lists.feature_count()),
        parameters_(ranker.parameter_count()) {
    ranker.get_parameters(parameters_);
  }

  LearnReport run() {
    expect_gains();
    const Pass decided = read(Role::kDecide, {});
    const Pass learned = read(Role::kLearn, {});
    report_.lists = learned.kept;
    report_.deciding_lists = decided.kept;
    if (std::min(learned.kept, decided.kept) < kLeastLists) {
      throw Failed{Error{fmt::format(
          "{} lists with their candidates to learn from and {} to decide by; at least {} of each "
          "are needed, and all lists of a unit do the same",
          learned.kept, decided.kept, kLeastLists)}};
    }
    std::vector<float> best;
    double best_value = -std::numeric_limits<double>::infinity();
    std::size_t best_stage = 0;
    std::uint32_t worse = 0;
    for (std::uint32_t stage = 0; stage <= kCloseness.size(); ++stage) {
      LearnStage done = run_stage(stage);
      // A value that is higher by chance alone is not followed: the standard error is subtracted.
      const double sure = done.value - done.error;
      report_.stages.push_back(done);
      // Where few lists carry all the weight, neither value nor error can be trusted.
      if (done.effective_lists < kLeastLists) break;
      if (sure > best_value) {
        best_value = sure;
        best = parameters_;
        best_stage = stage;
        worse = 0;
      } else if (++worse == 2) {
        break;
      }
    }
    if (best.empty()) {
      throw Failed{Error{fmt::format(
          "an imitation of what was logged amounts to {:.0f} effective lists; at least {} are "
          "needed: log more, or learn for fewer ranks",
          report_.stages.front().effective_lists, kLeastLists)}};
    }
    report_.stages[best_stage].chosen = true;
    parameters_ = best;
    measure();
    ranker_.set_parameters(parameters_);
    return std::move(report_);
  }

 private:
  // Sums over the lists of one role.
  struct Pass {
    Moments values;         // of lists, as off_policy() adds them
    double value = 0;       // of kept lists' estimates over the probability to be kept
    double likelihood = 0;  // sum over kept lists of the same weight
    double weight = 0;      // of those
    std::uint64_t kept = 0;
    PrefixSums prefixes;
    Resampled resampled{2, kResampled};  // lists, and values
    std::vector<double> value_gradient;
    std::vector<double> likelihood_gradient;
    bool finite = true;

    void merge(const Pass& other) {
      values.merge(other.values);
      value += other.value;
      likelihood += other.likelihood;
      weight += other.weight;
      kept += other.kept;
      finite = finite && other.finite;
      const auto add = [](std::vector<double>& sums, const std::vector<double>& more) {
        if (sums.size() < more.size()) sums.resize(more.size());
        for (std::size_t at = 0; at < more.size(); ++at) sums[at] += more[at];
      };
      prefixes.merge(other.prefixes);
      resampled.merge(other.resampled);
      add(value_gradient, other.value_gradient);
      add(likelihood_gradient, other.likelihood_gradient);
    }
    // Of the values' mean: whole units vary, since lists of one depend on each other.
    [[nodiscard]] double standard_error() const {
      double squares = 0;
      for (std::size_t log = 0; log < kResampled; ++log) {
        const double off = resampled.at(1, log) - values.mean() * resampled.at(0, log);
        squares += off * off / kResampled;
      }
      return std::sqrt(squares) / values.count;
    }
    [[nodiscard]] double effective_lists() const {
      double least = static_cast<double>(kept);
      for (std::size_t rank = 0; rank < prefixes.ranks(); ++rank) {
        least = std::min(least, prefixes.effective_lists(rank));
      }
      return least;
    }
  };
  struct Want {
    bool values = false;
    bool gradients = false;
  };

  // One thread's part of a pass.
  class Worker {
   public:
    Worker(const Learning& all, Want want, Pass& pass)
        : all_(all), want_(want), pass_(pass), ranker_(all.ranker_.clone()) {
      if (!want.values) return;
      ranker_->set_parameters(all.parameters_);
      gradient_.resize(all.parameters_.size());
      if (!want.gradients) return;
      pass.value_gradient.resize(gradient_.size());
      pass.likelihood_gradient.resize(gradient_.size());
    }

    void add(const LoggedList& list) {
      list_gains(list, all_.options_.metric, gains_);
      const double logged = std::accumulate(gains_.begin(), gains_.end(), 0.0);
      if (!list.kept) return add_value(list, logged);
      ++pass_.kept;
      if (!want_.values) return;
      choice_.scores.resize(list.docs.doc_count());
      ranker_->score(list.docs, choice_.scores);
      for (float& score : choice_.scores) score /= all_.options_.temperature;
      if (!all_finite(choice_.scores)) {
        pass_.finite = false;
        return;
      }
      const std::uint32_t shown = list.sampled();
      weights_.resize(choice_.scores.size());
      const double value = list_gradient_.compute(list, choice_, gains_, expect(list), weights_);
      add_value(list, logged + (value - logged) / list.keep);
      pass_.value += value / list.keep;
      pass_.weight += 1 / list.keep;
      pass_.prefixes.add(list_gradient_.prefix_weights(), list.keep, gains_);
      if (want_.gradients) add_gradient(list, pass_.value_gradient);
      if (shown == 0) return;
      pass_.likelihood += likelihood_.log_likelihood(choice_.scores, shown) / list.keep;
      if (!want_.gradients) return;
      likelihood_.weights(choice_.scores, weights_);
      add_gradient(list, pass_.likelihood_gradient);
    }

   private:
    void add_value(const LoggedList& list, double value) {
      pass_.values.add(value);
      if (!want_.values || want_.gradients) return;
      resample(all_.options_.seed, list.unit, counts_);
      pass_.resampled.add(0, 1, counts_);
      pass_.resampled.add(1, value, counts_);
    }

    // What the regression expects; nothing for prefix IPS.
    GainModel expect(const LoggedList& list) {
      const std::size_t ranks = gains_.size();
      if (all_.options_.method == kDoublyRobust) return all_.expected_.of(list, ranks, scratch_);
      scratch_.base.assign(ranks, 0);
      scratch_.factor.assign(ranks, 0);
      scratch_.values.assign(list.docs.doc_count(), 0);
      scratch_.later.assign(ranks, 0);
      return {scratch_.base, scratch_.factor, scratch_.values, scratch_.later};
    }

    void add_gradient(const LoggedList& list, std::vector<double>& sums) {
      ranker_->gradient(list.docs, weights_, gradient_);
      const double divisor = list.keep * all_.options_.temperature;
      for (std::size_t at = 0; at < sums.size(); ++at) sums[at] += gradient_[at] / divisor;
    }

    const Learning& all_;
    Want want_;
    Pass& pass_;
    std::unique_ptr<Ranker> ranker_;
    PolicyChoice choice_;
    std::vector<double> gains_;
    std::array<double, kResampled> counts_{};
    ExpectedGains::Scratch scratch_;
    std::vector<DocWeight> weights_;
    std::vector<float> gradient_;
    ListGradient list_gradient_;
    ListLikelihood likelihood_;
  };

  template <typename Sums, typename Make, typename Begin>
  void each_list(ListNeed need, Sums& sums, const Make& make, const Begin& begin) {
    if (options_.stop && options_.stop()) throw Failed{{ErrorCode::kStopped, "stopped"}};
    read_parts(lists_, some_parts(lists_, lists_.parts()), need, threads_, sums, make,
               [&](Sums& part) {
                 return [this, worker = begin(part)](const LoggedList& list) mutable {
                   worker(first_ranks(list, options_.ranks));
                 };
               });
  }

  void expect_gains() {
    if (options_.method != kDoublyRobust) return;
    each_list(
        ListNeed::kShown, expected_, [&] { return ExpectedGains(lists_.feature_count()); },
        [&](ExpectedGains& part) {
          return [this, &part, gains = std::vector<double>()](const LoggedList& list) mutable {
            // Not from those that decide, or measure: they would know their own outcomes.
            if (role_of(list, options_.held_out) != Role::kLearn) return;
            list_gains(list, options_.metric, gains);
            part.add(list, gains);
          };
        });
    expected_.solve();
  }

  Pass read(Role role, Want want) {
    Pass sums;
    each_list(
        want.values ? ListNeed::kAll : ListNeed::kShown, sums, [] { return Pass{}; },
        [&](Pass& part) {
          return [this, role,
                  worker = std::make_shared<Worker>(*this, want, part)](const LoggedList& list) {
            if (role_of(list, options_.held_out) == role) worker->add(list);
          };
        });
    return sums;
  }

  LearnStage run_stage(std::uint32_t stage) {
    LearnStage done{.closeness = stage == 0 ? std::numeric_limits<double>::infinity()
                                            : kCloseness[stage - 1]};
    const double closeness = stage == 0 ? 1.0 : done.closeness;
    const bool imitate = stage == 0;
    std::vector<double> point(parameters_.begin(), parameters_.end());
    std::uint32_t iteration = 0;
    bool started = false;
    const Minimum minimum =
        minimise({.function =
                      [&](std::span<const double> at, std::span<double> gradient) {
                        set(at);
                        const Pass pass = read(Role::kLearn, {.values = true, .gradients = true});
                        if (!pass.finite) {
                          if (!started)
                            throw Failed{{"a score is not finite; are the features too large?"}};
                          return std::numeric_limits<double>::quiet_NaN();
                        }
                        started = true;
                        double objective = closeness * pass.likelihood / pass.weight;
                        if (!imitate) objective += pass.value / pass.weight;
                        for (std::size_t one = 0; one < at.size(); ++one) {
                          double slope = closeness * pass.likelihood_gradient[one];
                          if (!imitate) slope += pass.value_gradient[one];
                          objective -= options_.ridge * at[one] * at[one] / 2;
                          gradient[one] = options_.ridge * at[one] - slope / pass.weight;
                        }
                        return -objective;
                      },
                  .stepped =
                      [&](std::span<const double> at) {
                        set(at);
                        if (options_.stepped) {
                          options_.stepped(stage, static_cast<std::uint32_t>(kCloseness.size() + 1),
                                           ++iteration);
                        }
                        return true;
                      },
                  .iterations = options_.iterations},
                 point);
    set(point);
    done.iterations = minimum.iterations;
    const Pass pass = read(Role::kDecide, {.values = true});
    if (!pass.finite) throw Failed{{"a score is not finite; are the features too large?"}};
    done.value = pass.values.mean();
    done.effective_lists = pass.effective_lists();
    done.error = pass.standard_error();
    return done;
  }

  void set(std::span<const double> point) {
    for (std::size_t at = 0; at < point.size(); ++at) {
      parameters_[at] = static_cast<float>(point[at]);
    }
  }

  void measure() {
    const auto result = ranker_.clone();
    result->set_parameters(parameters_);
    const auto policy = ranker_policy(*result, options_.temperature);
    const std::vector<NamedPolicy> policies{{"learned", policy.get()}};
    ListsOf measured(lists_, Role::kMeasure, options_.held_out);
    OffPolicyOptions estimate;
    estimate.metric = options_.metric;
    estimate.ranks = options_.ranks;
    estimate.seed = options_.seed;
    estimate.threads = options_.threads;
    estimate.stop = options_.stop;
    report_.measured = take(off_policy(measured, policies, estimate));
  }

  LoggedLists& lists_;
  Ranker& ranker_;
  const LearnOptions& options_;
  unsigned threads_;
  ExpectedGains expected_;
  std::vector<float> parameters_;
  LearnReport report_;
};

}  // namespace

std::span<const Option<LearnOptions>> learn_options() {
  using Options = LearnOptions;
  static const std::array options{
      named_option<parse_method, &Options::method>(
          "method", fmt::format("the estimate to maximise: {} or {}", kDoublyRobust, kPrefixIps)),
      named_option<parse_value_metric, &Options::metric>(
          "metric", fmt::format("what a list is worth: {}", fmt::join(value_metric_names(), ", "))),
      option<&Options::ranks>("ranks", "only the first ranks count; 0: all", {0, 100}),
      named_option<parse_share, &Options::held_out>(
          "held-out",
          "share of the units that decide when to stop, and of those that the result is measured "
          "on, from 0.05 to 0.4"),
      option<&Options::ridge>("ridge", "subtracts ridge * |parameters|^2 / 2 from the objective"),
      option<&Options::iterations>("iterations", "of each stage, at most", {1, 100'000}),
      option<&Options::seed>("seed", "of a network's first parameters, and of the intervals",
                             {0, std::numeric_limits<std::uint64_t>::max()}),
      option<&Options::threads>("threads", "0: one per core", {0, 1024, false})};
  return options;
}

Result<LearnReport> learn(LoggedLists& lists, Ranker& ranker, const LearnOptions& options) {
  if (auto valid = check_options(learn_options(), options); !valid) return valid.error();
  if (!std::isfinite(options.temperature) || options.temperature <= 0) {
    return Error{
        fmt::format("temperature {}; expected a finite number above 0", options.temperature)};
  }
  if (lists.feature_count() != ranker.feature_count()) {
    return Error{fmt::format("{} features; the ranker reads {}", lists.feature_count(),
                             ranker.feature_count())};
  }
  return attempt([&] { return Learning(lists, ranker, options).run(); });
}

}  // namespace plackett
