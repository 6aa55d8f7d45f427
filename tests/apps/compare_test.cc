#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <vector>

#include "support/child.h"
#include "support/eventually.h"
#include "support/run_command.h"

namespace plackett {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using testing::Child;
using testing::eventually;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::run_command;
using testing::slurp;
using ::testing::StartsWith;
using testing::TemporaryFolder;

// Everything in a folder that is a function of spec and seed.
std::map<std::string, std::string> results(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name != "timings.jsonl") files[name] = slurp(entry.path());
  }
  return files;
}

std::size_t lines(const std::string& path) {
  const std::string text = slurp(path);
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// Distinct runs in a folder, in one file or in parts.
std::size_t runs_in(const std::string& folder) {
  std::set<std::string> runs;
  std::vector<fs::path> files{folder + "/runs.jsonl"};
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder + "/parts", none)) {
    files.push_back(entry.path());
  }
  for (const fs::path& file : files) {
    std::istringstream text(slurp(file));
    for (std::string line; std::getline(text, line);) {
      if (line.find("\"kind\":\"run\"") != std::string::npos) runs.insert(line);
    }
  }
  return runs.size();
}

const std::string kSmall =
    "compare --methods pdgd,pdgd:learning-rate=0.01 --click-models perfect,navigational "
    "--data synthetic,three=synthetic:mq2008 --runs 4 --impressions 1500 ";

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

TEST(Compare, KilledAtAnyMomentAndStartedAgainEndsWithTheSameBytes) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_command(kSmall + "--threads 1 --out " + folder / "whole").exit_code, 0);
  std::minstd_rand random(7);
  int killed = 0;
  int code = 128 + SIGKILL;
  std::size_t kept = 0;
  while (code != 0) {
    ASSERT_LT(killed, 200);
    const std::string threads = std::to_string(1 + killed % 3);
    Child child(words(kSmall + "--threads " + threads + " --out " + folder / "killed"),
                folder / "out", folder / "err");
    // Ever longer, so that it ends on a slow machine too.
    std::uniform_int_distribution<int> wait_ms(1, 100 + 20 * killed);
    std::this_thread::sleep_for(std::chrono::milliseconds(wait_ms(random)));
    child.signal(SIGKILL);
    code = child.wait();
    if (code != 0) {
      ASSERT_EQ(code, 128 + SIGKILL) << slurp(folder / "err");
      ++killed;
      const std::size_t now = runs_in(folder / "killed");
      EXPECT_GE(now, kept);
      kept = now;
    }
  }
  EXPECT_GE(killed, 3);
  EXPECT_EQ(lines(folder / "killed/runs.jsonl"), 33U);
  // A kill between the two files costs a timing, never a run.
  EXPECT_LE(lines(folder / "killed/timings.jsonl"), 32U);
  EXPECT_EQ(results(folder / "killed"), results(folder / "whole"));
}

