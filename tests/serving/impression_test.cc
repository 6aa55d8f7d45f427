#include "serving/impression.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "plackett/feature_view.h"
#include "plackett/plackett_luce.h"
#include "plackett/rng.h"
#include "serving/shown_items.h"

namespace plackett::serving {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

Impression an_impression() {
  Impression impression;
  impression.mode = Mode::kExplore;
  impression.shown = {
      {"a", 1.5F, 3, false}, {"b \"\\\n\xC3\xA9", -2, -4, true}, {"c", 0.25F, .5, false}};
  impression.rest.add(0.125);
  impression.log_probability = -2.5;
  impression.entropy = 1.25;
  impression.context = R"({"q":"x"})";
  impression.feature_count = 3;
  const std::size_t stride = padded_width(3);
  impression.rows.resize(3 * stride);
  impression.keep = 0.5;
  impression.kept = true;
  impression.others = {{"d", 0.125F, 0}, {"", -7, 42}};
  impression.other_rows.resize(2 * stride);
  for (std::size_t feature = 0; feature < 3; ++feature) {
    for (std::size_t row = 0; row < 3; ++row) {
      impression.rows[row * stride + feature] = static_cast<float>(10 * row + feature);
    }
    impression.other_rows[feature] = static_cast<float>(100 + feature);
  }
  impression.bounds = {0, 1, 2, 3, 4, 5};
  return impression;
}

TEST(Impression, PackedAndUnpackedIsTheSame) {
  const Impression before = an_impression();
  const ImpressionRow row = pack(before);
  const auto after = unpack(row);
  ASSERT_TRUE(after.ok()) << after.error().message;
  EXPECT_TRUE(after->learnable);
  ASSERT_EQ(after->shown.size(), 3U);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(after->shown[rank].id, before.shown[rank].id);
    EXPECT_EQ(after->shown[rank].score, before.shown[rank].score);
    EXPECT_EQ(after->shown[rank].sampled_score, before.shown[rank].sampled_score);
    EXPECT_EQ(after->shown[rank].pinned, before.shown[rank].pinned);
  }
  EXPECT_EQ(after->rows, before.rows);
  EXPECT_EQ(after->other_rows, before.other_rows);
  EXPECT_EQ(after->bounds, before.bounds);
  EXPECT_EQ(after->context, before.context);
  EXPECT_EQ(after->keep, 0.5);
  ASSERT_EQ(after->others.size(), 2U);
  EXPECT_EQ(after->others[0].id, "d");
  EXPECT_EQ(after->others[1].version, 42);
  EXPECT_EQ(after->others[1].score, -7);
  EXPECT_EQ(after->log_probability, before.log_probability);
  EXPECT_EQ(pack(*after).data, row.data);
  const auto skipped = unpack(row, Rows::kSkip);
  EXPECT_TRUE(skipped->learnable);
  EXPECT_TRUE(skipped->rows.empty());
  EXPECT_EQ(skipped->shown[1].id, before.shown[1].id);
}

TEST(Impression, EveryCutAndEveryWrongColumnIsRefused) {
  const ImpressionRow whole = pack(an_impression());
  for (std::size_t size = 0; size < whole.data.size(); ++size) {
    ImpressionRow cut = whole;
    cut.data.resize(size);
    EXPECT_FALSE(unpack(cut).ok()) << size;
  }
  ImpressionRow longer = whole;
  longer.data.push_back(std::byte{0});
  EXPECT_FALSE(unpack(longer).ok());
  for (const char* shown : {"", "[]", "{", "null", "[[\"a\"],[\"b\"]]", "[1,2,3]", "[[],[],[]]",
                            "[[\"a\"],[\"b\"],[3]]"}) {
    ImpressionRow wrong = whole;
    wrong.shown = shown;
    EXPECT_FALSE(unpack(wrong).ok()) << shown;
  }
  ImpressionRow unkept = whole;
  unkept.kept = false;
  EXPECT_FALSE(unpack(unkept).ok());
}

TEST(Impression, ASampledListWithoutItsRowsIsDamaged) {
  Impression impression = an_impression();
  impression.mode = Mode::kExplore;
  impression.rows.clear();
  impression.kept = false;
  EXPECT_FALSE(unpack(pack(impression)).ok());
  impression.mode = Mode::kExploit;
  EXPECT_TRUE(unpack(pack(impression)).ok());
}

TEST(Impression, ChangedBytesNeverReadOutOfBounds) {
  const ImpressionRow whole = pack(an_impression());
  Rng rng({5, 0, 0, Purpose::kTest});
  for (int round = 0; round < 20'000; ++round) {
    ImpressionRow changed = whole;
    for (int change = 0; change < 3; ++change) {
      changed.data[rng.below(static_cast<std::uint32_t>(changed.data.size()))] =
          static_cast<std::byte>(rng.below(256));
    }
    [[maybe_unused]] const auto read = unpack(changed);
  }
}

TEST(Impression, PropensitiesMultiplyToTheProbabilityOfTheList) {
  Impression impression = an_impression();
  const auto propensities = impression.propensities();
  EXPECT_EQ(propensities[1], 1.0) << "pinned";
  // exp(3) among exp(3), exp(.5) and exp(.125); then exp(.5) among the last two.
  EXPECT_NEAR(propensities[0], std::exp(3) / (std::exp(3) + std::exp(.5) + std::exp(.125)), 1e-12);
  EXPECT_NEAR(propensities[2], std::exp(.5) / (std::exp(.5) + std::exp(.125)), 1e-12);
  impression.mode = Mode::kGiven;
  EXPECT_THAT(impression.propensities(), ElementsAre(1.0, 1.0, 1.0));
}

TEST(Impression, PropensitiesAreRightForScoresThatLieFarApart) {
  Impression impression;
  impression.shown = {{"a", 0, -800, false}, {"b", 0, 800, false}};
  const auto propensities = impression.propensities();
  EXPECT_EQ(propensities[0], 0);  // exp(-1600)
  EXPECT_THAT(propensities[1], DoubleNear(1, 1e-12));
}

TEST(Impression, TheTextForSqlHasIdsScoresAndPropensities) {
  Impression impression = an_impression();
  impression.shown[2].id.clear();
  const auto list = nlohmann::json::parse(shown_items_text(impression));
  const auto propensities = impression.propensities();
  EXPECT_EQ(list, nlohmann::json({{"a", 1.5, propensities[0]},
                                  {"b \"\\\n\xC3\xA9", -2.0, 1.0, 1},
                                  {nullptr, 0.25, propensities[2]}}));
}

}  // namespace
}  // namespace plackett::serving
