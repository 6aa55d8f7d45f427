// The log of writes is moved into the file by one thread while another writes it, and begins it
// anew where all of it was moved. SQLite before 3.51.3 loses what is written if the log begins anew
// just when a move has read how far the old one reached: the move then counts frames of the old log
// as moved frames of the new one.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <vector>

#include "fault_vfs.h"
#include "serving/service.h"
#include "store/checkpointer.h"
#include "store/writer.h"
#include "store_check.h"
#include "support/eventually.h"
#include "support/run_command.h"
#include "traffic.h"

namespace plackett::testing {
namespace {

class MovedLog : public ::testing::Test {
 protected:
  void SetUp() override {
    auto writer = store::Writer::open(db(), vfs_.name());
    ASSERT_TRUE(writer.ok()) << writer.error().message;
    writer_ = std::move(writer).value();
    auto checkpointer = store::Checkpointer::start(*writer_, db(), vfs_.name());
    ASSERT_TRUE(checkpointer.ok()) << checkpointer.error().message;
    checkpointer_ = std::move(checkpointer).value();
  }

  [[nodiscard]] std::string db() const { return folder_ / "store.db"; }

  void write(std::uint64_t commits) {
    for (std::uint64_t done = 0; done < commits; ++done) {
      store::Writer::NewImpression impression;
      impression.key = {1, written_++};
      impression.data = page_;
      ASSERT_TRUE(writer_->begin().ok());
      ASSERT_TRUE(writer_->keep(impression).ok());
      ASSERT_TRUE(writer_->commit().ok());
    }
  }

  // The log begins anew while the checkpointer makes its move of this number, from 1, and then
  // grows beyond what it was.
  void begin_anew_within_move(int number) {
    std::promise<void> within;
    std::promise<void> go_on;
    int moves = 0;
    vfs_.on_move([&] {
      if (++moves != number) return;
      within.set_value();
      go_on.get_future().wait();
    });
    bool ended = !checkpointer_->begin();
    const auto is_within = within.get_future();
    ASSERT_TRUE(eventually([&] {
      ended = ended || checkpointer_->take_end();
      return ended || is_within.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    }));
    write(5);
    go_on.set_value();
    ASSERT_TRUE(eventually([&] { return ended || checkpointer_->take_end(); }));
    vfs_.on_move({});
    write(200);
    ASSERT_TRUE(writer_->checkpoint().ok());
  }

  // After all is closed.
  std::uint64_t lost() {
    checkpointer_.reset();
    writer_.reset();
    auto reader = store::Reader::open(db());
    std::uint64_t lost = 0;
    for (std::uint64_t number = 0; number < written_; ++number) {
      const auto found = reader->shown_from(1, number);
      if (!found || !*found || (*found)->first != number) ++lost;
    }
    return lost;
  }

  FaultVfs vfs_;
  TemporaryFolder folder_;
  std::unique_ptr<store::Writer> writer_;
  std::unique_ptr<store::Checkpointer> checkpointer_;
  std::vector<std::byte> page_ = std::vector<std::byte>(6000);  // so that each has its own
  std::uint64_t written_ = 0;
};

TEST_F(MovedLog, MayBeginAnewWhileItIsMovedAgain) {
  write(100);
  begin_anew_within_move(2);
  EXPECT_EQ(lost(), 0U);
}

TEST_F(MovedLog, MayBeginAnewWhileItIsMovedThoughItWas) {
  write(100);
  ASSERT_TRUE(writer_->checkpoint().ok());
  begin_anew_within_move(1);
  EXPECT_EQ(lost(), 0U);
}

TEST(LogMarks, KnowWhatIsLeftToMove) {
  store::LogMarks marks;
  EXPECT_FALSE(marks.has_unmoved());
  marks.reaches(10);
  EXPECT_TRUE(marks.has_unmoved());
  marks.moved(marks.beginnings(), 7);
  EXPECT_TRUE(marks.has_unmoved());
  const std::uint64_t old = marks.beginnings();
  marks.moved(old, 10);
  EXPECT_FALSE(marks.has_unmoved());
  marks.reaches(3);  // of a new log
  EXPECT_TRUE(marks.has_unmoved());
  marks.moved(old, 10);  // said late
  EXPECT_TRUE(marks.has_unmoved());
  EXPECT_EQ(marks.end(), 3U);
}

// A move of all of the log has ended; the writer's commit, which begins it anew, has not.
TEST(LogMarks, TakeNoMoveForDoubt) {
  store::LogMarks marks;
  marks.reaches(10);
  marks.moved(marks.beginnings(), 0);
  EXPECT_FALSE(marks.has_unmoved());
  marks.reaches(3);
  EXPECT_TRUE(marks.has_unmoved());
  marks.moved(marks.beginnings(), 0);
  EXPECT_FALSE(marks.has_unmoved());
  marks.reaches(4);
  EXPECT_TRUE(marks.has_unmoved());
}

// It is moved again and again while many ask.
TEST(MovedLogOfAService, LosesNothing) {
  const TemporaryFolder folder;
  serving::ServiceOptions options;
  options.db = folder / "store.db";
  options.snapshot_every = 50;
  options.log_pages = 1;
  Story story;
  {
    auto opened = serving::Service::open(options);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    make_models(**opened);
    story.models = {"linear", "network"};
    for (int round = 0; round < 60; ++round) {
      TrafficOptions traffic;
      traffic.seed = static_cast<std::uint64_t>(round) + 1;
      traffic.name = "r" + std::to_string(round);
      traffic.steps = 20;
      story.add(run_traffic(**opened, traffic));
    }
    EXPECT_GT(std::filesystem::file_size(options.db), 1U << 20U) << "the log was never moved";
  }
  EXPECT_TRUE(story.refusals.empty());
  const Findings found = check_store(
      {.db = options.db, .vfs = "", .ranks_survive = true, .refused_are_none = true}, story);
  EXPECT_TRUE(found.none()) << found.text();
}

}  // namespace
}  // namespace plackett::testing
