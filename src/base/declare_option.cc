#include "base/declare_option.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <ranges>

namespace plackett::option_value {
namespace {

constexpr std::string_view kUnits = "KMGT";

// Whether the whole text is a number.
template <typename Number>
bool parse_number(std::string_view text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end;
}

}  // namespace

Result<bool> read_flag(std::string_view text) {
  if (text == "true" || text == "false") return text == "true";
  return Error{fmt::format("{}; expected true or false", text)};
}

Result<std::uint64_t> read_integer(std::string_view text, const OptionRules& rules) {
  std::uint64_t number = 0;
  bool whole = parse_number(text, number);
  // "1e5", as far as doubles hold every integer.
  if (double real = 0; !whole && text.find_first_of("eE") != std::string_view::npos) {
    constexpr double kMost = 1LL << std::numeric_limits<double>::digits;
    whole = parse_number(text, real) && real >= 0 && real <= kMost && std::floor(real) == real;
    if (whole) number = static_cast<std::uint64_t>(real);
  }
  if (whole && number >= rules.least && number <= rules.most) return number;
  return Error{fmt::format("{}; expected an integer from {} to {}", text, rules.least, rules.most)};
}

Result<double> read_number(std::string_view text, const OptionRules& rules) {
  double number = 0;
  const bool finite = parse_number(text, number) && std::isfinite(number);
  if (rules.most == 0) {
    if (finite && number >= 0) return number;
    return Error{fmt::format("{}; expected a finite number, at least 0", text)};
  }
  if (finite && number > 0 && number <= static_cast<double>(rules.most)) return number;
  return Error{fmt::format("{}; expected a number above 0, at most {}", text, rules.most)};
}

Result<ByteSize> read_bytes(std::string_view text, const OptionRules& rules) {
  const std::size_t unit = text.empty() ? std::string_view::npos : kUnits.find(text.back());
  const std::size_t shift = unit == std::string_view::npos ? 0 : 10 * (unit + 1);
  std::uint64_t number = 0;
  if (parse_number(text.substr(0, text.size() - (shift > 0 ? 1 : 0)), number) &&
      number <= std::numeric_limits<std::uint64_t>::max() >> shift &&
      number << shift >= rules.least) {
    return ByteSize(number << shift);
  }
  return Error{fmt::format("{}; expected bytes as 1500, 64K, 500M or 20G, at least {}", text,
                           write_bytes(rules.least))};
}

std::string write_bytes(std::uint64_t bytes) {
  std::size_t unit = 0;
  for (; unit < kUnits.size() && bytes > 0 && bytes % 1024 == 0; ++unit) bytes /= 1024;
  return fmt::format("{}{}", bytes, unit == 0 ? "" : kUnits.substr(unit - 1, 1));
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> elements;
  for (const auto part : text | std::views::split(',')) {
    elements.emplace_back(part.begin(), part.end());
    if (elements.back().starts_with(' ')) elements.back().remove_prefix(1);
  }
  return elements;
}

std::string full_help(std::string help, OptionKind kind, const OptionRules& rules) {
  const bool integers = kind == OptionKind::kInteger || kind == OptionKind::kIntegers;
  if (kind == OptionKind::kNumber && rules.most > 0) {
    return fmt::format("{} (above 0, at most {})", help, rules.most);
  }
  if (!integers || rules.most == std::numeric_limits<std::uint64_t>::max()) return help;
  return fmt::format("{} ({} to {})", help, rules.least, rules.most);
}

}  // namespace plackett::option_value