TEST(Compare, InterruptedItStopsAtOnceReportsAndGoesOn) {
  const TemporaryFolder folder;
  // The second method's run takes minutes.
  const std::string command =
      "compare --methods pdgd,pdgd:neural --click-models perfect --runs 1 --threads 2 "
      "--hidden 512,512 --impressions 30000 --out ";
  for (const int signal : {SIGTERM, SIGINT}) {
    fs::remove_all(folder / "a");
    Child child(words(command + folder / "a"), folder / "out", folder / "err");
    ASSERT_TRUE(eventually([&] { return runs_in(folder / "a") == 1; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const double before = child.processor_seconds();
    child.signal(signal);
    EXPECT_EQ(child.wait(), 130);
    EXPECT_LT(child.processor_seconds() - before, 0.9);
    EXPECT_THAT(slurp(folder / "err"), AllOf(HasSubstr("stopped: 1 of 2 runs are in "),
                                             HasSubstr("the same command continues from there")));
    EXPECT_THAT(slurp(folder / "out"), HasSubstr("PDGD (linear)"));
    EXPECT_TRUE(fs::exists(folder / "a/report.html"));
  }
  const auto report = run_command("report " + folder / "a");
  EXPECT_EQ(report.exit_code, 0) << report.err;
  EXPECT_THAT(report.out, AllOf(HasSubstr("unfinished: 1 of 2 runs"), HasSubstr("PDGD (linear)"),
                                Not(HasSubstr("PDGD (neural)"))));
}

TEST(Compare, AFullDiskIsAnErrorThatKeepsTheRecords) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_command(kSmall + "--out " + folder / "whole").exit_code, 0);
  // Files of at most 8 KiB: some records fit.
  const std::string line = "ulimit -f 16; exec '" PLACKETT_COMMAND "' " + kSmall + "--out '" +
                           folder / "full" + "' 2>'" + folder / "err" + "'";
  const int status = std::system(line.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 2);
  EXPECT_THAT(slurp(folder / "err"), AllOf(HasSubstr("1-of-1.jsonl: can't write: File too large"),
                                           HasSubstr(" of 32 runs are in ")));
  EXPECT_GT(runs_in(folder / "full"), 1U);
  EXPECT_EQ(slurp(folder / "full/parts/1-of-1.jsonl").back(), '\n');
  const auto again = run_command(kSmall + "--out " + folder / "full");
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_EQ(again.err, "");
  EXPECT_EQ(results(folder / "full"), results(folder / "whole"));
}

TEST(Compare, AShardOnAFullDiskKeepsItsRecordsAndThoseOfOthers) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_command(kSmall + "--out " + folder / "whole").exit_code, 0);
  const std::string shards = kSmall + "--out " + folder / "full" + " --shard ";
  ASSERT_EQ(run_command(shards + "1/2").exit_code, 0);
  const std::size_t others = runs_in(folder / "full");
  const auto stopped = run_command(shards + "2/2", "", "ulimit -f 16; exec ");
  EXPECT_EQ(stopped.exit_code, 2);
  EXPECT_THAT(stopped.err, HasSubstr("2-of-2.jsonl: can't write: File too large"));
  EXPECT_GT(runs_in(folder / "full"), others);
  EXPECT_EQ(run_command(shards + "2/2").exit_code, 0);
  EXPECT_EQ(results(folder / "full"), results(folder / "whole"));
}

TEST(Compare, AReportThatCanNotBeWrittenHidesNoResult) {
  const TemporaryFolder folder;
  const std::string small =
      "compare --methods pdgd,pdgd:learning-rate=0.01 --click-models perfect --runs 2 "
      "--impressions 100 --out ";
  ASSERT_EQ(run_command(small + folder / "whole").exit_code, 0);
  fs::create_directory(folder / "apart");
  // Files of at most 8 KiB: all records fit, curves and page do not.
  const std::string limit = "ulimit -f 16; exec ";
  for (const std::string& arguments :
       {small + folder / "full", "report " + folder / "whole",
        "report " + folder / "whole" + " --out " + folder / "apart"}) {
    const auto result = run_command(arguments, "", limit);
    EXPECT_EQ(result.exit_code, 2) << arguments;
    EXPECT_THAT(result.out, AllOf(HasSubstr("offline NDCG@10"), HasSubstr("PDGD (linear)")))
        << arguments;
    EXPECT_THAT(result.err, AllOf(HasSubstr("can't write: File too large; "),
                                  HasSubstr(arguments.ends_with("apart") ? "no run is lost"
                                                                         : "4 of 4 runs are in ")))
        << arguments;
  }
}

TEST(Compare, DamageIsToldAndMended) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_command(kSmall + "--out " + folder / "a").exit_code, 0);
  const auto whole = results(folder / "a");
  std::string text = slurp(folder / "a/runs.jsonl");
  text[text.find("\"run\":2")] ^= 1;
  std::ofstream(folder / "a/runs.jsonl", std::ios::binary) << text << "{\"check";
  const auto mended = run_command(kSmall + "--out " + folder / "a");
  EXPECT_EQ(mended.exit_code, 0);
  EXPECT_THAT(mended.err, AllOf(HasSubstr("runs.jsonl:4, "),
                                HasSubstr("runs.jsonl:34: incomplete or damaged")));
  EXPECT_EQ(results(folder / "a"), whole);
}

