#include "report/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace plackett::report {
namespace {

// Beyond this a double holds no fractions, and no count of ours goes.
constexpr double kLargestCount = 9e15;

constexpr double kSmallestP = 1e-300;

constexpr std::array<const char*, 5> kUnits{"", "k", "M", "B", "T"};

double three_significant_digits(double value) {
  if (value == 0) return 0;
  const double scale = std::pow(10, 2 - std::floor(std::log10(std::fabs(value))));
  return std::round(value * scale) / scale;
}

}  // namespace

std::string fixed(double value, int digits) {
  if (!std::isfinite(value)) return kNoNumber;
  std::string text = fmt::format("{:.{}f}", value, digits);
  const bool is_zero = text.find_first_not_of("-0.") == std::string::npos;
  if (is_zero && text.front() == '-') text.erase(0, 1);
  return text;
}

std::string with_sign(double value, int digits) {
  const std::string text = fixed(value, digits);
  const bool is_positive = value > 0 && text.find_first_of("123456789") != std::string::npos;
  return is_positive ? "+" + text : text;
}

std::string p_value(double p) {
  if (!std::isfinite(p)) return kNoNumber;
  return p < kSmallestP ? fmt::format("< {}", kSmallestP) : fmt::format("{:.2g}", p);
}

std::string p_value(std::string_view name, double p) {
  return fmt::format("{} {}{}", name, p < kSmallestP ? "" : "= ", p_value(p));
}

std::string grouped(std::uint64_t count) {
  std::string text = fmt::format("{}", count);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

std::string rate(double per_second) {
  if (!std::isfinite(per_second) || per_second <= 0) return kNoNumber;
  const double value = three_significant_digits(per_second);
  if (value >= 100) return grouped(static_cast<std::uint64_t>(std::min(value, kLargestCount)));
  return fmt::format("{:.{}f}", value, value >= 10 ? 1 : 2);
}

std::string compact(double value) {
  if (!std::isfinite(value)) return kNoNumber;
  double scaled = three_significant_digits(value);
  std::size_t unit = 0;
  for (; std::fabs(scaled) >= 1000 && unit + 1 < kUnits.size(); ++unit) scaled /= 1000;
  return fmt::format("{:.3g}{}", scaled, kUnits[unit]);
}

std::string duration(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return kNoNumber;
  if (seconds < 0.00995) return fmt::format("{:.1f} ms", seconds * 1e3);
  if (seconds < 0.0995) return fmt::format("{:.0f} ms", seconds * 1e3);
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::uint64_t>(std::min(std::round(seconds), kLargestCount));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", grouped(whole / 3600), whole % 3600 / 60);
}

}  // namespace plackett::report
