#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "http/requests.h"

namespace plackett::http {
namespace {

using serving::ArmSpec;
using serving::ExperimentSpec;
using serving::Mode;

// Names and rules are short; nothing longer is copied, or told back.
std::string short_text(JsonReader& json, JsonValue value) {
  constexpr std::size_t kMostBytes = 256;
  const std::string_view text = json.string(value);
  if (text.size() > kMostBytes) {
    json.wrong(fmt::format("a text of {} bytes; expected at most {}", text.size(), kMostBytes));
  }
  return std::string(text);
}

// What `parse` makes of a string, or a refusal at the reader's place.
template <typename Parse>
auto parsed(JsonReader& json, JsonValue value, const Parse& parse) {
  auto result = parse(short_text(json, value));
  if (!result) json.wrong(result.error().message);
  return std::move(result).value();
}

Mode read_arm_mode(JsonReader& json, JsonValue value) {
  const std::string_view name = json.string(value);
  for (const Mode mode : {Mode::kExplore, Mode::kExploit}) {
    if (name == serving::name_of(mode)) return mode;
  }
  json.wrong(fmt::format("{}; expected \"explore\" or \"exploit\"", JsonReader::excerpt(value)));
}

// `has_mode`: whether it names one.
ArmSpec read_arm(JsonReader& json, JsonValue value, bool& has_mode) {
  ArmSpec arm;
  std::optional<Mode> mode;
  json.fields(value, Key{"name", [&](JsonValue inner) { arm.name = short_text(json, inner); }},
              Key{"policy", [&](JsonValue inner) { arm.policy = short_text(json, inner); }},
              Key{"share", [&](JsonValue inner) { arm.share = json.number(inner); }},
              Key{"mode", [&](JsonValue inner) { mode = read_arm_mode(json, inner); }});
  if (arm.name.empty()) json.wrong("an arm needs a name");
  has_mode = mode.has_value();
  if (arm.policy == "given") {
    if (mode) json.wrong_at("mode", "\"given\" has no mode");
    arm.mode = Mode::kGiven;
  } else if (mode) {
    arm.mode = *mode;
  }
  return arm;
}

}  // namespace

Result<ExperimentSpec> read_experiment_request(JsonReader& json, JsonText body, std::string name) {
  return json.read(body, [&](JsonValue root) {
    ExperimentSpec spec;
    spec.name = std::move(name);
    std::string baseline;
    std::vector<bool> has_mode;  // per arm
    const auto read_arms = [&](std::uint32_t, JsonValue value) {
      bool mode = false;
      spec.arms.push_back(read_arm(json, value, mode));
      has_mode.push_back(mode);
    };
    const auto read_promote = [&](JsonValue value) {
      auto& rule = spec.promote.emplace();
      const std::uint32_t seen = json.fields(
          value, Key{"when", [&](JsonValue inner) { rule.when = short_text(json, inner); }},
          Key{"after", [&](JsonValue inner) { rule.after = short_text(json, inner); }});
      if (seen != 0b11) json.wrong("a rule needs \"when\" and \"after\"");
    };
    const auto read_guard = [&](JsonValue value) {
      auto& rule = spec.guard.emplace();
      const std::uint32_t seen = json.fields(
          value, Key{"drop", [&](JsonValue inner) { rule.drop = short_text(json, inner); }});
      if (seen == 0) json.wrong("a guard needs \"drop\"");
    };
    json.fields(
        root,
        Key{"arms", [&](JsonValue value) { json.array(value, 4 * serving::kMaxArms, read_arms); }},
        Key{"baseline", [&](JsonValue value) { baseline = short_text(json, value); }},
        Key{"design",
            [&](JsonValue value) { spec.design = parsed(json, value, serving::parse_design); }},
        Key{"metric",
            [&](JsonValue value) { spec.metric = parsed(json, value, parse_value_metric); }},
        Key{"level", [&](JsonValue value) { spec.level = json.number(value); }},
        Key{"promote",
            [&](JsonValue value) {
              if (!json.is_null(value)) read_promote(value);
            }},
        Key{"guard", [&](JsonValue value) {
              if (!json.is_null(value)) read_guard(value);
            }});
    if (!baseline.empty()) {
      const auto found = std::find_if(spec.arms.begin(), spec.arms.end(),
                                      [&](const ArmSpec& arm) { return arm.name == baseline; });
      if (found == spec.arms.end()) {
        json.wrong_at("baseline", fmt::format("\"{}\" is not the name of an arm", baseline));
      }
      spec.baseline = static_cast<std::uint32_t>(found - spec.arms.begin());
    }
    // Interleaved orders are sorted by score.
    for (std::size_t at = 0; at < spec.arms.size(); ++at) {
      ArmSpec& arm = spec.arms[at];
      if (spec.design != serving::Design::kInterleave || arm.mode != Mode::kExplore) continue;
      if (!has_mode[at]) arm.mode = Mode::kExploit;  // what was asked for is refused later
    }
    return spec;
  });
}

Result<std::string> read_promote_request(JsonReader& json, JsonText body) {
  return json.read(body, [&](JsonValue root) {
    std::string arm;
    json.fields(root, Key{"arm", [&](JsonValue value) { arm = short_text(json, value); }});
    if (arm.empty()) json.wrong_at("arm", "no arm; give its name");
    return arm;
  });
}

}  // namespace plackett::http
