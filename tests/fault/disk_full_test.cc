// A full disk: what can't be stored is refused, and nothing that was promised is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "failing_disk.h"
#include "serving/model.h"
#include "serving/served.h"
#include "support/eventually.h"

namespace plackett::testing {
namespace {

using serving::FeedbackEvent;
using serving::FeedbackStatus;
using serving::ModelHandle;

using serving::wait_for;
using ::testing::HasSubstr;
using Holds = FaultVfs::Holds;

class DiskFull : public FailingDisk {
 protected:
  // Why the service is not ready, asked after a refusal. A smaller change may fit after one that
  // did not, and the service is ready again then: so it is tried until the two coincide.
  std::string reason_after_a_refusal(const std::string& name) {
    std::string reason;
    for (int tries = 0; tries < 100 && reason.empty(); ++tries) {
      Story more = traffic(name + "." + std::to_string(tries), 4);
      if (!more.refusals.empty()) reason = service_->not_ready();
      story_.add(std::move(more));
    }
    return reason;
  }
};

TEST_F(DiskFull, RefusesWithTheReasonAndGoesOnWhenThereIsRoom) {
  int times_full = 0;
  std::size_t refused_ranks = 0;  // of one time there may be none: all that was refused is feedback
  for (int times = 0; times < 6; ++times) {
    const std::string number = std::to_string(times);
    Story before = traffic("before" + number);
    EXPECT_TRUE(before.refusals.empty());
    story_.add(std::move(before));
    EXPECT_EQ(service_->not_ready(), "");

    vfs_.set_room(static_cast<std::uint64_t>(times) * 7'777);
    Story full = traffic("full" + number);
    expect_unavailable(full);
    for (const Error& refused : full.refusals) {
      EXPECT_THAT(refused.message, HasSubstr("disk is full"));
    }
    // Just after a reset, the write-ahead log has space for all of them.
    if (!full.refusals.empty()) {
      ++times_full;
      refused_ranks += full.refused_ranks.size();
      EXPECT_THAT(reason_after_a_refusal("more" + number), HasSubstr("disk is full"));
      EXPECT_GT(service_->meters().write_failures, 0U);
    }
    story_.add(std::move(full));

    vfs_.set_room({});
    Story after = traffic("after" + number);
    EXPECT_TRUE(after.refusals.empty());
    EXPECT_EQ(service_->not_ready(), "");
    story_.add(std::move(after));
  }
  EXPECT_GE(times_full, 3);
  EXPECT_GT(refused_ranks, 0U);
  vfs_.lose_power();
  for (const Holds holds : {Holds::kWritten, Holds::kSynced, Holds::kSome}) {
    const Findings found = on_a_disk(holds, true);
    EXPECT_TRUE(found.none()) << found.text();
  }
  const Findings found = reopened(true);
  EXPECT_TRUE(found.none()) << found.text();
}

TEST_F(DiskFull, FeedbackThatWasRefusedIsTakenWhenItIsToldAgain) {
  // The disk fills between ranks and clicks, so that feedback is what is refused.
  const ModelHandle model = service_->find("linear");
  serving::Candidates candidates(12, 5);
  Story before = traffic("t", 60);
  story_.add(std::move(before));
  std::vector<FeedbackEvent> closes;
  for (const auto& [name, impression] : story_.answered) {
    if (name != "linear") continue;
    const auto seen = service_->impression(*model, impression);
    // Only sampled lists are learned from, by the model that made them.
    if (seen->state != "open" || seen->kept.impression.mode != serving::Mode::kExplore) continue;
    if (serving::ImpressionKey::of(seen->kept.id).model != model->id) continue;
    closes.push_back({impression, "", "again-" + impression + "/1/0", serving::EventKind::kClose});
  }
  ASSERT_GT(closes.size(), 3U);
  const auto tell = [&] {
    return wait_for<serving::FeedbackAnswer>(
        [&](auto done) { service_->feedback(model, closes, done); });
  };
  const serving::ModelInfo info = service_->info(*model);
  vfs_.set_room(100);
  const auto refused = tell();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(service_->info(*model).version, info.version) << "nothing was learned";
  vfs_.set_room({});
  const auto taken = tell();
  ASSERT_TRUE(taken.ok());
  EXPECT_THAT(taken->statuses, ::testing::Each(FeedbackStatus::kAccepted));
  EXPECT_EQ(service_->info(*model).version, info.version + closes.size());
  const Findings found = reopened(true);
  EXPECT_TRUE(found.none()) << found.text();
}

TEST_F(DiskFull, GetsReadyByItselfWhenThereIsRoom) {
  story_ = traffic("t", 20);
  std::this_thread::sleep_for(std::chrono::milliseconds(600));  // nothing is left to write
  vfs_.set_room(0);
  Story full = traffic("full", 20);
  ASSERT_NE(service_->not_ready(), "");
  // Still full, without requests: it does not claim to be ready.
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  EXPECT_NE(service_->not_ready(), "");
  // Nor after a request that changes nothing, and so succeeds.
  const auto stopped = wait_for<serving::ExperimentInfo>(
      [&](auto done) { service_->stop_experiment(service_->find("linear"), "unknown", done); });
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code, ErrorCode::kNotFound);
  EXPECT_NE(service_->not_ready(), "");
  vfs_.set_room({});
  // A client that waits for /ready sends nothing until it is ready.
  EXPECT_TRUE(eventually([&] { return service_->not_ready().empty(); })) << service_->not_ready();
}

TEST_F(DiskFull, AStoreThatWasFullWhenItStoppedOpensAgain) {
  story_ = traffic("t");
  vfs_.set_room(5000);
  story_.add(traffic("full"));
  service_.reset();
  vfs_.set_room({});
  const Findings found = check_store(
      {.db = db(), .vfs = vfs_.name(), .ranks_survive = true, .refused_are_none = true}, story_);
  EXPECT_TRUE(found.none()) << found.text();
}

TEST_F(DiskFull, CheckRejectsARefusalThatWasKept) {
  Story told = traffic("t");
  ASSERT_FALSE(told.acknowledged.empty());
  told.refused.push_back(told.acknowledged.front());
  story_ = told;
  EXPECT_GT(reopened(true).refused_but_there, 0U);
}

}  // namespace
}  // namespace plackett::testing
