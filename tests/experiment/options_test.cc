#include "plackett/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace plackett {
namespace {

using ::testing::HasSubstr;

template <typename Target>
void expect_sound(std::span<const Option<Target>> options) {
  std::set<std::string_view> names;
  for (const Option<Target>& option : options) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    EXPECT_FALSE(option.help.empty()) << option.name;
    Target target;
    const std::string text = option.text(target);
    ASSERT_TRUE(option.set(target, text).ok()) << option.name;
    EXPECT_EQ(option.text(target), text) << option.name;
    const auto wrong = option.set(target, "no such value");
    ASSERT_FALSE(wrong.ok()) << option.name;
    EXPECT_THAT(wrong.error().message, HasSubstr("no such value")) << option.name;
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

TEST(Options, TheirDefaultsAndBoundsReadBackAndNothingElseDoes) {
  expect_sound(simulation_options());
  expect_sound(dataset_options());
}

TEST(Options, RefuseNumbersOutOfBoundsWithTextAndRule) {
  SimulationSpec spec;
  const auto message = [&spec](std::string_view name, std::string_view text) {
    for (const auto& option : simulation_options()) {
      if (option.name != name) continue;
      const auto set = option.set(spec, text);
      return set ? std::string() : set.error().message;
    }
    return std::string("no such option");
  };
  EXPECT_EQ(message("runs", "0"), "0; expected an integer from 1 to 1000000");
  EXPECT_EQ(message("runs", "-1"), "-1; expected an integer from 1 to 1000000");
  EXPECT_EQ(message("seed", "18446744073709551616"),
            "18446744073709551616; expected an integer from 0 to 18446744073709551615");
  EXPECT_EQ(message("hidden", "64,0"), "0; expected an integer from 1 to 65536");
  EXPECT_EQ(message("hidden", "64, 32"), "");
  EXPECT_EQ(spec.ranker.hidden, (std::vector<std::uint32_t>{64, 32}));
  for (const char* eta : {"nan", "inf", "-0.5", "one"}) {
    EXPECT_EQ(message("eta", eta), std::string(eta) + "; expected a finite number, at least 0");
  }
  EXPECT_THAT(message("no-relevant", "two"), HasSubstr("skip, zero, one"));
}

TEST(Options, CheckNamesTheFirstThatIsWrong) {
  SimulationSpec spec;
  EXPECT_TRUE(check_options(simulation_options(), spec).ok());
  spec.shown = 0;
  spec.eta = -1;
  EXPECT_EQ(check_options(simulation_options(), spec).error().message,
            "shown: 0; expected an integer from 1 to 100");
}

}  // namespace
}  // namespace plackett
