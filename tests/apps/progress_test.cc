#include "progress.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace plackett::command {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Independent of the tested code: every code point takes one column, those of CJK two.
std::size_t columns(const std::string& text) {
  std::size_t count = 0;
  for (const char byte : text) {
    const auto lead = static_cast<unsigned char>(byte);
    if ((lead & 0xC0) != 0x80) count += lead >= 0xE3 && lead <= 0xEC ? 2U : 1U;
  }
  return count;
}

ProgressState half_way() {
  return {.impressions = 500'000,
          .total_impressions = 1'000'000,
          .runs = 60,
          .total_runs = 125,
          .impressions_per_second = 5'000,
          .label = "PDGD (linear), perfect"};
}

TEST(ProgressLine, ShowsEverythingIfItFits) {
  EXPECT_EQ(progress_line(half_way(), 120),
            " 50%  ━━━━━━━━━━··········  ETA 1:40  60/125 runs  5k impressions/s  "
            "PDGD (linear), perfect");
}

TEST(ProgressLine, FitsAnyWidth) {
  ProgressState state = half_way();
  state.label = "a method with a név so long that no terminal has room for it";
  for (std::size_t width = 0; width < 150; ++width) {
    EXPECT_LE(columns(progress_line(state, width)), width);
    if (width >= 4) {
      EXPECT_THAT(progress_line(state, width), StartsWith(" 50%"));
    }
  }
}

TEST(ProgressLine, OneRunIsARun) {
  ProgressState state = half_way();
  state.runs = 0;
  state.total_runs = 1;
  EXPECT_THAT(progress_line(state, 120), HasSubstr("  0/1 run  "));
}

TEST(ProgressLine, WideLettersDoNotWrapIt) {
  ProgressState state = half_way();
  state.label = "検索検索検索検索検索検索検索検索 (linear), perfect";
  for (std::size_t width = 0; width < 150; ++width) {
    EXPECT_LE(columns(progress_line(state, width)), width);
  }
  EXPECT_THAT(progress_line(state, 80), EndsWith("検…"));
}

TEST(ProgressLine, IsNotMovedByWhatALabelHolds) {
  ProgressState state = half_way();
  state.label = "a\x1b[2J\nb";
  EXPECT_THAT(progress_line(state, 120), EndsWith("a\uFFFD[2J b"));
}

TEST(ProgressLine, IsNotDoneBeforeTheLastImpression) {
  ProgressState state = half_way();
  state.impressions = 999'999;
  EXPECT_THAT(progress_line(state, 80), StartsWith(" 99%"));
  state.impressions = 1'000'000;
  EXPECT_THAT(progress_line(state, 80), AllOf(StartsWith("100%"), HasSubstr("ETA 0:00")));
  state.impressions = 2'000'000;  // more than announced
  EXPECT_THAT(progress_line(state, 80), AllOf(StartsWith("100%"), HasSubstr("ETA 0:00")));
}

TEST(ProgressLine, PromisesNoTimeItDoesNotKnow) {
  ProgressState state = half_way();
  state.impressions_per_second = 0;
  EXPECT_THAT(progress_line(state, 80), AllOf(HasSubstr("ETA -:--"), Not(HasSubstr("/s"))));
  state.impressions_per_second = 1e-9;
  EXPECT_THAT(progress_line(state, 80), HasSubstr("ETA long"));
  EXPECT_THAT(progress_line({}, 80), AllOf(StartsWith("  0%"), HasSubstr("ETA -:--")));
}

class DrawnProgress : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(pipe(ends_), 0);
    ASSERT_EQ(fcntl(ends_[0], F_SETFL, O_NONBLOCK), 0);
  }
  void TearDown() override {
    close(ends_[0]);
    close(ends_[1]);
  }
  std::string drawn() {
    std::string out(1 << 16, '\0');
    const ssize_t size = read(ends_[0], out.data(), out.size());
    out.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return out;
  }

  int ends_[2] = {-1, -1};
};

