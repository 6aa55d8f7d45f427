#include "experiment/results_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <set>
#include <thread>
#include <utility>

#include "experiment/made_by.h"
#include "plackett/results.h"
#include "plackett/synthetic.h"
#include "plackett/version.h"
#include "small_experiment.h"
#include "support/run_command.h"

namespace plackett {
namespace {
std::atomic<bool> without_locks{false};
thread_local std::function<void()> before_lock;  // of this thread
}  // namespace
}  // namespace plackett

// In place of the system's: a file system without locks, if the test says so.
extern "C" int flock(int descriptor, int operation) {
  if (plackett::before_lock) plackett::before_lock();
  if (!plackett::without_locks)
    return static_cast<int>(::syscall(SYS_flock, descriptor, operation));
  errno = ENOLCK;
  return -1;
}

namespace plackett {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using testing::go_on;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::slurp;
using testing::small_spec;
using testing::TemporaryFolder;

const std::string kVersion(version());

std::string uninterrupted() {
  static const std::string text = [] {
    const TemporaryFolder folder;
    EXPECT_EQ(go_on(folder / "a", small_spec(), 1, 1000), 12U);
    return slurp(folder / "a/runs.jsonl");
  }();
  return text;
}

TEST(ResultsFolder, ResumedRunsEqualUninterruptedOnesWithAnyNumberOfThreads) {
  for (const unsigned threads : {1U, 2U, 7U}) {
    for (const std::size_t at_a_time : {1U, 5U, 1000U}) {
      const TemporaryFolder folder;
      std::size_t before = 0;
      for (int turn = 0; turn < 12 && before < 12; ++turn) {
        const std::size_t now = go_on(folder / "a", small_spec(), threads, at_a_time);
        EXPECT_GE(now, std::min<std::size_t>(before + at_a_time, 12));
        before = now;
      }
      EXPECT_EQ(slurp(folder / "a/runs.jsonl"), uninterrupted()) << threads << " " << at_a_time;
    }
  }
}

TEST(ResultsFolder, FinishedRunsAreNotRepeated) {
  const TemporaryFolder folder;
  go_on(folder / "a", small_spec(), 1, 5);
  std::size_t started = 0;
  RunOptions options{.threads = 1};
  options.watch.run_started = [&](const SimulationSpec&) { ++started; };
  ASSERT_TRUE(run_in_folder(small_spec(), folder / "a", options).ok());
  EXPECT_EQ(started, 7U);
}

TEST(ResultsFolder, CutAtAnyByteItGoesOnToTheSameEnd) {
  const TemporaryFolder folder;
  ComparisonSpec spec = small_spec();
  spec.common.runs = 1;
  go_on(folder / "a", spec, 1, 1000);
  const std::string whole = slurp(folder / "a/runs.jsonl");
  for (std::size_t size = whole.size(); size-- > 0;) {
    std::filesystem::resize_file(folder / "a/runs.jsonl", size);
    const auto lines = std::count(whole.begin(), whole.begin() + static_cast<long>(size), '\n');
    const auto stored = read_results(folder / "a");
    ASSERT_TRUE(stored.ok()) << size << ": " << stored.error().message;
    // The first line alone: no run was stored.
    const bool begun = lines > 1 || (lines == 1 && whole[size - 1] != '\n');
    ASSERT_EQ(stored->has_value(), begun) << size;
    if (begun) {
      ASSERT_EQ((*stored)->finished(), static_cast<std::size_t>(lines - 1)) << size;
    }
  }
  for (std::size_t size = 0; size < whole.size(); size += whole.size() / 8 + 1) {
    std::ofstream(folder / "a/runs.jsonl", std::ios::binary) << whole.substr(0, size);
    go_on(folder / "a", spec, 2, 1000);
    ASSERT_EQ(slurp(folder / "a/runs.jsonl"), whole) << size;
  }
}

TEST(ResultsFolder, DamageInTheMiddleIsNamedDroppedAndRunAgain) {
  const TemporaryFolder folder;
  go_on(folder / "a", small_spec(), 1, 1000);
  std::string damaged = uninterrupted();
  damaged[damaged.size() / 2] ^= 1;
  damaged += std::string(100, '\0') + "\n\n";
  std::ofstream(folder / "a/runs.jsonl", std::ios::binary) << damaged;
  {
    const auto results = ResultsFolder::open(folder / "a", small_spec(), {kVersion});
    ASSERT_TRUE(results.ok());
    EXPECT_EQ(results->stored().damaged.size(), 3U);
    EXPECT_EQ(results->stored().finished(), 11U);
  }
  go_on(folder / "a", small_spec(), 1, 1000);
  EXPECT_EQ(slurp(folder / "a/runs.jsonl"), uninterrupted());
}

TEST(ResultsFolder, ASpecThatAPersonWroteIsNotWrittenOver) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "a");
  std::ofstream(folder / "a/experiment.toml") << "# mine\nruns = 3\n";
  EXPECT_THAT(ResultsFolder::open(folder / "a", small_spec(), {kVersion}).error().message,
              HasSubstr("was not written by plackett"));
  EXPECT_EQ(slurp(folder / "a/experiment.toml"), "# mine\nruns = 3\n");
}