TEST(Compare, AFolderGrowsAndRefusesDataThatIsLoadedOtherwise) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_command(kSmall + "--out " + folder / "a").exit_code, 0);
  const auto more = run_command(
      "compare --methods pdgd --learning-rate 0.1,0.2 --click-models perfect,navigational "
      "--data synthetic,three=synthetic:mq2008 --runs 5 --impressions 1500 --out " +
      folder / "a");
  EXPECT_EQ(more.exit_code, 0) << more.err;
  // A fifth of rate 0.1, which is the default, and five of rate 0.2, in 4 cells each.
  EXPECT_EQ(runs_in(folder / "a"), 32U + 4 * (1 + 5));
  EXPECT_THAT(more.out, AllOf(HasSubstr("32 runs were finished before"),
                              HasSubstr("PDGD (linear, learning-rate 0.2)")));
  EXPECT_THAT(slurp(folder / "a/results.json"),
              HasSubstr("\"command\":\"plackett compare --spec experiment.toml --out RESULTS\\n"
                        "plackett compare --spec experiment-2.toml --out RESULTS\""));
  const auto before = results(folder / "a");
  const auto refused = run_command(kSmall + "--scaling none --out " + folder / "a");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("are made with scaling query-minmax, not none"),
                                 HasSubstr("(--out gives another folder, --fresh starts over)")));
  EXPECT_EQ(results(folder / "a"), before);
}

TEST(Compare, FinalCurvesHaveAFolderOfTheirOwnAndTheSameTables) {
  const TemporaryFolder folder;
  const auto whole = run_command(kSmall + "--out " + folder / "whole");
  const auto final = run_command(kSmall + "--curve final --out " + folder / "final");
  ASSERT_EQ(final.exit_code, 0) << final.err;
  for (const char* table : {"tables.csv", "tables.md", "tests.csv"}) {
    EXPECT_EQ(slurp(folder / "final/" + table), slurp(folder / "whole/" + table)) << table;
  }
  EXPECT_TRUE(fs::exists(folder / "whole/curves.svg"));
  EXPECT_FALSE(fs::exists(folder / "final/curves.svg"));
  EXPECT_EQ(run_command("report --format runs " + folder / "final").exit_code, 0);
  EXPECT_EQ(run_command("report --format runs " + folder / "final").out,
            run_command("report --format runs " + folder / "whole").out);
  const auto curves = run_command("report --format curves " + folder / "final");
  EXPECT_EQ(std::count(curves.out.begin(), curves.out.end(), '\n'), 1 + 32);
  const auto refused = run_command(kSmall + "--curve final --out " + folder / "whole");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("its runs are made with curve whole, not final"),
                                 HasSubstr("(--out gives another folder, --fresh starts over)")));
  // Without --out each kind has its own.
  const auto default_folder = [](const std::string& options) {
    const std::string plan = run_command(kSmall + options + " --dry-run").out;
    const std::size_t at = plan.find("results go to ");
    return plan.substr(at, plan.find(',', at) - at);
  };
  EXPECT_THAT(default_folder(""), HasSubstr("results/compare-"));
  EXPECT_EQ(default_folder("--curve whole"), default_folder(""));
  EXPECT_NE(default_folder("--curve final"), default_folder(""));
}

