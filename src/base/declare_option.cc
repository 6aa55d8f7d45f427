#include "base/declare_option.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <limits>

namespace plackett::option_value {
namespace {

// Whether the whole text is a number.
template <typename Number>
bool parse_number(std::string_view text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end;
}

// Calls each(element) for the elements of a list; stops at the first failure.
template <typename Each>
Result<void> split(std::string_view text, Each each) {
  for (bool more = !text.empty(); more;) {
    const std::size_t comma = text.find(',');
    more = comma != std::string_view::npos;
    std::string_view one = text.substr(0, comma);
    if (one.starts_with(' ')) one.remove_prefix(1);
    if (auto done = each(one); !done) return done;
    if (more) text.remove_prefix(comma + 1);
  }
  return {};
}

constexpr std::string_view kUnits = "KMGT";

}  // namespace

std::string write(std::uint64_t value) { return fmt::format("{}", value); }
std::string write(double value) { return fmt::format("{}", value + 0.0); }  // never -0
std::string write(bool value) { return value ? "true" : "false"; }
std::string write(const std::string& value) { return value; }
std::string write(const std::filesystem::path& value) { return value.string(); }
std::string write(const std::vector<std::uint32_t>& values) {
  return fmt::format("{}", fmt::join(values, ", "));
}
std::string write(const std::vector<std::string>& values) {
  return fmt::format("{}", fmt::join(values, ", "));
}
std::string write(ByteSize value) {
  std::size_t unit = 0;
  for (; unit < kUnits.size() && value > 0 && value % 1024 == 0; ++unit) value = value / 1024;
  return fmt::format("{}{}", value.value, unit == 0 ? "" : kUnits.substr(unit - 1, 1));
}

Result<void> read(std::string_view text, const OptionRules& rules, std::uint64_t& value) {
  std::uint64_t number = 0;
  if (!parse_number(text, number) || number < rules.least || number > rules.most) {
    return Error{
        fmt::format("{}; expected an integer from {} to {}", text, rules.least, rules.most)};
  }
  value = number;
  return {};
}
Result<void> read(std::string_view text, const OptionRules& rules, double& value) {
  double number = 0;
  const bool any = rules.most == 0;
  if (!parse_number(text, number) || !std::isfinite(number) || number < 0 ||
      (!any && (number == 0 || number > static_cast<double>(rules.most)))) {
    return Error{any ? fmt::format("{}; expected a finite number, at least 0", text)
                     : fmt::format("{}; expected a number above 0, at most {}", text, rules.most)};
  }
  value = number;
  return {};
}
Result<void> read(std::string_view text, const OptionRules& /*rules*/, bool& value) {
  if (text != "true" && text != "false") {
    return Error{fmt::format("{}; expected true or false", text)};
  }
  value = text == "true";
  return {};
}
Result<void> read(std::string_view text, const OptionRules& rules, ByteSize& value) {
  const std::size_t unit = text.empty() ? std::string_view::npos : kUnits.find(text.back());
  const std::size_t shift = unit == std::string_view::npos ? 0 : 10 * (unit + 1);
  std::uint64_t number = 0;
  if (!parse_number(text.substr(0, text.size() - (shift > 0 ? 1 : 0)), number) ||
      number > std::numeric_limits<std::uint64_t>::max() >> shift ||
      number << shift < rules.least) {
    return Error{fmt::format("{}; expected bytes as 1500, 64K, 500M or 20G, at least {}", text,
                             write(ByteSize(rules.least)))};
  }
  value = number << shift;
  return {};
}
Result<void> read(std::string_view text, const OptionRules& /*rules*/, std::string& value) {
  value = text;
  return {};
}
Result<void> read(std::string_view text, const OptionRules& /*rules*/,
                  std::filesystem::path& value) {
  value = text;
  return {};
}
Result<void> read(std::string_view text, const OptionRules& rules,
                  std::vector<std::uint32_t>& values) {
  std::vector<std::uint32_t> all;
  auto done =
      split(text, [&](std::string_view one) { return read(one, rules, all.emplace_back()); });
  if (done) values = std::move(all);
  return done;
}
Result<void> read(std::string_view text, const OptionRules& rules,
                  std::vector<std::string>& values) {
  values.clear();
  return split(text, [&](std::string_view one) { return read(one, rules, values.emplace_back()); });
}

std::string full_help(std::string help, OptionKind kind, const OptionRules& rules) {
  const bool integers = kind == OptionKind::kInteger || kind == OptionKind::kIntegers;
  if (!integers || rules.most == std::numeric_limits<std::uint64_t>::max()) return help;
  return fmt::format("{} ({} to {})", help, rules.least, rules.most);
}

}  // namespace plackett::option_value
