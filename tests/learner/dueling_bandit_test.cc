#include "learner/dueling_bandit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "learner_samples.h"
#include "plackett/ranker_spec.h"
#include "ranker/linear.h"
#include "sampling/probabilistic_multileaving.h"

namespace plackett {
namespace {

constexpr std::uint32_t kFeatures = 7;
constexpr std::uint32_t kDocs = 20;

std::unique_ptr<Ranker> neural() {
  RankerSpec spec;
  spec.kind = RankerKind::kNeural;
  spec.feature_count = kFeatures;
  spec.hidden = {5};
  Rng rng({.seed = 3});
  return make_ranker(spec, rng).value();
}

// Records what it was shown, and lets the candidates win that it is told to.
class FixedDuels final : public Multileaving {
 public:
  explicit FixedDuels(std::vector<bool> wins) : wins_(std::move(wins)) {}

  void show(const ScoreTable& scores, Rng& /*rng*/, std::span<Doc> shown) override {
    scores_ = scores;
    for (std::uint32_t rank = 0; rank < shown.size(); ++rank) shown[rank] = Doc{rank};
  }
  std::span<const Duel> judge(std::span<const std::uint8_t> /*clicks*/, Rng& /*rng*/) override {
    duels_.clear();
    for (const bool won : wins_) duels_.push_back({won ? 0.5 : -0.5, won});
    return duels_;
  }

  ScoreTable scores_;

