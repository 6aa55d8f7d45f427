// Experiments on live traffic: assignment, counting, learning, what is kept.
#include <sqlite3.h>

#include <fstream>
#include <set>
#include <sstream>

#include "experiment_fixture.h"

namespace plackett::serving {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(Experiments, UnitsStayInTheirArmAndArmsGetTheirShares) {
  start(split_test("given", "model", 0.3));
  std::map<std::string, int> counts;
  for (int unit = 0; unit < 400; ++unit) {
    const std::string name = "u" + std::to_string(unit);
    const Ranked first = show(name);
    EXPECT_EQ(first.experiment, "e");
    ++counts[first.arm];
    if (unit < 20) {
      EXPECT_EQ(show(name).arm, first.arm);
    }
  }
  EXPECT_NEAR(counts["new"], 120, 5 * std::sqrt(400 * 0.3 * 0.7));
  EXPECT_EQ(counts["old"] + counts["new"], 400);
  const auto arms = info().arms;
  EXPECT_EQ(arms[0].units + arms[1].units, 400U);
  EXPECT_EQ(arms[0].impressions + arms[1].impressions, 420U);
}

TEST_F(Experiments, AnotherExperimentDividesUnitsAnew) {
  Experiment first{.id = 1, .spec = split_test()};
  Experiment second{.id = 2, .spec = split_test()};
  int same = 0;
  for (int unit = 0; unit < 10'000; ++unit) {
    const std::string name = std::to_string(unit);
    same += first.arm_of(unit_key(1, name)) == second.arm_of(unit_key(2, name)) ? 1 : 0;
  }
  EXPECT_NEAR(same, 5000, 5 * 50);
}

TEST_F(Experiments, ListsWithoutAUnitAreDividedToo) {
  start(split_test());
  std::map<std::string, int> counts;
  for (int list = 0; list < 200; ++list) ++counts[show().arm];
  EXPECT_NEAR(counts["new"], 100, 36);
  EXPECT_EQ(info().arms[0].units + info().arms[1].units, 200U);
}

TEST_F(Experiments, TheGivenArmShowsTheCallersOrderAndAModeIsOutsideOfIt) {
  start(split_test());
  for (int unit = 0; unit < 10; ++unit) {
    const Ranked ranked = show("u" + std::to_string(unit));
    EXPECT_EQ(ranked.items.size(), 10U) << "as many as the model shows";
    if (ranked.arm != "old") continue;
    EXPECT_THAT(ids(ranked), ElementsAre("0", "1", "2", "3", "4", "5", "6", "7", "8", "9"));
  }
  EXPECT_THAT(show("u1", Mode::kExploit).experiment, IsEmpty());
  EXPECT_EQ(info().arms[0].impressions + info().arms[1].impressions, 10U);
}

TEST_F(Experiments, TheModelLearnsFromItsOwnListsOnly) {
  start(split_test());
  std::uint64_t own = 0;
  for (int unit = 0; unit < 40; ++unit) {
    const Ranked ranked = show("u" + std::to_string(unit));
    click(ranked, 2);
    close(ranked);
    own += ranked.arm == "new" ? 1 : 0;
  }
  EXPECT_GT(own, 5U);
  EXPECT_EQ(served_->info(*model_).learned, own);
}

TEST_F(Experiments, ASnapshotBecomesAModelThatLearnsFromItsOwnLists) {
  click(show("", Mode::kExplore), 1);
  const SnapshotRow snapshot = served_.snapshot(model_);
  start(split_test("model", "snapshot:" + std::to_string(snapshot.id)));
  const ModelHandle fork = served_->find("m.e.new");
  ASSERT_NE(fork, nullptr);
  std::map<std::string, std::uint64_t> counts;
  for (int unit = 0; unit < 40; ++unit) {
    const Ranked ranked = show("u" + std::to_string(unit));
    ++counts[ranked.arm];
    EXPECT_EQ(ranked.impression.ends_with("@m.e.new"), ranked.arm == "new");
    click(ranked, 3);
    close(ranked);
  }
  EXPECT_EQ(served_->info(*fork).learned, counts["new"]);
  EXPECT_EQ(served_->info(*model_).learned, counts["old"]);
  EXPECT_EQ(info().arms[1].clicks, counts["new"]);
  EXPECT_EQ(info().arms[1].model, "m.e.new");
  // They can be read by the names that callers got.
  const Ranked ranked = [&] {
    for (int unit = 100;; ++unit) {
      if (Ranked one = show("u" + std::to_string(unit)); one.arm == "new") return one;
    }
  }();
  const auto seen = served_->impression(*model_, ranked.impression);
  ASSERT_TRUE(seen.ok());
  EXPECT_EQ(seen->id, ranked.impression);
  EXPECT_EQ(seen->kept.in.arm, "new");
  // Nobody may delete what a running experiment needs.
  const auto removed = wait_for<void>([&](auto done) { served_->remove(fork, done); });
  ASSERT_FALSE(removed.ok());
  EXPECT_EQ(removed.error().code, ErrorCode::kConflict);
}

TEST_F(Experiments, CallersOwnIdsLeadToListsOfOtherModels) {
  served_.make(small_spec("other"));
  start(split_test("model", "model:other"));
  for (int unit = 0; unit < 20; ++unit) {
    const std::string id = "mine-" + std::to_string(unit);
    const std::string name = "u" + std::to_string(unit);
    RankRequest request;
    request.id = id;
    request.unit = name;
    const auto ranked = served_.rank(model_, candidates_.view(), request);
    ASSERT_TRUE(ranked.ok());
    EXPECT_EQ(ranked->impression, id);
    click(*ranked, 0);
    request.items.clear();
    const auto again = served_.rank(model_, candidates_.view(), request);
    ASSERT_FALSE(again.ok());
    EXPECT_EQ(again.error().code, ErrorCode::kConflict);
  }
  EXPECT_EQ(info().arms[0].clicks + info().arms[1].clicks, 20U);
  // Events are told apart within the model that made the list.
  EXPECT_EQ(served_.feedback(model_, FeedbackEvent{"mine-0", "5", "ev", EventKind::kView}),
            served_.feedback(model_, FeedbackEvent{"mine-1", "5", "ev2", EventKind::kView}));
}

TEST_F(Experiments, InterleavedListsCreditTheirTeamsAndTeachNothing) {
  ASSERT_TRUE(wait_for<ModelInfo>([&](auto done) {
                served_->set_weights(model_, {1, -2, 3, -1, 2}, done);
              }).ok());
  start(interleaving());
  const Ranked exploit = show("", Mode::kExploit);
  ASSERT_NE(exploit.items[0].id, "0");
  for (int list = 0; list < 50; ++list) {
    const Ranked ranked = show("u" + std::to_string(list));
    EXPECT_THAT(ranked.arm, IsEmpty());
    const auto seen = served_->impression(*model_, ranked.impression);
    ASSERT_TRUE(seen.ok());
    const std::string& teams = seen->kept.in.teams;
    ASSERT_EQ(teams.size(), 10U);
    EXPECT_EQ(seen->kept.impression.mode, Mode::kInterleaved);
    // Each round has one of both.
    for (std::size_t rank = 0; rank < teams.size(); rank += 2)
      EXPECT_NE(teams[rank], teams[rank + 1]);
    // The first of each team is the best of its order.
    EXPECT_EQ(ranked.items[teams.find('0')].id, "0");
    EXPECT_EQ(ranked.items[teams.find('1')].id, exploit.items[0].id);
    click(ranked, teams.find('1'));
    if (list % 2 == 0) click(ranked, teams.find('0'));
    close(ranked);
  }
  const auto arms = info().arms;
  EXPECT_EQ(arms[0].clicks, 25U);
  EXPECT_EQ(arms[1].clicks, 50U);
  EXPECT_EQ(arms[0].impressions, 50U);
  EXPECT_DOUBLE_EQ(*arms[1].value, 1.0);
  EXPECT_EQ(served_->info(*model_).learned, 0U);
}

TEST_F(Experiments, PinnedItemsBelongToNoTeam) {
  start(interleaving());
  RankRequest request;
  request.pinned = {{.item = 7, .rank = 0}};
  const auto ranked = served_.rank(model_, candidates_.view(), request);
  ASSERT_TRUE(ranked.ok()) << ranked.error().message;
  EXPECT_EQ(ranked->items[0].id, "7");
  EXPECT_EQ(served_->impression(*model_, ranked->impression)->kept.in.teams[0], '-');
  click(*ranked, 0);
  EXPECT_EQ(info().arms[0].clicks + info().arms[1].clicks, 0U);
}

TEST_F(Experiments, MetricsCountWhatTheySay) {
  for (const auto& [metric, value] :
       std::map<ValueMetric, double>{{ValueMetric::kClicks, 2},
                                     {ValueMetric::kClickThrough, 1},
                                     {ValueMetric::kDcg, 1 / std::log2(3.0) + 1 / std::log2(5.0)},
                                     {ValueMetric::kEvents, 2 + 2.5}}) {
    ModelSpec spec = small_spec("with-" + std::string(name_of(metric)));
    spec.logging.events = {{"purchase", 2.5}};
    model_ = served_.make(spec);
    ExperimentSpec test = split_test();
    test.metric = metric;
    start(test);
    const Ranked ranked = show("u");
    click(ranked, 1);
    click(ranked, 3);
    served_.tell(model_,
                 {{ranked.impression, ranked.items[3].id, "", EventKind::kNamed, "purchase"}});
    const std::size_t arm = ranked.arm == "old" ? 0 : 1;
    EXPECT_DOUBLE_EQ(*info().arms[arm].value, value) << name_of(metric);
    EXPECT_EQ(info().arms[arm].clicks, 2U);
  }
}

TEST_F(Experiments, SurviveARestartWithTheirSums) {
  start(split_test());
  serve(50, {{"old", 0.5}, {"new", 0.5}});
  const auto before = info();
  std::map<int, std::string> arms;
  for (int unit = 0; unit < 10; ++unit) arms[unit] = show("user-" + std::to_string(unit)).arm;
  served_.reopen();
  model_ = served_->find("m");
  EXPECT_EQ(info().arms[0].clicks, before.arms[0].clicks);
  EXPECT_EQ(served_->info(*model_).experiment, "e");
  for (int unit = 0; unit < 10; ++unit) {
    EXPECT_EQ(show("user-" + std::to_string(unit)).arm, arms[unit]);
  }
  EXPECT_EQ(info().arms[0].units + info().arms[1].units, 50U);
}

TEST_F(Experiments, OthersListsForAUnitOfTheSameNameAreNotForgotten) {
  const ModelHandle other = served_.make(small_spec("other"));
  RankRequest request;
  request.unit = "alice";
  ASSERT_TRUE(served_.rank(other, candidates_.view(), request).ok());
  start(split_test("model", "model:other"));
  for (int list = 0; list < 3; ++list) show("alice");
  for (const bool drop : {false, true}) {
    const auto count = wait_for<std::uint64_t>(
        [&](auto done) { served_->forget_unit(model_, "alice", drop, done); });
    ASSERT_TRUE(count.ok()) << count.error().message;
    EXPECT_EQ(*count, drop ? 0U : 3U);
  }
  EXPECT_EQ(served_->impression(*other, "i-0")->kept.unit, "alice");
}

TEST_F(Experiments, ADamagedOneIsNamedAndLeavesTheServerAndOtherModelsAlone) {
  start(split_test());
  served_.close();
  for (const char* column : {"state", "spec"}) {
    SCOPED_TRACE(column);
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(served_.db().c_str(), &handle), SQLITE_OK);
    const std::string sql = std::string("UPDATE experiments SET ") + column + " = '{\"arms\":'";
    EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(handle);
    std::vector<std::string> lines;
    served_.options().log = [&](const std::string& line) { lines.push_back(line); };
    served_.open();
    model_ = served_->find("m");
    ASSERT_NE(model_, nullptr);
    EXPECT_THAT(show("u").experiment, IsEmpty());
    const ModelHandle other = served_.make(small_spec("other"));
    EXPECT_TRUE(wait_for<void>([&](auto done) { served_->remove(other, done); }).ok());
    const Error error = served_->experiments(*model_).error();
    EXPECT_THAT(error.message, StartsWith("experiment e: "));
    EXPECT_THAT(error.message, Not(HasSubstr("json.exception")));
    served_.close();
    EXPECT_THAT(lines,
                ::testing::Contains(StartsWith("model m is served without it: experiment e: ")));
    served_.options().log = {};
  }
  served_.open();
}

