// The tokens file, and who gets in with what.
#include "http/tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plackett::http {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// "feedback" or "feedback shop-eu", or "" if the token is unknown.
std::string grant_of(const Tokens& tokens, std::string_view authorization) {
  const Grant* grant = tokens.find(authorization);
  if (grant == nullptr) return "";
  return std::string(name_of(grant->role)) + (grant->model.empty() ? "" : " " + grant->model);
}

TEST(Tokens, GiveTheirRole) {
  const auto tokens = Tokens::parse("# who\n\nread  r-1\r\nfeedback\tf-1 \n  admin a-1", "file");
  ASSERT_TRUE(tokens.ok());
  EXPECT_EQ(tokens->size(), 3);
  EXPECT_EQ(grant_of(*tokens, "Bearer r-1"), "read");
  EXPECT_EQ(grant_of(*tokens, "bearer f-1"), "feedback");
  EXPECT_EQ(grant_of(*tokens, "Bearer  a-1 "), "admin");
  for (const char* wrong : {"", "Bearer", "Bearer ", "a-1", "Basic a-1", "Bearer a-", "Bearer a-12",
                            "Bearer A-1", "Bearer admin a-1"}) {
    EXPECT_EQ(tokens->find(wrong), nullptr) << wrong;
  }
}

TEST(Tokens, MayBeBoundToAModel) {
  const auto tokens =
      Tokens::parse("feedback shop-eu f-1\nadmin\tshop.us \t a-1\r\nread read read\n", "file");
  ASSERT_TRUE(tokens.ok()) << tokens.error().message;
  EXPECT_EQ(grant_of(*tokens, "Bearer f-1"), "feedback shop-eu");
  EXPECT_EQ(grant_of(*tokens, "Bearer a-1"), "admin shop.us");
  EXPECT_EQ(grant_of(*tokens, "Bearer read"), "read read");
  EXPECT_EQ(tokens->find("Bearer shop-eu"), nullptr);
  EXPECT_EQ(tokens->find("Bearer shop-eu f-1"), nullptr);
}

TEST(Tokens, AreFoundAmongMany) {
  std::string text;
  for (int at = 0; at < 20'000; ++at) {
    text += "read m" + std::to_string(at) + " t" + std::to_string(at) + "\n";
  }
  const auto tokens = Tokens::parse(text, "file");
  ASSERT_TRUE(tokens.ok());
  EXPECT_EQ(grant_of(*tokens, "Bearer t0"), "read m0");
  EXPECT_EQ(grant_of(*tokens, "Bearer t19999"), "read m19999");
  EXPECT_EQ(tokens->find("Bearer t20000"), nullptr);
}

TEST(Tokens, ThatAreWrongAreNamedByTheirLineAndNotRepeated) {
  const std::string longest(256, 's');
  const std::string name(64, 'm');
  ASSERT_TRUE(Tokens::parse("read " + name + " " + longest, "file").ok());
  const std::pair<std::string, const char*> cases[] = {
      {"read a\nowner secret\n", "file:2: the line must start with a role"},
      {"secret\n", "file:1: the line must start with a role"},
      {"Read secret\n", "file:1: the line must start with a role"},
      {"read\n", "file:1: a role without a token"},
      {"# as published\nfeedback shop REPLACE-SHOP\n",
       "file:2: a token of the example, which everybody knows; make your own: deploy/make_tokens, "
       "or "
       "openssl rand -hex 32"},
      {"read shop secret more\n", "file:1: more than three words"},
      {"read" + std::string(1'000'000, ' ') + "a b c d secret", "file:1: more than three words"},
      {"read a\rread secret\r", "file:1: more than three words"},
      {"read shop/eu secret\n", "file:1: a model name of 7 bytes"},
      {"read .. secret\n", "file:1: a model name of 2 bytes"},
      {"read " + name + "m secret\n", "file:1: a model name of 65 bytes"},
      {"read a\nadmin a\n", "file:2: the token is also on an earlier line"},
      {"read shop secret\nread other secret\n", "file:2: the token is also on an earlier line"},
      {"read " + longest + "s\n", "file:1: a token of 257 bytes"},
      {"read shop " + std::string(3'000'000, 's') + "\n", "file:1: a token of 3000000 bytes"},
      {std::string("read se\0cret\n", 13), "file:1: a token of 7 bytes"},
      {std::string("read sh\0op secret\n", 18), "file:1: a model name of 5 bytes"},
      {std::string("\0read secret\n", 13), "file:1: the line must start with a role"},
      {"read s\xC3\xA9"
       "cret\n",
       "file:1: a token of 7 bytes"},
      {"\xEF\xBB\xBFread secret\n", "file: starts with a byte order mark"},
      {"# none\n", "file: no tokens"},
      {"", "file: no tokens"},
  };
  for (const auto& [text, error] : cases) {
    const auto tokens = Tokens::parse(text, "file");
    ASSERT_FALSE(tokens.ok()) << text.substr(0, 80);
    EXPECT_THAT(tokens.error().message, StartsWith(error));
    for (const char* told : {"secret", "cret", "shop", "sss"}) {
      EXPECT_THAT(tokens.error().message, Not(HasSubstr(told))) << text.substr(0, 80);
    }
  }
}

}  // namespace
}  // namespace plackett::http
