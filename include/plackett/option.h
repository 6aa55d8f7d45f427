// One option of a struct of plain data, declared once: the command, spec files, the identity of
// results, Python and the docs all read the declaration.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "plackett/result.h"

namespace plackett {

// What the text of an option holds.
enum class OptionKind : std::uint8_t {
  kInteger,   // from least to most
  kNumber,    // finite, at least 0; if `most` is set, above 0 and at most that
  kName,      // a name that the help lists, or other text that it describes
  kIntegers,  // one or more with commas between, each from least to most
  kFlag,      // "true" or "false"
};

// A number of bytes; its text is "1500", "64K", "500M" or "20G", in powers of 1024.
struct ByteSize {
  // The number.
  constexpr ByteSize(std::uint64_t all = 0) : value(all) {}  // NOLINT(google-explicit-constructor)
  // The number.
  constexpr operator std::uint64_t() const { return value; }  // NOLINT(google-explicit-constructor)

  std::uint64_t value = 0;  // in all
};

// One option of `Target`. Its default is what a `Target{}` holds.
template <typename Target>
struct Option {
  std::string_view name = {};               // "no-relevant"; in Python no_relevant
  std::string help = {};                    // one line
  OptionKind kind = OptionKind::kInteger;   // what its text holds
  bool repeats = false;                     // a list of names, with commas between
  std::uint64_t least = 0;                  // numbers and sizes only
  std::uint64_t most = 0;                   // numbers only
  bool changes_results = true;              // so it is part of cells' identities and names
  std::string (*text)(const Target&) = {};  // the value; set() reads it back
  Result<void> (*parse)(const Option&, Target&, std::string_view) = {};  // set() calls it

  // Sets the value. Fails on a text that is not allowed, with text and rule; `target` stays as it
  // was.
  Result<void> set(Target& target, std::string_view value) const {
    return parse(*this, target, value);
  }
};

// Fails on the first option whose value is not allowed: "runs: 0; expected ...".
template <typename Target>
Result<void> check_options(std::span<const Option<Target>> options, const Target& target) {
  Target copy = target;
  for (const Option<Target>& option : options) {
    if (auto valid = option.set(copy, option.text(target)); !valid) {
      return valid.error().in(option.name);
    }
  }
  return {};
}

}  // namespace plackett
