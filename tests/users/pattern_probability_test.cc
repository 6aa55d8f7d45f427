// What a user does with a list, computed: against plain enumeration and by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "plackett/make_user.h"
#include "users/click_models.h"

namespace plackett {
namespace {

std::vector<std::uint8_t> pattern_of(std::size_t bits, std::size_t length) {
  std::vector<std::uint8_t> clicks(length);
  for (std::size_t rank = 0; rank < length; ++rank) {
    clicks[rank] = static_cast<std::uint8_t>(bits >> rank & 1);
  }
  return clicks;
}

// The cascade told as a story, one examined document after another: the plain twin.
struct Story {
  UserTable table;  // of a cascade, or of a dependent click model
  StopRule rule;
  std::span<const std::uint8_t> labels;
  std::span<const std::uint8_t> wanted;

  double from(std::size_t rank) const {
    if (rank == labels.size()) return 1;
    const double click = table.click[labels[rank]];
    const double stop = table.stop.empty() ? 1 - table.go_on[std::min(rank, table.go_on.size() - 1)]
                                           : table.stop[labels[rank]];
    bool none_later = true;
    for (std::size_t later = rank + 1; later < wanted.size(); ++later) {
      none_later = none_later && wanted[later] == 0;
    }
    const double leaves = none_later ? 1 : 0;
    if (wanted[rank] == 1) return click * (stop * leaves + (1 - stop) * from(rank + 1));
    if (rule == StopRule::kAfterClick) return (1 - click) * from(rank + 1);
    return (1 - click) * (stop * leaves + (1 - stop) * from(rank + 1));
  }
};

TEST(PatternProbability, SumsToOneOverAllPatterns) {
  for (const std::string_view model : click_model_names()) {
    for (const StopRule rule : {StopRule::kAfterClick, StopRule::kAfterAnyDocument}) {
      const auto user = make_user(model, {.stop_rule = rule});
      const std::vector<std::uint8_t> labels = {4, 0, 2, 1, 3, 0, 4, 2};
      for (std::size_t length = 0; length <= labels.size(); ++length) {
        double sum = 0;
        for (std::size_t bits = 0; bits < std::size_t{1} << length; ++bits) {
          sum += (*user)->pattern_probability(std::span(labels).first(length),
                                              pattern_of(bits, length));
        }
        EXPECT_NEAR(sum, 1, 1e-14) << model << ", " << length << " documents";
      }
    }
  }
}

TEST(PatternProbability, CascadeEqualsTheStoryOfEachDocument) {
  const std::vector<std::uint8_t> labels = {1, 4, 0, 3, 2, 0};
  for (const std::string_view model : cascade_names()) {
    for (const StopRule rule : {StopRule::kAfterClick, StopRule::kAfterAnyDocument}) {
      const auto user = make_user(model, {.stop_rule = rule});
      for (std::size_t bits = 0; bits < std::size_t{1} << labels.size(); ++bits) {
        const std::vector<std::uint8_t> clicks = pattern_of(bits, labels.size());
        const Story story{*user_table(model, 5), rule, labels, clicks};
        EXPECT_NEAR((*user)->pattern_probability(labels, clicks), story.from(0), 1e-15) << model;
      }
    }
  }
}

// The stop rule is a cascade's: a dependent click model's users leave only after clicks.
TEST(PatternProbability, DependentClickEqualsTheStoryUnderEitherStopRule) {
  const std::vector<std::uint8_t> labels = {1, 4, 0, 3, 2, 0,
                                            1, 4, 2, 3, 0, 4};  // beyond its table
  for (const StopRule rule : {StopRule::kAfterClick, StopRule::kAfterAnyDocument}) {
    const auto user = make_user("dependent-click", {.stop_rule = rule});
    for (std::size_t bits = 0; bits < std::size_t{1} << labels.size(); ++bits) {
      const std::vector<std::uint8_t> clicks = pattern_of(bits, labels.size());
      const Story story{*user_table("dependent-click", 5), StopRule::kAfterClick, labels, clicks};
      ASSERT_NEAR((*user)->pattern_probability(labels, clicks), story.from(0), 1e-15);
    }
  }
}

TEST(PatternProbability, DependentClickByHand) {
  // Two grades: clicked .4 or .9; after clicks at ranks 1 and 2 the user reads on with .9 and .81.
  const std::vector<std::uint8_t> labels = {0, 1, 1};
  const auto user = make_user("dependent-click", {.grade_count = 2});
  EXPECT_NEAR((*user)->pattern_probability(labels, pattern_of(0b011, 3)),
              .4 * .9 * .9 * (.19 + .81 * .1), 1e-15);
}

TEST(PatternProbability, UserBrowsingByHand) {
  // Two grades: clicked .4 or .9 where examined. Rank 3 is examined with .62 if the last click was
  // at rank 1, with .95 if there was none; rank 2 with .98 or 1.
  const std::vector<std::uint8_t> labels = {0, 1, 1};
  const auto user = make_user("user-browsing", {.grade_count = 2});
  EXPECT_NEAR((*user)->pattern_probability(labels, pattern_of(0b101, 3)),
              .4 * (1 - .98 * .9) * (.62 * .9), 1e-15);
  EXPECT_NEAR((*user)->pattern_probability(labels, pattern_of(0b100, 3)), .6 * .1 * (.95 * .9),
              1e-15);
}

TEST(PatternProbability, UserBrowsingBelowItsTableIsAsTheLastRank) {
  const auto user = make_user("user-browsing", {.grade_count = 2});
  // That rank 12 is clicked if the document at `last` (from 0) was the only one before, or none.
  const auto clicked = [&](std::size_t before) {
    const std::vector<std::uint8_t> labels(12, 1);
    const double with = (*user)->pattern_probability(labels, pattern_of(before | 1U << 11U, 12));
    return with / (with + (*user)->pattern_probability(labels, pattern_of(before, 12)));
  };
  EXPECT_NEAR(clicked(0), .43 * .9, 1e-14);
  EXPECT_NEAR(clicked(1U << 10U), 1 * .9, 1e-14);   // 1 above
  EXPECT_NEAR(clicked(1U << 7U), .96 * .9, 1e-14);  // 4 above
  EXPECT_NEAR(clicked(1U << 2U), .12 * .9, 1e-14);  // 9 above
  EXPECT_NEAR(clicked(1U << 0U), .12 * .9, 1e-14);  // 11 above, as 9
}

TEST(PatternProbability, TrustBiasByHand) {
  // Three grades: relevant 0, .5, 1. Examined 1, 1/2, 1/3; clicked, if relevant, 1, 1/1.005,
  // 1/1.01, otherwise .65, .325, .65/3.
  const std::vector<std::uint8_t> labels = {0, 2, 1};
  const auto user = make_user("trust-bias", {.grade_count = 3});
  EXPECT_NEAR((*user)->pattern_probability(labels, pattern_of(0b111, 3)),
              .65 * (1 / 1.005 / 2) * ((1 / 1.01 + .65 / 3) / 2 / 3), 1e-15);
}

TEST(PatternProbability, NavigationalByHand) {
  // Three grades, labels 2 then 0. Clicks 1 0: click .95, then stop .9, or read on .1 and skip
  // .95.
  const std::vector<std::uint8_t> labels = {2, 0};
  const auto described = make_user("navigational", {.grade_count = 3});
  EXPECT_NEAR((*described)->pattern_probability(labels, pattern_of(0b01, 2)), .95 * (.9 + .1 * .95),
              1e-15);
  // Clicks 0 1: skip .05 and, where the user may leave without a click, stay .1; then click .05.
  EXPECT_NEAR((*described)->pattern_probability(labels, pattern_of(0b10, 2)), .05 * .05, 1e-15);
  const auto published =
      make_user("navigational", {.grade_count = 3, .stop_rule = StopRule::kAfterAnyDocument});
  EXPECT_NEAR((*published)->pattern_probability(labels, pattern_of(0b10, 2)), .05 * .1 * .05,
              1e-15);
}

TEST(PatternProbability, PositionBasedByHand) {
  // Two grades: clicked .4 or .9 where examined; examined 1, 1/2^2, 1/3^2.
  const std::vector<std::uint8_t> labels = {0, 1, 1};
  const auto user = make_user("position-based", {.grade_count = 2, .eta = 2});
  EXPECT_NEAR((*user)->pattern_probability(labels, pattern_of(0b010, 3)),
              .6 * (.9 / 4) * (1 - .9 / 9), 1e-15);
}

TEST(PatternProbability, PerfectUserNeverClicksLabelZeroAndNeverMissesTheTop) {
  const auto user = make_user("perfect", {});
  EXPECT_EQ((*user)->pattern_probability(std::vector<std::uint8_t>{0, 4}, pattern_of(0b10, 2)), 1);
}

TEST(Alike, OnlyLabelsThatNoClickCanTellApart) {
  EXPECT_TRUE((*make_user("random", {}))->alike(0, 4));
  EXPECT_FALSE((*make_user("perfect", {}))->alike(0, 1));
  EXPECT_FALSE((*make_user("almost-random", {}))->alike(3, 4));
  // Label 0 is never clicked, so under stops after clicks alone its stop probability is moot.
  const std::vector<double> click = {0, 0};
  const std::vector<double> stop = {.1, .2};
  EXPECT_TRUE(CascadeUser({.name = "", .click = click, .stop = stop}).alike(0, 1));
  EXPECT_FALSE(
      CascadeUser(
          {.name = "", .click = click, .stop = stop, .stop_rule = StopRule::kAfterAnyDocument})
          .alike(0, 1));
}

TEST(Alike, LooksAtWhatMattersAtSomeRank) {
  const std::vector<double> click = {.1, .9};
  const std::vector<double> nothing(3);                // ranks 1 and 2 are never examined
  const std::vector<double> after_clicks = {0, 1, 0};  // rank 2 would be after a click
  const std::vector<double> second = {0, 0, 1};
  const std::vector<double> half = {.5, .5};
  const std::vector<double> more_below = {.5, .6};
  const auto alike = [&](const UserTable& table) {
    return make_user("x", table, {.grade_count = 2})->alike(0, 1);
  };
  EXPECT_TRUE(alike({.click = click, .examine = nothing}));
  EXPECT_TRUE(alike({.click = click, .examine = after_clicks}));
  EXPECT_FALSE(alike({.click = click, .examine = second}));
  EXPECT_TRUE(alike({.click = click, .relevant = half, .irrelevant = half}));
  EXPECT_FALSE(alike({.click = click, .relevant = more_below, .irrelevant = half}));
  EXPECT_TRUE(alike({.click = half, .go_on = click}));
  EXPECT_FALSE(alike({.click = click, .go_on = half}));
}

TEST(ClickModels, EveryTableRisesWithTheLabelAndHoldsProbabilities) {
  for (const std::string_view model : cascade_names()) {
    for (const std::uint32_t grades : built_in_grade_counts()) {
      const auto table = user_table(model, grades);
      ASSERT_TRUE(table.has_value());
      ASSERT_EQ(table->click.size(), grades);
      ASSERT_EQ(table->stop.size(), grades);
      for (std::size_t label = 0; label < grades; ++label) {
        EXPECT_GE(table->click[label], label == 0 ? 0 : table->click[label - 1]);
        EXPECT_GE(table->stop[label], label == 0 ? 0 : table->stop[label - 1]);
        EXPECT_LE(table->click[label], 1);
        EXPECT_LE(table->stop[label], 1);
      }
    }
  }
}

}  // namespace
}  // namespace plackett
