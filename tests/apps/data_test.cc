// plackett data info, convert and synth, as a user runs them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "support/run_command.h"
#include "support/shared_folder.h"

namespace plackett {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing::CommandResult;
using ::testing::HasSubstr;
using testing::run_command;
using ::testing::StartsWith;
using testing::TemporaryFolder;

void put(const fs::path& path, std::string_view text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

void put_small_dataset(const fs::path& folder) {
  put(folder / "train.txt", "0 qid:1 1:1 2:5 3:5\n2 qid:1 1:2 2:5 3:5\n0 qid:2 1:3 2:5 3:5\n");
  put(folder / "test.txt", "1 qid:3 1:1 2:5\n");
}

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

// Exit code 2, nothing on standard output, one line on standard error.
void expect_refused(const std::string& arguments, const std::string& message) {
  const CommandResult result = run_command(arguments);
  EXPECT_EQ(result.exit_code, 2) << arguments;
  EXPECT_EQ(result.out, "") << arguments;
  EXPECT_EQ(result.err, "plackett: " + message + "\n") << arguments;
}

TEST(DataInfo, CountsWhatASmallDatasetHolds) {
  const TemporaryFolder folder;
  put_small_dataset(folder.path() / "small");
  const auto result = run_command("data info " + folder / "small" + " --json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(Json::parse(result.out), Json::parse(R"({
    "name": "small", "origin": "LETOR text", "features_in_file": 3, "max_label": 2,
    "folds": [{
      "name": "small", "features_kept": 1, "constant_feature_ids": [2, 3],
      "splits": {
        "train": {"queries": 2, "documents": 3,
                  "docs_per_query": {"min": 1, "median": 1.5, "max": 2},
                  "queries_without_relevant": 1, "label_counts": [2, 0, 1]},
        "test": {"queries": 1, "documents": 1,
                 "docs_per_query": {"min": 1, "median": 1.0, "max": 1},
                 "queries_without_relevant": 0, "label_counts": [0, 1, 0]}}}]})"));
}

TEST(DataInfo, PrintsATableWhoseColumnsAlign) {
  const TemporaryFolder folder;
  put_small_dataset(folder.path() / "small");
  const auto result = run_command("data info " + folder / "small");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, StartsWith("small (LETOR text)\n1 fold, 3 features in its files"));
  EXPECT_THAT(result.out, HasSubstr("constant over train: 2-3\n"));
  // The header and both rows end in the last label's column, so they are equally long.
  const std::size_t begin = result.out.find("fold   split");
  ASSERT_NE(begin, std::string::npos) << result.out;
  const std::size_t first = result.out.find('\n', begin);
  const std::size_t second = result.out.find('\n', first + 1);
  const std::size_t third = result.out.find('\n', second + 1);
  EXPECT_EQ(second - first, first - begin + 1);
  EXPECT_EQ(third - second, first - begin + 1);
}

TEST(DataInfo, SaysThatSyntheticDataIsMadeUp) {
  const auto text = run_command("data info synthetic:mq2008");
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, StartsWith("synthetic:mq2008 (made up by plackett"));
  const auto json = run_command("data info synthetic --json");
  EXPECT_THAT(Json::parse(json.out)["origin"].get<std::string>(), HasSubstr("made up"));
}

TEST(DataInfo, RefusesBadInputInOneLine) {
  const TemporaryFolder folder;
  expect_refused("data info /nowhere",
                 "/nowhere: no such file or folder; a dataset is a folder of LETOR files, a cache "
                 "or 'synthetic'");
  expect_refused("data info synthetic:huge",
                 "synthetic data: no preset 'huge'; there are default, mq2008, mslr, yahoo, "
                 "istella");
  put_small_dataset(folder.path() / "small");
  put(folder.path() / "small" / "test.txt", "1 qid:3 1:1 2:5\n1 qid:3 7:1 2:5\n");
  expect_refused(
      "data info " + folder / "small",
      folder / "small/test.txt" + ":2: feature id 2 after 7; ids must ascend along a line");
  expect_refused("data info " + folder / "small" + " --max-feature-id 2",
                 folder / "small/train.txt" +
                     ":1: feature id 3; ids go up to 2 (rows are dense; max-feature-id raises "
                     "the limit)");
  expect_refused("data info synthetic --scaling log",
                 "unknown scaling \"log\"; known: query-minmax, none");
}

TEST(DataInfo, Mq2008Keeps40Features) {
  const auto folder = testing::shared_folder() / "data" / "MQ2008";
  if (!fs::exists(folder)) GTEST_SKIP() << folder << " is absent";
  const auto result = run_command("data info '" + folder.string() + "' --json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json answer = Json::parse(result.out);
  EXPECT_EQ(answer["folds"].size(), 5U);
  for (const Json& fold : answer["folds"]) EXPECT_EQ(fold["features_kept"], 40);
}

TEST(DataConvert, TheCacheHoldsWhatTheFolderHolds) {
  const TemporaryFolder folder;
  put_small_dataset(folder.path() / "small");
  const auto converted = run_command("data convert " + folder / "small" + " " + folder / "out");
  ASSERT_EQ(converted.exit_code, 0) << converted.err;
  EXPECT_THAT(converted.out, StartsWith(folder / "out" + ": 4 documents in 1 fold, " +
                                        std::to_string(fs::file_size(folder / "out")) + " bytes"));
  Json text = Json::parse(run_command("data info " + folder / "small" + " --json").out);
  const auto cached = run_command("data info " + folder / "out" + " --json");
  ASSERT_EQ(cached.exit_code, 0) << cached.err;
  EXPECT_EQ(Json::parse(cached.out)["folds"], text["folds"]);
  EXPECT_EQ(names_in(folder.path()), (std::set<std::string>{"out", "small"}));
}

TEST(DataConvert, ASimulationOnTheCacheGivesTheSameBits) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_command("data convert synthetic " + folder / "cache").exit_code, 0);
  const std::string arguments = "simulate --runs 2 --impressions 300 --json --data ";
  const auto direct = run_command(arguments + "synthetic");
  const auto cached = run_command(arguments + folder / "cache");
  const auto trusted = run_command(arguments + folder / "cache" + " --trust-cache");
  ASSERT_EQ(cached.exit_code, 0) << cached.err;
  ASSERT_EQ(trusted.exit_code, 0) << trusted.err;
  const Json expected = Json::parse(direct.out)["curve"];
  EXPECT_EQ(Json::parse(cached.out)["curve"], expected);
  EXPECT_EQ(Json::parse(trusted.out)["curve"], expected);
}

