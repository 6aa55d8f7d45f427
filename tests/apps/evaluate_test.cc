#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/run_command.h"

namespace plackett {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;
using testing::run_command;

TEST(Evaluate, GivesTheOfflineFigureOfTheRunThatTheModelCameFrom) {
  const testing::TemporaryFolder folder;
  for (const std::string ranker : {"linear", "neural", "linear+neural"}) {
    const std::string model = folder / ranker;
    const auto simulated = run_command("simulate --runs 1 --impressions 2000 --json --ranker " +
                                       ranker + " --save-model " + model);
    ASSERT_EQ(simulated.exit_code, 0) << simulated.err;
    const auto evaluated = run_command("evaluate --json --data synthetic --model " + model);
    ASSERT_EQ(evaluated.exit_code, 0) << evaluated.err;
    const Json answer = Json::parse(evaluated.out);
    ASSERT_EQ(answer["folds"].size(), 5U);
    // Run 0 learns on the first fold.
    EXPECT_NEAR(answer["folds"][0]["NDCG@10"].get<double>(),
                Json::parse(simulated.out)["offline"]["mean"].get<double>(), 1e-9);
    for (const char* metric : {"NDCG@1", "NDCG@3", "NDCG@5", "MRR", "MAP", "ERR@10"}) {
      EXPECT_GT(answer["folds"][0][metric].get<double>(), 0);
      EXPECT_LE(answer["folds"][0][metric].get<double>(), 1);
    }
  }
}

TEST(Evaluate, PrintsATableWithoutJson) {
  const testing::TemporaryFolder folder;
  const std::string model = folder / "m";
  ASSERT_EQ(run_command("simulate --runs 1 --impressions 100 --save-model " + model).exit_code, 0);
  const auto result = run_command("evaluate --data synthetic --model " + model);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("NDCG@10"));
  EXPECT_THAT(result.out, HasSubstr("Fold5"));
}

TEST(Evaluate, RefusesDataWithFewerFeaturesThanTheModelReads) {
  const testing::TemporaryFolder folder;
  const std::string model = folder / "m";
  ASSERT_EQ(run_command("simulate --runs 1 --impressions 100 --save-model " + model).exit_code, 0);
  for (const char* name : {"train.txt", "test.txt"}) {
    std::ofstream(folder / name) << "1 qid:1 1:0.5 2:1\n0 qid:1 1:1 2:0\n";
  }
  const auto result =
      run_command("evaluate --data " + folder.path().string() + " --model " + model);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("it was learned on other data"));
}

TEST(Evaluate, RefusesAFileThatIsNoModel) {
  const testing::TemporaryFolder folder;
  std::ofstream(folder / "junk") << "not a model at all, but long enough to hold a header";
  const auto result = run_command("evaluate --data synthetic --model " + folder / "junk");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("junk: not a plackett model; one starts with PLKMODEL"));
}

}  // namespace
}  // namespace plackett
