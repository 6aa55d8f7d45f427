// Experiments that are refused, and requests that meet in one transaction.
#include "experiment_fixture.h"
#include "store/sqlite/database.h"

namespace plackett::serving {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(Experiments, TheSameAgainIsFoundAndAnotherOneIsRefusedWhileItRuns) {
  start(split_test());
  const auto again = put(split_test());
  ASSERT_TRUE(again.ok());
  EXPECT_FALSE(again->is_new);
  EXPECT_EQ(put(split_test("given", "model", 0.2)).error().code, ErrorCode::kConflict);
  ExperimentSpec other = split_test();
  other.name = "f";
  EXPECT_THAT(put(other).error().message, HasSubstr("experiment \"e\" runs"));
  ASSERT_TRUE(stop().ok());
  EXPECT_TRUE(put(other).ok());
  EXPECT_EQ(served_->experiments(*model_)->front().spec.name, "f") << "newest first";
}

struct WrongSpec {
  const char* what;
  std::function<void(ExperimentSpec&)> change;
  const char* where;
  const char* message;
};
void PrintTo(const WrongSpec& wrong, std::ostream* out) { *out << wrong.what; }

class WrongExperiment : public Experiments, public ::testing::WithParamInterface<WrongSpec> {};

TEST_P(WrongExperiment, IsRefusedWithPlaceAndRule) {
  ExperimentSpec spec = split_test();
  GetParam().change(spec);
  const auto refused = put(spec);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().where, GetParam().where);
  EXPECT_THAT(refused.error().message, HasSubstr(GetParam().message));
  EXPECT_THAT(*served_->experiments(*model_), IsEmpty());
  EXPECT_THAT(served_->info(*model_).experiment, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    , WrongExperiment,
    ::testing::Values(
        WrongSpec{"Name", [](auto& spec) { spec.name = "a b"; }, "experiment", "expected a name"},
        WrongSpec{"OneArm", [](auto& spec) { spec.arms.pop_back(); }, "arms", "1 arms; expected 2"},
        WrongSpec{"SameNames", [](auto& spec) { spec.arms[1].name = "old"; }, "arms[1].name",
                  "also the name"},
        WrongSpec{"HostileName", [](auto& spec) { spec.arms[1].name = "x'; DROP TABLE models;"; },
                  "arms[1].name", "letters, digits"},
        WrongSpec{"Share", [](auto& spec) { spec.arms[1].share = -1; }, "arms[1].share", "-1"},
        WrongSpec{"ShareNan", [](auto& spec) { spec.arms[1].share = std::nan(""); },
                  "arms[1].share", "nan"},
        WrongSpec{"Sum", [](auto& spec) { spec.arms[1].share = 0.1; }, "arms", "sum to 0.6"},
        WrongSpec{"Policy", [](auto& spec) { spec.arms[1].policy = "snapshot:-1"; },
                  "arms[1].policy", "expected \"model\""},
        WrongSpec{"NoSnapshot", [](auto& spec) { spec.arms[1].policy = "snapshot:99"; },
                  "arms[1].policy", "no snapshot 99"},
        WrongSpec{"NoModel", [](auto& spec) { spec.arms[1].policy = "model:none"; },
                  "arms[1].policy", "no model \"none\""},
        WrongSpec{"Baseline",
                  [](auto& spec) {
                    spec.arms[1].policy = "model:m";
                    spec.baseline = 1;
                  },
                  "baseline", "what is served today"},
        WrongSpec{"Level", [](auto& spec) { spec.level = 1; }, "level", "0.5 to 0.9999"},
        WrongSpec{"When",
                  [](auto& spec) {
                    spec.promote = PromotionRule{"upper > 0", "1d"};
                  },
                  "promote.when", "lower > 0"},
        WrongSpec{"After",
                  [](auto& spec) {
                    spec.promote = PromotionRule{"lower > 0", "1 year"};
                  },
                  "promote.after", "expected a time"},
        WrongSpec{"Overflow",
                  [](auto& spec) {
                    spec.promote = PromotionRule{"lower > 0", "4294967295d"};
                  },
                  "promote.after", "expected a time"},
        WrongSpec{"Drop", [](auto& spec) { spec.guard = GuardRule{"0.05"}; }, "guard.drop", "5 %"},
        WrongSpec{"Mode", [](auto& spec) { spec.arms[1].mode = Mode::kGiven; }, "arms[1].mode",
                  "mode"}),
    [](const auto& named) { return named.param.what; });

TEST_F(Experiments, ModelsWithOtherFeaturesScalingOrOpenSecondsAreNoArms) {
  served_.make(small_spec("wide", 6));
  EXPECT_THAT(put(split_test("given", "model:wide")).error().message, HasSubstr("features"));
  ModelSpec unscaled = small_spec("unscaled");
  unscaled.scaling = "none";
  served_.make(unscaled);
  EXPECT_THAT(put(split_test("given", "model:unscaled")).error().message, HasSubstr("scaling"));
  ModelSpec brief = small_spec("brief");
  brief.open_seconds = 60;
  served_.make(brief);
  const auto refused = put(split_test("given", "model:brief"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().where, "arms[1].policy");
  EXPECT_THAT(refused.error().message, HasSubstr("open_seconds of model \"brief\" is 60"));
}

TEST_F(Experiments, WhatCantBePromotedIsRefusedWhereThereIsARule) {
  ModelSpec neural = small_spec("neural");
  neural.ranker.kind = RankerKind::kNeural;
  neural.ranker.hidden = {4};
  served_.make(neural);
  ExperimentSpec spec = split_test("given", "model:neural");
  spec.promote = PromotionRule{};
  EXPECT_THAT(put(spec).error().message, HasSubstr("it can't be promoted"));
  spec.promote.reset();
  start(spec);
  EXPECT_EQ(promote("new").error().code, ErrorCode::kConflict);
  EXPECT_EQ(info().ended_at, 0);
}

TEST_F(Experiments, ARefusedArmLeavesNoModelOfTheOthers) {
  const SnapshotRow snapshot = served_.snapshot(model_);
  ExperimentSpec spec = split_test("model", "snapshot:" + std::to_string(snapshot.id));
  spec.arms[0].share = 0.25;
  spec.arms.push_back({"third", "snapshot:999", 0.25, Mode::kExplore});
  const auto refused = put(spec);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(refused.error().where, "arms[2].policy");
  served_.reopen();
  model_ = served_->find("m");
  EXPECT_EQ(served_->models().size(), 1U);
  spec.arms[2].policy = spec.arms[1].policy;
  start(spec);
  EXPECT_EQ(served_->models().size(), 3U);
}

// Requests that the writer takes as one transaction, in this order.
class Together : public Experiments {
 protected:
  void SetUp() override {
    Experiments::SetUp();
    other_ = served_.make(small_spec("other"));
  }
  // `calls` is run by the writer's thread, so that what it submits gathers.
  void together(const std::function<void()>& calls) {
    const Candidates one(1, 5);
    const auto done = wait_for<std::uint64_t>([&](auto answer) {
      served_->put_items(model_, {"x"}, one.rows, [=](const Result<std::uint64_t>& stored) {
        calls();
        answer(stored);
      });
    });
    ASSERT_TRUE(done.ok());
  }
  template <typename T>
  struct Answer {
    std::promise<Result<T>> promise{};
    Done<T> done() {
      return [this](Result<T> answer) { promise.set_value(std::move(answer)); };
    }
    Result<T> get() { return promise.get_future().get(); }
  };
  std::int64_t count(const std::string& what) {
    auto database = store::Database::open(served_.db(), store::Database::Access::kRead);
    return *database->integer("SELECT count(*) FROM " + what);
  }

  ModelHandle other_;
};

TEST_F(Together, AModelThatBecomesAnArmIsNotRemoved) {
  Answer<PutExperiment> started;
  Answer<void> removed;
  together([&] {
    served_->put_experiment(model_, split_test("model", "model:other"), started.done());
    served_->remove(other_, removed.done());
  });
  EXPECT_TRUE(started.get().ok());
  EXPECT_EQ(removed.get().error().code, ErrorCode::kConflict);
  for (int unit = 0; unit < 20; ++unit) show("u" + std::to_string(unit));
}

TEST_F(Together, AModelThatIsRemovedDoesNotBecomeAnArm) {
  Answer<PutExperiment> started;
  Answer<void> removed;
  together([&] {
    served_->remove(other_, removed.done());
    served_->put_experiment(model_, split_test("model", "model:other"), started.done());
  });
  EXPECT_TRUE(removed.get().ok());
  EXPECT_EQ(started.get().error().code, ErrorCode::kNotFound);
  EXPECT_THAT(*served_->experiments(*model_), IsEmpty());
}

TEST_F(Together, NoExperimentStartsOnAModelThatIsRemoved) {
  Answer<PutExperiment> started;
  Answer<void> removed;
  together([&] {
    served_->remove(model_, removed.done());
    served_->put_experiment(model_, split_test(), started.done());
  });
  EXPECT_TRUE(removed.get().ok());
  EXPECT_EQ(started.get().error().code, ErrorCode::kNotFound);
  EXPECT_EQ(count("experiments"), 0);
}

TEST_F(Together, NothingIsCountedInAnExperimentThatHasEnded) {
  start(split_test());
  const Ranked before = show("u");
  Answer<ExperimentInfo> stopped;
  Answer<void> deleted;
  Answer<FeedbackAnswer> clicked;
  together([&] {
    served_->stop_experiment(model_, "e", stopped.done());
    served_->delete_experiment(model_, "e", deleted.done());
    served_->feedback(model_, {{before.impression, before.items[0].id, "", EventKind::kClick}},
                      clicked.done());
  });
  (void)stopped.get();  // it may be deleted before it is described
  EXPECT_TRUE(deleted.get().ok());
  EXPECT_EQ(clicked.get()->statuses.front(), FeedbackStatus::kAccepted);
  EXPECT_EQ(count("experiment_arms") + count("experiment_points"), 0);
  EXPECT_TRUE(wait([&] { return count("experiment_units") == 0; })) << "they go in parts";
}

TEST_F(Together, UndoingServesWhatWasBeforeTheTestThoughTheLearnerWasBehind) {
  Answer<PutExperiment> started;
  Answer<ExperimentInfo> promoted;
  together([&] {
    served_->put_experiment(model_, split_test(), started.done());
    served_->promote(model_, "e", "old", promoted.done());
  });
  ASSERT_TRUE(started.get().ok());
  ASSERT_TRUE(promoted.get().ok());
  EXPECT_EQ(served_->info(*model_).serves, Mode::kGiven);
  ASSERT_TRUE(undo().ok());
  EXPECT_EQ(served_->info(*model_).serves, Mode::kExplore);
}

TEST_F(Together, OneOfTwoExperimentsStarts) {
  ExperimentSpec second = split_test("model", "model:other");
  second.name = "f";
  Answer<PutExperiment> one;
  Answer<PutExperiment> two;
  together([&] {
    served_->put_experiment(model_, split_test(), one.done());
    served_->put_experiment(model_, second, two.done());
  });
  EXPECT_TRUE(one.get().ok());
  EXPECT_EQ(two.get().error().code, ErrorCode::kConflict);
  EXPECT_EQ(served_->info(*model_).experiment, "e");
}

}  // namespace
}  // namespace plackett::serving
