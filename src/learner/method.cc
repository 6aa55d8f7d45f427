#include "plackett/method.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

namespace plackett {

// A new method: its file in this folder defines one of these, and this list names it.
// clang-format off
#define PLACKETT_METHODS(METHOD) \
  METHOD(kCascade) \
  METHOD(kColtr) \
  METHOD(kDbgd) \
  METHOD(kMgd) \
  METHOD(kPairRank) \
  METHOD(kPairwise) \
  METHOD(kPdgd) \
  METHOD(kPolicyGradient) \
  METHOD(kSteady)
// clang-format on

#define PLACKETT_DECLARE(NAME) extern const Method NAME;
PLACKETT_METHODS(PLACKETT_DECLARE)
#undef PLACKETT_DECLARE

namespace {

constexpr std::string_view kDefault = "default";

#define PLACKETT_ADDRESS(NAME) &(NAME),
constexpr std::array kMethods{PLACKETT_METHODS(PLACKETT_ADDRESS)};
#undef PLACKETT_ADDRESS

// Methods that users of the library added. A deque never moves its elements.
struct Added {
  std::mutex mutex;
  std::deque<Method> methods;
};

Added& added_methods() {
  static Added& added = *new Added;  // never destroyed: threads may use it until the process ends
  return added;
}

bool is_name(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  };
  return !name.empty() && std::all_of(name.begin(), name.end(), allowed);
}

Result<void> check_settings(const Method& method) {
  std::set<std::string_view> names;
  for (const Setting& setting : method.settings) {
    const auto wrong = [&](std::string_view what) {
      return Error{fmt::format("method {}: setting \"{}\": {}", method.name, setting.name, what)};
    };
    if (!is_name(setting.name)) return wrong("a name consists of a-z, 0-9 and -");
    if (!names.insert(setting.name).second) return wrong("declared twice");
    const bool choice = !setting.names.empty();
    const double least = choice ? 0 : setting.least;
    const double most = choice ? static_cast<double>(setting.names.size() - 1) : setting.most;
    if (!(setting.fallback >= least && setting.fallback <= most)) {
      return wrong("its default is out of bounds");
    }
    if ((choice || setting.whole) && !(least >= 0 && most < 0x1p32)) {
      return wrong("whole numbers are 0 to 2^32 - 1");
    }
  }
  return {};
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
  if (!is_name(method.name)) {
    return Error{fmt::format("method name \"{}\"; a name consists of a-z, 0-9 and -", method.name)};
  }
  if (method.make == nullptr) return Error{fmt::format("method {}: make is missing", method.name)};
  if (auto sound = check_settings(method); !sound) return sound;
  Added& added = added_methods();
  const std::lock_guard lock(added.mutex);
  const auto same = [&](std::string_view name) { return name == method.name; };
  if (same(kDefault) ||
      std::any_of(kMethods.begin(), kMethods.end(),
                  [&](auto* known) { return same(known->name); }) ||
      std::any_of(added.methods.begin(), added.methods.end(),
                  [&](const Method& known) { return same(known.name); })) {
    return Error{fmt::format("method {}: the name is already taken", method.name)};
  }
  added.methods.push_back(method);
  return {};
}

bool is_built_in(const Method& method) {
  return std::find(kMethods.begin(), kMethods.end(), &method) != kMethods.end();
}

Result<const Method*> find_method(std::string_view name) {
  if (name == kDefault) name = kDefaultMethod;
  std::vector<std::string_view> known;
  for (const Method* method : methods()) {
    if (method->name == name) return method;
    known.push_back(method->name);
  }
  known.push_back(kDefault);
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

std::vector<GivenSetting> saved_settings(std::string_view method,
                                         const std::vector<GivenSetting>& given) {
  auto settings = canonical_settings(method, given);
  std::erase_if(settings, [](const GivenSetting& one) { return one.name == kLearningRate; });
  return settings;
}

std::vector<GivenSetting> settings_of(const SavedModel& model) {
  const LearnerState& state = model.learner;
  const auto method = find_method(state.method);
  std::vector<GivenSetting> settings;
  if (!method || find_setting((*method)->settings, kLearningRate) != nullptr) {
    settings.push_back({std::string(kLearningRate), fmt::format("{}", state.learning_rate)});
  }
  settings.insert(settings.end(), model.settings.begin(), model.settings.end());
  if (!model.settings.empty() || !method || (*method)->settings_in == nullptr) return settings;
  for (GivenSetting& own : (*method)->settings_in(state)) settings.push_back(std::move(own));
  return settings;
}

Result<std::unique_ptr<Learner>> make_learner(std::string_view method,
                                              std::unique_ptr<Ranker> ranker,
                                              const MethodRules& rules,
                                              std::span<const GivenSetting> settings) {
  if (ranker == nullptr) return Error{"no ranker; a learner needs one"};
  if (rules.shown == 0) return Error{"0 documents shown; show at least 1"};
  if (!(rules.learning_rate_decay > 0 && rules.learning_rate_decay <= 1)) {
    return Error{fmt::format("learning rate decay {}; it is above 0 and at most 1",
                             rules.learning_rate_decay)};
  }
  auto found = find_method(method);
  if (!found) return found.error();
  auto values = SettingValues::make(found.value()->settings, settings);
  if (!values) return Error{fmt::format("{}: {}", method, values.error().message)};
  const bool decays = rules.learning_rate_decay != 1 && !rules.published_decay;
  if (decays && find_setting(found.value()->settings, kLearningRate) == nullptr) {
    return Error{fmt::format("{}: learning rate decay {}; the method has no learning rate", method,
                             rules.learning_rate_decay)};
  }
  if (found.value()->check != nullptr) {
    if (auto fits = found.value()->check(*ranker, values.value()); !fits) return fits.error();
  }
  auto learner = found.value()->make(std::move(ranker), rules, values.value());
  if (learner == nullptr) return Error{fmt::format("{}: make returned no learner", method)};
  return learner;
}

}  // namespace plackett
