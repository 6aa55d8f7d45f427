#include "offpolicy/prefix_sums.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace plackett {
namespace {

struct List {
  std::vector<double> weights;
  double keep = 1;
  std::vector<double> gains;
};

const std::vector<List>& lists() {
  static const std::vector<List> all{{{0.5, 2, 3}, 1, {1, 0, 0.5}},
                                     {{1.5}, 0.5, {2}},
                                     {{}, 0.25, {}},
                                     {{0.75, 4}, 1, {0, -1}},
                                     {{2, 0.125, 0.5}, 0.5, {0, 1, 1}}};
  return all;
}

PrefixSums sums_of(std::size_t from, std::size_t to) {
  PrefixSums sums;
  for (std::size_t at = from; at < to; ++at) {
    sums.add(lists()[at].weights, lists()[at].keep, lists()[at].gains);
  }
  return sums;
}

void expect_equal(const RankSums& sums, const RankSums& plain) {
  EXPECT_EQ(sums.lists, plain.lists);
  EXPECT_EQ(sums.weight, plain.weight);
  EXPECT_EQ(sums.squared_weight, plain.squared_weight);
  EXPECT_EQ(sums.gain, plain.gain);
  EXPECT_EQ(sums.logged, plain.logged);
  EXPECT_EQ(sums.keep, plain.keep);
  EXPECT_EQ(sums.squared_keep, plain.squared_keep);
  EXPECT_EQ(sums.cross, plain.cross);
}

// All numbers are sums of few powers of 2, so the order does not matter.
TEST(PrefixSums, AreThoseOfListsWithTheirLastWeightBelow) {
  const PrefixSums all = sums_of(0, lists().size());
  // Those of a shorter log first, or last.
  for (const std::size_t middle : {std::size_t{0}, std::size_t{2}, std::size_t{4}}) {
    PrefixSums merged = sums_of(0, middle);
    merged.merge(sums_of(middle, lists().size()));
    EXPECT_EQ(merged.lists(), 5);
    ASSERT_EQ(merged.ranks(), 3U);
    for (std::size_t rank = 0; rank < 3; ++rank) {
      RankSums padded;
      RankSums with;
      for (const List& list : lists()) {
        const bool has = rank < list.weights.size();
        const double gain = has ? list.gains[rank] : 0.0;
        const double last = list.weights.empty() ? 1.0 : list.weights.back();
        padded.add(has ? list.weights[rank] : last, list.keep, gain);
        if (has) with.add(list.weights[rank], list.keep, gain);
      }
      expect_equal(merged.of_all()[rank], padded);
      expect_equal(merged.with_rank(rank), with);
      EXPECT_NEAR(merged.effective_lists(rank), with.effective_lists() * 5 / with.lists, 1e-12);
      EXPECT_EQ(merged.effective_lists(rank), all.effective_lists(rank));
    }
  }
}

TEST(PrefixSums, OfOneLongerListAmountToAllLists) {
  PrefixSums sums;
  const std::vector<double> weights{1, 1, 0.01};
  const std::vector<double> gains(3);
  for (int list = 0; list < 200; ++list)
    sums.add(std::span(weights).first(2), 1, {gains.data(), 2});
  sums.add(weights, 1, gains);
  for (std::size_t rank = 0; rank < 3; ++rank) EXPECT_NEAR(sums.effective_lists(rank), 201, 1e-9);
}

// Of few lists whose weights are alike, however far from 1.
TEST(RankSums, HaveAnErrorThatFewListsDontMakeSmall) {
  RankSums few;
  for (int list = 0; list < 4; ++list) few.add(0, 1, 0);
  EXPECT_EQ(few.mean(), 0);
  EXPECT_EQ(few.mean_error(), 0.5);
  RankSums many;
  for (int list = 0; list < 900; ++list) many.add(list % 2 == 0 ? 0.5 : 1.5, 0.5, 0);
  EXPECT_EQ(many.mean(), 1);
  EXPECT_NEAR(many.mean_error(), 0.5 / 30, 1e-15);
}

// As orders of many ranks that were made from the log itself have them.
TEST(RankSums, AmountToNoListsWhereSquaredWeightsOverflow) {
  for (const double w : {1e160, std::numeric_limits<double>::infinity()}) {
    RankSums sums;
    for (int list = 0; list < 200; ++list) sums.add(w, 1, 0);
    EXPECT_EQ(sums.effective_lists(), 0) << w;
  }
  EXPECT_EQ(RankSums().effective_lists(), 0);
}

TEST(ShownRanks, StakeWhatListsHaveOrWhatTheyAreWorthThereAndBelow) {
  ShownRanks shown;
  const std::vector<double> gains{1, 0, -2, 1};
  for (int list = 0; list < 3; ++list) shown.add(std::span(gains).first(1));
  ShownRanks rest;
  rest.add(gains);
  shown.merge(rest);
  EXPECT_EQ(shown.stakes(), (std::vector<double>{1, 3 / 7.0, 3 / 7.0, 0.25}));
  ShownRanks nothing;
  nothing.add(std::vector<double>{0});
  EXPECT_EQ(nothing.stakes(), std::vector<double>{1});
}

}  // namespace
}  // namespace plackett
