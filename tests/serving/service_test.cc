#include "serving/service.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <future>
#include <set>
#include <thread>

#include "plackett/plackett_luce.h"
#include "served.h"
#include "store/sqlite/sqlite_store.h"
#include "support/chi_square.h"
#include "support/eventually.h"

namespace plackett::serving {
namespace {

using ::testing::ElementsAre;
using testing::eventually;
using ::testing::HasSubstr;

FeedbackEvent click(const Ranked& ranked, std::uint32_t rank, const std::string& event_id = "") {
  return {ranked.impression, std::to_string(ranked.items[rank].item), event_id, EventKind::kClick};
}
FeedbackEvent close(const Ranked& ranked, const std::string& event_id = "") {
  return {ranked.impression, "", event_id, EventKind::kClose};
}

TEST(Service, TheNextRankingKnowsWhatWasClicked) {
  Served served;
  const ModelHandle model = served.make(small_spec());
  const Candidates candidates(12, 5);
  const auto before = served.rank(model, candidates.view());
  EXPECT_EQ(before->model_version, 0U);
  EXPECT_EQ(before->items.size(), 10U);
  const auto statuses = served.feedback(model, {click(*before, 4), close(*before)});
  EXPECT_THAT(*statuses, ElementsAre(FeedbackStatus::kAccepted, FeedbackStatus::kAccepted));
  const auto after = served.rank(model, candidates.view());
  EXPECT_EQ(after->model_version, 1U);
  const ModelInfo info = served->info(*model);
  EXPECT_EQ(info.updates, 1U);
  EXPECT_EQ(info.learned, 1U);
  EXPECT_EQ(info.impressions, 2U);
  EXPECT_EQ(info.open, 1U);
}

TEST(Service, EachKindOfFeedbackIsAnsweredAsWhatItIs) {
  Served served;
  const ModelHandle model = served.make(small_spec());
  const Candidates candidates(12, 5);
  const auto ranked = served.rank(model, candidates.view());
  using S = FeedbackStatus;
  EXPECT_EQ(served.feedback(model, click(*ranked, 0, "e1")), S::kAccepted);
  EXPECT_EQ(served.feedback(model, click(*ranked, 0, "e1")), S::kDuplicate);
  EXPECT_EQ(served.feedback(model, click(*ranked, 1, "e1")), S::kDuplicate) << "by its id alone";
  EXPECT_EQ(served.feedback(model, click(*ranked, 0, "e2")), S::kDuplicate) << "by what it says";
  EXPECT_EQ(served.feedback(model, {"i-77", "0", "", EventKind::kClick}), S::kUnknownImpression);
  EXPECT_EQ(served.feedback(model, {"mine", "0", "", EventKind::kClick}), S::kUnknownImpression);
  EXPECT_EQ(served.feedback(model, {ranked->impression, "99", "", EventKind::kClick}),
            S::kUnknownItem);
  EXPECT_EQ(served.feedback(model, close(*ranked)), S::kAccepted);
  EXPECT_EQ(served.feedback(model, click(*ranked, 2)), S::kLate);
  EXPECT_EQ(served.feedback(model, close(*ranked)), S::kDuplicate);
  const ServiceMeters meters = served->meters();
  EXPECT_EQ(meters.models[0].events[0], 2U);
  EXPECT_EQ(meters.models[0].clicks[0], 1U);
  EXPECT_EQ(meters.models[0].clicks[1], 3U);
  EXPECT_EQ(meters.models[0].clicks[2], 1U);
}

TEST(Service, EventsOfABatchSeeEachOther) {
  Served served;
  const ModelHandle model = served.make(small_spec());
  const Candidates candidates(12, 5);
  const auto ranked = served.rank(model, candidates.view());
  using S = FeedbackStatus;
  EXPECT_THAT(*served.feedback(model, {click(*ranked, 0, "a"), click(*ranked, 1, "a"),
                                       close(*ranked), click(*ranked, 2)}),
              ElementsAre(S::kAccepted, S::kDuplicate, S::kAccepted, S::kLate));
}

TEST(Service, ClicksThatComeInAnyOrderTeachTheSame) {
  const Candidates candidates(12, 5);
  std::vector<std::byte> files[2];
  for (const int order : {0, 1}) {
    Served served;
    const ModelHandle model = served.make(small_spec());
    const auto ranked = served.rank(model, candidates.view());
    const std::uint32_t first = order == 0 ? 1 : 6;
    served.feedback(model, click(*ranked, first));
    served.feedback(model, click(*ranked, 7 - first));
    served.feedback(model, close(*ranked));
    files[order] = served->export_file(*model);
  }
  EXPECT_EQ(files[0], files[1]);
}

TEST(Service, DelayedFeedbackTeachesByTheScoresOfTheMomentOfShowing) {
  // Two impressions shown by the same version: the second is learned from after the first has
  // changed the model, and steps by exactly what it would have stepped by alone.
  const Candidates candidates(12, 5);
  Served served;
  const ModelHandle model = served.make(small_spec());
  const auto first = served.rank(model, candidates.view());
  const auto second = served.rank(model, candidates.view());
  served.tell(model, {click(*first, 9), close(*first)});
  const Weights between = served->weights(*model);
  served.tell(model, {click(*second, 3), close(*second)});
  const Weights end = served->weights(*model);

  Served alone;
  const ModelHandle other = alone.make(small_spec());
  EXPECT_TRUE(alone.rank(other, candidates.view()).ok());
  const auto again = alone.rank(other, candidates.view());
  alone.tell(other, {click(*again, 3), close(*again)});
  const Weights step = alone->weights(*other);
  for (std::size_t at = 0; at < 5; ++at) {
    EXPECT_NEAR(*end.features[at].weight - *between.features[at].weight, *step.features[at].weight,
                1e-7);
  }
}

TEST(Service, FrequenciesOfTheFirstPlaceFollowTemperedScores) {
  // Chi-square over 6 candidates, false alarms 1e-6. The wrong temperature must fail.
  Served served;
  ModelSpec spec = small_spec("m", 2);
  spec.temperature = 0.5;
  spec.scaling = "none";
  const ModelHandle model = served.make(spec);
  const Candidates candidates(6, 2);
  for (int round = 0; round < 40; ++round) {  // some weights, whatever they are
    const auto ranked = served.rank(model, candidates.view());
    std::uint32_t best = 0;
    for (std::uint32_t rank = 0; rank < 6; ++rank) {
      if (ranked->items[rank].item < ranked->items[best].item) best = rank;
    }
    served.tell(model, {click(*ranked, best), close(*ranked)});
  }
  std::vector<std::uint64_t> counts(6);
  std::vector<double> tempered(6);
  std::vector<double> plain(6);
  double tempered_sum = 0;
  double plain_sum = 0;
  const auto scratch = served->make_scratch();
  RankRequest request;
  std::vector<std::string> names;
  for (int at = 0; at < 6; ++at) names.push_back(std::to_string(at));
  for (const std::string& name : names) request.items.push_back(name);
  request.given.assign(6, 1);
  request.blocked.assign(6, 0);
  request.rows = candidates.rows;
  std::vector<std::future<Ranked>> draws;
  for (int draw = 0; draw < 20000; ++draw) {
    auto promise = std::make_shared<std::promise<Ranked>>();
    draws.push_back(promise->get_future());
    served->rank(model, request, *scratch,
                 [promise](Result<Ranked> ranked) { promise->set_value(*std::move(ranked)); });
    if (draw % 1000 == 0) draws.back().wait();  // the queue has a limit
  }
  for (std::size_t draw = 0; draw < draws.size(); ++draw) {
    const Ranked ranked = draws[draw].get();
    ++counts[ranked.items[0].item];
    if (draw > 0) continue;
    for (const RankedItem& item : ranked.items) {
      tempered[item.item] = std::exp(item.score / 0.5);
      plain[item.item] = std::exp(item.score);
      tempered_sum += tempered[item.item];
      plain_sum += plain[item.item];
    }
  }
  for (double& value : tempered) value /= tempered_sum;
  for (double& value : plain) value /= plain_sum;
  EXPECT_GT(testing::chi_square_p(counts, tempered), testing::kFalseAlarmRate);
  EXPECT_LT(testing::chi_square_p(counts, plain), testing::kFalseAlarmRate);
}

TEST(Service, LogProbabilityAndEntropyAreThoseOfTheScores) {
  Served served;
  ModelSpec spec = small_spec();
  spec.scaling = "none";
  const ModelHandle model = served.make(spec);
  const Candidates candidates(12, 5);
  const auto first = served.rank(model, candidates.view());
  EXPECT_NEAR(first->entropy, std::log(12.0), 1e-12) << "all scores are 0";
  double expected = 0;
  for (int left = 12; left > 2; --left) expected -= std::log(left);
  EXPECT_NEAR(first->log_probability, expected, 1e-12);
}

TEST(Service, PinnedItemsStandWhereTheyWereToAndTeachNothing) {
  Served served;
  const ModelHandle model = served.make(small_spec());
  const Candidates candidates(12, 5);
  RankRequest request;
  request.pinned = {{7, 0}, {3, 4}};
  request.blocked.assign(12, 0);
  request.blocked[5] = 1;
  const auto ranked = served.rank(model, candidates.view(), request);
  ASSERT_TRUE(ranked.ok());
  EXPECT_EQ(ranked->items[0].item, 7U);
  EXPECT_TRUE(ranked->items[0].pinned);
  EXPECT_EQ(ranked->items[4].item, 3U);
  std::set<std::uint32_t> shown;
  for (const RankedItem& item : ranked->items) shown.insert(item.item);
  EXPECT_EQ(shown.size(), 10U);
  EXPECT_FALSE(shown.contains(5));
  served.tell(model, {click(*ranked, 0), click(*ranked, 4), close(*ranked)});
  EXPECT_EQ(served->info(*model).updates, 0U) << "clicks on pinned items alone";

  const auto other = served.rank(model, candidates.view(), request);
  served.tell(model, {click(*other, 0), click(*other, 5), close(*other)});
  EXPECT_EQ(served->info(*model).updates, 1U);
  const auto seen = served->impression(*model, other->impression);
  ASSERT_TRUE(seen.ok());
  EXPECT_EQ(seen->pairs.size(), 4U) << "over ranks 2, 3, 4, 7 and not over the pinned";
  for (const SeenPair& pair : seen->pairs) {
    EXPECT_EQ(pair.winner, 5U);
    EXPECT_FALSE(seen->kept.impression.shown[pair.loser].pinned);
  }
}

TEST(Service, BadPinsAreRefusedWithTheirPlace) {
  Served served;
  const ModelHandle model = served.make(small_spec());
  const Candidates candidates(12, 5);
  const auto refusal = [&](std::vector<RankRequest::Pin> pins) {
    RankRequest request;
    request.pinned = std::move(pins);
    const auto ranked = served.rank(model, candidates.view(), request);
    return ranked ? "" : ranked.error().where + ": " + ranked.error().message;
  };
  EXPECT_THAT(refusal({{1, 10}}), HasSubstr("pinned[0]: rank 11; 10 items are shown"));
  EXPECT_THAT(refusal({{1, 2}, {3, 2}}), HasSubstr("pinned[1]: rank 3 is taken"));
  EXPECT_THAT(refusal({{1, 2}, {1, 3}}), HasSubstr("pinned[1]: \"1\" is pinned twice"));
}

TEST(Service, ExploitingIsSortedAndTeachesNothing) {
  Served served;
  const ModelHandle model = served.make(small_spec());
  const Candidates candidates(12, 5);
  const auto explored = served.rank(model, candidates.view());
  served.tell(model, {click(*explored, 6), close(*explored)});
  RankRequest request;
  request.mode = Mode::kExploit;
  const auto ranked = served.rank(model, candidates.view(), request);
  for (std::size_t rank = 1; rank < ranked->items.size(); ++rank) {
    EXPECT_GE(ranked->items[rank - 1].score, ranked->items[rank].score);
  }
  const ModelInfo before = served->info(*model);
  EXPECT_EQ(served.feedback(model, click(*ranked, 3)), FeedbackStatus::kAccepted);
  EXPECT_EQ(served.feedback(model, close(*ranked)), FeedbackStatus::kAccepted);
  EXPECT_EQ(served->info(*model).version, before.version);
  EXPECT_EQ(served->impression(*model, ranked->impression)->state, "closed");
}

TEST(Service, StoredItemsRankLikeTheSameFeaturesSent) {
  const Candidates candidates(12, 5);
  Served served;
  const ModelHandle sent = served.make(small_spec("sent"));
  const ModelHandle stored = served.make(small_spec("stored"));
  std::vector<std::string> ids;
  for (int at = 0; at < 12; ++at) ids.push_back(std::to_string(at));
  const auto count = wait_for<std::uint64_t>(
      [&](auto done) { served->put_items(stored, ids, candidates.rows, done); });
  EXPECT_EQ(*count, 12U);
  RankRequest by_id;
  for (const std::string& id : ids) by_id.items.push_back(id);
  by_id.given.assign(12, 0);
  by_id.blocked.assign(12, 0);
  by_id.rows.resize(candidates.rows.size());
  for (int round = 0; round < 20; ++round) {
    const auto one = served.rank(sent, candidates.view());
    const auto other = served.rank(stored, by_id);
    ASSERT_TRUE(other.ok());
    for (std::size_t rank = 0; rank < 10; ++rank) {
      ASSERT_EQ(one->items[rank].item, other->items[rank].item);
    }
    served.tell(sent, {click(*one, 2), close(*one)});
    served.tell(stored, {click(*other, 2), close(*other)});
  }
  EXPECT_EQ(served->export_file(*sent), served->export_file(*stored));
  served.reopen();
  const ModelHandle again = served->find("stored");
  EXPECT_TRUE(served.rank(again, by_id).ok()) << "items outlive a restart";
  EXPECT_TRUE(wait_for<void>([&](auto done) { served->remove_item(again, "3", done); }).ok());
  const auto missing = served.rank(again, by_id);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().where, "items[3]");
}

// An item that several requests of one transaction change.
class OneItem : public ::testing::Test {
 protected:
  using Put = std::promise<Result<std::uint64_t>>;
  using Removal = std::promise<Result<void>>;
  void put(float feature, Done<std::uint64_t> done) {
    AlignedVector<float> row(padded_width(1), 0.0F);
    row[0] = feature;
    served_->put_items(model_, {"x"}, std::move(row), std::move(done));
  }
  void put(float feature) {
    EXPECT_TRUE(wait_for<std::uint64_t>([&](auto done) { put(feature, done); }).ok());
  }
  // `calls` is run by the writer's thread, so that what it submits gathers.
  void together(const std::function<void()>& calls) {
    put(1, [](const auto&) {});
    const auto done = wait_for<std::uint64_t>([&](auto answer) {
      put(1, [calls, answer](const Result<std::uint64_t>& stored) {
        calls();
        answer(stored);
      });
    });
    ASSERT_TRUE(done.ok());
  }
  // 0 if it is not stored; in memory, and after a start.
  float feature() {
    const auto item = served_->item(*model_, "x");
    return item ? item->front() : 0;
  }
  float stored_feature() {
    served_.reopen();
    model_ = served_->find("m");
    return feature();
  }