TEST(DataConvert, InfoOpensACacheWhateverItWasMadeWith) {
  const TemporaryFolder folder;
  put_small_dataset(folder.path() / "small");
  ASSERT_EQ(run_command("data convert --scaling none --keep-constant-features " + folder / "small" +
                        " " + folder / "cache")
                .exit_code,
            0);
  const auto result = run_command("data info " + folder / "cache");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("scaling none"));
}

TEST(DataConvert, OverwritesOnlyWhenForced) {
  const TemporaryFolder folder;
  put_small_dataset(folder.path() / "small");
  put(folder.path() / "out", "precious");
  const std::string arguments = "data convert " + folder / "small" + " " + folder / "out";
  expect_refused(arguments, folder / "out" + ": already there; --force overwrites it");
  EXPECT_EQ(testing::slurp(folder / "out"), "precious");
  EXPECT_EQ(run_command(arguments + " --force").exit_code, 0);
  EXPECT_NE(testing::slurp(folder / "out"), "precious");
}

TEST(DataConvert, LeavesNothingBehindWhenRefused) {
  const TemporaryFolder folder;
  put_small_dataset(folder.path() / "small");
  expect_refused("data convert /nowhere " + folder / "out",
                 "/nowhere: no such file or folder; a dataset is a folder of LETOR files, a cache "
                 "or 'synthetic'");
  expect_refused("data convert synthetic " + folder / "no/out",
                 folder / "no/out" + ": no folder " + folder / "no" + " to write it to");
  expect_refused("data convert synthetic " + folder / "small" + " --force",
                 folder / "small" + ": is a folder; give the name of a file");
  put(folder.path() / "small" / "test.txt", "junk\n");
  expect_refused(
      "data convert " + folder / "small" + " " + folder / "out",
      folder / "small/test.txt" + ":1: label 'junk'; labels are whole numbers from 0 to 31");
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{"small"});
}

