#include "learner/steady.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "learner_samples.h"
#include "plackett/method.h"
#include "plackett/ranker_spec.h"
#include "ranker/linear_plus_neural.h"

namespace plackett {
namespace {

using testing::parameters_of;

constexpr std::uint32_t kFeatures = 6;
constexpr std::uint32_t kDocs = 12;
constexpr std::uint64_t kQueries = 5;  // so that documents are met often

std::unique_ptr<Ranker> make(RankerKind kind) {
  Rng rng({.seed = 51});
  return make_ranker({.kind = kind, .feature_count = kFeatures, .hidden = {5}}, rng).value();
}

// Each of them matters within 250 impressions.
constexpr SteadyOptions kOptions{
    .shown = 5, .step_limit = 0.01, .novelty = 3, .memory = 100, .weight_decay = 1e-3};

// An impression of a stream that is the same for every learner; users click random documents.
struct Shown {
  AlignedVector<float> rows;
  FeatureView docs;
  Ranking ranking;
  std::vector<std::uint8_t> clicks;
};

Shown show(Learner& learner, std::uint64_t impression) {
  Shown shown;
  shown.rows = testing::random_rows(kDocs, kFeatures, 100 + impression % kQueries);
  shown.docs = FeatureView(shown.rows.data(), kDocs, kFeatures);
  Rng rng({.seed = 52, .impression = impression});
  EXPECT_TRUE(learner.rank(shown.docs, rng, shown.ranking));
  for (std::size_t at = 0; at < shown.ranking.shown.size(); ++at) {
    shown.clicks.push_back(rng.uniform() < 0.4 ? 1 : 0);
  }
  return shown;
}

void run(Learner& learner, std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t impression = first; impression < last; ++impression) {
    const Shown shown = show(learner, impression);
    learner.learn(shown.docs, shown.ranking, shown.clicks);
  }
}

// The method as docs/methods.md describes it, in double precision and with exact counts.
class Plain {
 public:
  Plain(std::unique_ptr<Ranker> ranker, const SteadyOptions& options)
      : ranker_(std::move(ranker)), options_(options), parameters_(double_parameters()) {}

  void learn(const Shown& shown) {
    PairInference inference(options_.pairs);
    const auto pairs = inference.infer(shown.ranking, shown.clicks);
    if (pairs.empty()) return;
    ++updates_;
    std::vector<double> weights(shown.ranking.shown.size());
    sum_by_rank(pairs, weights);
    std::vector<double> gradient(parameters_.size());
    double size = 0;
    for (std::size_t rank = 0; rank < weights.size(); ++rank) {
      if (weights[rank] == 0) continue;
      size += std::abs(weights[rank]);
      const Doc doc = shown.ranking.shown[rank];
      const auto row = shown.docs.row(doc);
      const double visits = ++visits_[std::vector(row.begin(), row.end())];
      std::vector<float> score_gradient(parameters_.size());
      ranker_->gradient(shown.docs, std::vector{DocWeight{doc, 1}}, score_gradient);
      for (std::size_t at = 0; at < gradient.size(); ++at) {
        const bool network = at >= ranker_->linear_count();
        const double damping = network ? std::min(1.0, options_.novelty / visits) : 1;
        gradient[at] += weights[rank] * damping * score_gradient[at];
      }
    }
    const double limited = limit(shown, weights, gradient, size);
    squares_.resize(gradient.size());
    for (std::size_t at = 0; at < gradient.size(); ++at) {
      squares_[at] = squares_[at] * (1 - 1 / options_.memory) + gradient[at] * gradient[at];
      const bool network = at >= ranker_->linear_count();
      const double scale = network ? 1 / (std::sqrt(squares_[at]) + 1e-6) : limited;
      parameters_[at] += options_.learning_rate * scale * gradient[at];
      parameters_[at] *= 1 - options_.weight_decay;
    }
    ranker_->set_parameters(std::vector<float>(parameters_.begin(), parameters_.end()));
    past_.push_back(parameters_);
  }

  // Update t has the weight t (t + 1) (t + 2); after `memory` of them weights grow by the ratio
  // that the sum of all grew by then.
  [[nodiscard]] std::vector<double> average() const {
    const double memory = options_.memory;
    const double growth = (memory + 3) / (memory - 1);
    std::vector<double> sum(parameters_.size());
    double total = 0;
    for (std::size_t at = 0; at < past_.size(); ++at) {
      const double t = std::min(static_cast<double>(at + 1), memory);
      const double later = static_cast<double>(at + 1) - t;
      const double weight = t * (t + 1) * (t + 2) * std::pow(growth, later);
      total += weight;
      for (std::size_t one = 0; one < sum.size(); ++one) sum[one] += weight * past_[at][one];
    }
    for (double& value : sum) value /= total;
    return sum;
  }
  [[nodiscard]] int limited() const { return limited_; }
  [[nodiscard]] const std::vector<double>& parameters() const { return parameters_; }
  [[nodiscard]] double updates() const { return updates_; }

 private:
  // What is left of a step whose linear part would change the shown documents' scores by more than
  // the limit: the mean of the changes, those of the losers turned round, by their weights' sizes.
  double limit(const Shown& shown, const std::vector<double>& weights,
               const std::vector<double>& gradient, double size) {
    double change = 0;
    for (std::size_t rank = 0; rank < weights.size(); ++rank) {
      const auto row = shown.docs.row(shown.ranking.shown[rank]);
      for (std::size_t at = 0; at < ranker_->linear_count(); ++at) {
        change += weights[rank] / size * options_.learning_rate * gradient[at] * row[at];
      }
    }
    if (change <= options_.step_limit) return 1;
    ++limited_;
    return options_.step_limit / change;
  }

