#include "learner/steady.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "learner/optimiser.h"
#include "learner/pair_settings.h"
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

void Steady::set_parameters(std::span<const float> parameters) {
  std::copy(parameters.begin(), parameters.end(), parameters_.begin());
  std::copy(parameters.begin(), parameters.end(), average_.begin());
  ranker_->set_parameters(parameters);
  average_ranker_->set_parameters(parameters);
}

void Steady::start_from_fit(std::span<const float> parameters,
                            std::span<const float> mean_squares) {
  set_parameters(parameters);
  fill_squares(mean_squares, std::min(options_.memory, kFittedUpdates), squares_);
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
  adagrad_step(gradient_,
               {.constant = static_cast<float>(linear_rate()),
                .rate = static_cast<float>(state_.learning_rate),
                .kept = static_cast<float>(1 - 1 / options_.memory)},
               squares_, parameters_);
  const auto kept = static_cast<float>(1 - options_.weight_decay);
  for (float& parameter : parameters_) parameter *= kept;
  ranker_->set_parameters(parameters_);
  state_.learning_rate *= options_.learning_rate_decay;
  ++state_.updates;

  // Update t counts in proportion to t^3; from `memory` updates on, the last ones count as then.
  const double updates = std::min(static_cast<double>(state_.updates), options_.memory);
  const auto newest = static_cast<float>(4 / (updates + 3));
  for (std::size_t at = 0; at < average_.size(); ++at) {
    average_[at] += newest * (parameters_[at] - average_[at]);
  }
  average_ranker_->set_parameters(average_);
}

double Steady::linear_rate() const {
  // The gradient is the sum of weight x row, so a step of `rate` along it changes the sum of
  // weight x score by rate x its squared length.
  double weights = 0;
  for (const DocWeight& one : weights_) weights += std::abs(one.weight);
  double squares = 0;
  for (const float value : std::span(gradient_).first(ranker_->linear_count())) {
    squares += double{value} * value;
  }
  const double change = state_.learning_rate * squares;
  const double most = options_.step_limit * weights;
  return change > most ? state_.learning_rate * most / change : state_.learning_rate;
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

constexpr std::string_view kStepLimit = "step-limit";
constexpr std::string_view kNovelty = "novelty";
constexpr std::string_view kMemory = "memory";
constexpr std::string_view kWeightDecay = "weight-decay";
constexpr SteadyOptions kDefaults;
constexpr std::array kSettings{
    learning_rate_setting(kDefaults.learning_rate),
    kPairsSetting,
    sharpness_setting(kDefaults.pairs.sharpness),
    Setting{.name = kStepLimit,
            .help = "a step of the linear part changes the scores of a list's documents by at most "
                    "this much in the mean",
            .fallback = kDefaults.step_limit,
            .least = 1e-6,
            .most = 1e9},
    Setting{.name = kNovelty,
            .help = "a document that was learned from more often teaches the network less",
            .fallback = kDefaults.novelty,
            .least = 0.01,
            .most = 1e9},
    Setting{.name = kMemory,
            .help =
                "updates after which the saved average, whose mean age is a quarter of them, and "
                "the network's step sizes forget",
            .fallback = kDefaults.memory,
            .least = 1,
            .most = 1e9},
    Setting{.name = kWeightDecay,
            .help = "the part of every parameter that is lost with each update, so that it "
                    "explores again",
            .fallback = kDefaults.weight_decay,
            .least = 0,
            .most = 0.5}};

std::unique_ptr<Learner> make_steady(std::unique_ptr<Ranker> ranker, const MethodRules& rules,
                                     const SettingValues& settings) {
  return std::make_unique<Steady>(std::move(ranker),
                                  SteadyOptions{.learning_rate = settings.number(kLearningRate),
                                                .learning_rate_decay = rules.learning_rate_decay,
                                                .shown = rules.shown,
                                                .pairs = pair_rules(settings),
                                                .step_limit = settings.number(kStepLimit),
                                                .novelty = settings.number(kNovelty),
                                                .memory = settings.number(kMemory),
                                                .weight_decay = settings.number(kWeightDecay)});
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