TEST_F(DrawnProgress, CountsTheWorkOfAllThreadsAndClearsItsLine) {
  Progress progress({.impressions = 40'000, .runs = 4}, {.descriptor = ends_[1], .visible = true});
  progress.set_label("PDGD (linear)");
  std::vector<std::thread> workers;
  for (int worker = 0; worker < 4; ++worker) {
    workers.emplace_back([&progress] {
      for (int step = 0; step < 10'000; ++step) progress.advance(1);
      progress.run_done();
    });
  }
  for (std::thread& worker : workers) worker.join();
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  progress.advance(0);
  const std::string before = drawn();
  EXPECT_THAT(before, AllOf(HasSubstr("\r100%"), HasSubstr("4/4 runs"), HasSubstr("\x1b[K")));
  progress.finish();
  EXPECT_EQ(drawn(), "\r\x1b[K");
  progress.advance(1);
  progress.finish();
  EXPECT_EQ(drawn(), "");
}

TEST_F(DrawnProgress, DrawsAtMostTenTimesASecond) {
  const auto start = std::chrono::steady_clock::now();
  Progress progress({.impressions = 1'000'000'000, .runs = 0},
                    {.descriptor = ends_[1], .visible = true});
  for (int step = 0; step < 100'000; ++step) progress.advance(1);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const std::string text = drawn();
  const auto draws = static_cast<double>(std::count(text.begin(), text.end(), '\r'));
  EXPECT_GE(draws, 1);
  EXPECT_LE(draws, 1 + 10 * seconds.count());
}

TEST_F(DrawnProgress, SkippedWorkIsDoneButNotSpeed) {
  Progress progress({.impressions = 1'000, .runs = 2}, {.descriptor = ends_[1], .visible = true});
  progress.skip({.impressions = 500, .runs = 1});
  EXPECT_THAT(drawn(), AllOf(HasSubstr(" 50%"), HasSubstr("1/2 runs"), HasSubstr("ETA -:--")));
}

Standing two_methods() {
  Standing standing({.title = "MQ2008, NDCG@10 so far",
                     .methods = {"PDGD (linear)", "PDGD (neural)"},
                     .click_models = {"perfect", "navigational"}});
  standing.add(0, 0, 0.5);
  standing.add(0, 0, 0.7);
  standing.add(1, 0, 0.55);
  standing.add(1, 1, 0.25);
  return standing;
}

TEST(StandingLines, ShowMeansWithTheBestOfEachColumnInBold) {
  EXPECT_THAT(
      two_methods().lines({80, 24}),
      ::testing::ElementsAre("MQ2008, NDCG@10 so far  perfect  navigational",
                             "PDGD (linear)             \x1b[1m0.600\x1b[0m             -",
                             "PDGD (neural)             0.550         \x1b[1m0.250\x1b[0m"));
}

TEST(StandingLines, FitAnyTerminal) {
  for (std::size_t columns_there = 0; columns_there < 60; ++columns_there) {
    for (std::size_t rows = 0; rows < 5; ++rows) {
      const auto lines = two_methods().lines({columns_there, rows});
      EXPECT_LE(lines.size(), rows);
      if (!lines.empty()) {
        EXPECT_LE(columns(lines.front()), columns_there);
      }
    }
  }
  EXPECT_TRUE(Standing().lines({80, 24}).empty());
}

TEST(StandingLines, WideLettersDoNotWrapThem) {
  Standing standing({.title = "検索, NDCG@10 so far",
                     .methods = {"検索検索検索検索検索検索検索検索 (linear)"},
                     .click_models = {"perfect", "検索検索"}});
  for (std::size_t width = 12; width < 60; ++width) {
    for (const std::string& line : standing.lines({width, 24})) EXPECT_LE(columns(line), width);
  }
}

TEST(StandingLines, AreNotMovedByWhatNamesHold) {
  Standing standing({.title = "", .methods = {"a\x1b[2J\nb"}, .click_models = {"x"}});
  EXPECT_THAT(standing.lines({80, 24})[1], HasSubstr("a\uFFFD[2J b"));
}

TEST_F(DrawnProgress, DrawsTheStandingBelowAndComesBackUp) {
  Progress progress({.impressions = 10, .runs = 2}, {.descriptor = ends_[1], .visible = true});
  progress.show(two_methods());
  progress.advance(5);
  EXPECT_THAT(drawn(),
              AllOf(StartsWith("\r 50%"), HasSubstr("\nPDGD (neural)"), EndsWith("\x1b[J\x1b[3A")));
  progress.finish();
  EXPECT_EQ(drawn(), "\r\x1b[J");
}

TEST_F(DrawnProgress, IsSilentIfItIsNotVisible) {
  {
    Progress progress({.impressions = 10, .runs = 1}, {.descriptor = ends_[1], .visible = false});
    progress.set_label("x");
    progress.advance(10);
    progress.run_done();
  }
  EXPECT_EQ(drawn(), "");
}

}  // namespace
}  // namespace plackett::command