TEST(ResultsFolder, AFolderWithoutARunMayBecomeAnyExperiment) {
  const TemporaryFolder folder;
  ASSERT_TRUE(ResultsFolder::open(folder / "a", small_spec(), {kVersion}).ok());
  ComparisonSpec other = small_spec();
  other.common.seed = 50;
  const auto opened = ResultsFolder::open(folder / "a", other, {kVersion});
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(opened->stored().asked(), 12U);
}

TEST(ResultsFolder, ALostSpecIsRestoredByTheCommandThatMadeTheRuns) {
  const TemporaryFolder folder;
  go_on(folder / "a", small_spec(), 1, 5);
  std::filesystem::remove(folder / "a/experiment.toml");
  ComparisonSpec other = small_spec();
  other.common.seed = 50;
  EXPECT_THAT(ResultsFolder::open(folder / "a", other, {kVersion}).error().message,
              HasSubstr("runs.jsonl:2: pdgd under perfect on synthetic, run 0: not a run of"));
  EXPECT_EQ(go_on(folder / "a", small_spec(), 1, 1000), 12U);
  EXPECT_EQ(slurp(folder / "a/runs.jsonl"), uninterrupted());
}

TEST(ResultsFolder, RunsOfAnotherBuildAreRefusedUnlessAllAreDoneAgain) {
  const TemporaryFolder folder;
  go_on(folder / "a", small_spec(), 1, 5);
  EXPECT_THAT(slurp(folder / "a/made_by"), HasSubstr("build "));
  std::ofstream(folder / "a/made_by") << "build 00\narithmetic fused\n";
  EXPECT_THAT(ResultsFolder::open(folder / "a", small_spec(), {kVersion}).error().message,
              AllOf(HasSubstr("another build"), EndsWith(kStartOver)));
  const auto fresh = ResultsFolder::open(folder / "a", small_spec(), {kVersion, true});
  ASSERT_TRUE(fresh.ok()) << fresh.error().message;
  EXPECT_EQ(fresh->stored().finished(), 0U);
}

TEST(ResultsFolder, RefusesAnotherVersionAndOtherwiseLoadedDataAndTouchesNothing) {
  const TemporaryFolder folder;
  go_on(folder / "a", small_spec(), 1, 3);
  const std::string runs = slurp(folder / "a/runs.jsonl");
  const std::string text = slurp(folder / "a/experiment.toml");
  ComparisonSpec other = small_spec();
  other.datasets[0].scaling = Scaling::kNone;
  EXPECT_THAT(ResultsFolder::open(folder / "a", other, {kVersion}).error().message,
              HasSubstr("its runs on \"synthetic\" are made with scaling query-minmax, not none"));
  other = small_spec();
  other.datasets[0].out_of_range = OutOfRange::kMissing;
  EXPECT_THAT(ResultsFolder::open(folder / "a", other, {kVersion}).error().message,
              HasSubstr("made with out-of-range refuse, not missing"));
  EXPECT_THAT(ResultsFolder::open(folder / "a", small_spec(), {"2.0"}).error().message,
              HasSubstr("made by plackett " + kVersion + ", this is 2.0"));
  EXPECT_EQ(slurp(folder / "a/runs.jsonl"), runs);
  EXPECT_EQ(slurp(folder / "a/experiment.toml"), text);
}

ComparisonSpec with_final_curves() {
  ComparisonSpec spec = small_spec();
  spec.common.curve = CurveKind::kFinal;
  return spec;
}

// Makes a file as it would be without the lines that contain `part`.
void drop_lines(const std::string& path, const std::string& part) {
  std::istringstream text(slurp(path));
  std::string kept;
  for (std::string line; std::getline(text, line);) {
    if (line.find(part) == std::string::npos) kept += line + '\n';
  }
  std::ofstream(path, std::ios::binary) << kept;
}

TEST(ResultsFolder, IsOfOneKindOfCurve) {
  const TemporaryFolder folder;
  const std::string a = folder / "a";
  const std::string b = folder / "b";
  go_on(a, small_spec(), 1, 3);
  go_on(b, with_final_curves(), 1, 3);
  EXPECT_THAT(slurp(b + "/made_by"), HasSubstr("curve final\n"));
  const auto refusal = [](const std::string& where, const ComparisonSpec& spec) {
    const auto opened = ResultsFolder::open(where, spec, {kVersion});
    EXPECT_EQ(opened.error().code, ErrorCode::kConflict);
    EXPECT_EQ(plan_comparison(spec, where).error().message, opened.error().message);
    return opened.error().message;
  };
  EXPECT_EQ(refusal(a, with_final_curves()),
            a + ": its runs are made with curve whole, not final; " + std::string(kStartOver));
  EXPECT_EQ(refusal(b, small_spec()),
            b + ": its runs are made with curve final, not whole; " + std::string(kStartOver));
  ComparisonSpec more = with_final_curves();  // not a run of what is there
  more.click_models = {"informational"};
  EXPECT_THAT(refusal(a, more), HasSubstr("made with curve whole, not final"));
  EXPECT_EQ(go_on(a, small_spec(), 2, 1000), 12U);
  EXPECT_EQ(slurp(a + "/runs.jsonl"), uninterrupted());
  EXPECT_TRUE(
      ResultsFolder::open(a, with_final_curves(), {.version = kVersion, .fresh = true}).ok());
}

