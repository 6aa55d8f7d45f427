// What a user does with a list, computed: against plain enumeration and by hand.
#include <gtest/gtest.h>

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
  CascadeTable table;
  StopRule rule;
  std::span<const std::uint8_t> labels;
  std::span<const std::uint8_t> wanted;

  double from(std::size_t rank) const {
    if (rank == labels.size()) return 1;
    const double click = table.click[labels[rank]];
    const double stop = table.stop[labels[rank]];
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
        const Story story{*cascade_table(model, 5), rule, labels, clicks};
        EXPECT_NEAR((*user)->pattern_probability(labels, clicks), story.from(0), 1e-15) << model;
      }
    }
  }
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

TEST(ClickModels, EveryTableRisesWithTheLabelAndHoldsProbabilities) {
  for (const std::string_view model : cascade_names()) {
    for (const std::uint32_t grades : built_in_grade_counts()) {
      const auto table = cascade_table(model, grades);
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