  Served served_;
  ModelHandle model_ = served_.make(small_spec("m", 1));
};

TEST_F(OneItem, ThatIsRemovedAndPutAgainIsStored) {
  Removal removed;
  Put put_again;
  together([&] {
    served_->remove_item(model_, "x", [&](auto done) { removed.set_value(done); });
    put(1, [&](auto done) { put_again.set_value(done); });
  });
  EXPECT_TRUE(removed.get_future().get().ok());
  EXPECT_EQ(*put_again.get_future().get(), 1U);
  EXPECT_EQ(feature(), 1);
  EXPECT_EQ(stored_feature(), 1);
}

TEST_F(OneItem, ThatIsReplacedAndPutAgainIsAsItWasPutLast) {
  Put replaced;
  Put put_again;
  together([&] {
    put(2, [&](auto done) { replaced.set_value(done); });
    put(1, [&](auto done) { put_again.set_value(done); });
  });
  EXPECT_TRUE(replaced.get_future().get().ok());
  EXPECT_TRUE(put_again.get_future().get().ok());
  EXPECT_EQ(feature(), 1);
  EXPECT_EQ(stored_feature(), 1);
}

TEST_F(OneItem, ThatIsPutAndRemovedIsGone) {
  Put replaced;
  Removal removed;
  together([&] {
    put(2, [&](auto done) { replaced.set_value(done); });
    served_->remove_item(model_, "x", [&](auto done) { removed.set_value(done); });
  });
  EXPECT_TRUE(replaced.get_future().get().ok());
  EXPECT_TRUE(removed.get_future().get().ok());
  EXPECT_EQ(feature(), 0);
  EXPECT_EQ(stored_feature(), 0);
}

TEST_F(OneItem, ThatARequestHasTwiceIsAsTheLastOneSays) {
  put(1);
  const std::size_t width = padded_width(1);
  AlignedVector<float> rows(3 * width, 0.0F);
  rows[0] = 1;
  rows[width] = 2;
  rows[2 * width] = 1;
  for (const std::size_t count : {3U, 2U}) {
    rows.resize(count * width);
    const std::vector<std::string> ids(count, "x");
    EXPECT_EQ(
        *wait_for<std::uint64_t>([&](auto done) { served_->put_items(model_, ids, rows, done); }),
        1U);
    EXPECT_EQ(feature(), count == 2 ? 2 : 1);
    EXPECT_EQ(stored_feature(), count == 2 ? 2 : 1);
    put(1);
  }
}

TEST(Service, ImpressionsThatAreNeverClosedAreLearnedFromWhenTheirTimeIsUp) {
  Served served;
  ModelSpec spec = small_spec();
  spec.open_seconds = 1;
  const ModelHandle model = served.make(spec);
  const Candidates candidates(12, 5);
  const auto clicked = served.rank(model, candidates.view());
  const auto ignored = served.rank(model, candidates.view());
  served.pass(std::chrono::milliseconds(600));
  const auto later = served.rank(model, candidates.view());
  served.pass(std::chrono::milliseconds(399));
  EXPECT_EQ(served.feedback(model, click(*clicked, 5)), FeedbackStatus::kAccepted);
  // Long enough for the service to look again at what is open.
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_EQ(served->info(*model).updates, 0U);
  EXPECT_EQ(served->info(*model).open, 3U);
  EXPECT_EQ(served->impression(*model, ignored->impression)->state, "open");
  served.pass(std::chrono::milliseconds(1));
  ASSERT_TRUE(eventually([&] { return served->info(*model).updates > 0; }));
  EXPECT_EQ(served.feedback(model, click(*clicked, 6)), FeedbackStatus::kLate);
  EXPECT_EQ(served.feedback(model, click(*ignored, 6)), FeedbackStatus::kLate);
  EXPECT_EQ(served->impression(*model, clicked->impression)->state, "expired");
  EXPECT_EQ(served->info(*model).open, 1U);
  EXPECT_EQ(served.feedback(model, click(*later, 6)), FeedbackStatus::kAccepted);
  EXPECT_EQ(served->info(*model).updates, 1U);
}

TEST(Service, OwnImpressionIdsAreTakenOnce) {
  Served served;
  const ModelHandle model = served.make(small_spec());
  const Candidates candidates(12, 5);
  RankRequest request;
  request.id = "search 1";
  const auto ranked = served.rank(model, candidates.view(), request);
  EXPECT_EQ(ranked->impression, "search 1");
  const auto again = served.rank(model, candidates.view(), request);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, ErrorCode::kConflict);
  request.id = "i-5";
  const auto ours = served.rank(model, candidates.view(), request);
  ASSERT_FALSE(ours.ok());
  EXPECT_EQ(ours.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(served.feedback(model, click(*ranked, 1)), FeedbackStatus::kAccepted);
}

TEST(Service, NumbersAreReservedInTheStoreBeforeTheyAreUsed) {
  Served served;
  served.close();
  served.options().number_block = 8;
  served.open();
  const ModelHandle model = served.make(small_spec());
  const Candidates candidates(12, 5);
  const auto reader = store::read_sqlite(served.db());
  ASSERT_TRUE(reader.ok());
  std::uint64_t refused = 0;
  for (std::uint64_t shown = 0; shown < 40;) {
    const auto ranked = served.rank(model, candidates.view());
    if (!ranked) {
      ASSERT_EQ(ranked.error().code, ErrorCode::kBusy);
      ASSERT_LT(++refused, 1000U);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      continue;
    }
    ASSERT_EQ(ranked->impression, "i-" + std::to_string(shown)) << "none is left out";
    ++shown;
    ASSERT_GE((*reader)->models()->front().next_number, shown);
  }
  EXPECT_GT(refused, 0U) << "the block was never used up";
}

TEST(Service, RollingBackGivesTheVeryParametersAndStateBack) {
  Served served;
  ModelSpec spec = small_spec();
  spec.ranker.kind = RankerKind::kLinearPlusNeural;
  spec.settings = {{"steps", "adagrad"}};
  const ModelHandle model = served.make(spec);
  const Candidates candidates(12, 5);
  const auto learn = [&] {
    const auto ranked = served.rank(model, candidates.view());
    served.tell(model, {click(*ranked, 4), close(*ranked)});
  };
  for (int round = 0; round < 5; ++round) learn();
  const auto before = served->export_file(*model);
  const SnapshotRow snapshot = served.snapshot(model, "good");
  for (int round = 0; round < 5; ++round) learn();
  EXPECT_NE(served->export_file(*model), before);
  const auto back =
      wait_for<ModelInfo>([&](auto done) { served->roll_back(model, snapshot.id, done); });
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(served->export_file(*model), before);
  EXPECT_EQ(served->snapshots(*model)->front().note, "good");
  const auto unknown = wait_for<ModelInfo>([&](auto done) { served->roll_back(model, 99, done); });
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
}

TEST(Service, AFrozenModelLearnsNothingUntilItIsResumed) {
  Served served;
  const ModelHandle model = served.make(small_spec());
  const Candidates candidates(12, 5);
  const auto learn = [&] {
    const auto ranked = served.rank(model, candidates.view());
    served.tell(model, {click(*ranked, 4), close(*ranked)});
  };
  const auto frozen =
      wait_for<ModelInfo>([&](auto done) { served->set_learning(model, false, done); });
  EXPECT_FALSE(frozen->learning);
  learn();
  EXPECT_EQ(served->info(*model).updates, 0U);
  served.reopen();
  EXPECT_FALSE(served->info(*served->find("m")).learning) << "frozen over a restart";
}

TEST(Service, ExportedAndImportedElsewhereItGoesOnAlike) {
  Served served;
  const ModelHandle model = served.make(small_spec());
  const Candidates candidates(12, 5);
  const auto ranked = served.rank(model, candidates.view());
  served.tell(model, {click(*ranked, 4), close(*ranked)});
  const auto file = served->export_file(*model);
  const auto taken =
      wait_for<ModelInfo>([&](auto done) { served->import_file("copy", file, {}, done); });
  ASSERT_TRUE(taken.ok()) << taken.error().message;
  EXPECT_EQ(served->export_file(*served->find("copy")), file);
  served.make(small_spec("wider", 6));
  const auto misfit =
      wait_for<ModelInfo>([&](auto done) { served->import_file("wider", file, {}, done); });
  ASSERT_FALSE(misfit.ok());
  EXPECT_THAT(misfit.error().message, HasSubstr("its feature count is 5; this model's is 6"));
  const auto garbage =
      wait_for<ModelInfo>([&](auto done) { served->import_file("x", {}, {}, done); });
  EXPECT_EQ(garbage.error().code, ErrorCode::kInvalid);
}

TEST(Service, AnImportedModelHasTheLearnersSettings) {
  Served served;
  ModelSpec spec = small_spec();
  spec.settings = {{"restart", "50"}, {"pairs", "above"}, {"learning-rate", "0.05"}};
  const ModelHandle model = served.make(spec);
  const auto file = served->export_file(*model);
  const auto taken =
      wait_for<ModelInfo>([&](auto done) { served->import_file("copy", file, {}, done); });
  ASSERT_TRUE(taken.ok()) << taken.error().message;
  EXPECT_EQ(spec_of(*served->find("copy")).settings, spec_of(*model).settings);
  EXPECT_EQ(served->export_file(*served->find("copy")), file);
}

TEST(Service, RemovedModelsAreGoneAndTheirNameIsFree) {
  Served served;
  const ModelHandle model = served.make(small_spec());
  const Candidates candidates(12, 5);
  const auto ranked = served.rank(model, candidates.view());
  EXPECT_TRUE(wait_for<void>([&](auto done) { served->remove(model, done); }).ok());
  EXPECT_EQ(served->find("m"), nullptr);
  EXPECT_FALSE(served.rank(model, candidates.view()).ok());
  EXPECT_FALSE(served.feedback(model, std::vector{click(*ranked, 0)}).ok());
  const ModelHandle anew = served.make(small_spec("m", 4));
  EXPECT_EQ(served->info(*anew).impressions, 0U);
  EXPECT_FALSE(wait_for<void>([&](auto done) { served->remove(model, done); }).ok());
}

TEST(Service, AModelThatLeavesTheRangeOfNumbersStopsAndKeepsItsLastParameters) {
  Served served;
  ModelSpec spec = small_spec();
  spec.scaling = "none";
  spec.settings = {{"learning-rate", "1e30"}};
  const ModelHandle model = served.make(spec);
  Candidates candidates(12, 5);
  for (float& value : candidates.rows) value *= 1e9F;
  const auto ranked = served.rank(model, candidates.view());
  served.tell(model, {click(*ranked, 4), close(*ranked)});
  const ModelInfo info = served->info(*model);
  EXPECT_FALSE(info.learning);
  EXPECT_EQ(info.frozen_because, "a parameter is not finite");
  EXPECT_TRUE(served.rank(model, candidates.view()).ok());
}

TEST(Service, ALearnerThatLeavesTheRangeOfNumbersKeepsNothingOfTheStep) {
  // Parameters may stay finite where what a learner keeps besides does not: squares overflow first.
  for (const std::string learner : {"cascade", "pdgd"}) {
    Served served;
    ModelSpec spec = small_spec();
    spec.ranker.kind = RankerKind::kLinearPlusNeural;
    spec.learner = learner;
    if (learner == "pdgd") spec.settings = {{"steps", "adagrad"}};
    spec.scaling = "none";
    const ModelHandle model = served.make(spec);
    Candidates candidates(12, 5);
    for (float& value : candidates.rows) value *= 1e25F;
    const auto before = served->export_file(*model);
    for (int round = 0; round < 3; ++round) {
      const auto ranked = served.rank(model, candidates.view());
      if (!ranked) break;  // its scores are out of range
      served.tell(model, {click(*ranked, 4), close(*ranked)});
    }
    const auto after = served->export_file(*model);
    served.reopen();
    EXPECT_EQ(served->export_file(*served->find("m")), after) << learner;
    if (!served->info(*served->find("m")).learning) {
      EXPECT_EQ(served->info(*served->find("m")).frozen_because, "a parameter is not finite");
    } else {
      EXPECT_NE(after, before) << learner;
    }
  }
}

TEST(Service, ScoresThatTheTemperatureTakesOutOfRangeAreRefused) {
  Served served;
  ModelSpec spec = small_spec();
  spec.scaling = "none";
  spec.temperature = 0.001;
  const ModelHandle model = served.make(spec);
  const Candidates small(12, 5);
  const auto ranked = served.rank(model, small.view());
  served.tell(model, {click(*ranked, 4), close(*ranked)});
  Candidates large(12, 5);
  for (float& value : large.rows) value *= 3e38F;
  const auto refused = served.rank(model, large.view());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  EXPECT_TRUE(served.rank(model, small.view()).ok());
}

TEST(Service, AFullQueueRefusesAtOnce) {
  Served served;
  served.close();
  served.options().queue_limit = 0;
  served.open();
  const auto refused = wait_for<Created>([&](auto done) { served->create(small_spec(), done); });
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kBusy);
}

