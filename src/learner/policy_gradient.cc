#include "learner/policy_gradient.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "plackett/method.h"
#include "sampling/shown_list.h"

namespace plackett {

PolicyGradient::PolicyGradient(std::unique_ptr<Ranker> ranker, const PolicyGradientOptions& options)
    : ranker_(std::move(ranker)), options_(options) {
  restore({.method = "pl-gradient", .learning_rate = options.learning_rate});
}

void PolicyGradient::restore(const LearnerState& state) {
  state_ = state;
  if (state_.memory.size() != options_.shown) state_.memory.assign(options_.shown, 0.0F);
}

bool PolicyGradient::rank(const FeatureView& docs, Rng& rng, Ranking& ranking) {
  last_.forget();
  scores_.resize(docs.doc_count());
  ranker_->score(docs, scores_);
  if (!sample_list(scores_, options_.shown, rng, sampling_, ranking)) return false;
  last_.remember(docs, ranking, rng);
  return true;
}

void reward_downward(const PolicyGradientOptions& options, std::span<const std::uint8_t> clicks,
                     std::span<double> rewards) {
  double below = 0;
  for (std::size_t rank = clicks.size(); rank-- > 0;) {
    if (clicks[rank] != 0) {
      const auto place = static_cast<double>(rank + 1);
      const double discount =
          options.discount == ClickDiscount::kDcg ? 1 / std::log2(place + 1) : 1;
      below += discount * std::min(std::pow(place, options.position_bias), options.most_weight);
    }
    rewards[rank] = below;
  }
}

std::span<const DocWeight> PlacementGradient::weigh(const Ranking& ranking,
                                                    std::span<const float> scores,
                                                    std::span<const double> rewards) {
  const std::size_t shown = ranking.shown.size();
  log_masses_.resize(shown);
  Mass left = ranking.rest;
  for (std::size_t rank = shown; rank-- > 0;) {
    left.add(ranking.scores[rank]);
    log_masses_[rank] = left.log();
  }
  // The sum over the first `ranks` of reward x probability that documents of this mass are placed.
  const auto expected = [&](double log_mass, std::size_t ranks) {
    double sum = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      sum += rewards[rank] * std::exp(log_mass - log_masses_[rank]);
    }
    return sum;
  };
  weights_.clear();
  shown_.assign(scores.size(), false);
  for (std::size_t rank = 0; rank < shown; ++rank) {
    const double weight = rewards[rank] - expected(ranking.scores[rank], rank + 1);
    weights_.push_back({ranking.shown[rank], static_cast<float>(weight)});
    shown_[index(ranking.shown[rank])] = true;
  }
  if (ranking.rest.empty()) return weights_;
  const double log_rest = ranking.rest.log();
  const double of_rest = expected(log_rest, shown);
  for (std::uint32_t doc = 0; doc < scores.size(); ++doc) {
    if (shown_[doc]) continue;
    const double share = std::exp(double{scores[doc]} - log_rest);
    weights_.push_back({Doc{doc}, static_cast<float>(-of_rest * share)});
  }
  return weights_;
}

void PolicyGradient::learn(const FeatureView& docs, const Ranking& ranking,
                           std::span<const std::uint8_t> clicks) {
  if (!last_.take_if_same(docs, ranking)) return;
  constexpr double kLeastShare = 0.01;  // of the newest list in the baseline
  const double share = std::max(1 / (static_cast<double>(state_.updates) + 1), kLeastShare);
  rewards_.resize(clicks.size());
  reward_downward(options_, clicks, rewards_);
  bool any = false;
  for (std::size_t rank = 0; rank < rewards_.size(); ++rank) {
    float& baseline = state_.memory[rank];
    rewards_[rank] -= double{baseline};
    baseline += static_cast<float>(share * rewards_[rank]);
    any = any || rewards_[rank] != 0;
  }
  if (!any) return;
  ranker_->step(docs, gradient_.weigh(ranking, scores_, rewards_),
                static_cast<float>(state_.learning_rate));
  state_.learning_rate *= options_.learning_rate_decay;
  ++state_.updates;
}

namespace {

constexpr std::string_view kDiscount = "discount";
constexpr std::array<std::string_view, 2> kDiscountNames{"dcg", "none"};
constexpr std::string_view kDebias = "debias";
constexpr std::array<std::string_view, 2> kDebiasNames{"none", "position"};
constexpr std::string_view kBias = "position-bias";
constexpr std::string_view kMostWeight = "most-weight";
constexpr std::array kSettings{
    learning_rate_setting(PolicyGradientOptions{}.learning_rate),
    Setting{.name = kDiscount,
            .help = "what a click counts at rank r: 1 / log2(r + 1), or 1",
            .names = kDiscountNames},
    Setting{.name = kDebias,
            .help = "whether clicks are divided by the probability that their rank is examined",
            .names = kDebiasNames},
    Setting{.name = kBias,
            .help = "with debias=position: rank r is examined with probability 1 / r^this",
            .fallback = 1,
            .least = 0,
            .most = 10},
    Setting{.name = kMostWeight,
            .help = "with debias=position: a click counts at most this many times",
            .fallback = PolicyGradientOptions{}.most_weight,
            .least = 1,
            .most = 1e6}};

bool debiased(const SettingValues& settings) { return settings.whole(kDebias) != 0; }

Result<void> check_settings(const Ranker& /*ranker*/, const SettingValues& settings) {
  if (debiased(settings)) return {};
  return settings.require_defaults({kBias, kMostWeight}, "debias=position");
}

std::unique_ptr<Learner> make_policy_gradient(std::unique_ptr<Ranker> ranker,
                                              const MethodRules& rules,
                                              const SettingValues& settings) {
  return std::make_unique<PolicyGradient>(
      std::move(ranker),
      PolicyGradientOptions{.learning_rate = settings.number(kLearningRate),
                            .learning_rate_decay = rules.learning_rate_decay,
                            .shown = rules.shown,
                            .discount = static_cast<ClickDiscount>(settings.whole(kDiscount)),
                            .position_bias = debiased(settings) ? settings.number(kBias) : 0,
                            .most_weight = settings.number(kMostWeight)});
}

}  // namespace

extern const Method kPolicyGradient;
const Method kPolicyGradient{.name = "pl-gradient",
                             .title = "PLGradient",
                             .summary = "policy gradient of the expected clicks on a sampled list",
                             .settings = kSettings,
                             .check = check_settings,
                             .make = make_policy_gradient};

}  // namespace plackett
