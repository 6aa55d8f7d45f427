#include "learner/dueling_bandit.h"

#include <algorithm>
#include <string>
#include <utility>

#include "plackett/pairs.h"
#include "sampling/finite.h"

namespace plackett {

DuelingBandit::DuelingBandit(std::unique_ptr<Ranker> ranker,
                             std::unique_ptr<Multileaving> multileaving,
                             const DuelingBanditOptions& options)
    : ranker_(std::move(ranker)),
      multileaving_(std::move(multileaving)),
      options_(options),
      candidates_(*ranker_, options.candidates),
      parameters_(ranker_->parameter_count()),
      span_(ranker_->feature_count()),
      direction_(padded_width(ranker_->feature_count())) {
  restore({.method = std::string(options.method), .learning_rate = options.learning_rate});
}

bool DuelingBandit::rank(const FeatureView& docs, Rng& rng, Ranking& ranking) {
  last_.forget();
  candidates_.draw(rng);
  candidates_.score(*ranker_, docs, scores_);
  for (std::uint32_t ranker = 0; ranker < scores_.rankers(); ++ranker) {
    if (!all_finite(scores_.row(ranker))) return false;
  }
  ranking.shown.resize(std::min(options_.shown, docs.doc_count()));
  multileaving_->show(scores_, rng, ranking.shown);
  ranking.scores.resize(ranking.shown.size());
  for (std::size_t rank = 0; rank < ranking.shown.size(); ++rank) {
    ranking.scores[rank] = scores_.row(0)[index(ranking.shown[rank])];
  }
  ranking.rest = {};
  last_.remember(docs, ranking, rng);
  return true;
}

void DuelingBandit::learn(const FeatureView& docs, const Ranking& ranking,
                          std::span<const std::uint8_t> clicks) {
  if (!last_.take_if_same(docs, ranking)) return;
  const std::size_t seen = seen_places(clicks);  // to the last click, and one more
  if (seen == 0) return;
  const std::size_t count = std::min(seen - 1 + options_.further, clicks.size());
  const auto examined = std::span<const Doc>(ranking.shown).first(count);
  const std::span<const Duel> duels = multileaving_->judge(clicks, last_.rng());
  const auto winners =
      std::count_if(duels.begin(), duels.end(), [](const Duel& duel) { return duel.won; });
  if (winners > 0) {
    const double step = state_.learning_rate / static_cast<double>(winners);
    ranker_->get_parameters(parameters_);
    std::fill(direction_.begin(), direction_.end(), 0.0F);
    const std::span<float> target = options_.projected ? std::span<float>(direction_) : parameters_;
    for (std::size_t candidate = 0; candidate < duels.size(); ++candidate) {
      if (duels[candidate].won) candidates_.add_direction(candidate, step, target);
    }
    if (options_.projected) add_projected(docs, examined);
    ranker_->set_parameters(parameters_);
    state_.learning_rate *= options_.learning_rate_decay;
    ++state_.updates;
  }
  if (options_.projected) remember(docs, examined);
}

void DuelingBandit::add_projected(const FeatureView& docs, std::span<const Doc> examined) {
  span_.clear();
  for (const Doc doc : examined) span_.add(docs.row(doc));
  const std::span<const float> memory(state_.memory);
  for (std::size_t at = 0; at < memory.size(); at += docs.feature_count()) {
    span_.add(memory.subspan(at, docs.feature_count()));
  }
  span_.project(direction_);
  const float norm = length(direction_);
  if (!(norm > 0)) return;
  const auto scale = static_cast<float>(state_.learning_rate / norm);
  for (std::size_t at = 0; at < parameters_.size(); ++at) parameters_[at] += scale * direction_[at];
}

void DuelingBandit::remember(const FeatureView& docs, std::span<const Doc> examined) {
  const auto newest = examined.last(std::min<std::size_t>(examined.size(), kRemembered));
  const auto fresh = static_cast<std::ptrdiff_t>(newest.size() * docs.feature_count());
  std::shift_left(state_.memory.begin(), state_.memory.end(), fresh);
  auto to = state_.memory.end() - fresh;
  for (const Doc doc : newest) {
    const auto row = docs.row(doc);
    to = std::copy(row.begin(), row.end(), to);
  }
}

void DuelingBandit::restore(const LearnerState& state) {
  state_ = state;
  const std::size_t wanted =
      options_.projected ? std::size_t{kRemembered} * ranker_->feature_count() : 0;
  if (state_.memory.size() != wanted) state_.memory.assign(wanted, 0.0F);
}

}  // namespace plackett
