#include "learner/cascade.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <functional>
#include <utility>

#include "base/kernels.h"
#include "plackett/method.h"

namespace plackett {
namespace {

constexpr std::string_view kName = "cascade";

PdgdOptions with_plain_steps(PdgdOptions options) {
  options.steps = Steps::kConstant;
  return options;
}

}  // namespace

Cascade::Cascade(std::unique_ptr<LinearPlusNeuralRanker> ranker, const CascadeOptions& options)
    : ranker_(ranker.get()),
      pdgd_(std::move(ranker), with_plain_steps(options.pdgd)),
      options_(options),
      start_(ranker_->linear_weights().size()),
      before_(start_.size()),
      moved_(start_.size()) {
  assert(options_.window > 0);
  switch_network(false);
}

void Cascade::switch_network(bool on) {
  ranker_->set_network_on(on);
  pdgd_.set_steps(on ? Steps::kAdaGrad : Steps::kConstant);
}

float Cascade::squared_distance(const AlignedVector<float>& from) {
  const std::span<const float> now = ranker_->linear_weights();
  std::transform(now.begin(), now.end(), from.begin(), moved_.begin(), std::minus<>());
  float sum = 0;
  kernels().dot_rows({moved_.data(), 1, moved_.size(), moved_.size()}, moved_.data(), &sum);
  return sum;
}

void Cascade::learn(const FeatureView& docs, const Ranking& ranking,
                    std::span<const std::uint8_t> clicks) {
  if (network_on()) return pdgd_.learn(docs, ranking, clicks);
  const std::span<const float> weights = ranker_->linear_weights();
  const std::uint64_t updates = pdgd_.updates();
  std::copy(weights.begin(), weights.end(), before_.begin());
  pdgd_.learn(docs, ranking, clicks);
  if (pdgd_.updates() == updates) return;
  if (updates % options_.window == 0) {
    start_ = before_;
    squares_ = 0;
  }
  squares_ += squared_distance(before_);
  if (pdgd_.updates() % options_.window != 0) return;
  const double progress = std::sqrt(double{squared_distance(start_)});
  if (progress <= options_.threshold * std::sqrt(double{squares_})) switch_network(true);
}

void Cascade::start_from_fit(std::span<const float> parameters,
                             std::span<const float> mean_squares) {
  switch_network(true);
  pdgd_.start_from_fit(parameters, mean_squares);
}

LearnerState Cascade::state() const {
  LearnerState state = pdgd_.state();
  state.method = kName;
  if (network_on()) return state;
  state.memory.assign(start_.begin(), start_.begin() + ranker_->feature_count());
  state.memory.push_back(squares_);
  return state;
}

void Cascade::restore(const LearnerState& state) {
  // A network of u units in its first layer has at least (n + 2) u parameters.
  const std::size_t features = ranker_->feature_count();
  switch_network(state.memory.size() == ranker_->parameter_count() - features);
  pdgd_.restore(state);
  if (network_on()) return;
  const std::span<const float> weights = ranker_->linear_weights();
  std::copy(weights.begin(), weights.end(), start_.begin());
  squares_ = 0;
  if (state.memory.size() != features + 1) return;
  std::copy_n(state.memory.begin(), features, start_.begin());
  squares_ = state.memory.back();
}

namespace {

constexpr std::string_view kWindow = "window";
constexpr std::string_view kThreshold = "threshold";
constexpr std::array kSettings{
    learning_rate_setting(PdgdOptions{}.learning_rate),
    Setting{.name = kWindow,
            .help = "updates between checks of the linear part's progress",
            .fallback = CascadeOptions{}.window,
            .least = 2,
            .most = 1'000'000,
            .whole = true},
    Setting{.name = kThreshold,
            .help = "progress below which the network is switched on, in multiples of what "
                    "updates in independent directions make; 0: never",
            .fallback = CascadeOptions{}.threshold,
            .least = 0,
            .most = 1000}};

Result<void> check_ranker(const Ranker& ranker, const SettingValues& /*settings*/) {
  if (dynamic_cast<const LinearPlusNeuralRanker*>(&ranker) != nullptr) return {};
  return Error{
      "cascade needs the ranker linear+neural; it is a linear ranker whose network is "
      "switched on later"};
}

std::unique_ptr<Learner> make_cascade(std::unique_ptr<Ranker> ranker, const MethodRules& rules,
                                      const SettingValues& settings) {
  std::unique_ptr<LinearPlusNeuralRanker> both(
      static_cast<LinearPlusNeuralRanker*>(ranker.release()));  // check_ranker() made sure
  return std::make_unique<Cascade>(
      std::move(both), CascadeOptions{.pdgd = {.learning_rate = settings.number(kLearningRate),
                                               .learning_rate_decay = rules.learning_rate_decay,
                                               .shown = rules.shown},
                                      .window = settings.whole(kWindow),
                                      .threshold = settings.number(kThreshold)});
}

}  // namespace

extern const Method kCascade;
const Method kCascade{.name = kName,
                      .title = "Cascade",
                      .summary =
                          "PDGD with a linear ranker; when its progress stalls, a network "
                          "is added to it",
                      .servable = true,
                      .default_ranker = RankerKind::kLinearPlusNeural,
                      .settings = kSettings,
                      .check = check_ranker,
                      .make = make_cascade};

}  // namespace plackett
