#include "plackett/make_user.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace plackett {
namespace {

using ::testing::HasSubstr;

// Writes a user file that goes with the test.
class UserFile : public ::testing::Test {
 protected:
  std::string write(std::string_view text) {
    const std::string path = ::testing::TempDir() +
                             ::testing::UnitTest::GetInstance()->current_test_info()->name() +
                             ".toml";
    std::ofstream(path) << text;
    paths_.push_back(path);
    return path;
  }
  std::string failure(std::string_view text, std::uint32_t grade_count = 3) {
    const auto user = make_user(write(text), {.grade_count = grade_count});
    return user.ok() ? "no failure" : user.error().message;
  }
  void TearDown() override {
    for (const std::string& path : paths_) std::filesystem::remove(path);
  }

 private:
  std::vector<std::string> paths_;
};

TEST(MakeUser, KnowsEveryNameForTwoThreeAndFiveGrades) {
  for (const std::string_view name : click_model_names()) {
    for (const std::uint32_t grades : {2U, 3U, 5U}) {
      const auto user = make_user(name, {.grade_count = grades});
      ASSERT_TRUE(user.ok()) << user.error().message;
      EXPECT_EQ((*user)->name(), name);
      EXPECT_EQ((*user)->grade_count(), grades);
    }
  }
}

TEST(MakeUser, AnUnknownNameListsTheKnownOnes) {
  const auto user = make_user("prefect", {});
  ASSERT_FALSE(user.ok());
  EXPECT_EQ(user.error().message,
            "unknown click model \"prefect\"; known: perfect, navigational, informational, "
            "almost-random, random, position-based, dependent-click, user-browsing, trust-bias, "
            "or a file that ends in .toml");
}

TEST(MakeUser, AnOddGradeCountSaysWhichExist) {
  for (const std::uint32_t grades : {0U, 1U, 4U, 6U}) {
    const auto user = make_user("position-based", {.grade_count = grades});
    ASSERT_FALSE(user.ok());
    EXPECT_THAT(user.error().message, HasSubstr("built in are 2, 3, 5 grades"));
  }
}

TEST(MakeUser, RefusesANegativeOrUnboundedEta) {
  for (const double eta : {-1.0, std::nan(""), double{INFINITY}}) {
    EXPECT_FALSE(make_user("position-based", {.eta = eta}).ok());
  }
}

TEST_F(UserFile, GivesACascadeOfAnyGradeCount) {
  const std::string path = write(
      "kind = \"cascade\"\nname = \"hasty\"\nclick = [0, 0.1, 0.2, 1]\nstop = [0, 0, 0, 0.5]\n");
  const auto user = make_user(path, {.grade_count = 4});
  ASSERT_TRUE(user.ok()) << user.error().message;
  EXPECT_EQ((*user)->name(), "hasty");
  const std::vector<std::uint8_t> labels = {3, 2};
  const std::vector<std::uint8_t> both = {1, 1};
  EXPECT_DOUBLE_EQ((*user)->pattern_probability(labels, both), .5 * .2);
}

TEST_F(UserFile, GivesAPositionBasedUserWhoseEtaWinsOverTheOption) {
  const std::string text = "kind = \"position-based\"\nname = \"steep\"\nclick = [0.5, 1]\n";
  const std::vector<std::uint8_t> labels = {0, 1};
  const std::vector<std::uint8_t> second = {0, 1};
  const auto of_option = make_user(write(text), {.grade_count = 2, .eta = 2});
  EXPECT_DOUBLE_EQ((*of_option)->pattern_probability(labels, second), .5 / 4);
  const auto of_file = make_user(write(text + "eta = 3\n"), {.grade_count = 2, .eta = 2});
  EXPECT_DOUBLE_EQ((*of_file)->pattern_probability(labels, second), .5 / 8);
}

TEST_F(UserFile, GivesADependentClickUserWhoseLastContinueHoldsBelow) {
  const auto user = make_user(write("kind = \"dependent-click\"\nname = \"tired\"\n"
                                    "click = [0.5, 1]\ncontinue = [0.75, 0.25]\n"),
                              {.grade_count = 2});
  ASSERT_TRUE(user.ok()) << user.error().message;
  EXPECT_EQ((*user)->name(), "tired");
  const std::vector<std::uint8_t> labels = {1, 1, 0, 1};
  const std::vector<std::uint8_t> all = {1, 1, 1, 1};
  EXPECT_DOUBLE_EQ((*user)->pattern_probability(labels, all), .75 * .25 * .5 * .25);
}

TEST_F(UserFile, GivesAUserBrowsingUser) {
  const auto user = make_user(write("kind = \"user-browsing\"\nname = \"browser\"\n"
                                    "click = [0.5, 1]\nexamine = [[1], [0.25, 0.5]]\n"),
                              {.grade_count = 2});
  ASSERT_TRUE(user.ok()) << user.error().message;
  const std::vector<std::uint8_t> labels = {0, 1};
  const std::vector<std::uint8_t> both = {1, 1};
  const std::vector<std::uint8_t> second = {0, 1};
  EXPECT_DOUBLE_EQ((*user)->pattern_probability(labels, both), .5 * .25);
  EXPECT_DOUBLE_EQ((*user)->pattern_probability(labels, second), .5 * .5);
}

TEST_F(UserFile, GivesATrustBiasUserOfListsThatDifferInLength) {
  const auto user = make_user(write("kind = \"trust-bias\"\nname = \"trusting\"\nclick = [0, 1]\n"
                                    "eta = 2\nrelevant = [0.75]\nirrelevant = [0.5, 0.25]\n"),
                              {.grade_count = 2});
  ASSERT_TRUE(user.ok()) << user.error().message;
  const std::vector<std::uint8_t> labels = {0, 1, 0};
  const std::vector<std::uint8_t> all = {1, 1, 1};
  EXPECT_DOUBLE_EQ((*user)->pattern_probability(labels, all), .5 * (.75 / 4) * (.25 / 9));
}

TEST_F(UserFile, FailuresOfListsByRankSayPlaceValueAndRule) {
  const auto head = [](const std::string& kind) {
    return "kind = \"" + kind + "\"\nname = \"x\"\nclick = [0, 0, 0]\n";
  };
  EXPECT_THAT(failure(head("dependent-click")),
              HasSubstr("key \"continue\" is missing; expected probabilities, one per rank"));
  EXPECT_THAT(failure(head("dependent-click") + "continue = []\n"),
              HasSubstr(":4: continue is empty; expected an array of at least 1"));
  EXPECT_THAT(failure(head("dependent-click") + "continue = [0.5, 2]\n"),
              HasSubstr(":4: continue: value 2 is 2; probabilities are from 0 to 1"));
  EXPECT_THAT(failure(head("dependent-click") + "continue = [1]\nstop = [0, 0, 0]\n"),
              HasSubstr("unknown key \"stop\"; a dependent-click user has kind, name, click, "
                        "continue"));
  EXPECT_THAT(failure(head("user-browsing")), HasSubstr("key \"examine\" is missing"));
  EXPECT_THAT(failure(head("user-browsing") + "examine = [1]\n"),
              HasSubstr(":4: examine: rank 1 is an integer; expected an array"));
  EXPECT_THAT(failure(head("user-browsing") + "examine = [[1],\n[0.5]]\n"),
              HasSubstr(":5: examine: rank 2 has 1 values; expected 2: by the distance of the last "
                        "click, then without one"));
  EXPECT_THAT(failure(head("user-browsing") + "examine = [[1],\n[0.5, 1.5]]\n"),
              HasSubstr(":5: examine: rank 2: value 2 is 1.5; probabilities are from 0 to 1"));
  EXPECT_THAT(failure(head("trust-bias") + "relevant = [1]\n"),
              HasSubstr("key \"irrelevant\" is missing"));
  EXPECT_THAT(failure(head("trust-bias") + "irrelevant = [0]\n"),
              HasSubstr("key \"relevant\" is missing"));
}

TEST_F(UserFile, FailuresSayPlaceValueAndRule) {
  const std::string head = "kind = \"cascade\"\nname = \"x\"\n";
  EXPECT_THAT(failure(head + "click = [0, .5\n"), HasSubstr(".toml:3: "));
  EXPECT_THAT(failure(head + "click = [0, 1]\nstop = [0, 0, 0]\n"),
              HasSubstr(":3: click: 2 values; expected 3 probabilities, one per grade"));
  EXPECT_THAT(failure(head + "click = [0, 0.5, 1.5]\nstop = [0, 0, 0]\n"),
              HasSubstr(":3: click: value 3 is 1.5; probabilities are from 0 to 1"));
  EXPECT_THAT(failure(head + "click = [0, 0.5, 1]\nstop = [0, nan, 0]\n"),
              HasSubstr(":4: stop: value 2 is nan; probabilities are from 0 to 1"));
  EXPECT_THAT(failure(head + "click = [0, 0.5, 1]\nstop = [0, -0.1, 0]\n"),
              HasSubstr("stop: value 2 is -0.1"));
  EXPECT_THAT(failure(head + "click = [0, \"a\", 1]\nstop = [0, 0, 0]\n"),
              HasSubstr("click: value 2 is text; expected a number"));
  EXPECT_THAT(failure(head + "click = 1\nstop = [0, 0, 0]\n"),
              HasSubstr("click is an integer; expected an array"));
  EXPECT_THAT(failure(head + "click = [0, 0.5, 1]\n"), HasSubstr("key \"stop\" is missing"));
  EXPECT_THAT(failure(head + "click = [0, 0.5, 1]\nstop = [0, 0, 0]\neta = 1\n"),
              HasSubstr(":5: unknown key \"eta\"; a cascade user has kind, name, click, stop"));
  EXPECT_THAT(failure("kind = \"cascade\"\nclick = [0, 0, 0]\nstop = [0, 0, 0]\n"),
              HasSubstr("key \"name\" is missing"));
  EXPECT_THAT(failure("name = \"x\"\nclick = [0, 0, 0]\n"),
              HasSubstr("key \"kind\" is missing; expected one of cascade, position-based, "
                        "dependent-click, user-browsing, trust-bias"));
  EXPECT_THAT(failure("kind = \"dependent\"\nname = \"x\"\n"), HasSubstr(":1: kind \"dependent\""));
  EXPECT_THAT(failure("kind = 3\nname = \"x\"\n"),
              HasSubstr(":1: kind is an integer; expected text"));
  EXPECT_THAT(failure("kind = \"position-based\"\nname = \"x\"\nclick = [0, 0, 0]\neta = inf\n"),
              HasSubstr(":4: eta is inf; expected a finite number, at least 0"));
  EXPECT_THAT(failure("kind = \"position-based\"\nname = \"x\"\nclick = [0, 0, 0]\nstop = [0]\n"),
              HasSubstr("unknown key \"stop\""));
  EXPECT_THAT(failure(head + "click = [0]\nstop = [0]\n", 0), HasSubstr("0 grades"));
}

TEST_F(UserFile, AMissingFileIsAnErrorWithItsPath) {
  const auto user = make_user("no/such/user.toml", {});
  ASSERT_FALSE(user.ok());
  EXPECT_THAT(user.error().message, HasSubstr("no/such/user.toml"));
  EXPECT_EQ(user.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace plackett
