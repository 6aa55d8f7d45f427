#include "dataset/parse_value.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "plackett/rng.h"

namespace plackett {
namespace {

std::uint32_t bits_of(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// Whether the fast path, the general one and the C library agree to the bit.
::testing::AssertionResult exactly_rounded(const std::string& text) {
  float fast = 0;
  float general = 0;
  const char* end = text.data() + text.size();
  const char* fast_end = parse_value(text.data(), end, fast);
  const char* general_end = parse_value_general(text.data(), end, general);
  const float library = std::strtof(text.c_str(), nullptr);
  if (fast_end == end && general_end == end && bits_of(fast) == bits_of(general) &&
      bits_of(fast) == bits_of(library)) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure()
         << fmt::format("{}: fast {}, general {}, library {}", text, fast, general, library);
}

std::string random_digits(Rng& rng, std::uint32_t count) {
  std::string digits;
  for (std::uint32_t at = 0; at < count; ++at) digits += static_cast<char>('0' + rng.below(10));
  return digits;
}

TEST(ParseValue, RoundsRandomDecimalsExactly) {
  Rng rng({.seed = 1});
  for (int round = 0; round < 300'000; ++round) {
    const std::string text = (rng.below(2) == 0 ? "-" : "") + random_digits(rng, 1 + rng.below(8)) +
                             "." + random_digits(rng, rng.below(16));
    ASSERT_TRUE(exactly_rounded(text));
  }
}

TEST(ParseValue, RoundsDecimalsNextToHalfwayPointsExactly) {
  Rng rng({.seed = 2});
  for (int round = 0; round < 200'000; ++round) {
    // Halfway between two neighbouring floats around 1, then a step to either side of it.
    const std::uint32_t bits = 0x3C000000U + rng.below(0x08000000U);
    float low = 0;
    std::memcpy(&low, &bits, sizeof low);
    const double half =
        (static_cast<double>(low) + static_cast<double>(std::nextafter(low, 2 * low))) / 2;
    const int decimals = 6 + static_cast<int>(rng.below(14));
    ASSERT_TRUE(exactly_rounded(fmt::format("{:.{}f}", half, decimals)));
  }
}

TEST(ParseValue, RoundsExactHalvesToEven) {
  for (const char* text :
       {"16777217", "16777219", "16777217.0000000000001", "33554434.0", "0.50000002980232238769"}) {
    EXPECT_TRUE(exactly_rounded(text));
  }
  float value = 0;
  const std::string half = "16777217";
  parse_value(half.data(), half.data() + half.size(), value);
  EXPECT_EQ(value, 16777216.0F);
}

TEST(ParseValue, AgreesOnOddForms) {
  for (const char* text :
       {"0", "-0", "0.0", "-0.000", "5.", ".5", "-.5", "007", "1e5", "1E-5", "12.5e+3", "1e-45",
        "1e-46", "9999999999999999999", "99999999999999999999999", "0.0000000000000000000000001",
        "123456789012345678901234567890.5", "3.4028234e38", "9007199254740993"}) {
    EXPECT_TRUE(exactly_rounded(text));
  }
}

TEST(ParseValue, RefusesWhatIsNoNumber) {
  for (const std::string text : {"", "-", ".", "-.", "x", "+1", " 1"}) {
    float value = 0;
    EXPECT_EQ(parse_value(text.data(), text.data() + text.size(), value), nullptr) << text;
  }
}

TEST(ParseValue, StopsBehindTheNumber) {
  for (const std::string text : {"1.5 2:3", "1.5\t", "1.5#c", "1.5x"}) {
    float value = 0;
    EXPECT_EQ(parse_value(text.data(), text.data() + text.size(), value), text.data() + 3) << text;
    EXPECT_EQ(value, 1.5F);
  }
}

}  // namespace
}  // namespace plackett
