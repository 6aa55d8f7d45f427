#include "learner/pairwise.h"

#include <algorithm>
#include <array>
#include <utility>

#include "plackett/method.h"
#include "plackett/pairs.h"
#include "sampling/finite.h"

namespace plackett {

Pairwise::Pairwise(std::unique_ptr<Ranker> ranker, const PairwiseOptions& options)
    : ranker_(std::move(ranker)),
      options_(options),
      state_{"pairwise", options.learning_rate, 0, 0} {}

std::uint32_t Pairwise::best(std::span<const float> scores, Rng& rng) const {
  const float sign = options_.worst_first ? -1.0F : 1.0F;
  std::uint32_t found = 0;
  std::uint32_t equals = 1;
  for (std::uint32_t at = 1; at < left_.size(); ++at) {
    const float score = sign * scores[index(left_[at])];
    const float highest = sign * scores[index(left_[found])];
    if (score < highest) continue;
    equals = score == highest ? equals + 1 : 1;
    if (equals == 1 || rng.below(equals) == 0) found = at;
  }
  return found;
}

bool Pairwise::rank(const FeatureView& docs, Rng& rng, Ranking& ranking) {
  last_.forget();
  const std::uint32_t count = docs.doc_count();
  if (scores_.size() < count) scores_.resize(count);
  const std::span<float> scores(scores_.data(), count);
  ranker_->score(docs, scores);
  if (!all_finite(scores)) return false;
  left_.resize(count);
  for (std::uint32_t doc = 0; doc < count; ++doc) left_[doc] = Doc{doc};
  ranking.shown.resize(std::min(options_.shown, count));
  ranking.scores.resize(ranking.shown.size());
  ranking.rest = {};
  for (std::size_t rank = 0; rank < ranking.shown.size(); ++rank) {
    const bool explore = rng.uniform() < options_.epsilon;
    const std::uint32_t at =
        explore ? rng.below(static_cast<std::uint32_t>(left_.size())) : best(scores, rng);
    ranking.shown[rank] = left_[at];
    ranking.scores[rank] = scores[index(left_[at])];
    left_[at] = left_.back();
    left_.pop_back();
  }
  last_.remember(docs, ranking, rng);
  return true;
}

void Pairwise::learn(const FeatureView& docs, const Ranking& ranking,
                     std::span<const std::uint8_t> clicks) {
  if (!last_.take_if_same(docs, ranking)) return;
  const auto seen = clicks.first(seen_places(clicks));
  const auto losers = std::count(seen.begin(), seen.end(), std::uint8_t{0});
  const auto winners = static_cast<std::ptrdiff_t>(seen.size()) - losers;
  if (winners == 0 || losers == 0) return;
  // Every winner beats every loser, so a document's pairs all have the same sign.
  doc_weights_.clear();
  for (std::size_t rank = 0; rank < seen.size(); ++rank) {
    doc_weights_.push_back({ranking.shown[rank], seen[rank] != 0 ? static_cast<float>(losers)
                                                                 : -static_cast<float>(winners)});
  }
  ranker_->step(docs, doc_weights_, static_cast<float>(state_.learning_rate));
  state_.learning_rate *= options_.learning_rate_decay;
  ++state_.updates;
}

namespace {

constexpr std::string_view kEpsilon = "epsilon";

constexpr std::array kSettings{learning_rate_setting(PairwiseOptions{}.learning_rate),
                               Setting{.name = kEpsilon,
                                       .help = "probability that a place is filled at random",
                                       .fallback = PairwiseOptions{}.epsilon,
                                       .least = 0,
                                       .most = 1}};

std::unique_ptr<Learner> make_pairwise(std::unique_ptr<Ranker> ranker, const MethodRules& rules,
                                       const SettingValues& settings) {
  return std::make_unique<Pairwise>(
      std::move(ranker), PairwiseOptions{.epsilon = settings.number(kEpsilon),
                                         .learning_rate = settings.number(kLearningRate),
                                         .learning_rate_decay = rules.learning_rate_decay,
                                         .shown = rules.shown,
                                         .worst_first = rules.exploit_worst_first});
}

}  // namespace

extern const Method kPairwise;
const Method kPairwise{.name = "pairwise",
                       .title = "Pairwise",
                       .summary = "epsilon-greedy lists, a step for every inferred pair",
                       .baseline = true,
                       .settings = kSettings,
                       .make = make_pairwise};

}  // namespace plackett
