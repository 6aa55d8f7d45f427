// A model with an experiment, its lists and its users.
#pragma once

#include <gmock/gmock.h>

#include <chrono>
#include <cmath>
#include <map>
#include <thread>

#include "served.h"
#include "serving/experiment.h"
#include "serving/recover.h"
#include "store/sqlite/sqlite_store.h"

namespace plackett::serving {

inline ExperimentSpec split_test(std::string first = "given", std::string second = "model",
                                 double share = 0.5) {
  const auto mode = [](const std::string& policy) {
    return policy == "given" ? Mode::kGiven : Mode::kExplore;
  };
  ExperimentSpec spec;
  spec.name = "e";
  spec.arms = {{"old", first, 1 - share, mode(first)}, {"new", second, share, mode(second)}};
  return spec;
}

inline ExperimentSpec interleaving(std::string first = "given", std::string second = "model") {
  ExperimentSpec spec = split_test(std::move(first), std::move(second));
  spec.design = Design::kInterleave;
  for (ArmSpec& arm : spec.arms) {
    arm.share = 0;
    if (arm.mode == Mode::kExplore) arm.mode = Mode::kExploit;
  }
  return spec;
}

class Experiments : public ::testing::Test {
 protected:
  void SetUp() override { model_ = served_.make(small_spec()); }

  Result<PutExperiment> put(const ExperimentSpec& spec) { return put(model_, spec); }
  Result<PutExperiment> put(const ModelHandle& model, const ExperimentSpec& spec) {
    return wait_for<PutExperiment>([&](auto done) { served_->put_experiment(model, spec, done); });
  }
  void start(const ExperimentSpec& spec) {
    const auto started = put(spec);
    ASSERT_TRUE(started.ok()) << started.error().message;
    EXPECT_TRUE(started->is_new);
  }
  Result<ExperimentInfo> stop() {
    return wait_for<ExperimentInfo>(
        [&](auto done) { served_->stop_experiment(model_, "e", done); });
  }
  Result<ExperimentInfo> promote(const std::string& arm) {
    return wait_for<ExperimentInfo>([&](auto done) { served_->promote(model_, "e", arm, done); });
  }
  Result<ExperimentInfo> undo() {
    return wait_for<ExperimentInfo>([&](auto done) { served_->undo_promotion(model_, "e", done); });
  }
  ExperimentInfo info() {
    auto found = served_->experiment(*model_, "e");
    EXPECT_TRUE(found.ok()) << (found ? "" : found.error().message);
    return *std::move(found);
  }
  Ranked show(const std::string& unit = "", std::optional<Mode> mode = {}) {
    RankRequest request;
    request.unit = unit;
    request.mode = mode;
    auto ranked = served_.rank(model_, candidates_.view(), request);
    EXPECT_TRUE(ranked.ok()) << (ranked ? "" : ranked.error().message);
    return *std::move(ranked);
  }
  void click(const Ranked& ranked, std::size_t rank) {
    EXPECT_EQ(served_.feedback(model_, FeedbackEvent{ranked.impression, ranked.items[rank].id, "",
                                                     EventKind::kClick}),
              FeedbackStatus::kAccepted);
  }
  void close(const Ranked& ranked) {
    EXPECT_EQ(served_.feedback(model_, FeedbackEvent{ranked.impression, "", "", EventKind::kClose}),
              FeedbackStatus::kAccepted);
  }
  // Shows a list to each of some new units, who click on the first item with this probability.
  void serve(int lists, const std::map<std::string, double>& chances, bool closing = false) {
    for (int at = 0; at < lists; ++at) {
      const Ranked ranked = show("user-" + std::to_string(next_user_++));
      const auto chance = chances.find(ranked.arm);
      if (chance != chances.end() && rng_.uniform() < chance->second) click(ranked, 0);
      if (closing) close(ranked);
    }
  }
  // Waits until the upkeep, which runs every 200 ms, has done it.
  template <typename Until>
  bool wait(const Until& until) {
    for (int tries = 0; tries < 100; ++tries) {
      if (until()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  }
  std::vector<std::string> ids(const Ranked& ranked) {
    std::vector<std::string> ids;
    for (const RankedItem& item : ranked.items) ids.push_back(item.id);
    return ids;
  }

  Served served_;
  ModelHandle model_;
  Candidates candidates_{20, 5};
  Rng rng_{{.seed = 3}};
  int next_user_ = 0;
};

}  // namespace plackett::serving
