#include "experiment/world.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "base/aligned.h"
#include "drifting.h"
#include "plackett/results.h"
#include "small_experiment.h"

namespace plackett {
namespace {

TEST(Worlds, IntentsDivideTheRelevantDocumentsOfEveryQueryInHalves) {
  const auto worlds = Worlds::make(dataset(), std::vector{kIntents}, {1, 0}).value();
  ASSERT_EQ(worlds->state_count(), 2U);
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  for (std::size_t fold = 0; fold < dataset().folds.size(); ++fold) {
    const Split& all = dataset().folds[fold].train;
    for (std::uint32_t at = 0; at < all.query_count(); ++at) {
      const Query query{at};
      int difference = 0;
      for (std::uint32_t doc = 0; doc < all.features(query).doc_count(); ++doc) {
        const auto label = all.judgments(query).label(Doc{doc});
        const auto in = [&](std::size_t state) {
          return worlds->state(state).fold.train.judgments(query).label(Doc{doc});
        };
        EXPECT_EQ(in(0) + in(1), label);
        EXPECT_TRUE(in(0) == 0 || in(1) == 0);
        difference += (in(0) > 0) - (in(1) > 0);
        first += in(0) > 0;
        second += in(1) > 0;
      }
      EXPECT_LE(std::abs(difference), 1);
    }
  }
  EXPECT_NEAR(static_cast<double>(first) / static_cast<double>(first + second), 0.5, 0.15);
}

TEST(Worlds, ASecondSwapOfIntentsLeadsBack) {
  const auto worlds =
      Worlds::make(dataset(), std::vector{kIntents, Drift{.at = 1'500}}, {1, 0}).value();
  EXPECT_EQ(worlds->state_count(), 2U);
  EXPECT_EQ(worlds->state_of(2), worlds->state_of(0));
}

TEST(Worlds, ReversedLabelsAreTheLargestLabelMinusTheLabel) {
  const Drift drift{.at = 10, .change = LabelChange::kReversed};
  const auto worlds = Worlds::make(dataset(), std::vector{drift}, {1, 0}).value();
  const Split& before = worlds->state(0).fold.test;
  const Split& after = worlds->state(1).fold.test;
  for (std::uint64_t doc = 0; doc < before.doc_count(); ++doc) {
    EXPECT_EQ(before.storage().labels[doc], dataset().folds[0].test.storage().labels[doc]);
    EXPECT_EQ(before.storage().labels[doc] + after.storage().labels[doc], dataset().max_label);
  }
}

TEST(Worlds, FeaturesDieAndAppear) {
  const std::vector<std::uint32_t>& ids = dataset().folds[0].feature_ids;
  const Drift drift{
      .of = DriftOf::kFeatures, .at = 10, .dies = {.ids = {ids[1]}}, .appears = {.ids = {ids[4]}}};
  const auto worlds = Worlds::make(dataset(), std::vector{drift}, {1, 0}).value();
  const Split& all = dataset().folds[0].train;
  for (std::uint32_t at = 0; at < all.query_count(); ++at) {
    const Query query{at};
    for (std::uint32_t doc = 0; doc < all.features(query).doc_count(); ++doc) {
      const auto row = all.features(query).row(Doc{doc});
      const auto before = worlds->state(0).fold.train.features(query).row(Doc{doc});
      const auto after = worlds->state(1).fold.train.features(query).row(Doc{doc});
      for (std::size_t feature = 0; feature < ids.size(); ++feature) {
        EXPECT_EQ(before[feature], feature == 4 ? 0 : row[feature]);
        EXPECT_EQ(after[feature], feature == 1 ? 0 : row[feature]);
      }
    }
  }
}

TEST(Worlds, AShareOfTheFeaturesIsChosenByTheSeed) {
  const Drift drift{.of = DriftOf::kFeatures, .at = 10, .dies = {.share = 0.4}};
  const auto dead = [&](std::uint64_t seed) {
    const auto worlds = Worlds::make(dataset(), std::vector{drift}, {seed, 0}).value();
    const Split& split = worlds->state(1).fold.train;
    std::vector<bool> is_dead(split.feature_count(), true);
    for (std::uint32_t at = 0; at < split.query_count(); ++at) {
      const FeatureView docs = split.features(Query{at});
      for (std::uint32_t doc = 0; doc < docs.doc_count(); ++doc) {
        const auto row = docs.row(Doc{doc});
        for (std::size_t f = 0; f < is_dead.size(); ++f) is_dead[f] = is_dead[f] && row[f] == 0;
      }
    }
    return is_dead;
  };
  const auto count = static_cast<double>(std::ranges::count(dead(1), true));
  EXPECT_GT(count, 0.1 * dataset().folds[0].train.feature_count());
  EXPECT_LT(count, 0.7 * dataset().folds[0].train.feature_count());
  EXPECT_EQ(dead(1), dead(1));
  EXPECT_NE(dead(1), dead(2));
}

// A share is drawn from the features that the other does not list.
TEST(Worlds, NoFeatureBothDiesAndAppears) {
  const std::uint32_t id = dataset().folds[0].feature_ids[2];
  const auto is_dead = [&](const Drift& drift, std::uint32_t run, std::size_t state) {
    const auto worlds = Worlds::make(dataset(), std::vector{drift}, {1, run}).value();
    const Split& split = worlds->state(state).fold.train;
    for (std::uint32_t at = 0; at < split.query_count(); ++at) {
      const FeatureView docs = split.features(Query{at});
      for (std::uint32_t doc = 0; doc < docs.doc_count(); ++doc) {
        if (docs.row(Doc{doc})[2] != 0) return false;
      }
    }
    return true;
  };
  const Drift dies{
      .of = DriftOf::kFeatures, .at = 10, .dies = {.ids = {id}}, .appears = {.share = 0.5}};
  const Drift appears{
      .of = DriftOf::kFeatures, .at = 10, .dies = {.share = 0.5}, .appears = {.ids = {id}}};
  for (std::uint32_t run = 0; run < 8; ++run) {  // with a coin each: all heads in 1 of 256
    EXPECT_FALSE(is_dead(dies, run, 0)) << run;
    EXPECT_TRUE(is_dead(dies, run, 1)) << run;
    EXPECT_TRUE(is_dead(appears, run, 0)) << run;
    EXPECT_FALSE(is_dead(appears, run, 1)) << run;
  }
}

TEST(Worlds, DifferBetweenRuns) {
  const auto relevant = [](const Drift& drift, std::uint32_t run) {
    const auto worlds = Worlds::make(dataset(), std::vector{drift}, {1, run}).value();
    const Split& split = worlds->state(0).fold.train;
    return std::vector(split.storage().labels, split.storage().labels + split.doc_count());
  };
  EXPECT_NE(relevant(kIntents, 0), relevant(kIntents, 1));
  EXPECT_EQ(relevant(kIntents, 1), relevant(kIntents, 1));
  const Drift queries{.of = DriftOf::kQueries, .at = 10};
  EXPECT_NE(relevant(queries, 0), relevant(queries, 1));
}

TEST(Worlds, ThatAreNotDrawnAreTheSameInAllRunsOfAFold) {
  const Drift users{.of = DriftOf::kUsers, .at = 10, .click_model = "informational"};
  const Drift reversed{.at = 10, .change = LabelChange::kReversed};
  const Drift listed{.of = DriftOf::kFeatures, .at = 10, .dies = {.ids = {1}}};
  const Drift share{.of = DriftOf::kFeatures, .at = 10, .appears = {.share = 0.1}};
  EXPECT_FALSE(is_drawn(std::vector{users, reversed, listed}));
  EXPECT_TRUE(is_drawn(std::vector{users, kIntents}));
  EXPECT_TRUE(is_drawn(std::vector{share}));
  EXPECT_TRUE(is_drawn(std::vector{Drift{.of = DriftOf::kQueries, .at = 10}}));
  WorldsByRun worlds(dataset(), std::vector{users}, 1);
  EXPECT_EQ(worlds.of(0).value(), worlds.of(7).value());
}

TEST(Worlds, AreKeptWhileTheyAreHeldAndOfTheLastRuns) {
  WorldsByRun worlds(dataset(), std::vector{kIntents}, 1);
  std::shared_ptr<const Worlds> first = worlds.of(0).value();
  std::weak_ptr<const Worlds> second = worlds.of(1).value();
  EXPECT_EQ(worlds.of(1).value(), second.lock());
  for (const std::uint32_t run : {2U, 3U}) EXPECT_TRUE(worlds.of(run).ok());
  EXPECT_EQ(worlds.of(0).value(), first);
  EXPECT_TRUE(second.expired());
}

TEST(Worlds, QueriesAreDividedInTwoGroups) {
  const Drift drift{.of = DriftOf::kQueries, .at = 10, .share = 0.25};
  const auto worlds = Worlds::make(dataset(), std::vector{drift}, {1, 0}).value();
  const Split& all = dataset().folds[0].train;
  const Split& before = worlds->state(0).fold.train;
  const Split& after = worlds->state(1).fold.train;
  EXPECT_EQ(before.query_count() + after.query_count(), all.query_count());
  EXPECT_EQ(before.doc_count() + after.doc_count(), all.doc_count());
  EXPECT_NEAR(before.query_count() / static_cast<double>(all.query_count()), 0.25, 0.1);
  // In their order: each query of the split is the next one of one of the groups.
  std::uint32_t next[2] = {0, 0};
  for (std::uint32_t at = 0; at < all.query_count(); ++at) {
    const auto is_next = [&](const Split& group, std::uint32_t number) {
      if (number == group.query_count()) return false;
      const FeatureView one = all.features(Query{at});
      const FeatureView other = group.features(Query{number});
      return one.doc_count() == other.doc_count() &&
             std::ranges::equal(one.row(Doc{0}), other.row(Doc{0}));
    };
    const bool in_first = is_next(before, next[0]);
    ASSERT_TRUE(in_first || is_next(after, next[1])) << at;
    ++next[in_first ? 0 : 1];
  }
}

TEST(Worlds, WeighAndDrawTheSame) {
  const std::vector<Drift> drifts{
      {.of = DriftOf::kLabels, .at = 10, .pace = DriftPace::kLinear, .over = 100},
      {.of = DriftOf::kFeatures,
       .at = 20,
       .pace = DriftPace::kSeasonal,
       .period = 100,
       .dies = {.share = 0.3}}};
  const auto worlds = Worlds::make(dataset(), drifts, {1, 0}).value();
  ASSERT_EQ(worlds->state_count(), 3U);
  std::vector<double> weights(3);
  worlds->weigh(50, weights);
  const double first = 0.4;
  const double second = (1 - std::cos(2 * std::numbers::pi * 0.3)) / 2;
  EXPECT_NEAR(weights[0], (1 - first) * (1 - second), 1e-12);
  EXPECT_NEAR(weights[1], first * (1 - second), 1e-12);
  EXPECT_NEAR(weights[2], second, 1e-12);
  // 40,000 draws: a share is off by 0.0025 at one standard deviation; alpha about 1e-8.
  std::vector<double> drawn(3);
  for (std::uint32_t run = 0; run < 40'000; ++run) {
    Rng rng({1, run, 50, Purpose::kWorld});
    drawn[worlds->draw(rng, 50)] += 1.0 / 40'000;
  }
  for (std::size_t at = 0; at < 3; ++at) EXPECT_NEAR(drawn[at], weights[at], 0.015);
}

// One feature is the label: a linear ranker has NDCG 1 on every query that has a relevant document.
TEST(BestLinear, IsPerfectWhereALinearRankerCanBe) {
  Dataset data = dataset();
  data.folds.resize(1);
  const Split from = data.folds[0].train;
  struct Owned {
    AlignedVector<float> rows;
    std::shared_ptr<const void> source;
  };
  const auto owned = std::make_shared<Owned>();
  Split::Storage storage = from.storage();
  const std::size_t width = from.row_stride();
  owned->rows.assign(storage.rows, storage.rows + from.doc_count() * width);
  owned->source = storage.owner;
  for (std::uint64_t doc = 0; doc < from.doc_count(); ++doc) {
    owned->rows[doc * width] =
        static_cast<float>(storage.labels[doc]) / static_cast<float>(data.max_label);
  }
  storage.rows = owned->rows.data();
  storage.owner = owned;
  data.folds[0].train = Split(storage);
  const Drift users{.of = DriftOf::kUsers, .at = 10, .click_model = "informational"};
  const auto worlds = Worlds::make(data, std::vector{users}, {1, 0}).value();
  const WorldFold& fold = worlds->state(0);
  double sum = 0;
  double count = 0;
  for (std::uint32_t at = 0; at < from.query_count(); ++at) {
    if (!fold.train_ndcg.has_relevant(Query{at})) continue;
    sum += fold.best[at];
    ++count;
  }
  EXPECT_GT(sum / count, 0.97);
}

TEST(BestLinear, IsAheadOfALearnerFromClicks) {
  SimulationSpec spec = spec_with({kIntents});
  spec.impressions = 10'000;
  const RunRecord record = run_of(spec);
  double online = 0;
  double best = 0;
  for (const Window& window : record.windows) {
    online += window.online;
    best += window.best;
  }
  EXPECT_GT(best, online);
}

}  // namespace
}  // namespace plackett
