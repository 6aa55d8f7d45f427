// `plackett data` as a user runs it: output, messages and exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "scratch.h"

namespace plackett {
namespace {

using ::testing::HasSubstr;
using testing::ScratchFolder;

struct Outcome {
  int code = -1;
  std::string output;  // stdout and stderr together
};

Outcome run(const std::string& arguments) {
  Outcome outcome;
  const std::string command = std::string(PLACKETT_COMMAND) + " data " + arguments + " 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return outcome;
  char buffer[4096];
  while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, pipe)) {
    outcome.output.append(buffer, got);
  }
  const int status = ::pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

TEST(DataCommand, InfoSaysThatSyntheticDataIsMadeUp) {
  const Outcome outcome = run("info synthetic");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.output, HasSubstr("made up by plackett"));
  EXPECT_THAT(outcome.output, HasSubstr("Fold5  test"));
  EXPECT_THAT(outcome.output, HasSubstr("constant over train, every fold: "));
}

TEST(DataCommand, InfoOfTextCacheAndMemoryAgree) {
  const ScratchFolder folder;
  const std::string text = (folder.path() / "text").string();
  const std::string cache = (folder.path() / "cache").string();
  EXPECT_EQ(run("synth " + text + " --queries 40 --folds 2 --grades 3").code, 0);
  EXPECT_EQ(run("convert " + text + " " + cache).code, 0);
  const auto from_text = nlohmann::json::parse(run("info --json " + text).output);
  auto from_cache = nlohmann::json::parse(run("info --json " + cache).output);
  EXPECT_EQ(from_cache.at("cache_scaling"), "query-minmax");
  from_cache.erase("cache_scaling");
  EXPECT_EQ(from_text, from_cache);
  const auto& train = from_text.at("folds").at(0).at("splits").at("train");
  EXPECT_EQ(train.at("queries"), 24);
  EXPECT_EQ(train.at("documents_of_label").size(), 3U);
  EXPECT_EQ(from_text.at("folds").at(0).at("constant_feature_ids").size(), 4U);
}

TEST(DataCommand, BadInputExits2WithPlaceAndRuleAndWritesNothing) {
  const ScratchFolder folder;
  folder.write("set/train.txt", "0 qid:1 1:1\n0 qid:1 1:2\n-1 qid:1 1:3\n");
  folder.write("set/test.txt", "0 qid:1 1:1\n");
  const std::string set = (folder.path() / "set").string();
  const Outcome outcome = run("convert " + set + " " + (folder.path() / "cache").string());
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(
      outcome.output,
      "plackett: " + set + "/train.txt:3: label '-1'; labels are whole numbers from 0 to 31\n");
  EXPECT_EQ(folder.file_count(), 2U);
}

TEST(DataCommand, WrongOptionsSayWhatIsAllowed) {
  const ScratchFolder folder;
  const Outcome preset = run("synth " + (folder.path() / "x").string() + " --preset letor");
  EXPECT_EQ(preset.code, 2);
  EXPECT_THAT(preset.output, HasSubstr("default,mq2008,mslr,yahoo,istella"));
  const Outcome scaling =
      run("convert synthetic " + (folder.path() / "x").string() + " --scaling z");
  EXPECT_EQ(scaling.code, 2);
  EXPECT_THAT(scaling.output, HasSubstr("query-minmax,none"));
  EXPECT_EQ(run("info /no/such/place").code, 2);
  EXPECT_EQ(folder.file_count(), 0U);
}

TEST(DataCommand, DamagedCacheExits2UnlessTrusted) {
  const ScratchFolder folder;
  const std::string cache = (folder.path() / "cache").string();
  EXPECT_EQ(run("convert synthetic " + cache).code, 0);
  std::string bytes = testing::read(cache);
  bytes[bytes.size() - 100] = static_cast<char>(bytes[bytes.size() - 100] ^ 4);
  folder.write("cache", bytes);
  const Outcome checked = run("info " + cache);
  EXPECT_EQ(checked.code, 2);
  EXPECT_THAT(checked.output,
              HasSubstr("damaged cache: the checksum of Fold5 test's feature data"));
  EXPECT_EQ(run("info --trust-cache " + cache).code, 0);
}

TEST(DataCommand, HelpShowsDefaults) {
  EXPECT_THAT(run("convert --help").output, HasSubstr("=query-minmax"));
  EXPECT_THAT(run("info --help").output, HasSubstr("=20000"));
  EXPECT_THAT(run("synth --help").output, HasSubstr("800 in default"));
}

}  // namespace
}  // namespace plackett
