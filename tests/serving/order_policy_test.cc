#include "serving/order_policy.h"

#include <gmock/gmock.h>

namespace plackett::serving {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kOrder = R"({"impression": "i-1", "items": ["c", "x", "a", "b"]})";

struct OrderedList {
  explicit OrderedList(std::string_view name) {
    list.name = name;
    list.ids = ids;
    list.pinned = pinned;
  }
  std::vector<std::string_view> ids{"a", "b", "c"};
  std::vector<std::uint8_t> pinned{0, 0};
  LoggedList list;
};

std::string refusal(std::string_view text) {
  const auto made = parse_order_policy(text, "orders");
  return made ? "" : made.error().message;
}

TEST(OrderPolicy, ShowsTheCandidatesInTheirOrder) {
  const auto made = parse_order_policy(std::string("\n  \r\n") + kOrder + "\r\n", "orders");
  ASSERT_TRUE(made.ok());
  PolicyChoice choice;
  ASSERT_TRUE((*made)->clone()->choose(OrderedList("i-1").list, choice).ok());
  EXPECT_FALSE(choice.sampled);
  EXPECT_THAT(choice.order, ::testing::ElementsAre(Doc{2}, Doc{0}, Doc{1}));
}

TEST(OrderPolicy, RefusesListsThatItHasNoOrderFor) {
  const auto made =
      parse_order_policy(R"({"impression": "i-1", "items": ["a", "x"]})", "orders.jsonl");
  ASSERT_TRUE(made.ok());
  PolicyChoice choice;
  const auto unknown = (*made)->choose(OrderedList("i-2").list, choice);
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().message, "orders.jsonl: no order for impression i-2");
  const auto partial = (*made)->choose(OrderedList("i-1").list, choice);
  ASSERT_FALSE(partial.ok());
  EXPECT_THAT(partial.error().message, HasSubstr("has 1 of its candidates; 2 places"));
}

TEST(OrderPolicy, RefusesLinesOfAnotherForm) {
  for (const char* wrong :
       {"hello", "[]", "{}", "3", "{\"impression\": \"i-1\"}", "{\"items\": []}",
        "{\"impression\": \"i-1\", \"items\": [\"a\"", "\xff"}) {
    EXPECT_THAT(refusal(std::string("\n") + wrong), StartsWith("orders:2: not an object with"))
        << wrong;
  }
  for (const char* wrong :
       {R"({"impression": 1, "items": []})", R"({"impression": "i-1", "items": [1]})",
        R"({"impression": "i-1", "items": "a"})", R"({"impression": "i-1", "items": null})"}) {
    EXPECT_THAT(refusal(wrong), StartsWith("orders:1: an id is not a string")) << wrong;
  }
  EXPECT_THAT(refusal(std::string(kOrder) + "\n" + kOrder),
              StartsWith("orders:2: this impression has an order already"));
  EXPECT_THAT(refusal(R"({"impression": "i-1", "items": ["a", "b", "a"]})"),
              StartsWith("orders:1: the id \"a\" is twice in the order"));
  EXPECT_EQ(refusal(""), "orders: no order; expected one line per list");
  EXPECT_EQ(refusal(" \n\n"), "orders: no order; expected one line per list");
}

}  // namespace
}  // namespace plackett::serving
