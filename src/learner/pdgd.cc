#include "plackett/pdgd.h"

#include <algorithm>
#include <array>
#include <utility>

#include "learner/drop_detector.h"
#include "learner/optimiser.h"
#include "learner/pair_settings.h"
#include "plackett/method.h"
#include "sampling/shown_list.h"

namespace plackett {
namespace {

constexpr float kKeptAtRestart = 0.1F;

}  // namespace

Pdgd::Pdgd(std::unique_ptr<Ranker> ranker, const PdgdOptions& options)
    : ranker_(std::move(ranker)), options_(options), inference_(options.pairs) {
  state_ = {.method = "pdgd", .learning_rate = options_.learning_rate};
  if (options_.restart > 0) detector_ = std::make_unique<DropDetector>(options_.restart);
  if (options_.restart > 0 || options_.weight_decay > 0) {
    parameters_.resize(ranker_->parameter_count());
  }
  set_steps(options_.steps);
}

Pdgd::~Pdgd() = default;

void Pdgd::set_steps(Steps steps) {
  if (optimiser_ != nullptr && steps == options_.steps) return;
  options_.steps = steps;
  optimiser_ = make_optimiser(steps, *ranker_, options_.step_memory);
  state_.memory.assign(memory_size(), 0.0F);
}

std::optional<std::uint64_t> Pdgd::restarts() const {
  return detector_ == nullptr ? std::nullopt : std::optional(restarts_);
}

std::size_t Pdgd::memory_size() const {
  return optimiser_->memory_size() + (detector_ == nullptr ? 0 : DropDetector::kMemorySize);
}

void Pdgd::restore(const LearnerState& state) {
  state_ = state;
  if (state_.memory.size() == memory_size()) return;
  state_.memory.assign(memory_size(), 0.0F);
}

void Pdgd::start_from_fit(std::span<const float> parameters, std::span<const float> mean_squares) {
  ranker_->set_parameters(parameters);
  const auto squares = std::span(state_.memory).first(optimiser_->memory_size());
  fill_squares(mean_squares, kFittedUpdates, squares);
}

bool Pdgd::rank(const FeatureView& docs, Rng& rng, Ranking& ranking) {
  if (scores_.size() < docs.doc_count()) scores_.resize(docs.doc_count());
  const std::span<float> scores(scores_.data(), docs.doc_count());
  ranker_->score(docs, scores);
  return sample_list(scores, options_.shown, rng, sampling_, ranking);
}

void Pdgd::learn(const FeatureView& docs, const Ranking& ranking,
                 std::span<const std::uint8_t> clicks) {
  step(docs, ranking, clicks);
  if (options_.weight_decay > 0) scale_parameters(static_cast<float>(1 - options_.weight_decay));
  if (detector_ == nullptr) return;
  const auto clicked =
      clicks.size() - static_cast<std::size_t>(std::count(clicks.begin(), clicks.end(), 0));
  const auto memory = std::span(state_.memory).last(DropDetector::kMemorySize);
  if (!detector_->add(static_cast<double>(clicked), memory)) return;
  scale_parameters(kKeptAtRestart);
  std::fill(state_.memory.begin(), state_.memory.end(), 0.0F);
  state_.learning_rate = options_.learning_rate;
  ++restarts_;
}

void Pdgd::scale_parameters(float factor) {
  ranker_->get_parameters(parameters_);
  for (float& parameter : parameters_) parameter *= factor;
  ranker_->set_parameters(parameters_);
}

void Pdgd::step(const FeatureView& docs, const Ranking& ranking,
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
                   std::span(state_.memory).first(optimiser_->memory_size()));
  state_.learning_rate *= options_.learning_rate_decay;
  ++state_.updates;
}

namespace {

constexpr std::string_view kSteps = "steps";
constexpr std::array<std::string_view, 3> kStepNames{"constant", "adagrad", "forgetting"};
constexpr std::string_view kStepMemory = "step-memory";
constexpr std::string_view kWeightDecay = "weight-decay";
constexpr std::string_view kRestart = "restart";
constexpr std::array kSettings{
    learning_rate_setting(PdgdOptions{}.learning_rate),
    Setting{.name = kSteps,
            .help = "step size of a network's parameters: the same for all, or for each by its "
                    "past gradients, best with linear+neural, or by its recent ones",
            .names = kStepNames},
    kPairsSetting,
    sharpness_setting(PairRules{}.sharpness),
    Setting{.name = kStepMemory,
            .help = "steps=forgetting: how many updates the recent gradients are of",
            .fallback = PdgdOptions{}.step_memory,
            .least = 1,
            .most = 1e9},
    Setting{.name = kWeightDecay,
            .help = "the part of every parameter that is lost with each list, so that it explores "
                    "again; 0: none",
            .fallback = PdgdOptions{}.weight_decay,
            .least = 0,
            .most = 0.5},
    Setting{.name = kRestart,
            .help = "starts over, with a tenth of every parameter, once the clicks per list have "
                    "dropped: the sum of the drops, in standard deviations, that it waits for; 0: "
                    "never",
            .fallback = PdgdOptions{}.restart,
            .least = 0,
            .most = 1e6}};

Steps steps_of(const SettingValues& settings) { return static_cast<Steps>(settings.whole(kSteps)); }

Result<void> check_settings(const Ranker& /*ranker*/, const SettingValues& settings) {
  if (steps_of(settings) == Steps::kForgetting) return {};
  return settings.require_defaults({kStepMemory}, "steps=forgetting");
}

std::unique_ptr<Learner> make_pdgd(std::unique_ptr<Ranker> ranker, const MethodRules& rules,
                                   const SettingValues& settings) {
  return std::make_unique<Pdgd>(std::move(ranker),
                                PdgdOptions{.learning_rate = settings.number(kLearningRate),
                                            .learning_rate_decay = rules.learning_rate_decay,
                                            .shown = rules.shown,
                                            .steps = steps_of(settings),
                                            .pairs = pair_rules(settings),
                                            .step_memory = settings.number(kStepMemory),
                                            .weight_decay = settings.number(kWeightDecay),
                                            .restart = settings.number(kRestart)});
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
                   .check = check_settings,
                   .make = make_pdgd};

}  // namespace plackett
