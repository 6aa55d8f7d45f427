// Checks a table of declared options.
#pragma once

#include <gmock/gmock.h>

#include <set>
#include <span>
#include <string>

#include "plackett/option.h"

namespace plackett::testing {

// Names differ, defaults and bounds read back, and nothing else does. `any_text`: names of options
// that take any text.
template <typename Target>
void expect_sound(std::span<const Option<Target>> options,
                  const std::set<std::string_view>& any_text = {}) {
  std::set<std::string_view> names;
  for (const Option<Target>& option : options) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    EXPECT_FALSE(option.help.empty()) << option.name;
    Target target;
    const std::string text = option.text(target);
    ASSERT_TRUE(option.set(target, text).ok()) << option.name;
    EXPECT_EQ(option.text(target), text) << option.name;
    const auto other = option.set(target, "no such value");
    if (any_text.contains(option.name)) {
      EXPECT_EQ(option.text(target), "no such value") << option.name;
      continue;
    }
    ASSERT_FALSE(other.ok()) << option.name;
    EXPECT_THAT(other.error().message, ::testing::HasSubstr("no such value")) << option.name;
    EXPECT_EQ(option.text(target), text) << option.name;
    if (option.kind != OptionKind::kInteger) continue;
    for (const std::uint64_t value : {option.least, option.most}) {
      ASSERT_TRUE(option.set(target, std::to_string(value)).ok()) << option.name;
      EXPECT_EQ(option.text(target), std::to_string(value)) << option.name;
    }
    if (option.least > 0) {
      EXPECT_FALSE(option.set(target, std::to_string(option.least - 1)).ok());
    }
    EXPECT_FALSE(option.set(target, std::to_string(option.most) + "0").ok());
  }
}

// What set() says to a text; empty if it takes it.
template <typename Target>
std::string refusal(std::span<const Option<Target>> options, Target& target, std::string_view name,
                    std::string_view text) {
  for (const Option<Target>& option : options) {
    if (option.name != name) continue;
    const auto set = option.set(target, text);
    return set ? std::string() : set.error().message;
  }
  return "no such option";
}

}  // namespace plackett::testing
