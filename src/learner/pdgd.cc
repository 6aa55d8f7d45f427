#include "plackett/pdgd.h"

#include <algorithm>
#include <array>
#include <utility>

#include "learner/adagrad.h"
#include "learner/finite.h"
#include "plackett/method.h"

namespace plackett {

Pdgd::Pdgd(std::unique_ptr<Ranker> ranker, const PdgdOptions& options)
    : ranker_(std::move(ranker)), options_(options) {
  state_ = {.method = "pdgd", .learning_rate = options_.learning_rate};
  set_steps(options_.steps);
}

Pdgd::~Pdgd() = default;

void Pdgd::set_steps(Steps steps) {
  if ((steps == Steps::kAdaGrad) == (adagrad_ != nullptr)) return;
  if (steps == Steps::kAdaGrad) {
    adagrad_ = std::make_unique<AdaGrad>(*ranker_);
  } else {
    adagrad_.reset();
  }
  state_.memory.assign(adagrad_ ? adagrad_->sum_count() : 0, 0.0F);
}

void Pdgd::restore(const LearnerState& state) {
  state_ = state;
  const std::size_t sums = adagrad_ ? adagrad_->sum_count() : 0;
  if (state_.memory.size() != sums) state_.memory.assign(sums, 0.0F);
}

bool Pdgd::rank(const FeatureView& docs, Rng& rng, Ranking& ranking) {
  if (scores_.size() < docs.doc_count()) scores_.resize(docs.doc_count());
  const std::span<float> scores(scores_.data(), docs.doc_count());
  ranker_->score(docs, scores);
  if (!all_finite(scores)) return false;
  ranking.shown.resize(std::min(options_.shown, docs.doc_count()));
  ranking.scores.resize(ranking.shown.size());
  ranking.rest = sample_ranking(scores, rng, sampling_, ranking.shown);
  for (std::size_t rank = 0; rank < ranking.shown.size(); ++rank) {
    ranking.scores[rank] = scores[index(ranking.shown[rank])];
  }
  return true;
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
  const auto rate = static_cast<float>(state_.learning_rate);
  if (adagrad_) {
    adagrad_->step(*ranker_, docs, doc_weights_, rate, state_.memory);
  } else {
    ranker_->step(docs, doc_weights_, rate);
  }
  state_.learning_rate *= options_.learning_rate_decay;
  ++state_.updates;
}

namespace {

constexpr std::string_view kSteps = "steps";
constexpr std::array<std::string_view, 2> kStepNames{"constant", "adagrad"};
constexpr std::array kSettings{
    learning_rate_setting(PdgdOptions{}.learning_rate),
    Setting{.name = kSteps,
            .help = "how far a network's parameters step: all alike, or each by its own past; "
                    "best with linear+neural",
            .names = kStepNames}};

std::unique_ptr<Learner> make_pdgd(std::unique_ptr<Ranker> ranker, const MethodRules& rules,
                                   const SettingValues& settings) {
  return std::make_unique<Pdgd>(std::move(ranker),
                                PdgdOptions{.learning_rate = settings.number(kLearningRate),
                                            .learning_rate_decay = rules.learning_rate_decay,
                                            .shown = rules.shown,
                                            .steps = static_cast<Steps>(settings.whole(kSteps))});
}

}  // namespace

extern const Method kPdgd;
const Method kPdgd{.name = "pdgd",
                   .title = "PDGD",
                   .summary = "pairwise differentiable gradient descent (the paper's method)",
                   .servable = true,
                   .settings = kSettings,
                   .make = make_pdgd};

}  // namespace plackett
