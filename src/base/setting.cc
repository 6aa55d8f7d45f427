#include "plackett/setting.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>

namespace plackett {
namespace {

Result<double> parse(const Setting& setting, const std::string& text) {
  if (!setting.names.empty()) {
    const auto found = std::find(setting.names.begin(), setting.names.end(), text);
    if (found == setting.names.end()) {
      return Error{
          fmt::format("{} \"{}\"; known: {}", setting.name, text, fmt::join(setting.names, ", "))};
    }
    return static_cast<double>(found - setting.names.begin());
  }
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool fits = error == std::errc() && stop == end && value >= setting.least &&
                    value <= setting.most && (!setting.whole || value == std::floor(value));
  if (!fits) {
    return Error{fmt::format("{} {}; it must be {} from {} to {}", setting.name,
                             text.empty() ? "\"\"" : text,
                             setting.whole ? "an integer" : "a number", setting.text(setting.least),
                             setting.text(setting.most))};
  }
  return value;
}

}  // namespace

std::string Setting::text(double value) const {
  if (!names.empty()) return std::string(names[static_cast<std::size_t>(value)]);
  return fmt::format("{}", value);
}

Result<SettingValues> SettingValues::make(std::span<const Setting> declared,
                                          std::span<const GivenSetting> given) {
  SettingValues values;
  values.declared_ = declared;
  for (const Setting& setting : declared) values.values_.push_back(setting.fallback);
  std::vector<bool> seen(declared.size());
  for (const GivenSetting& one : given) {
    const Setting* const found = find_setting(declared, one.name);
    if (found == nullptr) {
      std::vector<std::string_view> known;
      for (const Setting& setting : declared) known.push_back(setting.name);
      return Error{
          fmt::format("unknown setting \"{}\"; known: {}", one.name, fmt::join(known, ", "))};
    }
    const auto at = static_cast<std::size_t>(found - declared.data());
    if (seen[at]) return Error{fmt::format("{} is given twice", one.name)};
    seen[at] = true;
    auto value = parse(*found, one.value);
    if (!value) return value.error();
    values.values_[at] = value.value();
  }
  return values;
}

Result<void> SettingValues::require_defaults(std::initializer_list<std::string_view> names,
                                             std::string_view without) const {
  for (const std::string_view name : names) {
    const Setting& setting = *find_setting(declared_, name);
    if (number(name) == setting.fallback) continue;
    return Error{
        fmt::format("{} {} has no effect without {}", name, setting.text(number(name)), without)};
  }
  return {};
}

double SettingValues::number(std::string_view name) const {
  const Setting* const found = find_setting(declared_, name);
  assert(found != nullptr);
  return values_[static_cast<std::size_t>(found - declared_.data())];
}

}  // namespace plackett