TEST(Compare, ASingleRunHasNoDeviation) {
  const TemporaryFolder folder;
  const auto result = run_command(
      "compare --methods pdgd --click-models perfect --runs 1 --impressions 1 --metrics MAP "
      "--out " +
      folder / "a");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr(" 1 run × 1 impression\n"));
  std::istringstream table(slurp(folder / "a/tables.csv"));
  std::string names, values;
  ASSERT_TRUE(std::getline(table, names) && std::getline(table, values));
  const auto fields = [](const std::string& line) {
    std::vector<std::string> split;
    std::istringstream parts(line);
    for (std::string part; std::getline(parts, part, ',');) split.push_back(part);
    if (line.ends_with(',')) split.emplace_back();
    return split;
  };
  ASSERT_EQ(fields(names).size(), fields(values).size()) << names << "\n" << values;
  std::size_t deviations = 0;
  for (std::size_t at = 0; at < fields(names).size(); ++at) {
    const bool is_deviation = fields(names)[at].ends_with("_std");
    EXPECT_EQ(fields(values)[at].empty(), is_deviation) << fields(names)[at];
    deviations += is_deviation ? 1 : 0;
  }
  EXPECT_EQ(deviations, 3U);
}

TEST(Compare, ARepeatedSettingIsASweep) {
  const TemporaryFolder folder;
  const std::string start =
      "compare --methods mgd --click-models perfect --runs 2 --impressions 20";
  for (const auto& [name, settings] :
       {std::pair{"list", " --set candidates=9,19"},
        std::pair{"twice", " --set candidates=9 --set candidates=19"}}) {
    const auto result = run_command(start + settings + " --out " + folder / name);
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  EXPECT_THAT(slurp(folder / "twice/tables.csv"), HasSubstr("candidates 19"));
  EXPECT_EQ(slurp(folder / "twice/tables.csv"), slurp(folder / "list/tables.csv"));
}

TEST(Compare, AnEmptyValueInAListIsRefused) {
  for (const char* arguments :
       {"compare --learning-rate 0.1,", "compare --set candidates=9,",
        "compare --methods pdgd,,mgd", "compare --click-models ,perfect", "compare --metrics MAP,",
        "compare --hidden 64,", "compare --baselines mgd,", "simulate --hidden 64,",
        "simulate --metrics MAP,", "audit --labels 0,1,"}) {
    const auto result = run_command(arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments;
    EXPECT_EQ(result.out, "") << arguments;
    EXPECT_NE(result.err, "") << arguments;
  }
  EXPECT_THAT(run_command("compare --learning-rate 0.1,").err,
              HasSubstr("--learning-rate: \"0.1,\"; a value is empty"));
}

TEST(Compare, SeveralFoldersAreReportedAsOne) {
  const TemporaryFolder folder;
  const std::string small = "compare --click-models perfect --runs 2 --impressions 100 ";
  for (const char* method : {"pdgd", "mgd"}) {
    ASSERT_EQ(run_command(small + "--methods " + method + " --out " + folder / method).exit_code,
              0);
  }
  ASSERT_EQ(run_command(small + "--methods pdgd,mgd --out " + folder / "both").exit_code, 0);
  const std::string two = "report " + folder / "pdgd" + " " + folder / "mgd";
  EXPECT_EQ(run_command(two + " --format csv").out,
            run_command("report " + folder / "both" + " --format csv").out);
  const auto before = std::pair(results(folder / "pdgd"), results(folder / "mgd"));
  const auto shown = run_command(two);
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(run_command("report " + folder / "both").out, StartsWith(shown.out));
  EXPECT_THAT(shown.out, Not(HasSubstr("report.html")));
  EXPECT_EQ(std::pair(results(folder / "pdgd"), results(folder / "mgd")), before);
  EXPECT_EQ(run_command(two + " --out " + folder / "report").exit_code, 0);
  const std::string spec = "plackett compare --spec ";
  EXPECT_THAT(slurp(folder / "report/results.json"),
              HasSubstr(spec + folder / "pdgd/experiment.toml" + " --out RESULTS\\n" + spec +
                        folder / "mgd/experiment.toml" + " --out RESULTS\""));
  EXPECT_THAT(run_command(two + " " + folder / "none").err, HasSubstr("none: no results"));

  ASSERT_EQ(run_command(small + "--methods pdgd --data synthetic=synthetic:mq2008 --out " +
                        folder / "other")
                .exit_code,
            0);
  EXPECT_THAT(run_command("report " + folder / "pdgd" + " " + folder / "other").err,
              AllOf(HasSubstr("other: made from data \"synthetic\" "), HasSubstr("pdgd from ")));
}

TEST(Compare, ShardsOfWhichSomeAreKilledAndOneIsStartedTwiceEndWithTheSameBytes) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_command(kSmall + "--out " + folder / "whole").exit_code, 0);
  const auto shard = [&](int number) {
    return words(kSmall + "--threads 1 --shard " + std::to_string(number) + "/4 --out " +
                 folder / "parts");
  };
  const auto start = [&](int number, const std::string& log) {
    return std::make_unique<Child>(shard(number), folder / log + ".out", folder / log + ".err");
  };
  std::vector<std::unique_ptr<Child>> first;
  for (const int number : {1, 2, 3}) first.push_back(start(number, std::to_string(number)));
  ASSERT_TRUE(eventually([&] { return runs_in(folder / "parts") > 1; }));
  first[0]->signal(SIGKILL);
  first[1]->signal(SIGKILL);
  for (const auto& child : first) child->wait();
  const std::size_t kept = runs_in(folder / "parts");
  EXPECT_LT(kept, 32U);
  const auto seen = run_command("report " + folder / "parts" + " --out " + folder / "apart");
  EXPECT_EQ(seen.exit_code, 0) << seen.err;
  EXPECT_THAT(seen.out, HasSubstr("unfinished: "));

  std::vector<std::unique_ptr<Child>> again;
  for (const int number : {1, 2, 3, 4}) again.push_back(start(number, std::to_string(number)));
  const auto twin = start(4, "twin");
  for (const int at : {0, 1, 2}) EXPECT_EQ(again[static_cast<std::size_t>(at)]->wait(), 0);
  // One of the two is refused, or comes when the other is done.
  const int codes[] = {again[3]->wait(), twin->wait()};
  EXPECT_TRUE(codes[0] == 0 || codes[1] == 0);
  for (const int at : {0, 1}) {
    if (codes[at] == 0) continue;
    EXPECT_THAT(slurp(folder / (at == 0 ? "4.err" : "twin.err")),
                HasSubstr("another plackett is working on part 4-of-4"));
  }
  EXPECT_EQ(slurp(folder / "parts/runs.jsonl"), slurp(folder / "whole/runs.jsonl"));
  ASSERT_EQ(run_command("report " + folder / "parts").exit_code, 0);
  EXPECT_EQ(results(folder / "parts"), results(folder / "whole"));
}

