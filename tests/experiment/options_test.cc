#include "plackett/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/sound_options.h"

namespace plackett {
namespace {

using ::testing::HasSubstr;

TEST(Options, TheirDefaultsAndBoundsReadBackAndNothingElseDoes) {
  testing::expect_sound(simulation_options());
  testing::expect_sound(dataset_options());
  testing::expect_sound(run_options());
}

TEST(Options, RefuseNumbersOutOfBoundsWithTextAndRule) {
  SimulationSpec spec;
  const auto message = [&spec](std::string_view name, std::string_view text) {
    return testing::refusal(simulation_options(), spec, name, text);
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
  EXPECT_EQ(message("curve", "half"), "\"half\"; expected whole or final");
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
