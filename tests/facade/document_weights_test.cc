#include "plackett/document_weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "plackett/pairs.h"
#include "plackett/pdgd.h"
#include "plackett/ranker_spec.h"

namespace plackett {
namespace {

struct List {
  std::vector<double> scores;
  std::vector<std::uint32_t> ranking;
  std::vector<std::uint8_t> clicks;

  [[nodiscard]] ShownList view() const {
    return {.scores = scores, .ranking = ranking, .clicks = clicks};
  }
};

nlohmann::json golden() {
  std::ifstream file(PLACKETT_SOURCE_DIR "/tests/golden/pdgd.json");
  return nlohmann::json::parse(file).at("cases");
}

// The goldens were made with 60 digits (scripts/make_goldens.py).
TEST(DocumentWeights, AreTheGoldenOnes) {
  const auto cases = golden();
  ASSERT_GT(cases.size(), 10U);
  for (const auto& known : cases) {
    const List list{known.at("scores"), known.at("ranking"), known.at("clicks")};
    const auto weights = document_weights(list.view());
    ASSERT_TRUE(weights.ok()) << known.at("name") << ": " << weights.error().message;
    const auto expected = known.at("document_weight").get<std::vector<double>>();
    ASSERT_EQ(weights->size(), expected.size());
    double sum = 0;
    for (std::size_t doc = 0; doc < expected.size(); ++doc) {
      EXPECT_NEAR((*weights)[doc], expected[doc], 1e-12) << known.at("name") << " doc " << doc;
      sum += (*weights)[doc];
    }
    EXPECT_NEAR(sum, 0, 1e-12) << known.at("name");
  }
}

TEST(DocumentWeights, GoldensCheckRejectsAnotherClick) {
  std::size_t rejected = 0;
  for (const auto& known : golden()) {
    List list{known.at("scores"), known.at("ranking"), known.at("clicks")};
    list.clicks.front() ^= 1;
    const auto expected = known.at("document_weight").get<std::vector<double>>();
    const auto weights = document_weights(list.view()).value();
    for (std::size_t doc = 0; doc < expected.size(); ++doc) {
      if (std::fabs(weights[doc] - expected[doc]) > 1e-12) {
        ++rejected;
        break;
      }
    }
  }
  EXPECT_GT(rejected, golden().size() / 2);
}

// Document d's only feature is feature d, so a linear ranker's parameter d is its score, and PDGD's
// step moves it by rate times the document's weight.
TEST(DocumentWeights, AreWhatPdgdSteps) {
  constexpr std::uint32_t kDocs = 14;
  std::vector<float> rows(std::size_t{kDocs} * kDocs);
  for (std::size_t doc = 0; doc < kDocs; ++doc) rows[doc * kDocs + doc] = 1;
  const auto docs = FeatureView::of(rows.data(), kDocs, kDocs, kDocs);
  for (std::uint64_t impression = 0; impression < 200; ++impression) {
    Rng rng({.seed = 6, .impression = impression});
    Pdgd pdgd(make_ranker({.feature_count = kDocs}, rng).value(), {.learning_rate = 1});
    std::vector<float> before(kDocs);
    for (float& score : before) score = static_cast<float>(2 * rng.normal());
    pdgd.ranker().set_parameters(before);
    Ranking ranking;
    ASSERT_TRUE(pdgd.rank(docs, rng, ranking));
    List list;
    list.scores.assign(before.begin(), before.end());
    for (const Doc doc : ranking.shown) list.ranking.push_back(index(doc));
    for (std::size_t rank = 0; rank < ranking.shown.size(); ++rank) {
      list.clicks.push_back(rng.below(3) == 0 ? 1 : 0);
    }
    pdgd.learn(docs, ranking, list.clicks);
    std::vector<float> after(kDocs);
    pdgd.ranker().get_parameters(after);
    const auto weights = document_weights(list.view()).value();
    for (std::size_t doc = 0; doc < kDocs; ++doc) {
      ASSERT_NEAR(after[doc] - before[doc], weights[doc], 1e-6) << impression << " " << doc;
    }
  }
}

TEST(MakeRanking, HoldsWhatPairWeightsNeed) {
  const List list{{0.5, -1, 2, 0}, {2, 0}, {1, 0}};
  const Ranking ranking = make_ranking(list.view()).value();
  EXPECT_EQ(ranking.shown, (std::vector<Doc>{Doc{2}, Doc{0}}));
  EXPECT_EQ(ranking.scores, (std::vector<double>{2, 0.5}));
  EXPECT_NEAR(ranking.rest.log(), std::log(std::exp(-1) + 1), 1e-15);
}

TEST(DocumentWeights, RefuseWhatIsNoShownListWithPlaceValueAndRule) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  struct Case {
    List list;
    const char* message;
  };
  const Case cases[] = {
      {{{0, nan}, {0, 1}, {1, 0}}, "scores: nan for document 1; scores are finite"},
      {{{-1.5e308, 1.5e308}, {0, 1}, {1, 0}},
       "scores: -1.5e+308 and 1.5e+308; their difference must be finite"},
      {{{0, 1}, {0, 1}, {1}}, "clicks: 1 for 2 ranked documents; there is one each"},
      {{{0, 1}, {0, 2}, {1, 0}}, "ranking: document 2; documents are 0 to 1"},
      {{{0, 1}, {1, 1}, {1, 0}}, "ranking: document 1 twice; it can be shown once"},
      {{{0, 1}, {1, 0}, {1, 2}}, "clicks: 2; a click is 0 or 1"},
  };
  for (const Case& wrong : cases) {
    const auto weights = document_weights(wrong.list.view());
    ASSERT_FALSE(weights.ok()) << wrong.message;
    EXPECT_EQ(weights.error().message, wrong.message);
    EXPECT_EQ(make_ranking(wrong.list.view()).error().message, wrong.message);
  }
}

TEST(DocumentWeights, OfNothingAreNothing) {
  EXPECT_TRUE(document_weights({}).value().empty());
  const List unshown{{1, 2}, {}, {}};
  EXPECT_EQ(document_weights(unshown.view()).value(), (std::vector<double>{0, 0}));
}

}  // namespace
}  // namespace plackett