TEST(Compare, NamesTheOptionsThatDoWhatAnErrorAdvises) {
  const TemporaryFolder folder;
  EXPECT_THAT(run_command("compare --data synthetic,synthetic --out " + folder / "a").err,
              HasSubstr("give one of them another name (--data NAME=PATH)"));
  std::filesystem::create_directory(folder / "b");
  std::ofstream(folder / "b/experiment.toml") << "runs = 1\n";
  EXPECT_THAT(run_command(kSmall + "--out " + folder / "b").err,
              HasSubstr("use another folder (--out)"));
}

TEST(Compare, SingleRunsHaveNoWinner) {
  const TemporaryFolder folder;
  const auto result = run_command(
      "compare --methods pdgd,pairwise,mgd --click-models perfect --runs 1 --impressions 200 "
      "--out " +
      folder / "a");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("1 run × 200"), HasSubstr("(–)"),
                                Not(HasSubstr("1 runs")), Not(HasSubstr("(0.0"))));
  EXPECT_THAT(slurp(folder / "a/results.json"),
              AllOf(HasSubstr("\"headline\":\"Too few runs to call a winner.\""),
                    Not(HasSubstr(" wins ")), Not(HasSubstr("1 runs"))));
}

TEST(Compare, ADryRunTellsThePlanAndWritesNothing) {
  const TemporaryFolder folder;
  const auto plan = run_command(kSmall + "--dry-run --out " + folder / "a");
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_THAT(plan.out,
              AllOf(HasSubstr("8 cells x 4 runs = 32 runs"),
                    HasSubstr("where 0 of the runs are done"), HasSubstr("32 runs left, about ")));
  EXPECT_FALSE(fs::exists(folder / "a"));
  ASSERT_EQ(run_command(kSmall + "--out " + folder / "a").exit_code, 0);
  const auto done = run_command(kSmall + "--dry-run --out " + folder / "a");
  EXPECT_THAT(done.out, AllOf(HasSubstr("where 32 of the runs are done"),
                              HasSubstr("three: all runs are done"), HasSubstr("0 runs left")));
}

