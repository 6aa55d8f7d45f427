#include "plackett/no_relevant.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace plackett {
namespace {

constexpr std::array kNames = std::to_array<std::string_view>({"skip", "zero", "one"});

}  // namespace

std::span<const std::string_view> no_relevant_names() { return kNames; }

std::string_view name_of(NoRelevant policy) { return kNames[static_cast<std::size_t>(policy)]; }

Result<NoRelevant> parse_no_relevant(std::string_view text) {
  for (std::size_t at = 0; at < kNames.size(); ++at) {
    if (kNames[at] == text) return static_cast<NoRelevant>(at);
  }
  return Error{fmt::format("\"{}\" for queries without relevant documents; known are {}", text,
                           fmt::join(kNames, ", "))};
}

}  // namespace plackett
