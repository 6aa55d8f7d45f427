#include "plackett/protocol.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <ranges>
#include <vector>

namespace plackett {
namespace {

constexpr std::string_view kDescribedName = "described";
constexpr std::string_view kPublishedName = "published";

struct Deviation {
  std::string_view name;
  bool Protocol::*flag;
};

constexpr std::array kDeviations{
    Deviation{"stop", &Protocol::stop},   Deviation{"reversed", &Protocol::reversed},
    Deviation{"decay", &Protocol::decay}, Deviation{"start", &Protocol::start},
    Deviation{"ties", &Protocol::ties},   Deviation{"miscount", &Protocol::miscount}};

std::string deviation_names() {
  std::vector<std::string_view> names;
  names.reserve(kDeviations.size());
  for (const Deviation& deviation : kDeviations) names.push_back(deviation.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

ProtocolRules rules_of(const Protocol& protocol) {
  ProtocolRules rules;
  if (protocol.stop) rules.stop_rule = StopRule::kAfterAnyDocument;
  if (protocol.decay) rules.methods.learning_rate_decay = 0.9999977;
  rules.methods.published_decay = protocol.decay;
  if (protocol.start) rules.initialisation = Initialisation::kPublished;
  rules.methods.published_start = protocol.start;
  rules.methods.miscount = protocol.miscount;
  rules.methods.ties_by_chance = protocol.ties;
  rules.methods.exploit_worst_first = protocol.reversed;
  return rules;
}

Result<Protocol> parse_protocol(std::string_view text) {
  if (text == kPublishedName) return Protocol::kPublished;
  const std::string_view base = text.substr(0, text.find('+'));
  if (base != kDescribedName) {
    return Error{fmt::format("unknown protocol \"{}\"; known: {}, {}, or {}+DEVIATION... of {}",
                             text, kDescribedName, kPublishedName, kDescribedName,
                             deviation_names())};
  }
  Protocol protocol;
  for (const auto part : text | std::views::split('+') | std::views::drop(1)) {
    const std::string_view name(part.begin(), part.end());
    const auto* known = std::find_if(kDeviations.begin(), kDeviations.end(),
                                     [&](const Deviation& one) { return one.name == name; });
    if (known == kDeviations.end()) {
      return Error{fmt::format("protocol \"{}\": unknown deviation \"{}\"; known: {}", text, name,
                               deviation_names())};
    }
    protocol.*known->flag = true;
  }
  return protocol;
}

std::string name_of(const Protocol& protocol) {
  if (protocol == Protocol::kPublished) return std::string(kPublishedName);
  std::string name(kDescribedName);
  for (const Deviation& deviation : kDeviations) {
    if (protocol.*deviation.flag) name += fmt::format("+{}", deviation.name);
  }
  return name;
}

std::string protocol_help() {
  return fmt::format(
      "{} (the paper's text), {} (as its numbers were made), or {}+DEVIATION... of {}",
      kDescribedName, kPublishedName, kDescribedName, deviation_names());
}

}  // namespace plackett