TEST(Compare, AGroupStandsForItsMethods) {
  const auto plan = run_command(
      "compare --methods field --click-models perfect --runs 1 --impressions 5 --dry-run");
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("12 cells x 1 run"));
}

TEST(Compare, LabelsSendNoEscapesToTheTerminal) {
  const TemporaryFolder folder;
  std::ofstream(folder / "spec.toml")
      << "click-models = [\"perfect\"]\nruns = 1\nimpressions = 50\n"
         "methods = [{method = \"pdgd\", label = \"a\\u001B[2Jb\"}]\n";
  const std::string command = "compare --spec '" + folder / "spec.toml" + "' --out " + folder / "a";
  for (const char* option : {" --dry-run", ""}) {
    const auto result = run_command(command + option);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, AllOf(HasSubstr("a\uFFFD[2Jb"), Not(HasSubstr("\x1b")))) << option;
  }
}

TEST(Compare, ItsOwnSpecFileMakesTheSameResultsAndOptionsStandOverIt) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_command(kSmall + "--out " + folder / "a").exit_code, 0);
  const std::string spec = "compare --spec " + folder / "a/experiment.toml";
  const auto again = run_command(spec + " --out " + folder / "b");
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(results(folder / "a"), results(folder / "b"));
  const auto part =
      run_command(spec + " --runs 1 --datasets three --methods pdgd --out " + folder / "c");
  ASSERT_EQ(part.exit_code, 0) << part.err;
  EXPECT_EQ(lines(folder / "c/runs.jsonl"), 3U);
  EXPECT_THAT(slurp(folder / "c/experiment.toml"),
              AllOf(HasSubstr("impressions = 1500"), HasSubstr("runs = 1\n")));
}

TEST(Compare, ADatasetThatIsDoneIsNotLoadedAgain) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_command("data synth '" + folder / "letor" + "' --queries 50").exit_code, 0);
  const std::string command =
      "compare --methods pdgd --click-models perfect --runs 2 "
      "--impressions 50 --data one=" +
      folder / "letor" + " --out " + folder / "a";
  ASSERT_EQ(run_command(command).exit_code, 0);
  // Still found, but no longer data.
  std::ofstream(folder / "letor/Fold1/train.txt") << "nonsense\n";
  EXPECT_EQ(run_command(command).exit_code, 0);
}

