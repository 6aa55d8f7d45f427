#include "plackett/version.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <string>

#include "plackett/method.h"
#include "plackett/result.h"

namespace plackett {
namespace {

TEST(Version, IsTheOneThatTheBuildDeclares) {
  std::ifstream file(PLACKETT_SOURCE_DIR "/CMakeLists.txt");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::smatch found;
  ASSERT_TRUE(std::regex_search(text, found, std::regex(R"(plackett VERSION (\d+\.\d+\.\d+))")));
  EXPECT_EQ(version(), found[1].str());
}

TEST(Version, NamesItsCompilerAndInstructions) {
  EXPECT_FALSE(compiler().empty());
  EXPECT_THAT(simd_target(), ::testing::AnyOf("scalar", "sse4", "avx2", "avx512"));
}

TEST(BadResult, IsThrownWithTheErrorsMessageAndNothingElse) {
  const auto failed = find_method("nonesuch");
  ASSERT_FALSE(failed.ok());
  EXPECT_FALSE(failed);
  try {
    (void)failed.value();
    FAIL() << "nothing was thrown";
  } catch (const BadResult& error) {
    EXPECT_EQ(error.what(), failed.error().message);
  }
  EXPECT_THROW((void)*failed, BadResult);
  EXPECT_THROW((void)find_method("nonesuch").value(), BadResult);
  EXPECT_THROW((void)failed.operator->(), BadResult);
  EXPECT_THROW(Result<void>(Error{"no"}).value(), BadResult);
  EXPECT_NO_THROW(Result<void>().value());
  EXPECT_NO_THROW((void)find_method("pdgd").value());
}

}  // namespace
}  // namespace plackett
