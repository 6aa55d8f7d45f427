// Declares options as rows of a table: option<&Struct::member>(name, help, rules). The member's
// type says what the option's text holds.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "plackett/option.h"

namespace plackett {

// What a value must keep to: integers and sizes lie in [least, most]; other numbers are above 0 and
// at most `most`, or, if that is 0, at least 0.
struct OptionRules {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  bool changes_results = true;
};

// How values are written and read.
namespace option_value {

Result<bool> read_flag(std::string_view text);
Result<std::uint64_t> read_integer(std::string_view text, const OptionRules& rules);
Result<double> read_number(std::string_view text, const OptionRules& rules);
Result<ByteSize> read_bytes(std::string_view text, const OptionRules& rules);
std::string write_bytes(std::uint64_t bytes);
// The elements of a list with commas, or commas and spaces, between.
std::vector<std::string_view> split(std::string_view text);
// The help with the bounds of numbers.
std::string full_help(std::string help, OptionKind kind, const OptionRules& rules);

template <typename Value>
constexpr OptionKind kind_of() {
  if (std::is_same_v<Value, bool>) return OptionKind::kFlag;
  if (std::is_integral_v<Value>) return OptionKind::kInteger;
  if (std::is_floating_point_v<Value>) return OptionKind::kNumber;
  if (std::is_same_v<Value, std::vector<std::uint32_t>>) return OptionKind::kIntegers;
  return OptionKind::kName;
}

template <typename Value>
inline constexpr bool kIsList = false;
template <typename Element>
inline constexpr bool kIsList<std::vector<Element>> = true;

// Numbers, sizes, lists, text and paths; of others their name.
template <typename Value>
std::string write(const Value& value) {
  if constexpr (std::is_floating_point_v<Value>) {
    return fmt::format("{}", value + 0.0);  // never -0
  } else if constexpr (std::is_integral_v<Value>) {
    return fmt::format("{}", value);
  } else if constexpr (std::is_same_v<Value, ByteSize>) {
    return write_bytes(value);
  } else if constexpr (kIsList<Value>) {
    return fmt::format("{}", fmt::join(value, ", "));
  } else if constexpr (std::is_convertible_v<Value, std::string>) {
    return value;
  } else {
    return std::string(name_of(value));
  }
}

template <typename Value>
Result<Value> read(std::string_view text, const OptionRules& rules) {
  if constexpr (std::is_same_v<Value, bool>) {
    return read_flag(text);
  } else if constexpr (std::is_integral_v<Value>) {
    const auto integer = read_integer(text, rules);
    if (!integer) return integer.error();
    return static_cast<Value>(*integer);
  } else if constexpr (std::is_floating_point_v<Value>) {
    return read_number(text, rules);
  } else if constexpr (std::is_same_v<Value, ByteSize>) {
    return read_bytes(text, rules);
  } else if constexpr (kIsList<Value>) {
    Value values;
    for (const std::string_view element : split(text)) {
      auto value = read<typename Value::value_type>(element, rules);
      if (!value) return value.error();
      values.push_back(std::move(value).value());
    }
    return values;
  } else {
    return Value(text);
  }
}

template <typename Target, typename Value>
Target target_of(Value Target::*);

// kParse: nullptr, or a function such as parse_scaling.
template <auto kParse, auto kFirst, auto... kInner>
auto declare(std::string_view name, std::string help, const OptionRules& rules) {
  using Target = decltype(target_of(kFirst));
  using Value = std::decay_t<decltype(((std::declval<Target&>().*kFirst).*....*kInner))>;
  const OptionKind kind = kind_of<Value>();
  return Option<Target>{
      .name = name,
      .help = full_help(std::move(help), kind, rules),
      .kind = kind,
      .repeats = std::is_same_v<Value, std::vector<std::string>>,
      .least = rules.least,
      .most = rules.most,
      .changes_results = rules.changes_results,
      .text = [](const Target& target) { return write(((target.*kFirst).*....*kInner)); },
      .parse = [](const Option<Target>& self, Target& target,
                  std::string_view text) -> Result<void> {
        auto value = [&] {
          if constexpr (std::is_null_pointer_v<decltype(kParse)>) {
            return read<Value>(text, {self.least, self.most});
          } else {
            return kParse(text);
          }
        }();
        if (!value) return value.error();
        ((target.*kFirst).*....*kInner) = std::move(value).value();
        return {};
      }};
}

}  // namespace option_value

// An option whose value is a member, or a member of a member: option<&Outer::inner, &Inner::value>.
template <auto kFirst, auto... kInner>
auto option(std::string_view name, std::string help, const OptionRules& rules = {}) {
  return option_value::declare<nullptr, kFirst, kInner...>(name, std::move(help), rules);
}

// The same, for a member that kParse reads and name_of writes.
template <auto kParse, auto kFirst, auto... kInner>
auto named_option(std::string_view name, std::string help, const OptionRules& rules = {}) {
  return option_value::declare<kParse, kFirst, kInner...>(name, std::move(help), rules);
}

}  // namespace plackett