TEST(Service, AnImportKeepsTheModelsOwnLearningRate) {
  Served served;
  ModelSpec fast = small_spec("fast");
  fast.settings = {{"learning-rate", "10"}};
  const ModelHandle from = served.make(fast);
  const ModelHandle into = served.make(small_spec("slow"));
  const ModelHandle alone = served.make(small_spec("alone"));
  const auto file = served->export_file(*from);
  ASSERT_TRUE(
      wait_for<ModelInfo>([&](auto done) { served->import_file("slow", file, {}, done); }).ok());
  const Candidates candidates(12, 5);
  for (const ModelHandle& model : {into, alone}) {
    const auto ranked = served.rank(model, candidates.view());
    served.tell(model, {click(*ranked, 4), close(*ranked)});
  }
  EXPECT_EQ(*served->weights(*into).features[0].weight,
            *served->weights(*alone).features[0].weight);
}

TEST(Service, OneProcessServesAStore) {
  Served served;
  const auto second = store::open_sqlite({.path = served.db()});
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.error().message, HasSubstr("another plackett serves this store"));
}

TEST(Service, StatisticsCountImpressionsClicksAndTheirRanks) {
  Served served;
  const ModelHandle model = served.make(small_spec());
  const Candidates candidates(12, 5);
  const auto one = served.rank(model, candidates.view());
  const auto two = served.rank(model, candidates.view());
  EXPECT_TRUE(served.rank(model, candidates.view()).ok());
  served.tell(model, {click(*one, 3), click(*one, 1), close(*one)});
  served.tell(model, {click(*two, 0), close(*two)});
  const auto stats = served->stats(*model, 100);
  ASSERT_TRUE(stats.ok());
  EXPECT_EQ(stats->total.impressions, 3U);
  EXPECT_EQ(stats->total.clicked, 2U);
  EXPECT_EQ(stats->total.clicks, 3U);
  EXPECT_DOUBLE_EQ(stats->total.reciprocal_ranks, 0.5 + 1.0);
  EXPECT_EQ(stats->first_day.impressions, 3U);
  EXPECT_FALSE(stats->points.empty());
}

}  // namespace
}  // namespace plackett::serving