TEST(Compare, MistakesAreFoundBeforeAnythingRuns) {
  const TemporaryFolder folder;
  std::ofstream(folder / "bad.toml") << "runs = 5\nimpresions = 7\n";
  std::ofstream(folder / "user.toml") << "name = \"perfect\"\nkind = \"cascade\"\n"
                                         "click = [0, 1]\nstop = [0, 0]\n";
  struct Case {
    std::string arguments;
    const char* message;
  };
  for (const Case& mistake : {
           Case{"--methods pdgd,magic", "unknown method \"magic\"; known: "},
           Case{"--methods pdgd,pdgd:linear", "method pdgd is listed twice"},
           Case{"--methods mgd,mgd:candidates=49", "method mgd is listed twice"},
           Case{"--methods pdgd:neural --hidden 65536,65536", "parameters (16.0 GiB); at most"},
           Case{"--click-models perfect," + folder / "user.toml",
                "two click models are called \"perfect\""},
           Case{"--click-models " + folder / "bad.toml", "bad.toml:"},
           Case{"--rankers linear", "--rankers"},
           Case{"--data synthetic,/nowhere", "dataset nowhere: /nowhere: no such file"},
           Case{"--data a=synthetic,a=synthetic:mslr", "two datasets are called \"a\""},
           Case{"--datasets MQ2008", "no dataset \"MQ2008\"; there are synthetic"},
           Case{"--spec /nowhere.toml", "/nowhere.toml: can't open"},
           Case{"--spec " + folder / "bad.toml", "bad.toml:2: unknown key \"impresions\""},
           Case{"--spec " PLACKETT_SOURCE_DIR "/experiments/cikm2018.toml --data-root /nowhere",
                "dataset MQ2007: /nowhere/MQ2007: no such file or folder"},
           Case{"--curve half", "--curve: \"half\"; expected whole or final"},
           Case{"--curve whole,final", "curve: a list; all cells have the same"},
           Case{"--baselines magic", "baselines: no method \"magic\"; there are dbgd, "},
       }) {
    const auto result = run_command("compare --out '" + folder / "a" + "' " + mistake.arguments);
    EXPECT_EQ(result.exit_code, 2) << mistake.arguments;
    EXPECT_THAT(result.err, HasSubstr(mistake.message)) << mistake.arguments;
    EXPECT_FALSE(fs::exists(folder / "a")) << mistake.arguments;
  }
  const auto nothing = run_command("report " + folder / "a");
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_THAT(nothing.err, HasSubstr("no results; plackett compare makes them"));
}

// Folds and queries spread the runs more than the learning rate does, but they are the same for
// both.
TEST(Compare, PairsOfRunsTellLearningRatesApartThatWelchsTestCanNot) {
  const TemporaryFolder folder;
  const auto result = run_command(
      "compare --data synthetic:mq2008 --methods pdgd,pdgd:learning-rate=0.12 --click-models "
      "perfect --runs 25 --impressions 1000 --out " +
      folder / "a");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto headline = [&] {
    const std::string json = slurp(folder / "a/results.json");
    const std::size_t start = json.find("\"headline\":\"") + 12;
    return json.substr(start, json.find('"', start) - start);
  };
  EXPECT_EQ(headline(),
            "Offline is too close to call; PDGD (linear, learning-rate 0.12) wins online.");
  ASSERT_EQ(run_command("report --test welch " + folder / "a").exit_code, 0);
  EXPECT_EQ(headline(), "Offline is too close to call; online is too close to call.");
}

TEST(Report, GoesByTheTestOfTheExperimentOrTheOneAskedFor) {
  const TemporaryFolder folder;
  const auto report = [&](const std::string& options) {
    return run_command("report --format markdown " + options + " " + folder / "a");
  };
  const std::string compare =
      "compare --methods dbgd,pdgd --runs 3 --impressions 100 --out " + folder / "a";
  ASSERT_EQ(run_command(compare + " --test welch").exit_code, 0);
  EXPECT_THAT(slurp(folder / "a/experiment.toml"), HasSubstr("test = \"welch\"\n"));
  EXPECT_THAT(slurp(folder / "a/tables.md"), HasSubstr("Welch's t-test, two-tailed"));
  EXPECT_THAT(report("").out, HasSubstr("Welch's t-test, two-tailed"));
  EXPECT_THAT(report("--test paired").out, HasSubstr("paired t-test, two-tailed"));
  EXPECT_EQ(report("--test z").exit_code, 2);
  EXPECT_THAT(report("--test z").err,
              HasSubstr("unknown t-test \"z\"; known: paired, welch, student"));
}

TEST(Report, PrintsRunsAndTheirCurves) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_command("compare --methods pdgd --click-models perfect --learning-rate 0.1,0.2 "
                        "--metrics MAP --select validation --runs 3 --impressions 20 --out " +
                        folder / "a")
                .exit_code,
            0);
  const auto count = [](const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
  };
  const std::string runs = run_command("report --format runs " + folder / "a").out;
  EXPECT_TRUE(runs.starts_with(
      "dataset,protocol,click_model,label,method,ranker,learning-rate,impressions,seed,run,fold,"
      "offline,online,MAP,validation\n"));
  EXPECT_EQ(count(runs), 1 + 3);  // of the better learning rate
  EXPECT_THAT(runs, HasSubstr(",20,1,2,2,0."));
  // Points after 1, 2, 3, 4, 6, 7, 10, 13, 18 and 20 impressions.
  const std::string curves = run_command("report --format curves " + folder / "a").out;
  EXPECT_EQ(count(curves), 1 + 3 * 10);
  EXPECT_THAT(curves, HasSubstr(",20,1,2,2,18,0."));
}

