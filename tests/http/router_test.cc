// Addresses: how they are taken apart, and what answers them.
#include "http/router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "http/target.h"
#include "http/utf8.h"

namespace plackett::http {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

Target parsed(std::string_view text) {
  Target target;
  EXPECT_TRUE(parse_target(text, target).ok()) << text;
  return target;
}

TEST(Target, IsTakenApartBeforeItIsDecoded) {
  EXPECT_TRUE(parsed("/").segments.empty());
  EXPECT_THAT(parsed("/models/a%2Fb%20c/items").segments, ElementsAre("models", "a/b c", "items"));
  EXPECT_THAT(parsed("/models/").segments, ElementsAre("models", ""));
  EXPECT_THAT(parsed("//x").segments, ElementsAre("", "x"));
  EXPECT_THAT(parsed("http://host:80/models?x=1").segments, ElementsAre("models"));
  EXPECT_TRUE(parsed("http://host").segments.empty());
  EXPECT_THAT(parsed("/a+b").segments, ElementsAre("a+b"));
}

TEST(Target, HasAQuery) {
  EXPECT_THAT(parsed("/x?a=1&b=%C3%A4+c&&d").query,
              ElementsAre(Pair("a", "1"), Pair("b", "ä c"), Pair("d", "")));
  EXPECT_TRUE(parsed("/x?").query.empty());
}

TEST(Target, IsRefusedWhereItDoesNotDecode) {
  for (const std::string text :
       {"/%", "/%4", "/%zz", "/%FF", "/%C3%28", "/x?a=%", "/x?%FF=1", "models", "", "/%ED%A0%80"}) {
    Target target;
    EXPECT_FALSE(parse_target(text, target).ok()) << text;
  }
  Target target;
  EXPECT_FALSE(parse_target(std::string(100, '/'), target).ok());
}

TEST(Query, IsReadStrictly) {
  const QueryRange range{.fallback = 20, .least = 1, .most = 100};
  EXPECT_EQ(*query_number(parsed("/x"), "limit", range), 20U);
  EXPECT_EQ(*query_number(parsed("/x?limit=100"), "limit", range), 100U);
  for (const std::string text : {"0", "101", "", "-1", "1.0", "99999999999"}) {
    EXPECT_FALSE(query_number(parsed("/x?limit=" + text), "limit", range).ok()) << text;
  }
  EXPECT_TRUE(*query_flag(parsed("/x?clicked=true"), "clicked"));
  EXPECT_FALSE(query_flag(parsed("/x?clicked=1"), "clicked").ok());
  EXPECT_FALSE(check_query(parsed("/x?more=1"), {"limit"}).ok());
  EXPECT_FALSE(check_query(parsed("/x?limit=1&limit=1"), {"limit"}).ok());
}

TEST(Router, FindsEveryRouteByAnAddressOfItsPattern) {
  std::set<std::string> labels;
  for (const Route& route : routes()) {
    std::string text(route.pattern);
    for (std::size_t at = text.find('{'); at != std::string::npos; at = text.find('{')) {
      text.replace(at, text.find('}') - at + 1, "any");
    }
    const Match match = find_route(route.verb, parsed(text).segments);
    EXPECT_EQ(match.route, &route) << text;
    EXPECT_TRUE(labels.insert(std::to_string(static_cast<int>(route.verb)) + text).second) << text;
    EXPECT_EQ(route.verb == Verb::get || route.role >= Role::kFeedback, true) << text;
  }
}

TEST(Router, SaysWhatAnAddressTakes) {
  const Match match = find_route(Verb::patch, parsed("/models/shop").segments);
  EXPECT_EQ(match.route, nullptr);
  EXPECT_EQ(match.allow, "GET, HEAD, PUT, DELETE, OPTIONS");
  EXPECT_EQ(find_route(Verb::head, parsed("/health").segments).route,
            find_route(Verb::get, parsed("/health").segments).route);
  for (const std::string text :
       {"/nowhere", "/models/", "/models//rank", "/health/x", "/models/a/b"}) {
    const Match none = find_route(Verb::get, parsed(text).segments);
    EXPECT_EQ(none.route, nullptr) << text;
    EXPECT_TRUE(none.allow.empty() || text == "/models//rank") << text;
  }
}

TEST(Utf8, IsWhatTheStandardSays) {
  for (const std::string text : {"", "a", "ä", "€", "😀", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
  }
  for (const std::string text :
       {"\x80", "\xC0\x80", "\xC3", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82"}) {
    EXPECT_FALSE(is_utf8(text));
  }
  EXPECT_EQ(cut_utf8("aä", 2), "a");
  EXPECT_EQ(cut_utf8("aä", 3), "aä");
}

}  // namespace
}  // namespace plackett::http