TEST_F(Experiments, ADamagedOneKeepsNoOtherFromItsEnd) {
  start(split_test());
  ASSERT_TRUE(stop().ok());
  ExperimentSpec guarded = split_test();
  guarded.name = "guarded";
  guarded.guard = GuardRule{"5 %"};
  start(guarded);
  served_.close();
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(served_.db().c_str(), &handle), SQLITE_OK);
  const char* damage = "UPDATE experiments SET spec = '{', state = '{' WHERE name = 'e'";
  EXPECT_EQ(sqlite3_exec(handle, damage, nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(handle);
  served_.open();
  model_ = served_->find("m");
  serve(1200, {{"old", 0.8}, {"new", 0.3}});
  const auto one = [&] { return *served_->experiment(*model_, "guarded"); };
  ASSERT_TRUE(wait([&] { return one().ended_at != 0; }));
  EXPECT_EQ(one().promoted, "old");
  EXPECT_TRUE(one().can_undo);
  const auto undone = wait_for<ExperimentInfo>(
      [&](auto done) { served_->undo_promotion(model_, "guarded", done); });
  ASSERT_TRUE(undone.ok()) << undone.error().message;
  const auto promoted = wait_for<ExperimentInfo>(
      [&](auto done) { served_->promote(model_, "guarded", "new", done); });
  ASSERT_TRUE(promoted.ok()) << promoted.error().message;
  EXPECT_TRUE(wait_for<void>([&](auto done) { served_->remove(model_, done); }).ok());
}

TEST_F(Experiments, UnitsOfADamagedOneAreForgotten) {
  served_.make(small_spec("other"));
  served_.make(small_spec("none-of-its-arms"));
  start(split_test("model", "model:other", 0.99));
  for (int list = 0; list < 3; ++list) EXPECT_EQ(show("alice").arm, "new");
  served_.close();
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(served_.db().c_str(), &handle), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(handle, "UPDATE experiments SET spec = '{'", nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(handle);
  served_.open();
  const auto count = wait_for<std::uint64_t>(
      [&](auto done) { served_->forget_unit(served_->find("m"), "alice", false, done); });
  ASSERT_TRUE(count.ok()) << count.error().message;
  EXPECT_EQ(*count, 3U);
}

TEST_F(Experiments, UnitsOfADeletedTestAreForgottenAfterARestart) {
  served_.make(small_spec("other"));
  start(split_test("model", "model:other", 0.99));
  // A later experiment of the same name, too.
  for (int round = 0; round < 2; ++round) {
    const std::string unit = "visitor-of-round-" + std::to_string(round);
    std::set<std::string> arms;
    for (int list = 0; list < 3; ++list) arms.insert(show(unit).arm);
    EXPECT_THAT(arms, ElementsAre("new"));
    ASSERT_TRUE(stop().ok());
    ASSERT_TRUE(
        wait_for<void>([&](auto done) { served_->delete_experiment(model_, "e", done); }).ok());
    if (round == 0) start(split_test("model", "model:other", 0.99));
  }
  EXPECT_TRUE(served_->experiments(*model_)->empty());
  served_.reopen();
  model_ = served_->find("m");
  EXPECT_TRUE(served_->experiments(*model_)->empty());
  for (int round = 0; round < 2; ++round) {
    const auto count = wait_for<std::uint64_t>([&](auto done) {
      served_->forget_unit(model_, "visitor-of-round-" + std::to_string(round), false, done);
    });
    ASSERT_TRUE(count.ok()) << count.error().message;
    EXPECT_EQ(*count, 3U);
  }
  ASSERT_TRUE(wait_for<void>([&](auto done) { served_->vacuum(done); }).ok());
  std::stringstream bytes;
  for (const char* suffix : {"", "-wal"}) {
    if (std::ifstream file(served_.db() + suffix, std::ios::binary); file.peek() != EOF) {
      bytes << file.rdbuf();
    }
  }
  EXPECT_THAT(bytes.str(), StartsWith("SQLite format 3"));
  EXPECT_THAT(bytes.str(), Not(HasSubstr("visitor-of-round")));
}

TEST_F(Experiments, WhatWasKeptOfUnitsGoesAfterTheEnd) {
  start(split_test());
  for (int list = 0; list < 5; ++list) click(show("user-" + std::to_string(list)), 0);
  click(show(), 0);
  show();
  ASSERT_TRUE(stop().ok());
  const auto units = [&] {
    auto store = *store::read_sqlite(served_.db());
    return store->experiments_with_units()->size();
  };
  EXPECT_TRUE(wait([&] { return units() == 0; }));
  EXPECT_EQ(info().arms[0].units + info().arms[1].units, 7U);
}

TEST_F(Experiments, ForgettingAUnitForgetsItInEveryArm) {
  served_.make(small_spec("other"));
  start(split_test("model", "model:other"));
  for (int unit = 0; unit < 10; ++unit) {
    for (int list = 0; list < 3; ++list) click(show("user-" + std::to_string(unit)), 0);
  }
  for (int unit = 0; unit < 10; ++unit) {
    const auto count = wait_for<std::uint64_t>([&](auto done) {
      served_->forget_unit(model_, "user-" + std::to_string(unit), unit % 2 == 0, done);
    });
    ASSERT_TRUE(count.ok()) << count.error().message;
    EXPECT_EQ(*count, 3U);
  }
  const auto arms = info().arms;
  EXPECT_EQ(arms[0].clicks + arms[1].clicks, 30U) << "the sums stay";
  served_.close();
  auto store = *store::read_sqlite(served_.db());
  for (int unit = 0; unit < 10; ++unit) {
    const std::string name = "user-" + std::to_string(unit);
    EXPECT_EQ(*store->unit_totals(1, static_cast<std::int64_t>(unit_key(1, name))), UnitTotals{})
        << name;
    EXPECT_THAT(*store->of_unit(1, name, 0, 9), IsEmpty());
    EXPECT_THAT(*store->of_unit(2, name, 0, 9), IsEmpty());
  }
}

// The sums are those of the lists in the store.
TEST_F(Experiments, SumsAreThoseOfTheStoredLists) {
  start(split_test());
  for (int list = 0; list < 200; ++list) {
    const Ranked ranked = show(list % 3 == 0 ? "" : "user-" + std::to_string(list % 17));
    for (std::size_t rank = 0; rank < 3; ++rank) {
      if (rng_.uniform() < 0.4) click(ranked, rank);
    }
  }
  served_.close();
  auto store = *store::read_sqlite(served_.db());
  std::map<std::string, std::map<std::string, UnitTotals>> arms;
  const auto lists = *store->from(1, 0, 1000);
  for (const std::int64_t id : lists) {
    const auto kept = **read_impression(*store, id, Rows::kSkip);
    const auto response = store->response(id)->value_or(ResponseRow{});
    UnitTotals& unit =
        arms[kept.in.arm][kept.unit.empty() ? "list " + std::to_string(id) : kept.unit];
    unit.x += 1;
    unit.y += static_cast<double>(
        std::count(response.clicked.begin(), response.clicked.end(), std::byte{1}));
  }
  const auto sums = *store->arm_sums(1);
  for (std::size_t arm = 0; arm < 2; ++arm) {
    RatioSums plain;
    for (const auto& [unit, totals] : arms[arm == 0 ? "old" : "new"]) plain.change({}, totals);
    RatioSums stored = sums[arm].units;
    EXPECT_NEAR(stored.v / plain.v, 1, 1e-12) << arm;  // quotients round
    EXPECT_NEAR(stored.vv / plain.vv, 1, 1e-12) << arm;
    stored.v = plain.v;
    stored.vv = plain.vv;
    EXPECT_EQ(stored, plain) << arm;
  }
}

TEST_F(Experiments, ListsThatAnArmsModelMadeForItselfAreNotTheExperiments) {
  const ModelHandle other = served_.make(small_spec("other"));
  start(split_test("model", "model:other"));
  RankRequest request;
  request.id = "its-own";
  ASSERT_TRUE(served_.rank(other, candidates_.view(), request).ok());
  ASSERT_TRUE(served_.rank(other, candidates_.view()).ok());
  for (const std::string name : {"its-own", "i-0@other", "i-1@other"}) {
    EXPECT_EQ(served_->impression(*model_, name).error().code, ErrorCode::kNotFound) << name;
    EXPECT_EQ(served_.feedback(model_, FeedbackEvent{name, "1", "", EventKind::kClick}),
              FeedbackStatus::kUnknownImpression)
        << name;
  }
  // An id that the maker has is refused where the list would be its own.
  int refused = 0;
  for (int unit = 0; unit < 20; ++unit) {
    request.unit = "u" + std::to_string(unit);
    const std::string unit_name = "u" + std::to_string(unit);
    request.unit = unit_name;
    const auto ranked = served_.rank(model_, candidates_.view(), request);
    if (ranked.ok()) {
      EXPECT_EQ(ranked->arm, "old");
      break;
    }
    EXPECT_EQ(ranked.error().code, ErrorCode::kConflict);
    ++refused;
  }
  EXPECT_LT(refused, 20);
  EXPECT_THAT(served_->not_ready(), IsEmpty());
}

TEST_F(Experiments, AModelWithTheNameOfARemovedArmIsNotThatArm) {
  const ModelHandle other = served_.make(small_spec("other"));
  start(split_test("model", "model:other"));
  serve(20, {{"old", 0.5}, {"new", 0.5}}, true);
  ASSERT_TRUE(stop().ok());
  ASSERT_TRUE(wait_for<void>([&](auto done) { served_->remove(other, done); }).ok());
  EXPECT_EQ(promote("new").error().code, ErrorCode::kConflict);
  served_.make(small_spec("other"));
  EXPECT_EQ(promote("new").error().code, ErrorCode::kConflict);
  served_.reopen();
  model_ = served_->find("m");
  EXPECT_THAT(promote("new").error().message, HasSubstr("was removed"));
  EXPECT_TRUE(promote("old").ok());
  EXPECT_EQ(info().arms[1].model, "other");
}

TEST_F(Experiments, ClicksOfANewArmWithAnOldNameAreJoined) {
  for (int time = 0; time < 2; ++time) {
    const ModelHandle other = served_.make(small_spec("other"));
    ExperimentSpec spec = split_test("model", "model:other");
    spec.name = "e" + std::to_string(time);
    start(spec);
    for (int unit = 0; unit < 20; ++unit) click(show("u" + std::to_string(unit)), 0);
    ASSERT_TRUE(wait_for<ExperimentInfo>([&](auto done) {
                  served_->stop_experiment(model_, spec.name, done);
                }).ok());
    ASSERT_TRUE(wait_for<void>([&](auto done) { served_->remove(other, done); }).ok());
  }
}

TEST_F(Experiments, PinnedAndBlockedItemsAreSoInTheGivenArm) {
  start(split_test("given", "model", 0.01));
  RankRequest request;
  request.unit = "u";
  request.pinned = {{.item = 7, .rank = 1}};
  request.blocked.assign(20, 0);
  request.blocked[0] = 1;
  const auto ranked = served_.rank(model_, candidates_.view(), request);
  ASSERT_TRUE(ranked.ok()) << ranked.error().message;
  ASSERT_EQ(ranked->arm, "old");
  EXPECT_THAT(ids(*ranked), ElementsAre("1", "7", "2", "3", "4", "5", "6", "8", "9", "10"));
}

TEST_F(Experiments, RetentionDropsTheListsOfAllArmsAndLeavesTheSums) {
  served_.options().keep_days = 1;
  served_.reopen();
  model_ = served_->find("m");
  const ModelHandle other = served_.make(small_spec("other"));
  start(split_test("model", "model:other"));
  serve(40, {{"old", 0.5}, {"new", 0.5}}, true);
  const auto before = info();
  served_.pass(std::chrono::hours(50));
  ASSERT_TRUE(wait([&] {
    return served_->impressions(*other, 10, false)->empty() &&
           served_->impressions(*model_, 10, false)->empty();
  }));
  for (std::size_t arm = 0; arm < 2; ++arm) {
    EXPECT_EQ(info().arms[arm].impressions, before.arms[arm].impressions);
    EXPECT_EQ(info().arms[arm].clicks, before.arms[arm].clicks);
  }
  serve(20, {{"old", 0.5}, {"new", 0.5}}, true);
  ASSERT_TRUE(promote("new").ok());
  const auto file = served_->export_file(*model_);
  EXPECT_EQ(file, served_->export_file(*other));
  served_.reopen();
  EXPECT_EQ(served_->export_file(*served_->find("m")), file);
}

TEST_F(Experiments, RemovingTheModelRemovesItsExperimentsAndFreesItsArms) {
  const ModelHandle other = served_.make(small_spec("other"));
  start(split_test("model", "model:other"));
  serve(20, {{"old", 0.5}, {"new", 0.5}});
  ASSERT_TRUE(wait_for<void>([&](auto done) { served_->remove(model_, done); }).ok());
  ASSERT_TRUE(wait([&] {
    auto database = store::Database::open(served_.db(), store::Database::Access::kRead);
    return *database->integer(
               "SELECT (SELECT count(*) FROM experiments) + (SELECT count(*) FROM experiment_arms) "
               "+ (SELECT count(*) FROM experiment_units)") == 0;
  }));
  EXPECT_TRUE(wait_for<void>([&](auto done) { served_->remove(other, done); }).ok());
  served_.reopen();
  EXPECT_THAT(served_->models(), IsEmpty());
}

}  // namespace
}  // namespace plackett::serving
