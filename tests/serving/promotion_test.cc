// How experiments end: stopped, promoted, by rule or by request, and undone.
#include <set>

#include "experiment_fixture.h"

namespace plackett::serving {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(Experiments, StoppingServesWhatWasServedBeforeTheStart) {
  start(split_test());
  EXPECT_EQ(served_->info(*model_).serves, Mode::kExplore);
  const auto stopped = stop();
  ASSERT_TRUE(stopped.ok());
  EXPECT_NE(stopped->ended_at, 0);
  EXPECT_EQ(stopped->ended_because, "asked");
  EXPECT_EQ(served_->info(*model_).serves, Mode::kExplore);
  std::set<std::string> firsts;
  for (int list = 0; list < 20; ++list) firsts.insert(ids(show("u"))[0]);
  EXPECT_GT(firsts.size(), 1U) << "not the order given";
  EXPECT_THAT(show("u").experiment, IsEmpty());
  served_.reopen();
  model_ = served_->find("m");
  EXPECT_EQ(served_->info(*model_).serves, Mode::kExplore);
  EXPECT_EQ(stop()->ended_at, stopped->ended_at) << "again, without effect";
  EXPECT_TRUE(
      wait_for<void>([&](auto done) { served_->delete_experiment(model_, "e", done); }).ok());
  EXPECT_EQ(served_->experiment(*model_, "e").error().code, ErrorCode::kNotFound);
}

TEST_F(Experiments, PromotingTheModelServesItAndUndoingServesWhatWasBefore) {
  start(split_test());
  const auto promoted = promote("new");
  ASSERT_TRUE(promoted.ok()) << promoted.error().message;
  EXPECT_EQ(promoted->promoted, "new");
  EXPECT_EQ(served_->info(*model_).serves, Mode::kExplore);
  EXPECT_EQ(promote("new").error().code, ErrorCode::kConflict);
  const auto undone = undo();
  ASSERT_TRUE(undone.ok()) << undone.error().message;
  EXPECT_THAT(undone->promoted, IsEmpty());
  EXPECT_EQ(served_->info(*model_).serves, Mode::kExplore) << "as before the start";
  EXPECT_EQ(undo().error().code, ErrorCode::kConflict);
}

TEST_F(Experiments, UndoingThePromotionOfTheModelGivesItsParametersBackToTheBit) {
  start(split_test());
  serve(40, {{"new", 0.9}}, true);
  ASSERT_TRUE(wait([&] { return served_->info(*model_).learned > 0; }));
  const auto before = served_->export_file(*model_);
  ASSERT_TRUE(promote("new").ok());
  serve(40, {}, false);
  for (int list = 0; list < 20; ++list) {
    const Ranked ranked = show("late");
    click(ranked, 2);
    close(ranked);
  }
  ASSERT_TRUE(wait([&] { return served_->export_file(*model_) != before; }));
  ASSERT_TRUE(undo().ok());
  EXPECT_TRUE(wait([&] { return served_->export_file(*model_) == before; }));
  EXPECT_EQ(served_->info(*model_).serves, Mode::kExplore);
}

TEST_F(Experiments, AnExperimentWhosePromotionCanBeUndoneIsNotDeleted) {
  const auto remove = [&](const std::string& name) {
    return wait_for<void>([&](auto done) { served_->delete_experiment(model_, name, done); });
  };
  start(split_test());
  ASSERT_TRUE(promote("new").ok());
  EXPECT_EQ(remove("e").error().code, ErrorCode::kConflict);
  EXPECT_THAT(remove("e").error().message, HasSubstr("undo"));
  EXPECT_TRUE(undo().ok());
  EXPECT_TRUE(remove("e").ok());
  // One that a later promotion has taken the place of can go.
  start(split_test());
  ASSERT_TRUE(promote("new").ok());
  ExperimentSpec second = split_test();
  second.name = "second";
  start(second);
  ASSERT_TRUE(wait_for<ExperimentInfo>([&](auto done) {
                served_->promote(model_, "second", "new", done);
              }).ok());
  EXPECT_TRUE(remove("e").ok());
  EXPECT_FALSE(remove("second").ok());
}

TEST_F(Experiments, PromotingAnotherModelTakesItsParametersAndUndoingGivesThemBackToTheBit) {
  for (int list = 0; list < 5; ++list) {
    const Ranked ranked = show("", Mode::kExplore);
    click(ranked, 2);
    close(ranked);
  }
  const SnapshotRow snapshot = served_.snapshot(model_);
  start(split_test("model", "snapshot:" + std::to_string(snapshot.id)));
  serve(60, {{"old", 0.5}, {"new", 0.9}}, true);
  const auto own = served_->export_file(*model_);
  const auto its = served_->export_file(*served_->find("m.e.new"));
  EXPECT_NE(own, its);
  const auto promoted = promote("new");
  ASSERT_TRUE(promoted.ok()) << promoted.error().message;
  EXPECT_EQ(served_->export_file(*model_), its);
  const auto undone = undo();
  ASSERT_TRUE(undone.ok()) << undone.error().message;
  EXPECT_EQ(served_->export_file(*model_), own);
  // The log gives the same.
  served_.close();
  auto store = *store::read_sqlite(served_.db());
  const auto rows = *store->models();
  for (const ModelRow& row : rows) {
    ReplayReport report;
    const auto trainer = replay(*parse_spec(row.spec), row, *store, report);
    ASSERT_TRUE(trainer.ok()) << trainer.error().message;
    EXPECT_THAT(report.missing, IsEmpty());
    EXPECT_EQ(report.different, 0U);
    if (row.name == "m") {
      EXPECT_EQ(serialise_model(trainer->saved()), own);
    }
  }
}

TEST_F(Experiments, APromotedArmIsServedInItsMode) {
  ExperimentSpec spec = split_test("given", "model");
  spec.arms[1].mode = Mode::kExploit;
  start(spec);
  ASSERT_TRUE(promote("new").ok());
  EXPECT_EQ(served_->info(*model_).serves, Mode::kExploit);
  EXPECT_EQ(served_->impression(*model_, show("u").impression)->kept.impression.mode,
            Mode::kExploit);
  served_.reopen();
  model_ = served_->find("m");
  EXPECT_EQ(served_->info(*model_).serves, Mode::kExploit);
}

TEST_F(Experiments, WhatWasTestedAtAnotherTemperatureIsNotPromoted) {
  ModelSpec hot = small_spec("hot");
  hot.temperature = 2;
  served_.make(hot);
  start(split_test("model", "model:hot"));
  EXPECT_THAT(promote("new").error().message, HasSubstr("temperature"));
}

TEST_F(Experiments, ForksGoWithTheirExperimentAndWithTheirModel) {
  const std::string snapshot = "snapshot:" + std::to_string(served_.snapshot(model_).id);
  start(split_test("model", snapshot));
  ASSERT_NE(served_->find("m.e.new"), nullptr);
  ASSERT_TRUE(stop().ok());
  const auto deleted =
      wait_for<void>([&](auto done) { served_->delete_experiment(model_, "e", done); });
  ASSERT_TRUE(deleted.ok()) << deleted.error().message;
  EXPECT_EQ(served_->find("m.e.new"), nullptr);
  start(split_test("model", snapshot));
  ASSERT_NE(served_->find("m.e.new"), nullptr);
  const auto removed = wait_for<void>([&](auto done) { served_->remove(model_, done); });
  ASSERT_TRUE(removed.ok()) << removed.error().message;
  EXPECT_EQ(served_->find("m.e.new"), nullptr);
  served_.reopen();
  EXPECT_EQ(served_->find("m.e.new"), nullptr);
  EXPECT_EQ(served_->find("m"), nullptr);
}

TEST_F(Experiments, TheGuardStopsABadArmAndItsUnitsSeeTheBaseline) {
  served_.make(small_spec("bad"));
  ExperimentSpec spec = split_test("given", "model");
  spec.arms[0].share = 0.4;
  spec.arms[1].share = 0.3;
  spec.arms.push_back({"worse", "model:bad", 0.3, Mode::kExplore});
  spec.guard = GuardRule{"5 %"};
  start(spec);
  serve(1500, {{"old", 0.8}, {"new", 0.8}, {"worse", 0.3}});
  served_.pass(std::chrono::seconds(5));
  ASSERT_TRUE(wait([&] { return !info().arms[2].stopped_because.empty(); }));
  EXPECT_THAT(info().arms[2].stopped_because, StartsWith("guard: its lift is below -5.0 %"));
  EXPECT_EQ(info().ended_at, 0) << "the other challenger goes on";
  const auto impressions = info().arms[2].impressions;
  for (int unit = 0; unit < 100; ++unit)
    EXPECT_NE(show("user-" + std::to_string(unit)).arm, "worse");
  EXPECT_EQ(info().arms[2].impressions, impressions);
  served_.reopen();
  model_ = served_->find("m");
  EXPECT_NE(show("user-1").arm, "worse");
  EXPECT_THAT(info().arms[2].stopped_because, Not(IsEmpty()));
}

TEST_F(Experiments, TheGuardStopsAnArmWithoutAnyClick) {
  ExperimentSpec spec = split_test();
  spec.guard = GuardRule{"5 %"};
  start(spec);
  serve(700, {{"old", 0.8}});
  ASSERT_TRUE(wait([&] { return info().ended_at != 0; }));
  EXPECT_THAT(info().arms[1].stopped_because, StartsWith("guard: its lift is below -5.0 %: -"));
  EXPECT_THAT(info().arms[1].no_lift, HasSubstr("0 units with a value in new"));
}

TEST_F(Experiments, AStoppedArmKeepsItsResultsWhileTheBaselineGoesOn) {
  served_.make(small_spec("bad"));
  ExperimentSpec spec = split_test("given", "model");
  spec.arms = {{"old", "given", 0.4, Mode::kGiven},
               {"new", "model", 0.3, Mode::kExplore},
               {"worse", "model:bad", 0.3, Mode::kExplore}};
  spec.guard = GuardRule{"5 %"};
  start(spec);
  serve(1500, {{"old", 0.8}, {"new", 0.8}, {"worse", 0.3}});
  ASSERT_TRUE(wait([&] { return !info().arms[2].stopped_because.empty(); }));
  const ArmInfo stopped = info().arms[2];
  ASSERT_TRUE(stopped.value);
  EXPECT_THAT(stopped.detects, IsEmpty());
  serve(600, {{"old", 0.1}, {"new", 0.1}});
  served_.pass(std::chrono::hours(1));
  serve(10, {});
  ASSERT_TRUE(wait([&] { return info().points.size() > 1; }));
  served_.reopen();
  model_ = served_->find("m");
  const ExperimentInfo later = info();
  EXPECT_LT(later.arms[0].value.value(), 0.7);
  EXPECT_EQ(later.arms[2].lift, stopped.lift);
  EXPECT_EQ(later.arms[2].value, stopped.value);
  EXPECT_EQ(later.arms[2].no_lift, stopped.no_lift);
  EXPECT_EQ(later.points.back().arms[2].lift, stopped.lift);
  EXPECT_EQ(later.points.back().arms[2].value, stopped.value);
  EXPECT_NE(later.points.back().arms[1].value, info().points.front().arms[1].value);
}

// A promotion that is refused takes nothing else with it.
TEST_F(Experiments, TheGuardStopsAnArmThoughAnotherCantBePromoted) {
  ModelSpec other = small_spec("good");
  served_.make(other);
  ExperimentSpec spec = split_test("given", "model");
  spec.arms = {{"old", "given", 0.4, Mode::kGiven},
               {"good", "model:good", 0.3, Mode::kExplore},
               {"worse", "model", 0.3, Mode::kExplore}};
  spec.guard = GuardRule{"5 %"};
  spec.promote = PromotionRule{"lower > 0", "0s"};
  start(spec);
  // Takes the maker away behind the service's back.
  served_.close();
  {
    auto store = *store::open_sqlite({.path = served_.db()});
    ASSERT_TRUE(store->begin().ok());
    ArmSums sums;
    const auto add = [&](std::uint32_t arm, int lists, int clicks) {
      sums = {};
      sums.impressions = static_cast<std::uint64_t>(lists);
      for (int at = 0; at < lists; ++at) sums.units.change({}, {1, at < clicks ? 1.0 : 0.0});
      ASSERT_TRUE(store->add_to_arm(1, arm, sums).ok());
    };
    add(0, 2000, 600);
    add(1, 2000, 1200);
    add(2, 2000, 100);
    const auto models = *store->read().models();
    for (const ModelRow& row : models) {
      if (row.name == "good") {
        ASSERT_TRUE(store->delete_model(row.id).ok());
      }
    }
    ASSERT_TRUE(store->commit().ok());
  }
  served_.open();
  model_ = served_->find("m");
  EXPECT_TRUE(wait([&] { return !info().arms[2].stopped_because.empty(); }));
}

TEST_F(Experiments, TheGuardEndsTheTestWhenNoChallengerIsLeft) {
  ExperimentSpec spec = split_test();
  spec.guard = GuardRule{"5 %"};
  start(spec);
  serve(1200, {{"old", 0.8}, {"new", 0.3}});
  ASSERT_TRUE(wait([&] { return info().ended_at != 0; }));
  EXPECT_EQ(info().ended_because, "the guard stopped all challengers");
  // Once the learner has taken the entry.
  EXPECT_TRUE(wait([&] { return served_->info(*model_).serves == Mode::kGiven; }));
  EXPECT_EQ(info().promoted, "old");
}

TEST_F(Experiments, WhatTheGuardHasEndedCanBeUndone) {
  ExperimentSpec spec = split_test();
  spec.guard = GuardRule{"5 %"};
  start(spec);
  serve(1200, {{"old", 0.8}, {"new", 0.3}});
  const auto own = served_->export_file(*model_);
  ASSERT_TRUE(wait([&] { return served_->info(*model_).serves == Mode::kGiven; }));
  const auto undone = undo();
  ASSERT_TRUE(undone.ok()) << undone.error().message;
  EXPECT_EQ(undone->ended_because, "the guard stopped all challengers; promotion of old undone");
  EXPECT_TRUE(wait([&] { return served_->info(*model_).serves == Mode::kExplore; }));
  EXPECT_EQ(served_->export_file(*model_), own);
  EXPECT_EQ(undo().error().code, ErrorCode::kConflict);
}

TEST_F(Experiments, AGuardThatChangesNothingOfWhatIsServedLeavesNothingToUndo) {
  served_.make(small_spec("bad"));
  ExperimentSpec spec = split_test("model", "model:bad");
  spec.guard = GuardRule{"5 %"};
  start(spec);
  serve(1200, {{"old", 0.8}, {"new", 0.3}});
  ASSERT_TRUE(wait([&] { return info().ended_at != 0; }));
  EXPECT_EQ(served_->info(*model_).serves, Mode::kExplore);
  EXPECT_THAT(info().promoted, IsEmpty());
  EXPECT_EQ(undo().error().code, ErrorCode::kConflict);
}

// Interleaved orders are sorted by score: to serve one of them would end what the model learns.
TEST_F(Experiments, AGuardOfInterleavedModelsLeavesTheModelExploring) {
  served_.make(small_spec("bad"));
  ExperimentSpec spec = interleaving("model", "model:bad");
  spec.guard = GuardRule{"5 %"};
  start(spec);
  for (int list = 0; list < 600; ++list) {
    const Ranked ranked = show("u" + std::to_string(list));
    if (ranked.experiment.empty()) break;  // the guard was fast
    const auto seen = served_->impression(*model_, ranked.impression);
    ASSERT_TRUE(seen.ok());
    const std::string& teams = seen->kept.in.teams;
    if (rng_.uniform() < 0.8) click(ranked, teams.find('0'));
    if (rng_.uniform() < 0.2) click(ranked, teams.find('1'));
  }
  ASSERT_TRUE(wait([&] { return info().ended_at != 0; }));
  EXPECT_EQ(info().ended_because, "the guard stopped all challengers");
  EXPECT_THAT(info().promoted, IsEmpty());
  EXPECT_FALSE(info().can_undo);
  const Ranked after = show("u");
  EXPECT_EQ(served_->impression(*model_, after.impression)->kept.impression.mode, Mode::kExplore);
  served_.reopen();  // the learner has taken all entries
  model_ = served_->find("m");
  EXPECT_EQ(served_->info(*model_).serves, Mode::kExplore);
}

TEST_F(Experiments, CanBeUndoneExactlyWhereUndoingIsNotRefused) {
  const auto named = [](const std::string& name) {
    ExperimentSpec spec = split_test();
    spec.name = name;
    return spec;
  };
  const auto promote_new = [&](const std::string& name) {
    return wait_for<ExperimentInfo>(
        [&](auto done) { served_->promote(model_, name, "new", done); });
  };
  start(split_test());
  EXPECT_FALSE(info().can_undo);
  ASSERT_TRUE(promote("new").ok());
  EXPECT_TRUE(info().can_undo);
  start(named("second"));
  EXPECT_FALSE(info().can_undo) << "another test runs";
  EXPECT_EQ(undo().error().code, ErrorCode::kConflict);
  ASSERT_TRUE(promote_new("second").ok());
  EXPECT_FALSE(info().can_undo) << "another one was promoted later";
  EXPECT_EQ(undo().error().code, ErrorCode::kConflict);
  EXPECT_TRUE(served_->experiment(*model_, "second")->can_undo);
  const auto all = *served_->experiments(*model_);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_TRUE(all[0].can_undo);
  EXPECT_FALSE(all[1].can_undo);
  ASSERT_TRUE(wait_for<ExperimentInfo>([&](auto done) {
                served_->undo_promotion(model_, "second", done);
              }).ok());
  EXPECT_TRUE(info().can_undo);
  EXPECT_TRUE(undo().ok());
  EXPECT_FALSE(info().can_undo);
}

// Weights are set, and before the learner has taken them an arm is promoted: undoing must lead to
// the weights.
TEST_F(Experiments, UndoingReturnsToWhatWasSetAtTheSameMoment) {
  for (int round = 0; round < 10; ++round) {
    ASSERT_TRUE(wait_for<ModelInfo>([&](auto done) {
                  served_->set_weights(model_, {0, 0, 0, 0, 0}, done);
                }).ok());
    start(split_test());
    ASSERT_TRUE(stop().ok());
    const std::vector<float> weights{1, -2, 3, -1, static_cast<float>(round + 1)};
    std::optional<Result<ExperimentInfo>> early;
    const auto set = wait_for<ModelInfo>([&](auto done) {
      served_->set_weights(model_, weights, done);
      // Nobody waits for the learner here, so it may be in the same transaction.
      early = wait_for<ExperimentInfo>(
          [&](auto promoted) { served_->promote(model_, "e", "new", promoted); });
    });
    ASSERT_TRUE(set.ok()) << set.error().message;
    if (!early->ok()) {
      EXPECT_EQ(early->error().code, ErrorCode::kBusy) << early->error().message;
      const auto again = promote("new");
      ASSERT_TRUE(again.ok()) << again.error().message;
    }
    ASSERT_TRUE(undo().ok());
    EXPECT_EQ(served_->weights(*model_).features.back().weight.value(), weights.back()) << round;
    ASSERT_TRUE(
        wait_for<void>([&](auto done) { served_->delete_experiment(model_, "e", done); }).ok());
  }
}

TEST_F(Experiments, AWinnerIsPromotedByItsRuleAndNotBeforeItsTime) {
  ExperimentSpec spec = split_test();
  spec.promote = PromotionRule{"lower > 0", "3d"};
  start(spec);
  serve(1200, {{"old", 0.2}, {"new", 0.6}});
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_EQ(info().ended_at, 0) << "three days have not passed";
  EXPECT_GT(info().arms[1].lift->low, 0);
  served_.pass(std::chrono::hours(72));
  ASSERT_TRUE(wait([&] { return info().ended_at != 0; }));
  EXPECT_EQ(info().promoted, "new");
  EXPECT_THAT(info().ended_because, StartsWith("promoted new: lower > 0, its lift is at least +"));
  EXPECT_TRUE(wait([&] { return served_->info(*model_).serves == Mode::kExplore; }));
  EXPECT_THAT(info().points, Not(IsEmpty()));
  EXPECT_TRUE(undo().ok());
  EXPECT_EQ(served_->info(*model_).serves, Mode::kExplore);
}

TEST_F(Experiments, ResultsOverTimeStayFew) {
  start(split_test());
  show("u");
  ASSERT_TRUE(wait([&] { return info().points.size() == 1; }));
  const std::int64_t first = info().points[0].at;
  served_.close();
  {
    auto store = *store::open_sqlite({.path = served_.db()});
    ASSERT_TRUE(store->begin().ok());
    for (int point = 1; point < 200; ++point) {
      ASSERT_TRUE(store->add_arm_point(1, first + point).ok());
    }
    ASSERT_TRUE(store->commit().ok());
  }
  served_.open();
  model_ = served_->find("m");
  EXPECT_EQ(info().points.size(), 200U);
  show("u");
  served_.pass(std::chrono::hours(24));
  EXPECT_TRUE(wait([&] { return info().points.size() == 101; })) << info().points.size();
  EXPECT_EQ(info().points[1].at, first + 2);
}

}  // namespace
}  // namespace plackett::serving
