#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/run_command.h"

namespace plackett {
namespace {

using Json = nlohmann::json;
using testing::run_command;

// What a run gave, without how long it took.
Json outcome(const std::string& arguments, const std::string& environment = "") {
  const auto result =
      run_command("simulate --runs 5 --impressions 3000 --json " + arguments, "", environment);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  Json answer = Json::parse(result.out);
  for (const char* key : {"impressions_per_second", "seconds", "evaluation_share"}) {
    answer.erase(key);
  }
  return answer;
}

TEST(Simulate, PrintsOneJsonObjectWithEveryField) {
  const auto result = run_command("simulate --runs 2 --impressions 100 --json --seed 9");
  ASSERT_EQ(result.exit_code, 0);
  const Json answer = Json::parse(result.out);
  EXPECT_EQ(answer["method"], "steady");
  EXPECT_EQ(answer["ranker"], "linear+neural");
  EXPECT_EQ(answer["click_model"], "perfect");
  EXPECT_EQ(answer["protocol"], "described");
  EXPECT_EQ(answer["runs"], 2);
  EXPECT_EQ(answer["impressions"], 100);
  EXPECT_EQ(answer["seed"], 9);
  EXPECT_EQ(answer["split"], "test");
  for (const char* measure : {"offline", "online"}) {
    EXPECT_GT(answer[measure]["mean"].get<double>(), 0);
    EXPECT_GE(answer[measure]["std"].get<double>(), 0);
  }
  EXPECT_EQ(answer["curve"].back()["impression"], 100);
  EXPECT_EQ(answer["curve"].back()["offline_mean"], answer["offline"]["mean"]);
  EXPECT_EQ(answer["curve"].back()["offline_std"], answer["offline"]["std"]);
  EXPECT_GT(answer["impressions_per_second"].get<double>(), 0);
}

TEST(Simulate, AFinalCurveIsTheEndOfTheWholeOne) {
  const Json whole = outcome("");
  const Json final = outcome("--curve final");
  ASSERT_EQ(final["curve"].size(), 1U);
  EXPECT_EQ(final["curve"][0], whole["curve"].back());
  EXPECT_EQ(final["offline"], whole["offline"]);
  EXPECT_EQ(final["online"], whole["online"]);
  const auto shown = run_command("simulate --runs 2 --impressions 300 --curve final");
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, ::testing::AllOf(::testing::HasSubstr("  offline NDCG@10  0."),
                                          ::testing::Not(::testing::HasSubstr("\n  impression"))));
  const auto refused = run_command("simulate --curve half");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, ::testing::HasSubstr("\"half\"; expected whole or final"));
}

TEST(Simulate, ASingleRunHasNoDeviation) {
  const auto result = run_command("simulate --runs 1 --impressions 100");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, ::testing::AllOf(::testing::HasSubstr(", 1 run of 100 impressions"),
                                           ::testing::HasSubstr(" (–)\n"),
                                           ::testing::Not(::testing::HasSubstr("(0.0"))));
}

TEST(Simulate, ASingleRunsDeviationIsNullInJson) {
  const auto result = run_command("simulate --runs 1 --impressions 100 --metrics MAP --json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json answer = Json::parse(result.out);
  EXPECT_TRUE(answer["offline"]["std"].is_null());
  EXPECT_TRUE(answer["metrics"]["MAP"]["std"].is_null());
  EXPECT_TRUE(answer["curve"][0]["online_std"].is_null());
}

TEST(Simulate, ShowsFurtherMetricsAndTheSplitThatTheyAreOn) {
  const std::string arguments =
      "simulate --runs 2 --impressions 100 --metrics MAP,NDCG@3 --split validation";
  const auto shown = run_command(arguments);
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  const auto result = run_command(arguments + " --json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json answer = Json::parse(result.out);
  EXPECT_EQ(answer["split"], "validation");
  EXPECT_THAT(shown.out, ::testing::HasSubstr("measured on validation queries\n"));
  for (const char* metric : {"MAP", "NDCG@3"}) {
    const Json& moments = answer["metrics"][metric];
    EXPECT_NE(moments["mean"], answer["offline"]["mean"]);
    EXPECT_EQ(answer["curve"].back()["metrics"][metric], moments);
    const std::string text =
        fmt::format("{:.4f} ({:.4f})", moments["mean"].get<double>(), moments["std"].get<double>());
    EXPECT_THAT(shown.out,
                ::testing::HasSubstr(fmt::format("  offline {:<7}  {}\n", metric, text)));
  }
  EXPECT_THAT(shown.out, ::testing::HasSubstr("  impression  offline NDCG@10              MAP"
                                              "           NDCG@3\n"));
}

TEST(Simulate, NamesADatasetOfOneFoldOnce) {
  const testing::TemporaryFolder folder;
  std::filesystem::create_directory(folder / "mine");
  for (const char* name : {"mine/train.txt", "mine/test.txt"}) {
    std::ofstream(folder / name) << "1 qid:1 1:0.5 2:1\n0 qid:1 1:1 2:0\n";
  }
  const auto result = run_command("simulate --split validation --data " + folder / "mine");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, ::testing::HasSubstr("plackett: mine: no validation queries"));
}

TEST(Simulate, GivesTheSameBitsForOneTwoAndSevenThreads) {
  const Json one = outcome("--threads 1 --click-model informational");
  EXPECT_EQ(one, outcome("--threads 2 --click-model informational"));
  EXPECT_EQ(one, outcome("--threads 7 --click-model informational"));
}

bool machine_has(const std::string& instruction_set) {
  return testing::slurp("/proc/cpuinfo").find(instruction_set) != std::string::npos;
}

TEST(Simulate, Avx2AndAvx512GiveTheSameBits) {
  if (!machine_has("avx512")) GTEST_SKIP() << "this machine lacks AVX-512";
  for (const std::string method : {"pdgd", "pdgd:neural", "pdgd:linear+neural", "steady"}) {
    EXPECT_EQ(outcome("--method " + method, "PLACKETT_SIMD=avx2"),
              outcome("--method " + method, "PLACKETT_SIMD=avx512"))
        << method;
  }
}

// Rounding may turn a draw, and a turned draw another run: the means stay this near.
TEST(Simulate, PlainCodeAgreesWithVectorCodeWithinAThousandth) {
  for (const std::string ranker : {"linear", "neural", "linear+neural"}) {
    const Json plain = outcome("--method pdgd --ranker " + ranker, "PLACKETT_SIMD=scalar");
    const Json vector = outcome("--method pdgd --ranker " + ranker);
    EXPECT_NEAR(plain["offline"]["mean"].get<double>(), vector["offline"]["mean"].get<double>(),
                1e-3)
        << ranker;
    const double online = vector["online"]["mean"];
    EXPECT_NEAR(plain["online"]["mean"].get<double>(), online, 1e-3 * online) << ranker;
  }
}

}  // namespace
}  // namespace plackett
