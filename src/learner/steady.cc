#include "learner/steady.h"

#include <algorithm>
#include <array>
#include <utility>

#include "learner/optimiser.h"
#include "plackett/method.h"
#include "ranker/linear_plus_neural.h"
#include "sampling/shown_list.h"

namespace plackett {

Steady::Steady(std::unique_ptr<Ranker> ranker, const SteadyOptions& options)
    : ranker_(std::move(ranker)),
      both_(dynamic_cast<LinearPlusNeuralRanker*>(ranker_.get())),
      average_ranker_(ranker_->clone()),
      options_(options),
      average_(ranker_->parameter_count()),
      inference_(options.pairs),
      gradient_(ranker_->parameter_count()) {
  restore({.method = "steady", .learning_rate = options.learning_rate});
}

std::size_t Steady::memory_size() const {
  return 2 * average_.size() - ranker_->linear_count() + Visits::kSlots;
}

void Steady::restore(const LearnerState& state) {
  state_ = state;
  average_ranker_->get_parameters(average_);
  if (state_.memory.size() != memory_size()) {
    state_.memory.assign(memory_size(), 0.0F);
    std::copy(average_.begin(), average_.end(), state_.memory.begin());
  }
  const std::span<float> memory(state_.memory);
  parameters_ = memory.first(average_.size());
  squares_ = memory.subspan(average_.size(), average_.size() - ranker_->linear_count());
  visits_ = Visits(memory.last(Visits::kSlots));
  ranker_->set_parameters(parameters_);
}

bool Steady::rank(const FeatureView& docs, Rng& rng, Ranking& ranking) {
  if (scores_.size() < docs.doc_count()) scores_.resize(docs.doc_count());
  const std::span<float> scores(scores_.data(), docs.doc_count());
  ranker_->score(docs, scores);
  return sample_list(scores, options_.shown, rng, sampling_, ranking);
}

void Steady::learn(const FeatureView& docs, const Ranking& ranking,
                   std::span<const std::uint8_t> clicks) {
  const auto pairs = inference_.infer(ranking, clicks);
  if (pairs.empty()) return;
  rank_weights_.resize(ranking.shown.size());
  sum_by_rank(pairs, rank_weights_);
  find_gradient(docs, ranking.shown);
  // The linear part's, from a tenth of the learning rate to all of it.
  const auto updates = static_cast<double>(state_.updates);
  const double warmth = (updates + 1 + options_.warm_up / 10) / (updates + 1 + options_.warm_up);
  const auto rate = static_cast<float>(state_.learning_rate);
  adagrad_step(gradient_, {.constant = static_cast<float>(warmth) * rate, .rate = rate}, squares_,
               parameters_);
  ranker_->set_parameters(parameters_);
  state_.learning_rate *= options_.learning_rate_decay;
  ++state_.updates;

  // Update t counts in proportion to t^3; from `memory` updates on, the last ones count as then.
  const auto newest = static_cast<float>(4 / (std::min(updates + 1, options_.memory) + 3));
  for (std::size_t at = 0; at < average_.size(); ++at) {
    average_[at] += newest * (parameters_[at] - average_[at]);
  }
  average_ranker_->set_parameters(average_);
}

void Steady::find_gradient(const FeatureView& docs, std::span<const Doc> shown) {
  weights_.clear();
  network_weights_.clear();
  for (std::size_t rank = 0; rank < shown.size(); ++rank) {
    if (rank_weights_[rank] == 0) continue;
    const auto weight = static_cast<float>(rank_weights_[rank]);
    const float visits = visits_.add(docs.row(shown[rank]));
    weights_.push_back({shown[rank], weight});
    network_weights_.push_back(
        {shown[rank], weight * std::min(1.0F, static_cast<float>(options_.novelty) / visits)});
  }
  if (both_ != nullptr) {
    both_->gradient(docs, weights_, network_weights_, gradient_);
  } else {
    ranker_->gradient(docs, ranker_->is_linear() ? weights_ : network_weights_, gradient_);
  }
}

namespace {

constexpr std::string_view kSharpness = "sharpness";
constexpr std::string_view kWarmUp = "warm-up";
constexpr std::string_view kNovelty = "novelty";
constexpr std::string_view kMemory = "memory";
constexpr SteadyOptions kDefaults;
constexpr std::array kSettings{
    learning_rate_setting(kDefaults.learning_rate),
    Setting{.name = kSharpness,
            .help = "pairs count as if the scores were closer by this factor",
            .fallback = kDefaults.pairs.sharpness,
            .least = 0.01,
            .most = 100},
    Setting{
        .name = kWarmUp,
        .help =
            "updates until the linear part's steps have half of their size; the first has a tenth",
        .fallback = kDefaults.warm_up,
        .least = 0,
        .most = 1e9},
    Setting{.name = kNovelty,
            .help = "a document that was learned from more often teaches the network less",
            .fallback = kDefaults.novelty,
            .least = 0.01,
            .most = 1e9},
    Setting{.name = kMemory,
            .help = "updates that the saved average is taken over, the last ones most of all",
            .fallback = kDefaults.memory,
            .least = 1,
            .most = 1e9}};

std::unique_ptr<Learner> make_steady(std::unique_ptr<Ranker> ranker, const MethodRules& rules,
                                     const SettingValues& settings) {
  return std::make_unique<Steady>(std::move(ranker),
                                  SteadyOptions{.learning_rate = settings.number(kLearningRate),
                                                .learning_rate_decay = rules.learning_rate_decay,
                                                .shown = rules.shown,
                                                .pairs = {.sharpness = settings.number(kSharpness)},
                                                .warm_up = settings.number(kWarmUp),
                                                .novelty = settings.number(kNovelty),
                                                .memory = settings.number(kMemory)});
}

}  // namespace

extern const Method kSteady;
const Method kSteady{.name = "steady",
                     .title = "Steady",
                     .summary =
                         "the default: PDGD with sharper lists, a network that documents "
                         "met often teach little, and an average that is saved",
                     .servable = true,
                     .default_ranker = RankerKind::kLinearPlusNeural,
                     .settings = kSettings,
                     .make = make_steady};

}  // namespace plackett
