#include "plackett/method_entry.h"

#include <fmt/format.h>

#include <ranges>

#include "plackett/method.h"

namespace plackett {

Result<MethodEntry> parse_method_entry(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(':'));
  const auto method = find_method(name);
  if (!method) return method.error();
  MethodEntry entry{.method = std::string(method.value()->name),
                    .ranker = method.value()->default_ranker};
  bool ranker_seen = false;
  for (const auto piece : text | std::views::split(':') | std::views::drop(1)) {
    const std::string_view part(piece.begin(), piece.end());
    if (const std::size_t equals = part.find('='); equals != std::string_view::npos) {
      entry.settings.push_back(
          {std::string(part.substr(0, equals)), std::string(part.substr(equals + 1))});
      continue;
    }
    auto ranker = parse_ranker_kind(part);
    if (!ranker) return ranker.error().in(text);
    if (ranker_seen) return Error{fmt::format("{}: a method has one ranker", text)};
    ranker_seen = true;
    entry.ranker = ranker.value();
  }
  auto values = SettingValues::make(method.value()->settings, entry.settings);
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
