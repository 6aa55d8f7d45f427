#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  EXPECT_EQ(answer["method"], "pdgd");
  EXPECT_EQ(answer["ranker"], "linear");
  EXPECT_EQ(answer["click_model"], "perfect");
  EXPECT_EQ(answer["protocol"], "described");
  EXPECT_EQ(answer["runs"], 2);
  EXPECT_EQ(answer["impressions"], 100);
  EXPECT_EQ(answer["seed"], 9);
  for (const char* measure : {"offline", "online"}) {
    EXPECT_GT(answer[measure]["mean"].get<double>(), 0);
    EXPECT_GE(answer[measure]["std"].get<double>(), 0);
  }
  EXPECT_EQ(answer["curve"].back()["impression"], 100);
  EXPECT_EQ(answer["curve"].back()["offline_mean"], answer["offline"]["mean"]);
  EXPECT_EQ(answer["curve"].back()["offline_std"], answer["offline"]["std"]);
  EXPECT_GT(answer["impressions_per_second"].get<double>(), 0);
}

TEST(Simulate, ASingleRunHasNoDeviation) {
  const auto result = run_command("simulate --runs 1 --impressions 100");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, ::testing::AllOf(::testing::HasSubstr(", 1 run of 100 impressions"),
                                           ::testing::HasSubstr(" (–)\n"),
                                           ::testing::Not(::testing::HasSubstr("(0.0"))));
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
  for (const std::string ranker : {"linear", "neural", "linear+neural"}) {
    EXPECT_EQ(outcome("--ranker " + ranker, "PLACKETT_SIMD=avx2"),
              outcome("--ranker " + ranker, "PLACKETT_SIMD=avx512"));
  }
}

// Rounding may turn a draw, and a turned draw another run: the means stay this near.
TEST(Simulate, PlainCodeAgreesWithVectorCodeWithinAThousandth) {
  for (const std::string ranker : {"linear", "neural", "linear+neural"}) {
    const Json plain = outcome("--ranker " + ranker, "PLACKETT_SIMD=scalar");
    const Json vector = outcome("--ranker " + ranker);
    EXPECT_NEAR(plain["offline"]["mean"].get<double>(), vector["offline"]["mean"].get<double>(),
                1e-3)
        << ranker;
    const double online = vector["online"]["mean"];
    EXPECT_NEAR(plain["online"]["mean"].get<double>(), online, 1e-3 * online) << ranker;
  }
}

}  // namespace
}  // namespace plackett
