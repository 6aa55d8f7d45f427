#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/run_command.h"

namespace plackett {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;
using testing::run_command;

bool close(const Json& actual, const Json& expected) {
  if (expected.is_number_float()) {
    const double wanted = expected.get<double>();
    return std::abs(actual.get<double>() - wanted) <= std::max(1e-9 * std::abs(wanted), 1e-12);
  }
  if (!expected.is_structured()) return actual == expected;
  if (actual.size() != expected.size()) return false;
  for (const auto& [key, value] : expected.items()) {
    const Json& other = expected.is_array() ? actual[std::stoul(key)] : actual[key];
    if (!close(other, value)) return false;
  }
  return true;
}

TEST(Explain, AnswersTheGoldensInTheirOwnSchema) {
  const Json goldens =
      Json::parse(testing::slurp(std::string(PLACKETT_SOURCE_DIR) + "/tests/golden/pdgd.json"));
  std::string input;
  for (const Json& golden : goldens["cases"]) {
    input += Json{{"name", golden["name"]},
                  {"scores", golden["scores"]},
                  {"ranking", golden["ranking"]},
                  {"clicks", golden["clicks"]}}
                 .dump() +
             "\n";
  }
  const auto result = run_command("explain", input);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  std::istringstream lines(result.out);
  std::string line;
  for (const Json& golden : goldens["cases"]) {
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_TRUE(close(Json::parse(line), golden)) << golden["name"];
  }
  EXPECT_FALSE(std::getline(lines, line));
}

TEST(Explain, TakesOtherPairsAndSharperOnes) {
  const std::string line = R"({"scores":[2,1,0],"ranking":[0,1,2],"clicks":[0,1,0]})";
  const auto answer = [&](const std::string& options) {
    return Json::parse(run_command("explain " + options, line + "\n").out);
  };
  EXPECT_EQ(answer("")["pairs"].size(), 2U);
  const Json above = answer("--pairs above");
  ASSERT_EQ(above["pairs"].size(), 1U);
  EXPECT_EQ(above["pairs"][0]["loser_rank"], 0);
  EXPECT_EQ(above["document_weight"][2], 0.0);
  const double rho = above["pairs"][0]["rho"];
  const double sigmoid = 1 / (1 + std::exp(-0.25));  // at a quarter of the difference
  EXPECT_NEAR(answer("--sharpness 4")["pairs"][0]["weight"], rho * sigmoid * (1 - sigmoid), 1e-12);
  EXPECT_EQ(run_command("explain --pairs all", line).exit_code, 2);
}

TEST(Explain, AnswersABadLineWithItsNumberAndGoesOn) {
  const std::string good = R"({"scores":[0,1],"ranking":[1,0],"clicks":[0,1]})";
  const std::string input = good + "\n" +           //
                            "nonsense\n" +          // 2
                            "[1,2]\n" +             // 3
                            "{\"scores\":[1]}\n" +  // 4
                            "\n" +                  // 5: empty lines are passed over
                            R"({"scores":[1e999],"ranking":[0],"clicks":[0]})"
                            "\n" +  // 6
                            R"({"scores":[1,2],"ranking":[0,2],"clicks":[0,1]})"
                            "\n" +  // 7
                            R"({"scores":[1,2],"ranking":[0,0],"clicks":[0,1]})"
                            "\n" +  // 8
                            R"({"scores":[1,2],"ranking":[0,1],"clicks":[0]})"
                            "\n" +  // 9
                            R"({"scores":[1,2],"ranking":[0,-1],"clicks":[0,1]})"
                            "\n" +  // 10
                            R"({"scores":[1,2],"ranking":[0,1],"clicks":[0,2]})"
                            "\n" +  // 11
                            R"({"scores":["a"],"ranking":[0],"clicks":[0]})"
                            "\n" +  // 12
                            good;
  const auto result = run_command("explain", input);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 2);
  for (const char* message : {"line 2: not valid JSON", "line 3: not a JSON object",
                              "line 4: \"ranking\" is missing or not an array",
                              "line 6: ", "line 7: ranking: document 2; documents are 0 to 1",
                              "line 8: ranking: document 0 twice",
                              "line 9: clicks: 1 for 2 ranked documents", "line 10: ranking: -1",
                              "line 11: clicks: 2; a click is 0 or 1", "line 12: scores: \"a\""}) {
    EXPECT_THAT(result.err, HasSubstr(message));
  }
  EXPECT_THAT(result.err, ::testing::Not(HasSubstr("line 5")));
  EXPECT_THAT(result.err, ::testing::Not(HasSubstr("line 13")));
}

TEST(Explain, NoDepthOfNestingStopsIt) {
  const std::string good = R"({"scores":[0,1],"ranking":[1,0],"clicks":[0,1]})";
  const std::string deep(1'000'000, '[');
  const std::string deep_end(1'000'000, ']');
  const auto result =
      run_command("explain", R"({"scores":[0,1],"ranking":[1,0],"clicks":[0,1],"name":)" + deep +
                                 deep_end + "}\n" + R"({"scores":)" + deep + "\n" + good + "\n");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 2);
  EXPECT_THAT(result.err, HasSubstr("line 2: not valid JSON"));
}

TEST(Explain, ScoresWhoseDifferenceIsNotFiniteAreABadLine) {
  const auto result =
      run_command("explain", R"({"scores":[1e308,-1e308],"ranking":[1,0],"clicks":[1,0]})");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("their difference must be finite"));
}

TEST(Explain, AnEmptyInputIsAnEmptyAnswer) {
  const auto result = run_command("explain");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "");
}

}  // namespace
}  // namespace plackett