TEST(ResultsFolder, FinalCurvesGoOnWhereTheyStopped) {
  const TemporaryFolder folder;
  go_on(folder / "a", with_final_curves(), 1, 1000);
  std::size_t before = 0;
  for (int turn = 0; turn < 4; ++turn) before = go_on(folder / "b", with_final_curves(), 2, 5);
  EXPECT_EQ(before, 12U);
  EXPECT_EQ(slurp(folder / "b/runs.jsonl"), slurp(folder / "a/runs.jsonl"));
  const StoredResults final = read_results(folder / "a").value().value();
  go_on(folder / "whole", small_spec(), 1, 1000);
  const StoredResults whole = read_results(folder / "whole").value().value();
  for (std::size_t cell = 0; cell < final.cells.size(); ++cell) {
    for (const auto& [number, run] : final.cells[cell].runs) {
      ASSERT_EQ(run.record.curve.size(), 1U);
      const CurvePoint& last = whole.cells[cell].runs.at(number).record.curve.back();
      EXPECT_EQ(run.record.curve[0].offline, last.offline);
      EXPECT_EQ(run.record.curve[0].online, last.online);
    }
  }
}

TEST(ResultsFolder, WhatDoesNotNameItsKindOfCurveHasWholeOnes) {
  const TemporaryFolder folder;
  go_on(folder / "a", small_spec(), 1, 3);
  drop_lines(folder / "a/made_by", "curve ");
  drop_lines(folder / "a/experiment.toml", "curve = ");
  EXPECT_EQ(read_results(folder / "a").value().value().finished(), 3U);
  EXPECT_THAT(ResultsFolder::open(folder / "a", with_final_curves(), {kVersion}).error().message,
              HasSubstr("made with curve whole, not final"));
  EXPECT_EQ(go_on(folder / "a", small_spec(), 1, 1000), 12U);
  EXPECT_EQ(slurp(folder / "a/runs.jsonl"), uninterrupted());
}

TEST(ReadResults, RefusesFoldersOfDifferentKindsOfCurve) {
  const TemporaryFolder folder;
  ComparisonSpec other = with_final_curves();
  other.click_models = {"informational"};
  go_on(folder / "a", small_spec(), 1, 1000);
  go_on(folder / "b", other, 1, 1000);
  const std::vector<std::filesystem::path> folders{folder / "a", folder / "b"};
  EXPECT_EQ(read_results(folders).error().message,
            folder / "b" + ": its runs are made with curve final, those of " + folder / "a" +
                " with whole");
}

// How many runs a command does in a folder.
std::size_t runs_done(const std::string& folder, const ComparisonSpec& spec) {
  std::atomic<std::size_t> stored{0};
  FolderWatch watch;
  watch.stored = [&](std::size_t, const RunRecord&) { ++stored; };
  const auto done = run_in_folder(spec, folder, {.threads = 2}, watch);
  EXPECT_TRUE(done.ok()) << done.error().message;
  return stored;
}

TEST(ResultsFolder, GrowsByRunsMethodsUsersAndDatasetsWithoutRepeatingARun) {
  const TemporaryFolder folder;
  ComparisonSpec spec = small_spec();
  EXPECT_EQ(runs_done(folder / "a", spec), 12U);
  spec.common.runs = 5;
  EXPECT_EQ(runs_done(folder / "a", spec), 8U);
  spec.methods.push_back({.entry = parse_method_entry("dbgd").value()});
  EXPECT_EQ(runs_done(folder / "a", spec), 10U);
  spec.click_models.emplace_back("informational");
  EXPECT_EQ(runs_done(folder / "a", spec), 15U);
  // Each of these contains the one before.
  EXPECT_FALSE(std::filesystem::exists(folder / "a/experiment-2.toml"));
  const std::string grown = slurp(folder / "a/runs.jsonl");
  EXPECT_EQ(runs_done(folder / "b", spec), 45U);
  EXPECT_EQ(slurp(folder / "b/runs.jsonl"), grown) << "as if all had been asked for at once";

  ComparisonSpec seeded = small_spec();
  seeded.common.seed = 2;
  EXPECT_EQ(runs_done(folder / "a", seeded), 12U);
  EXPECT_TRUE(std::filesystem::exists(folder / "a/experiment-2.toml"));
  EXPECT_EQ(runs_done(folder / "a", spec), 0U);
  EXPECT_EQ(runs_done(folder / "a", small_spec()), 0U) << "a part of what is there";
  const StoredResults all = read_results(folder / "a").value().value();
  EXPECT_EQ(all.finished(), 57U);
  EXPECT_EQ(all.asked(), 57U);
  EXPECT_EQ(all.cells.size(), 13U);
}

