#include <fmt/format.h>

#include "experiment/simulation.h"

namespace plackett {
namespace {

constexpr std::string_view kDescribedName = "described";
constexpr std::string_view kPublishedName = "published";

}  // namespace

Result<Protocol> parse_protocol(std::string_view name) {
  if (name == kDescribedName) return Protocol::kDescribed;
  if (name == kPublishedName) return Protocol::kPublished;
  return Error{
      fmt::format("unknown protocol \"{}\"; known: {}, {}", name, kDescribedName, kPublishedName)};
}

std::string_view name_of(Protocol protocol) {
  return protocol == Protocol::kDescribed ? kDescribedName : kPublishedName;
}

}  // namespace plackett
