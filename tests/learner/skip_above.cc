// A clicked document is preferred to every unclicked one above it, and nothing else is inferred
// (Joachims, "Optimizing search engines using clickthrough data", KDD 2002).
#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "plackett/method.h"
#include "plackett/plackett_luce.h"
#include "sampling/finite.h"

namespace plackett {
namespace {

class SkipAbove final : public Learner {
 public:
  SkipAbove(std::unique_ptr<Ranker> ranker, const MethodRules& rules, double learning_rate)
      : ranker_(std::move(ranker)), rules_(rules), state_{"skip-above", learning_rate, 0, 0} {}

  bool rank(const FeatureView& docs, Rng& rng, Ranking& ranking) override {
    scores_.resize(docs.doc_count());
    ranker_->score(docs, scores_);
    if (!all_finite(scores_)) return false;
    ranking.shown.resize(std::min(rules_.shown, docs.doc_count()));
    ranking.rest = sample_ranking(scores_, rng, sampling_, ranking.shown);
    ranking.scores.clear();
    for (const Doc doc : ranking.shown) ranking.scores.push_back(scores_[index(doc)]);
    return true;
  }

  void learn(const FeatureView& docs, const Ranking& ranking,
             std::span<const std::uint8_t> clicks) override {
    weights_.clear();
    float clicks_below = 0;
    for (const std::uint8_t click : clicks) clicks_below += click;
    if (clicks_below == 0) return;
    float skipped = 0;
    for (std::size_t rank = 0; rank < clicks.size(); ++rank) {
      if (clicks[rank] != 0) {
        --clicks_below;
        weights_.push_back({ranking.shown[rank], skipped});
      } else {
        ++skipped;
        weights_.push_back({ranking.shown[rank], -clicks_below});
      }
    }
    ranker_->step(docs, weights_, static_cast<float>(state_.learning_rate));
    state_.learning_rate *= rules_.learning_rate_decay;
    ++state_.updates;
  }

  Ranker& ranker() override { return *ranker_; }
  LearnerState state() const override { return state_; }
  void restore(const LearnerState& state) override { state_ = state; }

 private:
  std::unique_ptr<Ranker> ranker_;
  MethodRules rules_;
  LearnerState state_;
  SamplingScratch sampling_;
  std::vector<float> scores_;
  std::vector<DocWeight> weights_;
};

constexpr std::array kSettings{learning_rate_setting(0.01)};

std::unique_ptr<Learner> make_skip_above(std::unique_ptr<Ranker> ranker, const MethodRules& rules,
                                         const SettingValues& settings) {
  return std::make_unique<SkipAbove>(std::move(ranker), rules, settings.number(kLearningRate));
}

}  // namespace

extern const Method kSkipAbove;
const Method kSkipAbove{.name = "skip-above",
                        .title = "Skip-above",
                        .summary = "a click beats what was skipped above it",
                        .settings = kSettings,
                        .make = make_skip_above};

}  // namespace plackett