TEST(ResultsFolder, ShardsMakeTheBytesOfOneProcess) {
  for (const std::uint32_t count : {2U, 5U, 12U, 30U}) {
    const TemporaryFolder folder;
    std::vector<std::thread> threads;
    for (std::uint32_t number = 1; number <= count; ++number) {
      threads.emplace_back([&, number] {
        const RunOptions options{.threads = 1, .shard = {number, count}};
        const auto done = run_in_folder(small_spec(), folder / "a", options);
        EXPECT_TRUE(done.ok()) << done.error().message;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(slurp(folder / "a/runs.jsonl"), uninterrupted()) << count;
    EXPECT_FALSE(std::filesystem::exists(folder / "a/parts")) << count;
  }
}

// One shard ends while the other, which has the folder's lock to end too, looks whether it is
// alone.
TEST(ResultsFolder, ARunStoredWhileAnotherShardEndsIsNotLost) {
  const TemporaryFolder folder;
  std::atomic<int> runs_left{6};  // of the second shard
  std::atomic<bool> may_end{false};
  RunOptions second{.threads = 1, .shard = {2, 2}};
  second.watch.run_done = [&] {
    if (--runs_left > 0) return;
    while (!may_end) std::this_thread::yield();
  };
  std::thread other([&] { EXPECT_TRUE(run_in_folder(small_spec(), folder / "a", second).ok()); });
  while (runs_left > 0) std::this_thread::yield();

  const auto is_locked = [&] {
    const int part = ::open((folder / "a/parts/2-of-2.jsonl").c_str(), O_RDWR);
    const bool locked = ::syscall(SYS_flock, part, LOCK_EX | LOCK_NB) != 0;
    ::close(part);
    return locked;
  };
  int stored = 0;
  FolderWatch watch;
  watch.stored = [&](std::size_t, const RunRecord&) { ++stored; };
  int locks = 0;
  before_lock = [&] {
    // After the last run, the first lock is the folder's, the second a part's.
    if (stored < 6 || ++locks != 2) return;
    EXPECT_TRUE(is_locked());
    may_end = true;
    while (is_locked()) std::this_thread::yield();
  };
  EXPECT_TRUE(
      run_in_folder(small_spec(), folder / "a", {.threads = 1, .shard = {1, 2}}, watch).ok());
  before_lock = nullptr;
  EXPECT_GE(locks, 2);
  may_end = true;
  other.join();
  EXPECT_EQ(slurp(folder / "a/runs.jsonl"), uninterrupted());
}

TEST(ResultsFolder, EveryRunIsInOneShardAndShardsAreAlike) {
  const std::size_t cells = 6;
  const std::uint32_t runs = 25;
  for (const std::uint32_t count : {1U, 2U, 5U, 6U, 7U, 25U, 149U, 150U, 200U}) {
    std::size_t fewest = cells * runs;
    std::size_t most = 0;
    std::size_t all = 0;
    for (std::uint32_t number = 1; number <= count; ++number) {
      std::size_t in = 0;
      for (std::size_t cell = 0; cell < cells; ++cell) {
        std::size_t of_cell = 0;
        for (std::uint32_t run = 0; run < runs; ++run) {
          of_cell += in_shard({number, count}, cell, run, runs) ? 1 : 0;
        }
        EXPECT_LE(of_cell, runs / count + 1);
        in += of_cell;
      }
      all += in;
      fewest = std::min(fewest, in);
      most = std::max(most, in);
    }
    EXPECT_EQ(all, cells * runs) << count;
    EXPECT_LE(most - fewest, 1U) << count;
  }
}

TEST(ResultsFolder, AShardIsWorkedOnByOneProcess) {
  const TemporaryFolder folder;
  const auto open = [&](Shard shard) {
    return ResultsFolder::open(folder / "a", small_spec(), {.version = kVersion, .shard = shard});
  };
  auto first = open({1, 2});
  ASSERT_TRUE(first.ok());
  EXPECT_THAT(open({1, 2}).error().message,
              HasSubstr("another plackett is working on part 1-of-2"));
  EXPECT_TRUE(open({2, 2}).ok());
  const std::string in_use = "another plackett is working in this folder";
  EXPECT_THAT(open({}).error().message, HasSubstr(in_use));
  ASSERT_TRUE(first->finish().ok());
  EXPECT_TRUE(open({}).ok());
}

TEST(ResultsFolder, AShardDoesNotDiscardTheRunsOfOthers) {
  const TemporaryFolder folder;
  RunOptions options{.threads = 1, .shard = {1, 2}};
  ASSERT_TRUE(run_in_folder(small_spec(), folder / "a", options).ok());
  const std::string before = slurp(folder / "a/runs.jsonl");
  options = {.threads = 1, .shard = {2, 2}, .fresh = true};
  EXPECT_THAT(run_in_folder(small_spec(), folder / "a", options).error().message,
              HasSubstr("discards the runs of all shards"));
  EXPECT_EQ(slurp(folder / "a/runs.jsonl"), before);
}

TEST(ResultsFolder, ShardsNeedAFileSystemWithLocks) {
  const TemporaryFolder folder;
  without_locks = true;
  const RunOptions shard{.threads = 1, .shard = {1, 2}};
  EXPECT_THAT(run_in_folder(small_spec(), folder / "a", shard).error().message,
              HasSubstr("its file system has no locks"));
  EXPECT_TRUE(run_in_folder(small_spec(), folder / "a", {.threads = 1}).ok());
  without_locks = false;
  EXPECT_EQ(slurp(folder / "a/runs.jsonl"), uninterrupted());
}

TEST(ResultsFolder, AShardStopsIfLocksDidNotKeepOthersFromItsFile) {
  for (const std::size_t removed_after : {1U, 6U}) {  // half way, and before it finishes
    const TemporaryFolder folder;
    std::size_t stored = 0;
    FolderWatch watch;
    watch.stored = [&](std::size_t, const RunRecord&) {
      if (++stored == removed_after) std::filesystem::remove(folder / "a/parts/1-of-2.jsonl");
    };
    const RunOptions options{.threads = 1, .shard = {1, 2}};
    EXPECT_THAT(run_in_folder(small_spec(), folder / "a", options, watch).error().message,
                HasSubstr("1-of-2.jsonl: was removed while runs were added to it"));
    EXPECT_EQ(stored, removed_after);
  }
}

TEST(ResultsFolder, WhatAKilledShardLeftIsKeptAndReadMeanwhile) {
  const TemporaryFolder folder;
  const RunOptions second{.threads = 1, .shard = {2, 2}};
  ASSERT_TRUE(run_in_folder(small_spec(), folder / "a", second).ok());
  const std::string half = slurp(folder / "a/runs.jsonl");
  // As if it had been killed before it moved its runs, while it wrote one more.
  std::filesystem::create_directory(folder / "a/parts");
  std::ofstream(folder / "a/parts/2-of-2.jsonl") << half << "{\"checksum\":\"12";
  std::filesystem::remove(folder / "a/runs.jsonl");
  const StoredResults stored = read_results(folder / "a").value().value();
  EXPECT_EQ(stored.finished(), 6U);
  EXPECT_THAT(stored.damaged, IsEmpty()) << "a line that is being written is not damaged";
  const RunOptions first{.threads = 1, .shard = {1, 2}};
  ASSERT_TRUE(run_in_folder(small_spec(), folder / "a", first).ok());
  EXPECT_EQ(slurp(folder / "a/runs.jsonl"), uninterrupted());
}

TEST(ResultsFolder, ANewLabelRepeatsNoRun) {
  const TemporaryFolder folder;
  go_on(folder / "a", small_spec(), 1, 1000);
  ComparisonSpec other = small_spec();
  other.methods[1].label = "slow";
  EXPECT_EQ(go_on(folder / "a", other, 1, 0), 12U);
  const auto stored = read_results(folder / "a").value().value();
  EXPECT_EQ(assemble(stored).cells[1].label, "slow");
}

TEST(ResultsFolder, RefusesASecondProcessWhileOneIsAtWork) {
  const TemporaryFolder folder;
  auto first = ResultsFolder::open(folder / "a", small_spec(), {kVersion});
  ASSERT_TRUE(first.ok());
  EXPECT_THAT(ResultsFolder::open(folder / "a", small_spec(), {kVersion}).error().message,
              HasSubstr("another plackett is working in this folder"));
}

TEST(ResultsFolder, RefusesRunsThatNothingExplains) {
  const TemporaryFolder folder;
  go_on(folder / "a", small_spec(), 1, 3);
  std::filesystem::remove(folder / "a/experiment.toml");
  EXPECT_THAT(read_results(folder / "a").error().message,
              HasSubstr("runs.jsonl without experiment.toml"));
  EXPECT_FALSE(read_results(folder / "nowhere").value().has_value());
}

TEST(ResultsFolder, RemovesTheTemporariesOfAKilledProcessAndNoOtherFile) {
  const TemporaryFolder folder;
  go_on(folder / "a", small_spec(), 1, 1);
  for (const char* name : {"a/runs.jsonl.tmp-a1B2c3", "a/notes.tmp", "a/notes.md.backup"}) {
    std::ofstream(folder / name) << "x";
  }
  go_on(folder / "a", small_spec(), 1, 1);
  EXPECT_FALSE(std::filesystem::exists(folder / "a/runs.jsonl.tmp-a1B2c3"));
  EXPECT_TRUE(std::filesystem::exists(folder / "a/notes.tmp"));
  EXPECT_TRUE(std::filesystem::exists(folder / "a/notes.md.backup"));
}

TEST(RunInFolder, RefusesChangedDataAndAChangedClickModel) {
  const TemporaryFolder folder;
  const auto write_user = [&](const char* click) {
    std::ofstream(folder / "u.toml")
        << "kind = \"cascade\"\nname = \"hurried\"\nclick = [0, 0.1, 0.2, 0.3, " << click
        << "]\nstop = [0, 0, 0, 0, 0]\n";
  };
  const auto error = [&](const ComparisonSpec& spec) {
    const auto run = run_in_folder(spec, folder / "a");
    EXPECT_FALSE(run.ok());
    return run.ok() ? Error("no failure") : run.error();
  };
  write_user("1");
  ASSERT_TRUE(write_synthetic({.queries = 50}, folder / "data").ok());
  ComparisonSpec spec = small_spec();
  spec.datasets = {dataset_at(folder / "data")};
  spec.click_models = {folder / "u.toml"};
  go_on(folder / "a", spec, 1, 2);

  const std::string file = folder / "data/Fold1/train.txt";
  const std::string text = slurp(file);
  std::ofstream(file) << text << "1 qid:1 1:5\n";
  const Error data = error(spec);
  EXPECT_EQ(data.code, ErrorCode::kConflict);
  EXPECT_EQ(data.hint, Hint::kOtherFolderOrFresh);
  EXPECT_THAT(data.message, HasSubstr("\"data\": not the data that its runs are made from"));
  std::ofstream(file) << text;
  const std::string validation = folder / "data/Fold1/vali.txt";
  const std::string validation_text = slurp(validation);
  std::ofstream(validation) << validation_text << "1 qid:1 1:5\n";
  EXPECT_THAT(error(spec).message, HasSubstr("not the data that its runs are made from"));
  std::ofstream(validation) << validation_text;
  write_user("0.9");
  EXPECT_THAT(error(spec).message, HasSubstr("u.toml\": has changed since"));

  write_user("1");
  EXPECT_EQ(go_on(folder / "a", spec, 1, 1000), 6U);
  EXPECT_EQ(assemble(read_results(folder / "a").value().value()).cells[0].click_model, "hurried");
}

TEST(RunInFolder, ShardsThatWorkAtOnceAgreeBeforeARunIsFinished) {
  const TemporaryFolder folder;
  const auto write_user = [&](const char* click) {
    std::ofstream(folder / "u.toml")
        << "kind = \"cascade\"\nname = \"u\"\nclick = [0, 0.1, 0.2, 0.3, " << click
        << "]\nstop = [0, 0, 0, 0, 0]\n";
  };
  write_user("1");
  ASSERT_TRUE(write_synthetic({.queries = 50}, folder / "data").ok());
  ComparisonSpec spec = small_spec();
  spec.click_models = {folder / "u.toml"};
  const auto second = [&](const ComparisonSpec& other) {
    const auto done = run_in_folder(other, folder / "a", {.threads = 1, .shard = {2, 2}});
    EXPECT_EQ(done ? ErrorCode::kInvalid : done.error().code, ErrorCode::kConflict);
    return done ? "no failure" : done.error().message;
  };
  RunOptions first{.threads = 1, .shard = {1, 2}};
  bool tried = false;
  first.watch.run_started = [&](const SimulationSpec&) {
    if (std::exchange(tried, true)) return;
    const std::string text = slurp(folder / "a/experiment.toml");
    EXPECT_THAT(text, HasSubstr("path = \"synthetic\""));
    ComparisonSpec other = spec;
    other.datasets[0].path = folder / "data";
    EXPECT_THAT(second(other), HasSubstr("not the data that its runs are made from"));
    other.datasets[0].scaling = Scaling::kNone;
    EXPECT_THAT(second(other), HasSubstr("are made with scaling query-minmax, not none"));
    other = spec;
    other.common.curve = CurveKind::kFinal;
    EXPECT_THAT(second(other), HasSubstr("are made with curve whole, not final"));
    EXPECT_EQ(slurp(folder / "a/experiment.toml"), text);
    write_user("0.9");
    EXPECT_THAT(second(spec), HasSubstr("u.toml\": has changed since"));
    write_user("1");
    // As if the first shard's processor had no fused multiply-add.
    const std::string made_by = slurp(folder / "a/made_by");
    std::ofstream(folder / "a/made_by") << "arithmetic none\n";
    EXPECT_THAT(second(spec), HasSubstr("on another kind of processor"));
    std::ofstream(folder / "a/made_by") << made_by;
  };
  ASSERT_TRUE(run_in_folder(spec, folder / "a", first).ok());
  EXPECT_TRUE(tried);
  EXPECT_EQ(go_on(folder / "a", spec, 1, 1000), 6U);
  EXPECT_EQ(read_results(folder / "a").value().value().asked(), 6U);
}

TEST(RunInFolder, WhatAProcessLeftThatFinishedNoRunBindsNobody) {
  const TemporaryFolder folder;
  go_on(folder / "a", small_spec(), 1, 1000);
  ComparisonSpec mistaken = small_spec();
  mistaken.datasets.push_back({.name = "other", .path = "synthetic", .scaling = Scaling::kNone});
  EXPECT_EQ(go_on(folder / "a", mistaken, 1, 0), 12U);
  EXPECT_THAT(slurp(folder / "a/made_by"), HasSubstr("scaling \"other\" none\n"));
  mistaken.datasets[1] = {.name = "other", .path = "synthetic:mq2008"};
  EXPECT_EQ(go_on(folder / "a", mistaken, 1, 1000), 24U);
}

TEST(ReadResults, NamesTheFilesWhoseRunsAreOfDifferentData) {
  const TemporaryFolder folder;
  ComparisonSpec other = small_spec();
  other.datasets[0].path = "synthetic:mq2008";
  go_on(folder / "a", small_spec(), 1, 1);
  go_on(folder / "b", other, 1, 1000);
  std::filesystem::create_directory(folder / "a/parts");
  std::filesystem::copy(folder / "b/runs.jsonl", folder / "a/parts/2-of-2.jsonl");
  EXPECT_THAT(read_results(folder / "a").error().message,
              AllOf(HasSubstr("a/runs.jsonl:2: pdgd under perfect on synthetic, run 0: made from "
                              "data \"synthetic\" "),
                    HasSubstr("a/parts/2-of-2.jsonl:2 from ")));
}

// The metrics of each run in a folder, and whether it was validated.
std::multiset<std::string> measures(const std::string& folder) {
  std::multiset<std::string> all;
  const StoredResults stored = read_results(folder).value().value();
  for (const StoredCell& cell : stored.cells) {
    for (const auto& [number, run] : cell.runs) {
      std::string names;
      for (const MetricCurve& metric : run.record.metrics) names += metric.name + " ";
      all.insert(names + (std::isfinite(run.record.validation) ? "validated" : ""));
    }
  }
  return all;
}

using Measures = std::multiset<std::string>;

TEST(ResultsFolder, RunsThatLackAMetricAreDoneAgainAndReplaced) {
  const TemporaryFolder folder;
  ComparisonSpec spec = small_spec();
  spec.click_models = {"perfect"};
  spec.methods.pop_back();
  const auto with = [&](std::vector<std::string> metrics, bool select = false) {
    ComparisonSpec other = spec;
    other.common.metrics = std::move(metrics);
    other.select = select;
    return other;
  };
  EXPECT_EQ(runs_done(folder / "a", with({})), 3U);
  EXPECT_EQ(runs_done(folder / "a", with({"MRR"})), 3U);
  EXPECT_EQ(runs_done(folder / "a", with({"MAP"})), 3U);
  EXPECT_EQ(measures(folder / "a"), Measures({"MRR MAP ", "MRR MAP ", "MRR MAP "}));
  EXPECT_EQ(runs_done(folder / "a", with({"MRR"})), 0U) << "a run that has more is reused";
  EXPECT_EQ(runs_done(folder / "a", with({})), 0U);
  EXPECT_EQ(runs_done(folder / "a", with({}, true)), 3U);
  spec.common.runs = 4;
  EXPECT_EQ(runs_done(folder / "a", with({})), 1U);
  const std::string all = "MRR MAP validated";
  EXPECT_EQ(measures(folder / "a"), Measures({all, all, all, "MRR MAP "}));
  const StoredResults stored = read_results(folder / "a").value().value();
  EXPECT_EQ(stored.finished(), 4U);
  EXPECT_EQ(stored.asked(), 4U);
  EXPECT_FALSE(stored.cells[0].simulation.validate) << "the newest command says how it is reported";
  EXPECT_EQ(runs_done(folder / "a", with({}, true)), 1U);
  EXPECT_EQ(runs_done(folder / "b", with({"MRR", "MAP"}, true)), 4U);
  EXPECT_EQ(slurp(folder / "a/runs.jsonl"), slurp(folder / "b/runs.jsonl"));
}

TEST(ResultsFolder, RunsThatLackAMetricAreUnfinishedAndStillThere) {
  const TemporaryFolder folder;
  go_on(folder / "a", small_spec(), 1, 1000);
  ComparisonSpec richer = small_spec();
  richer.common.metrics = {"MAP"};
  EXPECT_EQ(go_on(folder / "a", richer, 1, 0), 0U);
  EXPECT_FALSE(read_results(folder / "a").value().value().empty());
  EXPECT_EQ(go_on(folder / "a", richer, 1, 5), 5U);
  const StoredResults half = read_results(folder / "a").value().value();
  EXPECT_EQ(half.finished(), 5U);
  EXPECT_EQ(half.asked(), 12U);
  EXPECT_EQ(assemble(half).cells[0].runs, 3U);
  EXPECT_EQ(go_on(folder / "a", richer, 1, 1000), 12U);
  EXPECT_EQ(assemble(read_results(folder / "a").value().value()).cells[3].metrics.size(), 1U);
}

TEST(ResultsFolder, TheNewestCommandSaysHowAllIsReported) {
  const TemporaryFolder folder;
  const auto spec_of = [](std::vector<std::string> methods) {
    ComparisonSpec spec = small_spec();
    spec.methods.clear();
    for (const std::string& method : methods) {
      spec.methods.push_back({.entry = parse_method_entry(method).value()});
    }
    return spec;
  };
  const auto spec_files = [&] { return read_results(folder / "a").value().value().specs; };
  const auto test = [&] { return read_results(folder / "a").value().value().spec.test; };
  runs_done(folder / "a", spec_of({"pdgd", "mgd"}));
  runs_done(folder / "a", spec_of({"dbgd", "pairwise"}));
  const std::string runs = slurp(folder / "a/runs.jsonl");
  EXPECT_THAT(spec_files(), ElementsAre("experiment.toml", "experiment-2.toml"));

  ComparisonSpec again = spec_of({"pdgd", "mgd"});
  again.test = SignificanceTest::kWelch;
  EXPECT_EQ(runs_done(folder / "a", again), 0U);
  EXPECT_EQ(test(), SignificanceTest::kWelch);
  ComparisonSpec part = spec_of({"mgd"});
  part.test = SignificanceTest::kStudent;
  part.title = "A part";
  EXPECT_EQ(runs_done(folder / "a", part), 0U);
  EXPECT_EQ(test(), SignificanceTest::kStudent);
  EXPECT_EQ(assemble(read_results(folder / "a").value().value()).title, "A part");
  EXPECT_EQ(spec_files().size(), 3U);
  EXPECT_EQ(runs_done(folder / "a", spec_of({"dbgd", "pairwise"})), 0U);
  EXPECT_EQ(test(), SignificanceTest::kPaired);
  EXPECT_THAT(spec_files(), ElementsAre("experiment.toml", "experiment-2.toml"))
      << "what only said what was newest is gone";
  EXPECT_EQ(slurp(folder / "a/runs.jsonl"), runs) << "in the same order";
}

TEST(ResultsFolder, AShardContinuesWhatAKilledOneOfAnotherCommandLeft) {
  const TemporaryFolder folder;
  ASSERT_TRUE(run_in_folder(small_spec(), folder / "a", {.threads = 1, .shard = {1, 2}}).ok());
  const auto second =
      ResultsFolder::open(folder / "a", small_spec(), {.version = kVersion, .shard = {2, 2}});
  ASSERT_TRUE(second.ok());
  // As if shard 1 had been killed while shard 2 works.
  std::filesystem::rename(folder / "a/runs.jsonl", folder / "a/parts/1-of-2.jsonl");
  ComparisonSpec other = small_spec();
  other.common.seed = 2;
  const auto done = run_in_folder(other, folder / "a", {.threads = 1, .shard = {1, 2}});
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_EQ(done->finished(), 12U);
}

TEST(RunInFolder, ReportsWhatItFindsLoadsAndStores) {
  const TemporaryFolder folder;
  go_on(folder / "a", small_spec(), 1, 5);
  std::vector<std::string> calls;
  FolderWatch watch;
  watch.opened = [&](const StoredResults& stored, WorkCount all, WorkCount left) {
    calls.push_back(fmt::format("opened with {}: {} of {} runs, {} of {} impressions",
                                stored.finished(), left.runs, all.runs, left.impressions,
                                all.impressions));
  };
  watch.loading = [&](const ComparedDataset& dataset) {
    calls.push_back("loading " + dataset.name);
  };
  watch.loaded = [&] { calls.emplace_back("loaded"); };
  std::size_t stored = 0;
  watch.stored = [&](std::size_t, const RunRecord&) { ++stored; };
  ASSERT_TRUE(run_in_folder(small_spec(), folder / "a", {.threads = 2}, watch).ok());
  EXPECT_THAT(calls, ElementsAre("opened with 5: 7 of 12 runs, 210 of 360 impressions",
                                 "loading synthetic", "loaded"));
  EXPECT_EQ(stored, 7U);
}

TEST(PlanComparison, CountsThePointsThatAreMeasured) {
  const TemporaryFolder folder;
  const auto run_seconds = [&](CurveKind curve) {
    ComparisonSpec spec = small_spec();
    spec.methods = {{.entry = parse_method_entry("pdgd:neural").value()}};
    spec.common.curve = curve;
    const Plan plan = plan_comparison(spec, folder / "a", {.threads = 1}).value();
    return plan.datasets[0].cells[0].run_seconds;
  };
  // 13 points, each longer than all 30 impressions.
  EXPECT_GT(run_seconds(CurveKind::kWhole), 3 * run_seconds(CurveKind::kFinal));
}

TEST(PlanComparison, MeasuresTheCellsThatHaveRunsLeft) {
  const TemporaryFolder folder;
  go_on(folder / "a", small_spec(), 1, 10);  // the last run of two cells is left
  const Plan plan = plan_comparison(small_spec(), folder / "a", {.threads = 2}).value();
  EXPECT_EQ(plan.finished_runs, 10U);
  ASSERT_EQ(plan.datasets.size(), 1U);
  EXPECT_GT(plan.datasets[0].load_seconds, 0);
  ASSERT_EQ(plan.datasets[0].cells.size(), 2U);
  const Plan::Cell& cell = plan.datasets[0].cells[0];
  EXPECT_EQ(cell.label, "PDGD (linear)");
  EXPECT_EQ(cell.click_model, "navigational");
  EXPECT_EQ(cell.runs, 1U);
  EXPECT_GT(cell.run_seconds, 0);
  EXPECT_GT(plan.seconds, plan.datasets[0].load_seconds);
  const RunOptions shard{.threads = 1, .shard = {3, 3}};
  const Plan part = plan_comparison(small_spec(), folder / "a", shard).value();
  EXPECT_EQ(part.runs, 4U);
  ComparisonSpec other = small_spec();
  other.datasets[0].scaling = Scaling::kNone;
  EXPECT_EQ(plan_comparison(other, folder / "a").error().code, ErrorCode::kConflict);
  std::ofstream(folder / "a/made_by") << "build 00\n";
  EXPECT_THAT(plan_comparison(small_spec(), folder / "a").error().message,
              HasSubstr("another build"));
  std::ofstream(folder / "a/runs.jsonl") << "nonsense\n";
  EXPECT_EQ(plan_comparison(small_spec(), folder / "a", {.fresh = true}).value().finished_runs, 0U);
}

}  // namespace
}  // namespace plackett
