#include "plackett/method.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

namespace plackett {

// A new method: its file in this folder defines one of these, and it gets a line here.
// clang-format off
#define PLACKETT_METHODS(METHOD) \
  METHOD(kCascade) \
  METHOD(kDbgd) \
  METHOD(kMgd) \
  METHOD(kPairwise) \
  METHOD(kPdgd)
// clang-format on

#define PLACKETT_DECLARE(NAME) extern const Method NAME;
PLACKETT_METHODS(PLACKETT_DECLARE)
#undef PLACKETT_DECLARE

namespace {

#define PLACKETT_ADDRESS(NAME) &(NAME),
constexpr std::array kMethods{PLACKETT_METHODS(PLACKETT_ADDRESS)};
#undef PLACKETT_ADDRESS

// Methods of users of the library. A deque never moves its elements.
struct Added {
  std::mutex mutex;
  std::deque<Method> methods;
};

Added& added_methods() {
  static Added added;
  return added;
}

}  // namespace

std::vector<const Method*> methods() {
  std::vector<const Method*> all(kMethods.begin(), kMethods.end());
  Added& added = added_methods();
  const std::lock_guard lock(added.mutex);
  for (const Method& method : added.methods) all.push_back(&method);
  return all;
}

Result<void> add_method(const Method& method) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  };
  if (method.name.empty() || !std::all_of(method.name.begin(), method.name.end(), allowed)) {
    return Error{fmt::format("method name \"{}\"; a name is of a-z, 0-9 and -", method.name)};
  }
  if (method.make == nullptr) return Error{fmt::format("method {}: make is missing", method.name)};
  Added& added = added_methods();
  const std::lock_guard lock(added.mutex);
  const auto same = [&](std::string_view name) { return name == method.name; };
  if (std::any_of(kMethods.begin(), kMethods.end(),
                  [&](auto* known) { return same(known->name); }) ||
      std::any_of(added.methods.begin(), added.methods.end(),
                  [&](const Method& known) { return same(known.name); })) {
    return Error{fmt::format("method {}: there is one of that name already", method.name)};
  }
  added.methods.push_back(method);
  return {};
}

Result<const Method*> find_method(std::string_view name) {
  std::vector<std::string_view> known;
  for (const Method* method : methods()) {
    if (method->name == name) return method;
    known.push_back(method->name);
  }
  return Error{fmt::format("unknown method \"{}\"; known: {}", name, fmt::join(known, ", "))};
}

std::vector<GivenSetting> canonical_settings(std::string_view method,
                                             const std::vector<GivenSetting>& given) {
  const auto found = find_method(method);
  if (!found) return given;
  const auto values = SettingValues::make(found.value()->settings, given);
  if (!values) return given;
  std::vector<GivenSetting> settings;
  for (const Setting& declared : found.value()->settings) {
    const double value = values->number(declared.name);
    if (value == declared.fallback) continue;
    settings.push_back({std::string(declared.name), declared.text(value)});
  }
  return settings;
}

Result<std::unique_ptr<Learner>> make_learner(std::string_view method,
                                              std::unique_ptr<Ranker> ranker,
                                              const MethodRules& rules,
                                              std::span<const GivenSetting> settings) {
  if (rules.shown == 0) return Error{"0 documents shown; show at least 1"};
  auto found = find_method(method);
  if (!found) return found.error();
  auto values = SettingValues::make(found.value()->settings, settings);
  if (!values) return Error{fmt::format("{}: {}", method, values.error().message)};
  if (found.value()->check != nullptr) {
    if (auto fits = found.value()->check(*ranker); !fits) return fits.error();
  }
  return found.value()->make(std::move(ranker), rules, values.value());
}

}  // namespace plackett
