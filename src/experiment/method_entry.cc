#include "plackett/method_entry.h"

#include <fmt/format.h>

#include "plackett/method.h"

namespace plackett {

Result<MethodEntry> parse_method_entry(std::string_view text) {
  MethodEntry entry;
  bool ranker_seen = false;
  std::string_view rest = text;
  bool last = false;
  for (bool first = true; !last; first = false) {
    const std::size_t colon = rest.find(':');
    const std::string_view part = rest.substr(0, colon);
    last = colon == std::string_view::npos;
    if (!last) rest.remove_prefix(colon + 1);
    const std::size_t equals = part.find('=');
    if (first) {
      auto method = find_method(part);
      if (!method) return method.error();
      entry.method = part;
      entry.ranker = method.value()->default_ranker;
    } else if (equals != std::string_view::npos) {
      entry.settings.push_back(
          {std::string(part.substr(0, equals)), std::string(part.substr(equals + 1))});
    } else {
      auto ranker = parse_ranker_kind(part);
      if (!ranker) return ranker.error().in(text);
      if (ranker_seen) return Error{fmt::format("{}: a method has one ranker", text)};
      ranker_seen = true;
      entry.ranker = ranker.value();
    }
  }
  auto values = SettingValues::make(find_method(entry.method).value()->settings, entry.settings);
  if (!values) return values.error().in(text);
  return entry;
}

MethodEntry canonical(const MethodEntry& entry) {
  MethodEntry result = entry;
  result.settings = canonical_settings(entry.method, entry.settings);
  return result;
}

std::string to_text(const MethodEntry& entry) {
  std::string text = entry.method;
  const auto method = find_method(entry.method);
  const RankerKind unnamed = method ? method.value()->default_ranker : RankerKind::kLinear;
  if (entry.ranker != unnamed) text += fmt::format(":{}", name_of(entry.ranker));
  for (const GivenSetting& setting : entry.settings) {
    text += fmt::format(":{}={}", setting.name, setting.value);
  }
  return text;
}

void apply(const MethodEntry& entry, SimulationSpec& spec) {
  spec.method = entry.method;
  spec.ranker.kind = entry.ranker;
  spec.settings = entry.settings;
}

}  // namespace plackett
