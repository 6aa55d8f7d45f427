#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/order_text.h"
#include "support/present_ranking.h"
#include "support/run_command.h"

namespace plackett {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Json = nlohmann::json;
using testing::CommandResult;
using testing::order_text;
using testing::Present;
using testing::PresentRanking;
using testing::run_command;

class FitCommand : public ::testing::Test {
 protected:
  // Fits this text; the model is in "m".
  CommandResult fit(const std::string& text, const std::string& options = "") {
    std::ofstream(folder / "orders.jsonl", std::ios::binary) << text;
    std::filesystem::remove(folder / "m");
    return run_command("fit --orders " + folder / "orders.jsonl" + " --save-model " + folder / "m" +
                       " " + options);
  }
  // The one line that a text is refused with, without the command and the file.
  std::string refusal(const std::string& text) {
    const CommandResult result = fit(text);
    EXPECT_EQ(result.exit_code, 2) << text.substr(0, 200);
    EXPECT_EQ(result.out, "");
    EXPECT_FALSE(std::filesystem::exists(folder / "m"));
    const std::string prefix = "plackett: " + folder / "orders.jsonl" + ":";
    EXPECT_THAT(result.err, AllOf(StartsWith(prefix), EndsWith("\n")));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1);
    return result.err.substr(std::min(result.err.size(), prefix.size()));
  }

  testing::TemporaryFolder folder;
};

TEST_F(FitCommand, ImitatesAPresentRankingWithTheDefaultLearner) {
  for (const Present kind : {Present::kLinear, Present::kNonlinear}) {
    const auto result = fit(order_text(PresentRanking(kind), 400, 20, 10), "--json");
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err, "");
    const Json answer = Json::parse(result.out);
    EXPECT_EQ(answer["learner"], "steady");
    EXPECT_EQ(answer["ranker"], "linear+neural");
    EXPECT_EQ(answer["features"], 10);
    EXPECT_EQ(answer["fitted"]["lists"], 320);
    EXPECT_EQ(answer["held_out"]["lists"], 80);
    EXPECT_GT(answer["held_out"]["kendall_tau"], 0.9);
    EXPECT_EQ(answer["converged"], true);
  }
}

TEST_F(FitCommand, WritesTheSameModelForAnyNumberOfThreads) {
  const std::string text = order_text(PresentRanking(Present::kNonlinear), 80, 8, 4);
  const auto one = fit(text, "--iterations 20 --threads 1 --json");
  const std::string file = testing::slurp(folder / "m");
  EXPECT_FALSE(file.empty());
  const auto three = fit(text, "--iterations 20 --threads 3 --json");
  EXPECT_EQ(testing::slurp(folder / "m"), file);
  EXPECT_EQ(one.out, three.out);
  fit(text, "--iterations 20 --seed 2");
  EXPECT_NE(testing::slurp(folder / "m"), file);
}

TEST_F(FitCommand, TheTemperatureSaysHowMuchSampledListsVary) {
  const std::string text = order_text(PresentRanking(Present::kLinear), 100, 10, 10);
  double last = 1;
  for (const char* temperature : {"0.1", "1", "10"}) {
    const auto result =
        fit(text, std::string("--json --ranker linear --temperature ") + temperature);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const double tau = Json::parse(result.out)["held_out"]["sampled_kendall_tau"];
    EXPECT_LT(tau, last);
    last = tau;
  }
  EXPECT_LT(last, 0.6);
}

TEST_F(FitCommand, PrintsATable) {
  const auto result = fit(order_text(PresentRanking(Present::kLinear), 50, 8, 8), "--learner pdgd");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, StartsWith("linear for pdgd fitted to 40 lists of 10 features, 10 held "
                                     "out, in "));
  EXPECT_THAT(result.out, HasSubstr("Kendall's tau, sorted by score"));
  const auto alone = fit(order_text(PresentRanking(Present::kLinear), 50, 8, 8), "--held-out 0");
  EXPECT_EQ(alone.exit_code, 0) << alone.err;
  EXPECT_THAT(alone.out, ::testing::Not(HasSubstr("held out\n")));
}

TEST_F(FitCommand, ReadsEveryFormOfAnItemAndBlankLines) {
  const auto result =
      fit("{\"items\": [{\"id\": \"a\", \"features\": [1, 2]}, [0.5, -3e2]], \"shown\": 1}\r\n"
          "\n"
          "  {\"shown\":2,\"items\":[{\"features\":[7,2]},{\"features\":[1,2]},[1,1]]}\n"
          "\n \n",
          "--json --held-out 0 --learner pdgd:steps=adagrad:neural --hidden 3");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(Json::parse(result.out)["fitted"]["lists"], 2);
  EXPECT_EQ(Json::parse(result.out)["ranker"], "neural");
  EXPECT_EQ(Json::parse(result.out)["held_out"], Json());
}