TEST(DataSynth, WritesWhatThePresetAndTheOptionsSay) {
  const TemporaryFolder folder;
  const auto made = run_command("data synth " + folder / "made" +
                                " --preset mq2008 --queries 40 --folds 2 --features 30 --docs 12 "
                                "--noise-features 3 --constant-features 2 --grades 5 --seed 7");
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, StartsWith(folder / "made" + ": made up 40 queries in 2 folds, 30 "
                                                     "features, labels 0 to 4, "));
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{"made"});
  const Json info = Json::parse(run_command("data info " + folder / "made" + " --json").out);
  ASSERT_EQ(info["folds"].size(), 2U);
  EXPECT_EQ(info["features_in_file"], 30);
  EXPECT_EQ(info["max_label"], 4);
  EXPECT_EQ(info["folds"][0]["features_kept"], 28);
  EXPECT_EQ(info["folds"][0]["splits"]["train"]["queries"], 24);
  EXPECT_EQ(info["folds"][0]["splits"]["validation"]["queries"], 8);
}

TEST(DataSynth, IsReproducible) {
  const TemporaryFolder folder;
  for (const std::string name : {"one", "two"}) {
    ASSERT_EQ(run_command("data synth --queries 10 --folds 1 " + folder / name).exit_code, 0);
  }
  EXPECT_EQ(testing::slurp(folder / "one/Fold1/train.txt"),
            testing::slurp(folder / "two/Fold1/train.txt"));
}

TEST(DataSynth, RefusesWrongValuesAndLeavesNothingBehind) {
  const TemporaryFolder folder;
  const std::string synth = "data synth " + folder / "made";
  expect_refused(synth + " --grades 4", "synthetic data: grades 4; 3 or 5");
  expect_refused(synth + " --folds 9", "synthetic data: folds 9; from 1 to 5");
  expect_refused(synth + " --docs 5",
                 "synthetic data: documents a query, mean 5; between the least, 10, and the most, "
                 "40");
  expect_refused(synth + " --preset huge",
                 "synthetic data: no preset 'huge'; there are default, mq2008, mslr, yahoo, "
                 "istella");
  const auto words = run_command(synth + " --queries many");
  EXPECT_EQ(words.exit_code, 2);
  EXPECT_THAT(words.err, HasSubstr("--queries"));
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{});
}

TEST(DataSynth, NeverTouchesAFolderThatIsThere) {
  const TemporaryFolder folder;
  put(folder.path() / "made" / "mine", "precious");
  expect_refused("data synth " + folder / "made",
                 folder / "made" + ": already there; give a folder that is not");
  EXPECT_EQ(testing::slurp(folder / "made/mine"), "precious");
}

TEST(Data, HelpShowsEveryOptionWithItsDefault) {
  const auto info = run_command("data info --help");
  EXPECT_EQ(info.exit_code, 0);
  for (const char* text : {"--json", "=query-minmax", "=20000", "--trust-cache", "--threads"}) {
    EXPECT_THAT(info.out, HasSubstr(text));
  }
  const auto synth = run_command("data synth --help");
  for (const char* text : {"=default", "800 in default", "46 in default", "--noise-features",
                           "mq2008, mslr, yahoo, istella"}) {
    EXPECT_THAT(synth.out, HasSubstr(text));
  }
  EXPECT_THAT(run_command("data convert --help").out, HasSubstr("--force"));
}

TEST(Data, WithoutASubcommandSaysThatOneIsNeeded) {
  const auto result = run_command("data");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("subcommand is required"));
}

}  // namespace
}  // namespace plackett
