// The method that docs/adding_a_method.md walks through: it compiles, is the page's own text, and
// learns.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <string>

#include "learner_samples.h"
#include "plackett/method.h"
#include "ranker/linear.h"

namespace plackett {

extern const Method kSkipAbove;

namespace {

std::string slurp(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(AddingAMethod, ThePageShowsTheCodeThatIsTested) {
  const std::string root = PLACKETT_SOURCE_DIR;
  const std::string page = slurp(root + "/docs/adding_a_method.md");
  const std::string code = slurp(root + "/tests/learner/skip_above.cc");
  ASSERT_FALSE(code.empty());
  EXPECT_NE(page.find("```cpp\n" + code + "```\n"), std::string::npos);
}

TEST(AddingAMethod, TheRegistrationLineIsAsThePageSays) {
  const std::string root = PLACKETT_SOURCE_DIR;
  const std::string registration = slurp(root + "/src/learner/method.cc");
  std::size_t lines = 0;
  for (std::size_t at = registration.find("\n  METHOD(k"); at != std::string::npos;
       at = registration.find("\n  METHOD(k", at + 1)) {
    ++lines;
  }
  EXPECT_EQ(lines, methods().size()) << "a line a method";
  EXPECT_NE(slurp(root + "/docs/adding_a_method.md").find("  METHOD(kSkipAbove)"),
            std::string::npos);
}

TEST(AddingAMethod, TheExampleFindsTheFeatureThatIsClicked) {
  constexpr std::uint32_t kFeatures = 4;
  constexpr std::uint32_t kDocs = 20;
  const auto settings = SettingValues::make(kSkipAbove.settings, {}).value();
  const auto learner =
      kSkipAbove.make(std::make_unique<LinearRanker>(kFeatures), {.shown = 5}, settings);
  Ranking ranking;
  for (std::uint64_t impression = 0; impression < 2'000; ++impression) {
    const auto rows = testing::random_rows(kDocs, kFeatures, impression);
    const FeatureView docs(rows.data(), kDocs, kFeatures);
    Rng rng({.seed = 61, .impression = impression});
    ASSERT_TRUE(learner->rank(docs, rng, ranking));
    std::vector<std::uint8_t> clicks;
    for (const Doc doc : ranking.shown) clicks.push_back(docs.row(doc)[2] > 0.8F ? 1 : 0);
    learner->learn(docs, ranking, clicks);
  }
  std::vector<float> learned(kFeatures);
  learner->ranker().get_parameters(learned);
  for (const std::uint32_t other : {0U, 1U, 3U}) {
    EXPECT_GT(learned[2], 2 * std::abs(learned[other]));
  }
}

}  // namespace
}  // namespace plackett
