#include "experiment/protocol.h"

#include <fmt/format.h>

namespace plackett {
namespace {

constexpr std::string_view kDescribedName = "described";
constexpr std::string_view kPublishedName = "published";

}  // namespace

ProtocolRules rules_of(Protocol protocol) {
  if (protocol == Protocol::kDescribed) return {};
  return {StopRule::kAfterAnyDocument, 0.9999977, Initialisation::kPublished, true, true};
}

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
