// The names of how data is loaded.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "plackett/dataset.h"

namespace plackett {
namespace {

// In the order of the enums.
constexpr std::array kOutOfRange = std::to_array<std::string_view>({"refuse", "clamp", "missing"});
constexpr std::array kUnlabelled = std::to_array<std::string_view>({"refuse", "skip"});

template <typename Treatment, std::size_t kCount>
Result<Treatment> parse(const std::array<std::string_view, kCount>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<Treatment>(found - names.begin());
  return Error{fmt::format("\"{}\"; known are {}", name, fmt::join(names, ", "))};
}

}  // namespace

Result<OutOfRange> parse_out_of_range(std::string_view name) {
  return parse<OutOfRange>(kOutOfRange, name);
}

std::string_view name_of(OutOfRange treatment) {
  return kOutOfRange[static_cast<std::size_t>(treatment)];
}

Result<Unlabelled> parse_unlabelled(std::string_view name) {
  return parse<Unlabelled>(kUnlabelled, name);
}

std::string_view name_of(Unlabelled treatment) {
  return kUnlabelled[static_cast<std::size_t>(treatment)];
}

}  // namespace plackett
