// Declares options as rows of a table: option<&Struct::member>(name, help, rules). The member's
// type says what the option's text holds.
#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "plackett/option.h"

namespace plackett {

// A number of bytes; its text is "1500", "64K", "500M" or "20G", in powers of 1024.
struct ByteSize {
  constexpr ByteSize(std::uint64_t bytes = 0) : value(bytes) {}  // NOLINT: as the number it is
  constexpr operator std::uint64_t() const { return value; }     // NOLINT
  std::uint64_t value = 0;
};

// What a value must keep to, as in Option.
struct OptionRules {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  bool changes_results = true;
};

// How values of each type are written and read.
namespace option_value {

std::string write(std::uint64_t value);
std::string write(double value);
std::string write(bool value);
std::string write(ByteSize value);
std::string write(const std::string& value);
std::string write(const std::filesystem::path& value);
std::string write(const std::vector<std::uint32_t>& values);
std::string write(const std::vector<std::string>& values);
template <std::unsigned_integral Integer>
std::string write(Integer value) {
  return write(std::uint64_t{value});
}
template <typename Name>
auto write(const Name& value) -> decltype(std::string(name_of(value))) {
  return std::string(name_of(value));
}

Result<void> read(std::string_view text, const OptionRules& rules, std::uint64_t& value);
Result<void> read(std::string_view text, const OptionRules& rules, double& value);
Result<void> read(std::string_view text, const OptionRules& rules, bool& value);
Result<void> read(std::string_view text, const OptionRules& rules, ByteSize& value);
Result<void> read(std::string_view text, const OptionRules& rules, std::string& value);
Result<void> read(std::string_view text, const OptionRules& rules, std::filesystem::path& value);
Result<void> read(std::string_view text, const OptionRules& rules,
                  std::vector<std::uint32_t>& values);
Result<void> read(std::string_view text, const OptionRules& rules,
                  std::vector<std::string>& values);
// Requires: `most` fits the type.
template <std::unsigned_integral Integer>
Result<void> read(std::string_view text, const OptionRules& rules, Integer& value) {
  std::uint64_t number = 0;
  auto done = read(text, rules, number);
  if (done) value = static_cast<Integer>(number);
  return done;
}

template <typename Value>
constexpr OptionKind kind_of() {
  if (std::is_same_v<Value, bool>) return OptionKind::kFlag;
  if (std::is_integral_v<Value>) return OptionKind::kInteger;
  if (std::is_floating_point_v<Value>) return OptionKind::kNumber;
  if (std::is_same_v<Value, std::vector<std::uint32_t>>) return OptionKind::kIntegers;
  return OptionKind::kName;
}

// The help with the bounds of integers.
std::string full_help(std::string help, OptionKind kind, const OptionRules& rules);

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
        Value& value = ((target.*kFirst).*....*kInner);
        if constexpr (std::is_null_pointer_v<decltype(kParse)>) {
          return read(text, {self.least, self.most}, value);
        } else {
          auto parsed = kParse(text);
          if (!parsed) return parsed.error();
          value = std::move(parsed).value();
          return {};
        }
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
auto named_option(std::string_view name, std::string help) {
  return option_value::declare<kParse, kFirst, kInner...>(name, std::move(help), {});
}

}  // namespace plackett