  [[nodiscard]] std::vector<double> double_parameters() const {
    const auto parameters = parameters_of(*ranker_);
    return {parameters.begin(), parameters.end()};
  }

  std::unique_ptr<Ranker> ranker_;
  SteadyOptions options_;
  std::vector<double> parameters_;
  std::vector<double> squares_;
  std::vector<std::vector<double>> past_;
  std::map<std::vector<float>, double> visits_;
  double updates_ = 0;
  int limited_ = 0;
};

TEST(Steady, AgreesWithItsDefinition) {
  for (const RankerKind kind :
       {RankerKind::kLinear, RankerKind::kNeural, RankerKind::kLinearPlusNeural}) {
    Steady steady(make(kind), kOptions);
    Plain plain(make(kind), kOptions);
    for (std::uint64_t impression = 0; impression < 250; ++impression) {
      const Shown shown = show(steady, impression);
      steady.learn(shown.docs, shown.ranking, shown.clicks);
      plain.learn(shown);
    }
    EXPECT_GT(plain.updates(), 150);  // beyond what the average remembers
    if (kind != RankerKind::kNeural) {
      EXPECT_GT(plain.limited(), 10);
      EXPECT_LT(plain.limited(), plain.updates() - 10);
    }
    EXPECT_THAT(parameters_of(steady.explorer()),
                ::testing::Pointwise(::testing::DoubleNear(1e-3), plain.parameters()))
        << name_of(kind);
    EXPECT_THAT(parameters_of(steady.ranker()),
                ::testing::Pointwise(::testing::DoubleNear(1e-3), plain.average()))
        << name_of(kind);
  }
}

TEST(Steady, AveragesWithWeightsThatRiseAsTheCube) {
  SteadyOptions options = kOptions;
  options.memory = 1e9;
  Steady steady(make(RankerKind::kLinear), options);
  std::vector<double> sum(kFeatures);
  double weights = 0;
  for (std::uint64_t impression = 0; impression < 60; ++impression) {
    const std::uint64_t before = steady.state().updates;
    run(steady, impression, impression + 1);
    const auto t = static_cast<double>(steady.state().updates);
    if (steady.state().updates == before) continue;
    const double weight = t * (t + 1) * (t + 2);
    weights += weight;
    const auto parameters = parameters_of(steady.explorer());
    for (std::size_t at = 0; at < sum.size(); ++at) sum[at] += weight * parameters[at];
  }
  for (double& value : sum) value /= weights;
  EXPECT_THAT(parameters_of(steady.ranker()),
              ::testing::Pointwise(::testing::DoubleNear(1e-4), sum));
}

TEST(Steady, GoesOnExactlyAfterSaveAndRestore) {
  constexpr std::uint64_t kImpressions = 100;
  Steady whole(make(RankerKind::kLinearPlusNeural), kOptions);
  run(whole, 0, kImpressions);
  for (std::uint64_t saved = 0; saved < kImpressions; saved += 7) {
    Steady before(make(RankerKind::kLinearPlusNeural), kOptions);
    run(before, 0, saved);
    Steady after(make(RankerKind::kLinearPlusNeural), kOptions);
    after.ranker().set_parameters(parameters_of(before.ranker()));
    after.restore(before.state());
    run(after, saved, kImpressions);
    EXPECT_EQ(parameters_of(after.ranker()), parameters_of(whole.ranker())) << "saved at " << saved;
    EXPECT_EQ(after.state().memory, whole.state().memory);
  }
}

TEST(Steady, WithoutMemoryItStartsFromTheSavedParameters) {
  Steady learned(make(RankerKind::kLinearPlusNeural), kOptions);
  run(learned, 0, 50);
  Steady started(make(RankerKind::kLinearPlusNeural), kOptions);
  started.ranker().set_parameters(parameters_of(learned.ranker()));
  LearnerState state = learned.state();
  state.memory.clear();
  started.restore(state);
  EXPECT_EQ(parameters_of(started.explorer()), parameters_of(learned.ranker()));
}

TEST(Steady, GoesOnFromParametersThatItIsGiven) {
  Steady learned(make(RankerKind::kLinearPlusNeural), kOptions);
  run(learned, 0, 50);
  Steady given(make(RankerKind::kLinearPlusNeural), kOptions);
  run(given, 50, 60);
  given.set_parameters(parameters_of(learned.ranker()));
  EXPECT_EQ(parameters_of(given.ranker()), parameters_of(learned.ranker()));
  EXPECT_EQ(parameters_of(given.explorer()), parameters_of(learned.ranker()));
  run(given, 60, 61);
  const auto now = parameters_of(given.explorer());
  const auto then = parameters_of(learned.ranker());
  double distance = 0;
  for (std::size_t at = 0; at < now.size(); ++at) {
    distance = std::max(distance, std::abs(double{now[at]} - then[at]));
  }
  EXPECT_LT(distance, 0.2);  // one update away, and so is what is saved next
  const LearnerState state = given.state();
  EXPECT_TRUE(std::equal(now.begin(), now.end(), state.memory.begin()));
}

TEST(Steady, IsWhatDefaultMeans) {
  ASSERT_TRUE(find_method("default"));
  EXPECT_EQ(find_method("default").value()->name, "steady");
  const auto made = make_learner("default", make(RankerKind::kLinearPlusNeural), {}, {});
  ASSERT_TRUE(made);
  EXPECT_EQ((*made)->state().method, "steady");
}

}  // namespace
}  // namespace plackett