 private:
  std::vector<bool> wins_;
  std::vector<Duel> duels_;
};

struct Fixture {
  AlignedVector<float> rows = testing::random_rows(kDocs, kFeatures);
  FeatureView docs{rows.data(), kDocs, kFeatures};
  std::vector<std::uint8_t> clicks = std::vector<std::uint8_t>(10, 1);
  Ranking ranking;
};

TEST(DuelingBandit, CandidatesLieOnTheUnitSphereAndAreScoredExactly) {
  Fixture fixture;
  for (auto make :
       {+[]() -> std::unique_ptr<Ranker> { return std::make_unique<LinearRanker>(kFeatures); },
        +[]() { return neural(); }}) {
    auto duels = std::make_unique<FixedDuels>(std::vector<bool>{false, true, false});
    FixedDuels& seen = *duels;
    DuelingBandit bandit(make(), std::move(duels), {.candidates = 3, .learning_rate = 1});
    const auto before = testing::parameters_of(bandit.ranker());
    const auto probe = bandit.ranker().clone();
    Rng rng({.seed = 4});
    ASSERT_TRUE(bandit.rank(fixture.docs, rng, fixture.ranking));
    bandit.learn(fixture.docs, fixture.ranking, fixture.clicks);
    // With a learning rate of 1 the current ranker becomes the winner itself.
    const auto after = testing::parameters_of(bandit.ranker());
    double square = 0;
    for (std::size_t at = 0; at < after.size(); ++at) {
      square += std::pow(double{after[at]} - double{before[at]}, 2);
    }
    EXPECT_NEAR(square, 1, 1e-5);
    probe->set_parameters(after);
    std::vector<float> expected(kDocs);
    probe->score(fixture.docs, expected);
    for (std::uint32_t doc = 0; doc < kDocs; ++doc) {
      EXPECT_NEAR(seen.scores_.row(2)[doc], expected[doc], 1e-5);
    }
    EXPECT_EQ(seen.scores_.rankers(), 4U);
  }
}

TEST(DuelingBandit, StepsTowardsTheMeanOfTheWinners) {
  Fixture fixture;
  const auto moved = [&](std::vector<bool> wins, double rate) {
    const auto candidates = static_cast<std::uint32_t>(wins.size());
    DuelingBandit bandit(std::make_unique<LinearRanker>(kFeatures),
                         std::make_unique<FixedDuels>(std::move(wins)),
                         {.candidates = candidates, .learning_rate = rate});
    Rng rng({.seed = 5});
    EXPECT_TRUE(bandit.rank(fixture.docs, rng, fixture.ranking));
    bandit.learn(fixture.docs, fixture.ranking, fixture.clicks);
    return testing::parameters_of(bandit.ranker());
  };
  const auto first = moved({true, false, false}, 1);
  const auto third = moved({false, false, true}, 1);
  const auto both = moved({true, false, true}, 0.01);
  const auto none = moved({false, false, false}, 1);
  for (std::uint32_t at = 0; at < kFeatures; ++at) {
    EXPECT_NEAR(both[at], 0.01 * (first[at] + third[at]) / 2, 1e-7);
    EXPECT_EQ(none[at], 0);
  }
  EXPECT_NE(first, third);
}

// The step lies in the span of the documents examined, here and before, and has the learning rate's
// length; the twin solves the normal equations by plain Gram-Schmidt in double.
TEST(DuelingBandit, ProjectsTheStepOntoTheDocumentsExamined) {
  constexpr std::uint32_t kMany = 40;
  const auto rows = testing::random_rows(kDocs, kMany);
  const FeatureView docs(rows.data(), kDocs, kMany);
  const auto bandit_with = [&](bool projected) {
    return std::make_unique<DuelingBandit>(
        std::make_unique<LinearRanker>(kMany),
        std::make_unique<FixedDuels>(std::vector<bool>{true}),
        DuelingBanditOptions{.learning_rate = 0.5, .projected = projected});
  };
  const auto plain = bandit_with(false);
  const auto bandit = bandit_with(true);
  // FixedDuels shows 0 to 9; three are examined below the last click.
  const std::vector<std::vector<std::uint8_t>> lists{{1, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                                                     {0, 1, 0, 0, 0, 0, 0, 0, 0, 0},
                                                     {0, 0, 0, 0, 1, 0, 0, 0, 1, 0}};
  const std::vector<std::uint32_t> examined{4, 5, 10};
  for (std::size_t list = 0; list < lists.size(); ++list) {
    std::vector<std::vector<float>> steps;
    for (DuelingBandit* one : {plain.get(), bandit.get()}) {
      const auto before = testing::parameters_of(one->ranker());
      Rng rng({.seed = 5, .impression = list});
      Ranking ranking;
      ASSERT_TRUE(one->rank(docs, rng, ranking));
      one->learn(docs, ranking, lists[list]);
      steps.push_back(testing::parameters_of(one->ranker()));
      for (std::size_t at = 0; at < kMany; ++at) steps.back()[at] -= before[at];
    }
    std::vector<std::vector<double>> basis;
    for (std::uint32_t doc = 0; doc < examined[list]; ++doc) {
      std::vector<double> row(docs.row(Doc{doc}).begin(), docs.row(Doc{doc}).end());
      for (const auto& other : basis) {
        const double product = std::inner_product(row.begin(), row.end(), other.begin(), 0.0);
        for (std::size_t at = 0; at < kMany; ++at) row[at] -= product * other[at];
      }
      const double norm = std::sqrt(std::inner_product(row.begin(), row.end(), row.begin(), 0.0));
      for (double& value : row) value /= norm;
      basis.push_back(row);
    }
    std::vector<double> expected(kMany);
    for (const auto& other : basis) {
      const double product = std::inner_product(other.begin(), other.end(), steps[0].begin(), 0.0);
      for (std::size_t at = 0; at < kMany; ++at) expected[at] += product * other[at];
    }
    const double norm =
        std::sqrt(std::inner_product(expected.begin(), expected.end(), expected.begin(), 0.0));
    EXPECT_LT(norm, 0.45);  // of 0.5: something is projected away
    for (std::size_t at = 0; at < kMany; ++at) {
      EXPECT_NEAR(steps[1][at], 0.5 * expected[at] / norm, 2e-6) << list;
    }
  }
}

TEST(DuelingBandit, RemembersTheLastTenDocumentsExamined) {
  constexpr std::uint32_t kMany = 40;
  const auto rows = testing::random_rows(kDocs, kMany);
  const FeatureView docs(rows.data(), kDocs, kMany);
  // Nobody wins, but documents are examined.
  DuelingBandit bandit(std::make_unique<LinearRanker>(kMany),
                       std::make_unique<FixedDuels>(std::vector<bool>{false}), {.projected = true});
  const auto first_of = [&](std::size_t place) { return bandit.state().memory[place * kMany]; };
  for (const std::uint32_t last : {0U, 5U}) {  // 4 documents, then 9
    Rng rng({});
    Ranking ranking;
    ASSERT_TRUE(bandit.rank(docs, rng, ranking));
    std::vector<std::uint8_t> clicks(10);
    clicks[last] = 1;
    bandit.learn(docs, ranking, clicks);
  }
  EXPECT_EQ(bandit.state().memory.size(), 10 * kMany);
  EXPECT_EQ(first_of(0), docs.row(Doc{3})[0]);
  EXPECT_EQ(first_of(1), docs.row(Doc{0})[0]);
  EXPECT_EQ(first_of(9), docs.row(Doc{8})[0]);
  LearnerState other = bandit.state();
  other.memory.resize(3);
  bandit.restore(other);
  EXPECT_EQ(bandit.state().memory, std::vector<float>(10 * kMany));
}

TEST(DuelingBandit, ResumedItContinuesBitByBit) {
  const auto bandit_from = [](const std::vector<float>& parameters) {
    auto ranker = std::make_unique<LinearRanker>(kFeatures);
    ranker->set_parameters(parameters);
    return std::make_unique<DuelingBandit>(
        std::move(ranker),
        std::make_unique<ProbabilisticMultileaving>(ProbabilisticMultileaving::Ties::kLost),
        DuelingBanditOptions{.candidates = 3, .shown = 2, .projected = true});
  };
  const auto teach = [](DuelingBandit& bandit, std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t list = from; list < to; ++list) {
      const auto rows = testing::random_rows(4, kFeatures, list);
      const FeatureView docs(rows.data(), 4, kFeatures);
      Rng rng({.seed = 2, .impression = list});
      Ranking ranking;
      EXPECT_TRUE(bandit.rank(docs, rng, ranking));
      bandit.learn(docs, ranking, std::vector<std::uint8_t>{0, 1});
    }
  };
  const auto whole = bandit_from(std::vector<float>(kFeatures));
  teach(*whole, 0, 30);
  const auto resumed = bandit_from(testing::parameters_of(whole->ranker()));
  resumed->restore(whole->state());
  const auto forgetful = bandit_from(testing::parameters_of(whole->ranker()));
  for (DuelingBandit* one : {whole.get(), resumed.get(), forgetful.get()}) teach(*one, 30, 60);
  EXPECT_EQ(testing::parameters_of(resumed->ranker()), testing::parameters_of(whole->ranker()));
  EXPECT_NE(testing::parameters_of(forgetful->ranker()), testing::parameters_of(whole->ranker()));
}

TEST(DuelingBandit, DirectionsAreNotBiased) {
  Fixture fixture;
  DuelingBandit bandit(std::make_unique<LinearRanker>(kFeatures),
                       std::make_unique<FixedDuels>(std::vector<bool>{true}), {.learning_rate = 1});
  constexpr int kDraws = 20'000;
  for (int draw = 0; draw < kDraws; ++draw) {
    Rng rng({.seed = 6, .impression = static_cast<std::uint64_t>(draw)});
    ASSERT_TRUE(bandit.rank(fixture.docs, rng, fixture.ranking));
    bandit.learn(fixture.docs, fixture.ranking, fixture.clicks);
  }
  // Each coordinate is a sum of draws of variance 1 / dimensions; five standard deviations.
  for (const float sum : testing::parameters_of(bandit.ranker())) {
    EXPECT_LT(std::abs(sum), 5 * std::sqrt(double{kDraws} / kFeatures));
    EXPECT_GT(std::abs(sum), 1e-3);
  }
}

TEST(DuelingBandit, NothingClickedNothingLearned) {
  Fixture fixture;
  DuelingBandit bandit(std::make_unique<LinearRanker>(kFeatures),
                       std::make_unique<FixedDuels>(std::vector<bool>{true}), {});
  Rng rng({.seed = 7});
  ASSERT_TRUE(bandit.rank(fixture.docs, rng, fixture.ranking));
  bandit.learn(fixture.docs, fixture.ranking, std::vector<std::uint8_t>(10));
  EXPECT_EQ(testing::parameters_of(bandit.ranker()), std::vector<float>(kFeatures));
  EXPECT_EQ(bandit.state().updates, 0U);
}

TEST(DuelingBandit, LearnsOnceAndOnlyFromItsLastRanking) {
  Fixture fixture;
  DuelingBandit bandit(std::make_unique<LinearRanker>(kFeatures),
                       std::make_unique<FixedDuels>(std::vector<bool>{true}),
                       {.learning_rate_decay = 0.5});
  Rng rng({.seed = 8});
  ASSERT_TRUE(bandit.rank(fixture.docs, rng, fixture.ranking));
  Ranking other = fixture.ranking;
  std::swap(other.shown[0], other.shown[1]);
  bandit.learn(fixture.docs, other, fixture.clicks);
  EXPECT_EQ(bandit.state().updates, 0U);
  bandit.learn(fixture.docs, fixture.ranking, fixture.clicks);
  bandit.learn(fixture.docs, fixture.ranking, fixture.clicks);
  EXPECT_EQ(bandit.state().updates, 1U);
  EXPECT_EQ(bandit.state().learning_rate, 0.005);
}

// A user who clicks whatever lies above the middle on feature 0.
TEST(DuelingBandit, FindsTheFeatureThatIsClicked) {
  for (const std::uint32_t candidates : {1U, 9U}) {
    DuelingBandit bandit(
        std::make_unique<LinearRanker>(kFeatures),
        std::make_unique<ProbabilisticMultileaving>(ProbabilisticMultileaving::Ties::kLost),
        {.candidates = candidates, .shown = 5});
    Ranking ranking;
    for (std::uint64_t impression = 0; impression < 2'000; ++impression) {
      const auto rows = testing::random_rows(kDocs, kFeatures, impression);
      const FeatureView docs(rows.data(), kDocs, kFeatures);
      Rng rng({.seed = 9, .impression = impression});
      ASSERT_TRUE(bandit.rank(docs, rng, ranking));
      std::vector<std::uint8_t> clicks;
      for (const Doc doc : ranking.shown) clicks.push_back(docs.row(doc)[0] > 0.8F ? 1 : 0);
      bandit.learn(docs, ranking, clicks);
    }
    const auto learned = testing::parameters_of(bandit.ranker());
    for (std::uint32_t at = 1; at < kFeatures; ++at) {
      EXPECT_GT(learned[0], 2 * std::abs(learned[at])) << candidates << " candidates";
    }
  }
}

TEST(DuelingBandit, ScoresOutOfRangeAreRefused) {
  Fixture fixture;
  DuelingBandit bandit(std::make_unique<LinearRanker>(kFeatures),
                       std::make_unique<FixedDuels>(std::vector<bool>{true}), {});
  bandit.ranker().set_parameters(std::vector<float>(kFeatures, 3e38F));
  Rng rng({.seed = 10});
  EXPECT_FALSE(bandit.rank(fixture.docs, rng, fixture.ranking));
}

}  // namespace
}  // namespace plackett
