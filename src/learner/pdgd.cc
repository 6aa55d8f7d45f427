#include "plackett/pdgd.h"

#include <algorithm>
#include <array>
#include <utility>

#include "learner/optimiser.h"
#include "plackett/method.h"
#include "sampling/shown_list.h"

namespace plackett {

Pdgd::Pdgd(std::unique_ptr<Ranker> ranker, const PdgdOptions& options)
    : ranker_(std::move(ranker)), options_(options), inference_(options.pairs) {
  state_ = {.method = "pdgd", .learning_rate = options_.learning_rate};
  set_steps(options_.steps);
}

Pdgd::~Pdgd() = default;

void Pdgd::set_steps(Steps steps) {
  if (optimiser_ != nullptr && steps == options_.steps) return;
  options_.steps = steps;
  optimiser_ = make_optimiser(steps, *ranker_);
  state_.memory.assign(optimiser_->memory_size(), 0.0F);
}

void Pdgd::restore(const LearnerState& state) {
  state_ = state;
  if (state_.memory.size() == optimiser_->memory_size()) return;
  state_.memory.assign(optimiser_->memory_size(), 0.0F);
}

bool Pdgd::rank(const FeatureView& docs, Rng& rng, Ranking& ranking) {
  if (scores_.size() < docs.doc_count()) scores_.resize(docs.doc_count());
  const std::span<float> scores(scores_.data(), docs.doc_count());
  ranker_->score(docs, scores);
  return sample_list(scores, options_.shown, rng, sampling_, ranking);
}

void Pdgd::learn(const FeatureView& docs, const Ranking& ranking,
                 std::span<const std::uint8_t> clicks) {
  const auto pairs = inference_.infer(ranking, clicks);
  if (pairs.empty()) return;
  rank_weights_.resize(ranking.shown.size());
  sum_by_rank(pairs, rank_weights_);
  doc_weights_.clear();
  for (std::size_t rank = 0; rank < rank_weights_.size(); ++rank) {
    if (rank_weights_[rank] == 0) continue;
    doc_weights_.push_back({ranking.shown[rank], static_cast<float>(rank_weights_[rank])});
  }
  optimiser_->step(*ranker_, docs, doc_weights_, static_cast<float>(state_.learning_rate),
                   state_.memory);
  state_.learning_rate *= options_.learning_rate_decay;
  ++state_.updates;
}

namespace {

constexpr std::string_view kSteps = "steps";
constexpr std::array<std::string_view, 2> kStepNames{"constant", "adagrad"};
constexpr std::string_view kPairs = "pairs";
constexpr std::array<std::string_view, 2> kPairNames{"seen", "above"};
constexpr std::string_view kSharpness = "sharpness";
constexpr std::array kSettings{
    learning_rate_setting(PdgdOptions{}.learning_rate),
    Setting{.name = kSteps,
            .help = "step size of a network's parameters: the same for all, or for each by its "
                    "past gradients; best with linear+neural",
            .names = kStepNames},
    Setting{.name = kPairs,
            .help = "which unclicked documents a clicked one is preferred to: all that were seen, "
                    "or only those above it, which is sound for users who leave satisfied too",
            .names = kPairNames},
    Setting{.name = kSharpness,
            .help = "pairs count as if the scores were closer by this factor",
            .fallback = PairRules{}.sharpness,
            .least = 0.01,
            .most = 100}};

std::unique_ptr<Learner> make_pdgd(std::unique_ptr<Ranker> ranker, const MethodRules& rules,
                                   const SettingValues& settings) {
  return std::make_unique<Pdgd>(std::move(ranker),
                                PdgdOptions{.learning_rate = settings.number(kLearningRate),
                                            .learning_rate_decay = rules.learning_rate_decay,
                                            .shown = rules.shown,
                                            .steps = static_cast<Steps>(settings.whole(kSteps)),
                                            .pairs = {static_cast<PairKind>(settings.whole(kPairs)),
                                                      settings.number(kSharpness)}});
}

std::vector<GivenSetting> settings_in(const LearnerState& state) {
  if (state.memory.empty()) return {};
  return {
      {std::string(kSteps), std::string(kStepNames[static_cast<std::size_t>(Steps::kAdaGrad)])}};
}

}  // namespace

extern const Method kPdgd;
const Method kPdgd{.name = "pdgd",
                   .title = "PDGD",
                   .summary = "pairwise differentiable gradient descent (the paper's method)",
                   .servable = true,
                   .settings = kSettings,
                   .settings_in = settings_in,
                   .make = make_pdgd};

}  // namespace plackett
