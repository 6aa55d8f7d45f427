#include "plackett/pairs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/shared_folder.h"

namespace plackett {
namespace {

using Json = nlohmann::json;

bool close(double actual, double expected) {
  return std::abs(actual - expected) <= std::max(1e-9 * std::abs(expected), 1e-12);
}

struct Outcome {
  int cases = 0;
  int wrong = 0;
};

// Compares every number of a golden file. `fault` is added to every score, to show that the
// comparison can fail.
Outcome compare_with_goldens(const std::filesystem::path& path, double fault) {
  Outcome outcome;
  const Json goldens = Json::parse(std::ifstream(path));
  PairInference inference;
  for (const Json& golden : goldens["cases"]) {
    ++outcome.cases;
    auto scores = golden["scores"].get<std::vector<double>>();
    scores[0] += fault;
    Ranking ranking;
    for (const std::uint32_t doc : golden["ranking"]) {
      ranking.shown.push_back(Doc{doc});
      ranking.scores.push_back(scores[doc]);
    }
    ranking.rest = rest_mass(scores, ranking.shown);
    const auto clicks = golden["clicks"].get<std::vector<std::uint8_t>>();

    bool right = close(log_probability(ranking.scores, ranking.rest), golden["log_probability"]);
    const auto pairs = inference.infer(ranking, clicks);
    right = right && pairs.size() == golden["pairs"].size();
    for (std::size_t i = 0; right && i < pairs.size(); ++i) {
      const Json& expected = golden["pairs"][i];
      right = pairs[i].winner_rank == expected["winner_rank"] &&
              pairs[i].loser_rank == expected["loser_rank"] &&
              close(pairs[i].rho, expected["rho"]) && close(pairs[i].weight, expected["weight"]);
    }
    std::vector<double> rank_weights(ranking.shown.size());
    sum_by_rank(pairs, rank_weights);
    std::vector<double> doc_weights(scores.size());
    for (std::size_t rank = 0; rank < rank_weights.size(); ++rank) {
      doc_weights[index(ranking.shown[rank])] = rank_weights[rank];
    }
    for (std::size_t doc = 0; doc < scores.size(); ++doc) {
      right = right && close(doc_weights[doc], golden["document_weight"][doc]);
    }
    if (!right) {
      ++outcome.wrong;
      if (fault == 0) ADD_FAILURE() << golden["name"];
    }
  }
  return outcome;
}

const std::filesystem::path kOwn =
    std::filesystem::path(PLACKETT_SOURCE_DIR) / "tests/golden/pdgd.json";

TEST(Goldens, PairsWeightsAndProbabilitiesAreRight) {
  const Outcome outcome = compare_with_goldens(kOwn, 0);
  EXPECT_GE(outcome.cases, 37);
  EXPECT_EQ(outcome.wrong, 0);
}

TEST(Goldens, ComparisonRejectsAScoreThatIsOffByOneInAMillion) {
  EXPECT_GT(compare_with_goldens(kOwn, 1e-6).wrong, 20);
}

TEST(Goldens, SharedOnesAreRightToo) {
  const auto path = testing::shared_folder() / "golden/pdgd.json";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  const Outcome outcome = compare_with_goldens(path, 0);
  EXPECT_EQ(outcome.cases, 68);
  EXPECT_EQ(outcome.wrong, 0);
}

Ranking equal_scores(std::uint32_t shown) {
  Ranking ranking;
  for (std::uint32_t doc = 0; doc < shown; ++doc) ranking.shown.push_back(Doc{doc});
  ranking.scores.assign(shown, 0.0);
  return ranking;
}

TEST(PairInference, InfersNothingWhereNothingWasClicked) {
  PairInference inference;
  EXPECT_TRUE(inference.infer(equal_scores(4), std::vector<std::uint8_t>{0, 0, 0, 0}).empty());
}

TEST(PairInference, InfersNothingWhereEverythingWasClicked) {
  PairInference inference;
  EXPECT_TRUE(inference.infer(equal_scores(3), std::vector<std::uint8_t>{1, 1, 1}).empty());
}

TEST(PairInference, TakesTheFirstUnclickedAfterTheLastClickAndNoMore) {
  PairInference inference;
  const auto pairs = inference.infer(equal_scores(5), std::vector<std::uint8_t>{1, 0, 0, 0, 0});
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].winner_rank, 0U);
  EXPECT_EQ(pairs[0].loser_rank, 1U);
  EXPECT_EQ(pairs[0].rho, 0.5);
  EXPECT_EQ(pairs[0].weight, 0.125);
}

TEST(PairInference, ReturnsThePairsOfTheClicksBeforeItWasStopped) {
  PairInference inference;
  const std::vector<std::uint8_t> clicks{1, 0, 1, 0, 1, 0};
  const auto all = inference.infer(equal_scores(6), clicks);
  ASSERT_EQ(all.size(), 9U);
  int asked = 0;
  const std::function<bool()> stop = [&asked] { return ++asked == 3; };
  const auto pairs = inference.infer(equal_scores(6), clicks, &stop);
  ASSERT_EQ(pairs.size(), 6U);
  EXPECT_EQ(pairs.back().winner_rank, 2U);
}

TEST(PairInference, RankWeightsSumToZero) {
  PairInference inference;
  Ranking ranking = equal_scores(6);
  ranking.scores = {0.3, -1.0, 2.0, 0.0, 0.9, -0.2};
  const auto pairs = inference.infer(ranking, std::vector<std::uint8_t>{0, 1, 0, 1, 0, 0});
  std::vector<double> weights(6);
  sum_by_rank(pairs, weights);
  double sum = 0;
  for (const double weight : weights) sum += weight;
  EXPECT_NEAR(sum, 0.0, 1e-15);
  EXPECT_EQ(weights[5], 0.0);
}

TEST(PairInference, SharpnessBringsScoresCloserInTheGradientButNotInRho) {
  const std::vector<double> scores = {2, 0.5, -1};
  Ranking ranking{.shown = {Doc{0}, Doc{1}, Doc{2}}, .scores = scores, .rest = {}};
  const std::vector<std::uint8_t> clicks = {0, 1, 0};
  PairInference plain;
  PairInference sharp({.sharpness = 4});
  const std::vector<WeightedPair> expected(plain.infer(ranking, clicks).begin(),
                                           plain.infer(ranking, clicks).end());
  const auto found = sharp.infer(ranking, clicks);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t at = 0; at < found.size(); ++at) {
    EXPECT_EQ(found[at].rho, expected[at].rho);
    const double winner = std::exp(scores[found[at].winner_rank] / 4);
    const double loser = std::exp(scores[found[at].loser_rank] / 4);
    const double gradient = winner * loser / ((winner + loser) * (winner + loser));
    EXPECT_NEAR(found[at].weight, found[at].rho * gradient, 1e-15);
  }
}

}  // namespace
}  // namespace plackett
