#include "learner/coltr.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/kernels.h"
#include "plackett/method.h"
#include "sampling/finite.h"
#include "sampling/shown_list.h"

namespace plackett {

Coltr::Coltr(std::unique_ptr<Ranker> ranker, const ColtrOptions& options)
    : ranker_(std::move(ranker)),
      options_(options),
      state_{.method = "coltr", .learning_rate = options.learning_rate},
      candidates_(*ranker_, options.candidates),
      parameters_(ranker_->parameter_count()) {}

bool Coltr::rank(const FeatureView& docs, Rng& rng, Ranking& ranking) {
  last_.forget();
  if (sampled_.size() < docs.doc_count()) sampled_.resize(docs.doc_count());
  const std::span<float> scores(sampled_.data(), docs.doc_count());
  ranker_->score(docs, scores);
  for (float& score : scores) score /= static_cast<float>(options_.temperature);
  if (!sample_list(scores, options_.shown, rng, sampling_, ranking)) return false;
  last_.remember(docs, ranking, rng);
  return true;
}

// A document's weight is the ratio of its propensities, softmax(scores) of the candidate over that
// of the current ranker. Both softmaxes' sums cancel, since every term below is a quotient of sums
// of weights: the ratio is exp(difference of the scores), times what is the same for all documents.
// An examined document that was not clicked costs 1, any other 0.
double Coltr::cost(std::uint32_t candidate, std::span<const std::uint8_t> clicks,
                   std::size_t examined) {
  const std::span<const float> own = scores_.row(candidate);
  const std::span<const float> current = scores_.row(0);
  for (std::size_t rank = 0; rank < own.size(); ++rank) {
    differences_[rank] = own[rank] - current[rank];
  }
  kernels().exp_from_max(differences_.data(), own.size(), weights_.data());
  double weights = 0;
  double weighted = 0;
  double squares = 0;
  double squares_of_costly = 0;
  for (std::size_t rank = 0; rank < own.size(); ++rank) {
    const double weight = weights_[rank];
    weights += weight;
    squares += weight * weight;
    if (rank < examined && clicks[rank] == 0) {
      weighted += weight;
      squares_of_costly += weight * weight;
    }
  }
  const double mean = weighted / weights;
  const double variance =
      ((1 - mean) * (1 - mean) * squares_of_costly + mean * mean * (squares - squares_of_costly)) /
      squares;
  return mean + options_.penalty * std::sqrt(variance / static_cast<double>(own.size()));
}

void Coltr::learn(const FeatureView& docs, const Ranking& ranking,
                  std::span<const std::uint8_t> clicks) {
  if (!last_.take_if_same(docs, ranking)) return;
  const auto last =
      std::find_if(clicks.rbegin(), clicks.rend(), [](std::uint8_t click) { return click != 0; });
  if (last == clicks.rend()) return;
  const auto examined = static_cast<std::size_t>(clicks.rend() - last);
  const std::size_t width = padded_width(docs.feature_count());
  const auto shown = static_cast<std::uint32_t>(ranking.shown.size());
  if (shown_rows_.size() < shown * width) shown_rows_.resize(shown * width);
  for (std::size_t rank = 0; rank < shown; ++rank) {
    const auto row = docs.row(ranking.shown[rank]);
    std::copy(row.begin(), row.end(), &shown_rows_[rank * width]);
  }
  differences_.resize(shown);
  weights_.resize(shown);
  candidates_.draw(last_.rng());
  candidates_.score(*ranker_, {shown_rows_.data(), shown, docs.feature_count()}, scores_);
  const double current = cost(0, clicks, examined);
  winners_.clear();
  for (std::uint32_t candidate = 1; candidate < scores_.rankers(); ++candidate) {
    if (all_finite(scores_.row(candidate)) && cost(candidate, clicks, examined) < current) {
      winners_.push_back(candidate - 1);
    }
  }
  if (winners_.empty()) return;
  const double step = state_.learning_rate / static_cast<double>(winners_.size());
  ranker_->get_parameters(parameters_);
  for (const std::uint32_t winner : winners_) {
    candidates_.add_direction(winner, step, parameters_);
  }
  ranker_->set_parameters(parameters_);
  if (state_.learning_rate > options_.least_learning_rate) {
    state_.learning_rate =
        std::max(state_.learning_rate * options_.learning_rate_decay, options_.least_learning_rate);
  }
  ++state_.updates;
}

namespace {

constexpr std::string_view kCandidates = "candidates";
constexpr std::string_view kTemperature = "temperature";
constexpr std::string_view kPenalty = "penalty";

constexpr std::array kSettings{
    learning_rate_setting(ColtrOptions{}.learning_rate),
    Setting{.name = kCandidates,
            .help = "candidates per impression",
            .fallback = ColtrOptions{}.candidates,
            .least = 1,
            .most = 1000,
            .whole = true},
    Setting{.name = kTemperature,
            .help = "tau: scores are divided by it before a list is sampled",
            .fallback = ColtrOptions{}.temperature,
            .least = 1e-3,
            .most = 1e3},
    Setting{.name = kPenalty,
            .help = "gamma: how much the standard deviation of a candidate's estimate counts",
            .fallback = ColtrOptions{}.penalty,
            .least = 0,
            .most = 1e3}};

// The authors' experiments, where they differ from their paper.
constexpr double kPublishedDecay = 0.99966;
constexpr double kPublishedLeastRate = 0.01;
constexpr double kPublishedStart = 0.01;  // length of the first weights, which point anywhere

// Unless the ranker has learned already.
void start_at_random(Ranker& ranker, Rng::Stream stream) {
  std::vector<float> parameters(ranker.parameter_count());
  ranker.get_parameters(parameters);
  if (std::any_of(parameters.begin(), parameters.end(), [](float value) { return value != 0; })) {
    return;
  }
  stream.impression = 1;  // 0 is the ranker's
  Rng rng(stream);
  Candidates one(ranker, 1);
  one.draw(rng);
  one.add_direction(0, kPublishedStart, parameters);
  ranker.set_parameters(parameters);
}

std::unique_ptr<Learner> make_coltr(std::unique_ptr<Ranker> ranker, const MethodRules& rules,
                                    const SettingValues& settings) {
  if (rules.published_start && ranker->is_linear()) start_at_random(*ranker, rules.initial);
  const bool own_decay = rules.published_decay;
  return std::make_unique<Coltr>(
      std::move(ranker),
      ColtrOptions{.candidates = settings.whole(kCandidates),
                   .temperature = settings.number(kTemperature),
                   .penalty = settings.number(kPenalty),
                   .learning_rate = settings.number(kLearningRate),
                   .learning_rate_decay = own_decay ? kPublishedDecay : rules.learning_rate_decay,
                   .least_learning_rate = own_decay ? kPublishedLeastRate : 0,
                   .shown = rules.shown});
}

}  // namespace

extern const Method kColtr;
const Method kColtr{.name = "coltr",
                    .title = "COLTR",
                    .summary = "evaluates many candidates on the clicks of one sampled list",
                    .settings = kSettings,
                    .make = make_coltr};

}  // namespace plackett
