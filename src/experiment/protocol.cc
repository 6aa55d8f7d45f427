#include "plackett/protocol.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <vector>

namespace plackett {
namespace {

constexpr std::string_view kDescribedName = "described";
constexpr std::string_view kPublishedName = "published";

struct Way {
  std::string_view name;
  bool Protocol::*flag;
};

constexpr std::array kWays{Way{"stop", &Protocol::stop}, Way{"reversed", &Protocol::reversed},
                           Way{"decay", &Protocol::decay}, Way{"start", &Protocol::start},
                           Way{"ties", &Protocol::ties}};

std::string way_names() {
  std::vector<std::string_view> names;
  names.reserve(kWays.size());
  for (const Way& way : kWays) names.push_back(way.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

ProtocolRules rules_of(const Protocol& protocol) {
  ProtocolRules rules;
  if (protocol.stop) rules.stop_rule = StopRule::kAfterAnyDocument;
  if (protocol.decay) rules.learning_rate_decay = 0.9999977;
  if (protocol.start) rules.initialisation = Initialisation::kPublished;
  rules.ties_by_chance = protocol.ties;
  rules.exploit_worst_first = protocol.reversed;
  return rules;
}

Result<Protocol> parse_protocol(std::string_view text) {
  if (text == kPublishedName) return Protocol::kPublished;
  const std::string_view base = text.substr(0, text.find('+'));
  if (base != kDescribedName) {
    return Error{fmt::format("unknown protocol \"{}\"; known: {}, {}, or {}+WAY with ways {}", text,
                             kDescribedName, kPublishedName, kDescribedName, way_names())};
  }
  Protocol protocol;
  std::string_view rest = text.substr(base.size());
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::string_view name = rest.substr(0, rest.find('+'));
    rest.remove_prefix(name.size());
    bool known = false;
    for (const Way& way : kWays) {
      if (way.name != name) continue;
      protocol.*way.flag = true;
      known = true;
    }
    if (!known) {
      return Error{
          fmt::format("protocol \"{}\": unknown way \"{}\"; known: {}", text, name, way_names())};
    }
  }
  return protocol;
}

std::string name_of(const Protocol& protocol) {
  if (protocol == Protocol::kPublished) return std::string(kPublishedName);
  std::string name(kDescribedName);
  for (const Way& way : kWays) {
    if (protocol.*way.flag) name += fmt::format("+{}", way.name);
  }
  return name;
}

std::string protocol_help() {
  return fmt::format(
      "{} (the paper's text), {} (as its numbers were made), or {}+WAY... with ways {}",
      kDescribedName, kPublishedName, kDescribedName, way_names());
}

}  // namespace plackett
