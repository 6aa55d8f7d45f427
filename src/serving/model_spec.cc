#include "serving/model_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "plackett/method.h"
#include "plackett/scaling.h"

namespace plackett::serving {
namespace {

Result<void> check_features(const ModelSpec& spec) {
  const std::uint32_t count = spec.ranker.feature_count;
  if (count == 0 || count > kMaxFeatures) {
    return Error{fmt::format("{} features; a model has 1 to {}", count, kMaxFeatures)};
  }
  if (!spec.feature_names.empty() && spec.feature_names.size() != count) {
    return Error{fmt::format("{} feature names for {} features", spec.feature_names.size(), count)};
  }
  std::unordered_set<std::string_view> seen;
  for (const std::string& name : spec.feature_names) {
    const bool plain = std::all_of(name.begin(), name.end(), [](char character) {
      return static_cast<unsigned char>(character) >= 0x20;
    });
    if (name.empty() || name.size() > kMaxIdBytes || !plain) {
      return Error{
          fmt::format("feature name \"{}\"; names have 1 to {} bytes and no control "
                      "characters",
                      name, kMaxIdBytes)};
    }
    if (!seen.insert(name).second) {
      return Error{fmt::format("feature name \"{}\" twice; names are distinct", name)};
    }
  }
  if (!spec.feature_ids.empty() && spec.feature_ids.size() != count) {
    return Error{fmt::format("{} feature ids for {} features", spec.feature_ids.size(), count)};
  }
  return {};
}

// Puts the events in the order of their names.
Result<void> check_logging(LogSettings& logging) {
  if (!(logging.candidates >= 0 && logging.candidates <= 1)) {
    return Error{fmt::format("candidates {}; it is a probability, 0 to 1", logging.candidates)};
  }
  if (logging.events.size() > kMaxEventKinds) {
    return Error{fmt::format("{} kinds of events; a model has at most {}", logging.events.size(),
                             kMaxEventKinds)};
  }
  std::sort(logging.events.begin(), logging.events.end(),
            [](const auto& left, const auto& right) { return left.name < right.name; });
  const NamedWeight* before = nullptr;
  for (const NamedWeight& event : logging.events) {
    if (!is_event_name(event.name)) {
      return Error{
          fmt::format("event \"{}\"; names have 1 to {} of letters, digits, '.', '_' and "
                      "'-', and are not click, view or close",
                      event.name, kMaxModelNameBytes)};
    }
    if (before != nullptr && before->name == event.name) {
      return Error{fmt::format("event \"{}\" twice; names are distinct", event.name)};
    }
    if (!(std::abs(event.weight) <= kMaxEventWeight)) {
      return Error{fmt::format("event \"{}\": its weight is {}; weights are {:.0e} at most",
                               event.name, event.weight, kMaxEventWeight)};
    }
    before = &event;
  }
  return {};
}

// Before the ranker is made: it may be too large.
std::uint64_t parameter_count(const RankerSpec& spec) {
  std::uint64_t count = spec.kind == RankerKind::kNeural ? 0 : spec.feature_count;
  if (!has_network(spec.kind)) return count;
  std::uint64_t inputs = spec.feature_count;
  for (const std::uint32_t units : spec.hidden) {
    count += (inputs + 1) * units;
    inputs = units;
  }
  return count + inputs;
}

}  // namespace

bool is_model_name(std::string_view name) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return !name.empty() && name.size() <= kMaxModelNameBytes && name != "." && name != ".." &&
         name.find_first_not_of(kAllowed) == std::string_view::npos;
}

bool is_event_name(std::string_view name) {
  return is_model_name(name) && name != "click" && name != "view" && name != "close";
}

std::vector<std::string_view> served_learners() {
  std::vector<std::string_view> names;
  for (const Method* method : methods()) {
    if (method->servable) names.push_back(method->name);
  }
  return names;
}

FeatureNames feature_names(const ModelSpec& spec) {
  FeatureNames names;
  for (const std::string& name : spec.feature_names) {
    names.emplace(name, static_cast<std::uint32_t>(names.size()));
  }
  return names;
}

Result<std::unique_ptr<Learner>> make_learner_of(const ModelSpec& spec) {
  Rng rng({spec.seed, 0, 0, Purpose::kInitialise});
  auto ranker = make_ranker(spec.ranker, rng);
  if (!ranker) return ranker.error();
  return make_learner(spec.learner, std::move(ranker).value(), {.shown = spec.shown},
                      spec.settings);
}

Result<ModelSpec> check(ModelSpec spec) {
  if (!is_model_name(spec.name)) {
    return Error{
        fmt::format("model name \"{}\"; names have 1 to {} of letters, digits, '.', '_' "
                    "and '-'",
                    spec.name, kMaxModelNameBytes)};
  }
  if (auto sound = check_features(spec); !sound) return sound.error();
  if (const auto method = find_method(spec.learner)) spec.learner = (*method)->name;
  const auto served = served_learners();
  if (std::find(served.begin(), served.end(), spec.learner) == served.end()) {
    return Error{fmt::format("learner \"{}\"; those that can be served: {}", spec.learner,
                             fmt::join(served, ", "))};
  }
  if (spec.shown == 0 || spec.shown > kMaxShown) {
    return Error{fmt::format("k {}; it is 1 to {}", spec.shown, kMaxShown)};
  }
  if (!(spec.temperature >= 1e-3 && spec.temperature <= 1e3)) {
    return Error{fmt::format("temperature {}; it is 0.001 to 1000", spec.temperature)};
  }
  if (spec.open_seconds == 0 || spec.open_seconds > kMaxOpenSeconds) {
    return Error{fmt::format("open_seconds {}; it is 1 to {}", spec.open_seconds, kMaxOpenSeconds)};
  }
  if (auto scaling = parse_scaling(spec.scaling); !scaling) return scaling.error();
  if (auto sound = check_logging(spec.logging); !sound) return sound.error();
  if (!has_network(spec.ranker.kind)) {
    spec.ranker.hidden.clear();
    spec.ranker.activation = RankerSpec{}.activation;
  }
  if (const std::uint64_t count = parameter_count(spec.ranker); count > kMaxServedParameters) {
    return Error{fmt::format("a ranker of {} parameters; a served one has at most {}", count,
                             kMaxServedParameters)};
  }
  if (auto learner = make_learner_of(spec); !learner) return learner.error();
  spec.settings = canonical_settings(spec.learner, spec.settings);
  if (spec.feature_ids.empty()) {
    for (std::uint32_t id = 1; id <= spec.ranker.feature_count; ++id)
      spec.feature_ids.push_back(id);
  }
  return spec;
}

}  // namespace plackett::serving