TEST_F(FitCommand, RefusesBadLinesWithPlaceAndRule) {
  const std::string good = "{\"items\": [[1, 2], [3, 4]]}\n";
  const std::pair<std::string, const char*> cases[] = {
      {"", " no list"},
      {"\n\n", " no list"},
      {"[]", "1: expected an object"},
      {"nonsense", "1: expected an object"},
      {good + "null", "2: expected an object"},
      {good + "\n{", "3: invalid JSON"},
      {good + "{}", "2: items: no items"},
      {"{\"items\": []}", "1: items: no items"},
      {"{\"items\": [[]]}", "1: items[0]: no features"},
      {"{\"items\": [{}]}", "1: items[0]: no features"},
      {"{\"items\": [{\"id\": \"a\"}]}", "1: items[0]: no features"},
      {"{\"items\": {}}", "1: items: expected an array, got an object"},
      {"{\"items\": [3]}", "1: items[0]: expected an object, got a number"},
      {"{\"items\": [[1, \"2\"]]}", "1: items[0][1]: expected a number, got a string"},
      {"{\"items\": [[1, null]]}", "1: items[0][1]: expected a number, got null"},
      {"{\"items\": [[1, NaN]]}", "1: items[0][1]: "},
      {"{\"items\": [[1, 1e999]]}", "1: items[0][1]: 1e999; not a number of JSON, or out of"},
      {"{\"items\": [[1, 1e39]]}", "1: items[0][1]: 1e39; a feature must be within the range"},
      {"{\"items\": [[1, 2], [3]]}", "1: items[1]: 1 features; the first item of the file has 2"},
      {good + "{\"items\": [[1, 2, 3], [4, 5, 6]]}", "2: items[0]: 3 features"},
      {"{\"items\": [[1, 2]], \"shown\": 0}", "1: shown: 0; expected an integer from 1"},
      {"{\"items\": [[1, 2]], \"shown\": 2}", "1: shown: 2; the list has 1 items"},
      {"{\"items\": [[1, 2]], \"shown\": 1.5}", "1: shown: 1.5; expected an integer"},
      {"{\"items\": [[1, 2]], \"items\": [[1, 2]]}", "1: items: duplicate key"},
      {"{\"items\": [[1, 2]], \"color\": 1}", "1: color: unknown key"},
      {"{\"items\": [[1, 2]]} {}", "1: unexpected text"},
      {"{\"items\": [{\"id\": 5, \"features\": [1]}]}", "1: items[0].id: expected a string"},
      {"{\"items\": [{\"id\": \"\", \"features\": [1]}]}", "1: items[0].id: an id of 0 bytes"},
      {"{\"items\": [{\"id\": \"a\", \"features\": [1]}, {\"id\": \"a\", \"features\": [2]}]}",
       "1: items[1].id: \"a\" is in the list twice"},
      {"{\"items\": [{\"features\": [1], \"features\": [2]}]}", "1: items[0].features: duplicate"},
      {"{\"items\": [{\"id\": \"\xff\", \"features\": [1]}]}", "1: "},
      {"\xef\xbb\xbf{\"items\": [[1]]}", "1: expected an object"},
      {"{\"items\": [[1, 2]]}" + std::string(1, '\0'), "1: "},
      {"{\"items\": " + std::string(5000, '['), "1: "},
      {"{\"items\": [[" + std::string(200'000, '1') + "]]}", "1: items[0][0]: "},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(refusal(text), StartsWith(message)) << text.substr(0, 200);
  }
}

TEST_F(FitCommand, RefusesWhatIsTooLarge) {
  std::string wide = "{\"items\": [[0";
  for (int feature = 1; feature <= 65'536; ++feature) wide += ",0";
  EXPECT_THAT(refusal(wide + "]]}"), StartsWith("1: items[0][65536]: more than 65536 elements"));
  // Longer than any line may be, without its end.
  const std::string path = folder / "long.jsonl";
  std::ofstream(path) << "{\"items\": [[1";
  std::filesystem::resize_file(path, std::uintmax_t{1} << 30);
  const auto result = run_command("fit --orders " + path + " --save-model " + folder / "m");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err,
            "plackett: " + path + ":1: a line of 1073741824 bytes; at most 67108864 are allowed\n");
}

TEST_F(FitCommand, ListsWithoutAChoiceCanNotBeFitted) {
  const auto result = fit("{\"items\": [[1, 2]]}\n{\"items\": [[2, 2]]}\n");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err, "plackett: 2 lists, none with two candidates; at least 1 must have them\n");
}

TEST_F(FitCommand, RefusesWrongUse) {
  const std::string text = "{\"items\": [[1, 2], [3, 4]]}\n";
  const std::pair<const char*, const char*> cases[] = {
      {"--ridge -1", "--ridge: -1"},
      {"--temperature 0", "--temperature: 0"},
      {"--held-out 1", "--held-out: \"1\"; expected a number from 0 to 0.9"},
      {"--scaling log", "unknown scaling \"log\""},
      {"--ranker forest", "unknown ranker \"forest\""},
      {"--learner magic", "unknown method \"magic\""},
      {"--learner dbgd", "can't start from a fit; those that can: cascade, pdgd, steady"},
      {"--learner cascade --ranker linear", "cascade needs the ranker linear+neural"},
      {"--iterations 0", "--iterations: 0"},
      {"--temperature 1e-44", "a score is not finite after the division"},
  };
  for (const auto& [options, message] : cases) {
    const auto result = fit(text, options);
    EXPECT_EQ(result.exit_code, 2) << options;
    EXPECT_THAT(result.err, HasSubstr(message)) << options;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << options;
  }
  EXPECT_THAT(
      run_command("fit --orders " + folder / "orders.jsonl" + " --save-model /nowhere/m").err,
      HasSubstr("/nowhere"));
  const std::string same = folder / "orders.jsonl";
  EXPECT_THAT(run_command("fit --orders " + same + " --save-model " + same).err,
              HasSubstr("are the same file"));
  EXPECT_EQ(testing::slurp(same), text);
  EXPECT_THAT(run_command("fit --orders " + folder / "none" + " --save-model " + folder / "m").err,
              HasSubstr("none: can't open"));
  EXPECT_THAT(run_command("fit --orders " + folder / "." + " --save-model " + folder / "m").err,
              HasSubstr("plackett: "));
}

}  // namespace
}  // namespace plackett
