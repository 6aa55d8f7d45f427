// One feature value: decimal text -> the nearest float.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include <fast_float/fast_float.h>

namespace plackett {

namespace detail {

inline constexpr double kPowersOfTen[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,
                                          1e7,  1e8,  1e9,  1e10, 1e11, 1e12, 1e13,
                                          1e14, 1e15, 1e16, 1e17, 1e18, 1e19};

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace detail

// Reads a number at the start of [begin, end) as fast_float does: the nearest float, ties to
// even. Returns where it ends, or null if there is none. A number too large gives infinity.
inline const char* parse_value_general(const char* begin, const char* end, float& value) {
  const auto [rest, error] = fast_float::from_chars(begin, end, value);
  if (error == std::errc::result_out_of_range) return rest;
  return error == std::errc() ? rest : nullptr;
}

// The same function, faster on short decimals without an exponent.
inline const char* parse_value(const char* begin, const char* end, float& value) {
  const char* p = begin;
  const bool negative = p != end && *p == '-';
  p += negative ? 1 : 0;
  const char* digits_begin = p;
  std::uint64_t mantissa = 0;
  while (p != end && detail::is_digit(*p)) {
    mantissa = mantissa * 10 + static_cast<std::uint64_t>(*p++ - '0');
  }
  std::ptrdiff_t digits = p - digits_begin;
  std::ptrdiff_t decimals = 0;
  if (p != end && *p == '.') {
    const char* point = p++;
    while (p != end && detail::is_digit(*p)) {
      mantissa = mantissa * 10 + static_cast<std::uint64_t>(*p++ - '0');
    }
    decimals = p - point - 1;
    digits += decimals;
  }
  const bool plain = p == end || *p == ' ' || *p == '\t' || *p == '#';
  if (plain && digits > 0 && digits <= 19 && mantissa <= (std::uint64_t{1} << 53)) {
    // Both are exact doubles, so the quotient is the double nearest to the number (Clinger
    // 1990). Rounding that to float gives the nearest float unless it lies halfway between two.
    const double nearest = static_cast<double>(mantissa) / detail::kPowersOfTen[decimals];
    constexpr std::uint64_t kLow = (std::uint64_t{1} << 29) - 1;
    constexpr std::uint64_t kHalf = std::uint64_t{1} << 28;
    if ((std::bit_cast<std::uint64_t>(nearest) & kLow) != kHalf) {
      value = static_cast<float>(negative ? -nearest : nearest);
      return p;
    }
  }
  return parse_value_general(begin, end, value);
}

}  // namespace plackett
