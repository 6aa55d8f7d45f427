// The tokens file, and who gets in with what.
#include "http/tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plackett::http {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Tokens, GiveTheirRole) {
  const auto tokens = Tokens::parse("# who\n\nread  r-1\r\nfeedback\tf-1 \n  admin a-1", "file");
  ASSERT_TRUE(tokens.ok());
  EXPECT_EQ(tokens->role_of("Bearer r-1"), Role::kRead);
  EXPECT_EQ(tokens->role_of("bearer f-1"), Role::kFeedback);
  EXPECT_EQ(tokens->role_of("Bearer  a-1 "), Role::kAdmin);
  for (const char* wrong : {"", "Bearer", "Bearer ", "a-1", "Basic a-1", "Bearer a-", "Bearer a-12",
                            "Bearer A-1", "Bearer admin a-1"}) {
    EXPECT_EQ(tokens->role_of(wrong), std::nullopt) << wrong;
  }
}

TEST(Tokens, ThatAreWrongAreNamedByTheirLineAndNotRepeated) {
  const std::pair<const char*, const char*> cases[] = {
      {"read a\nowner secret\n", "file:2:"}, {"read\n", "file:1:"},
      {"read two words\n", "file:1:"},       {"read a\nadmin a\n", "file:2:"},
      {"# none\n", "file: no tokens"},       {"", "file: no tokens"},
  };
  for (const auto& [text, error] : cases) {
    const auto tokens = Tokens::parse(text, "file");
    ASSERT_FALSE(tokens.ok()) << text;
    EXPECT_THAT(tokens.error().message, StartsWith(error));
    EXPECT_THAT(tokens.error().message, ::testing::Not(HasSubstr("secret")));
  }
}

}  // namespace
}  // namespace plackett::http