TEST(Report, TestsAgainstTheBaselinesAskedFor) {
  const TemporaryFolder folder;
  const std::string compare =
      "compare --methods dbgd,pdgd,pdgd:learning-rate=0.2 --runs 3 --impressions 100 --out " +
      folder / "a";
  const auto report = [&](const std::string& baselines) {
    return run_command("report --format markdown --baselines " + baselines + " " + folder / "a");
  };
  ASSERT_EQ(run_command(compare + " --baselines pdgd:learning-rate=0.20").exit_code, 0);
  EXPECT_THAT(slurp(folder / "a/experiment.toml"),
              HasSubstr("baselines = [\"pdgd:learning-rate=0.20\"]\n"));
  EXPECT_THAT(slurp(folder / "a/tables.md"),
              HasSubstr("against PDGD (linear, learning-rate 0.2).\n"));
  EXPECT_THAT(report("'PDGD (linear)',dbgd").out,
              HasSubstr("against 1 DBGD (linear), 2 PDGD (linear).\n"));
  EXPECT_EQ(report("mgd").exit_code, 2);
  EXPECT_THAT(report("mgd").err, HasSubstr("baselines: no method \"mgd\"; there are dbgd, pdgd, "
                                           "pdgd:learning-rate=0.2"));
  // No run depends on it.
  ASSERT_EQ(run_command(compare).exit_code, 0);
  EXPECT_THAT(slurp(folder / "a/tables.md"), HasSubstr("against DBGD (linear).\n"));
}

TEST(Compare, ASecondCommandInTheSameFolderIsRefusedWhileOneRuns) {
  const TemporaryFolder folder;
  const std::string command = "compare --runs 100000 --impressions 1000 --out " + folder / "a";
  Child first(words(command), folder / "out", folder / "err");
  ASSERT_TRUE(eventually([&] { return runs_in(folder / "a") > 1; }));
  const auto second = run_command(command);
  EXPECT_EQ(second.exit_code, 2);
  EXPECT_THAT(second.err, HasSubstr("another plackett is working in this folder"));
}

// What ./start shows: PDGD ahead of every baseline, in both measures, under every user.
TEST(Compare, QuickExperimentHasPdgdAheadOfEveryBaseline) {
  const TemporaryFolder folder;
  const auto result = run_command(
      "compare --spec '" PLACKETT_SOURCE_DIR "/experiments/quick.toml' --out " + folder / "q");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::istringstream tests(slurp(folder / "q/tests.csv"));
  std::string line;
  std::getline(tests, line);
  ASSERT_EQ(line,
            "dataset,protocol,click_model,label,baseline,leaders,measure,"
            "paired_difference,paired_half_width,paired_t,paired_df,paired_p,paired_holm,"
            "welch_difference,welch_half_width,welch_t,welch_df,welch_p,welch_holm,"
            "student_difference,student_half_width,student_t,student_df,student_p,student_holm");
  int tested = 0;
  while (std::getline(tests, line)) {
    std::vector<std::string> fields;
    std::istringstream stream(line);
    for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
    if (!fields[3].starts_with("PDGD") || fields[5] == "1") continue;
    ASSERT_EQ(fields.size(), 25U) << line;
    ++tested;
    EXPECT_GT(std::stod(fields[7]), 0) << line;
    for (const std::size_t holm : {12U, 18U, 24U}) EXPECT_LT(std::stod(fields[holm]), 0.01) << line;
  }
  EXPECT_EQ(tested, 2 * 4 * 3 * 2);  // methods, baselines, users, measures
}

}  // namespace
}  // namespace plackett
