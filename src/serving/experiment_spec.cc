#include "serving/experiment_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/attempt.h"
#include "serving/json_integer.h"
#include "serving/model_spec.h"

namespace plackett::serving {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 2> kDesigns{"split", "interleave"};

[[noreturn]] void refuse(std::string place, std::string message) {
  throw Failed{{ErrorCode::kInvalid, std::move(message), std::move(place)}};
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// The number at the beginning of the text, which is removed.
template <typename T>
std::optional<T> take_number(std::string_view& text) {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text = trimmed(text.substr(static_cast<std::size_t>(end - text.data())));
  return number;
}

// "5 %", or "0".
std::optional<double> parse_percent(std::string_view text) {
  text = trimmed(text);
  const auto number = take_number<double>(text);
  if (!number || !std::isfinite(*number)) return std::nullopt;
  if (text == "%") return *number / 100;
  return text.empty() && *number == 0 ? number : std::nullopt;
}

// "lower > 0" or "lower > 2 %".
std::optional<double> parse_margin(std::string_view text) {
  text = trimmed(text);
  constexpr std::string_view kLower = "lower";
  if (!text.starts_with(kLower)) return std::nullopt;
  text = trimmed(text.substr(kLower.size()));
  if (!text.starts_with('>')) return std::nullopt;
  const auto margin = parse_percent(text.substr(1));
  return margin && *margin >= 0 && *margin <= 10 ? margin : std::nullopt;
}

// "90s", "30m", "12h" or "3d", in ms.
std::optional<std::int64_t> parse_duration(std::string_view text) {
  text = trimmed(text);
  const auto count = take_number<std::uint32_t>(text);
  constexpr std::int64_t kMost = std::int64_t{3650} * 24 * 3600 * 1000;
  constexpr std::array<std::pair<char, std::int64_t>, 4> kUnits{
      {{'s', 1000}, {'m', 60'000}, {'h', 3'600'000}, {'d', 86'400'000}}};
  if (!count || text.size() != 1) return std::nullopt;
  for (const auto& [unit, ms] : kUnits) {
    if (text.front() == unit && *count <= kMost / ms) return *count * ms;
  }
  return std::nullopt;
}

void check_rules(const ExperimentSpec& spec) {
  if (spec.promote && !parse_margin(spec.promote->when)) {
    refuse("promote.when",
           fmt::format("\"{}\"; expected \"lower > 0\", or a margin such as \"lower > 2 %\"",
                       spec.promote->when));
  }
  if (spec.promote && !parse_duration(spec.promote->after)) {
    refuse("promote.after",
           fmt::format("\"{}\"; expected a time such as \"30m\", \"12h\" or \"3d\", up to 3650d",
                       spec.promote->after));
  }
  if (!spec.guard) return;
  const auto drop = parse_percent(spec.guard->drop);
  if (!drop || !(*drop >= 0 && *drop < 1)) {
    refuse("guard.drop",
           fmt::format("\"{}\"; expected a share such as \"5 %\", at least 0 and below 100 %",
                       spec.guard->drop));
  }
}

void check_arm(const ExperimentSpec& spec, std::size_t at) {
  const ArmSpec& arm = spec.arms[at];
  const auto place = [at](const char* field) { return fmt::format("arms[{}].{}", at, field); };
  if (!is_model_name(arm.name)) {
    refuse(place("name"), fmt::format("\"{}\"; expected 1 to {} letters, digits, '.', '_' or '-'",
                                      arm.name, kMaxModelNameBytes));
  }
  for (std::size_t other = 0; other < at; ++other) {
    if (spec.arms[other].name == arm.name) {
      refuse(place("name"), fmt::format("\"{}\" is also the name of arms[{}]", arm.name, other));
    }
  }
  const auto policy = parse_arm_policy(arm.policy);
  if (!policy) refuse(place("policy"), policy.error().message);
  if ((policy->source == ArmSource::kGiven) != (arm.mode == Mode::kGiven)) {
    refuse(place("mode"), "\"given\" has no mode; a model's is \"explore\" or \"exploit\"");
  }
  if (arm.mode > Mode::kGiven) refuse(place("mode"), "expected \"explore\" or \"exploit\"");
  if (spec.design == Design::kInterleave) {
    if (arm.share != 0)
      refuse(place("share"), "interleaved arms have no share; each list has both");
    if (arm.mode == Mode::kExplore) {
      refuse(place("mode"), "interleaved orders are sorted by score: \"exploit\"");
    }
  } else if (!(arm.share > 0 && arm.share < 1)) {
    refuse(place("share"), fmt::format("{}; expected a share above 0 and below 1", arm.share));
  }
}

}  // namespace

Result<ArmPolicy> parse_arm_policy(std::string_view text) {
  if (text == "model") return ArmPolicy{};
  if (text == "given") return ArmPolicy{.source = ArmSource::kGiven};
  constexpr std::string_view kSnapshot = "snapshot:";
  constexpr std::string_view kOther = "model:";
  if (text.starts_with(kSnapshot)) {
    std::string_view left = text.substr(kSnapshot.size());
    const bool digit = !left.empty() && left.front() >= '0' && left.front() <= '9';
    const auto id = take_number<std::int64_t>(left);
    if (digit && id && *id > 0 && left.empty()) {
      return ArmPolicy{.source = ArmSource::kSnapshot, .snapshot = *id};
    }
  } else if (text.starts_with(kOther) && is_model_name(text.substr(kOther.size()))) {
    return ArmPolicy{.source = ArmSource::kOther, .model = std::string(text.substr(kOther.size()))};
  }
  return Error{fmt::format(
      "\"{}\"; expected \"model\", \"given\", \"snapshot:ID\" or \"model:NAME\"", text)};
}

std::string_view name_of(Design design) { return kDesigns.at(static_cast<std::size_t>(design)); }

Result<Design> parse_design(std::string_view name) {
  const auto found = std::find(kDesigns.begin(), kDesigns.end(), name);
  if (found != kDesigns.end()) return static_cast<Design>(found - kDesigns.begin());
  return Error{fmt::format("\"{}\"; expected split or interleave", name)};
}

Result<ExperimentSpec> check(ExperimentSpec spec) {
  return attempt([&] {
    if (!is_model_name(spec.name)) {
      refuse("experiment",
             fmt::format("\"{}\"; expected a name of 1 to {} letters, digits, '.', '_' or '-'",
                         spec.name, kMaxModelNameBytes));
    }
    const std::size_t most = spec.design == Design::kInterleave ? 2 : kMaxArms;
    if (spec.arms.size() < 2 || spec.arms.size() > most) {
      refuse("arms", fmt::format("{} arms; expected {}", spec.arms.size(),
                                 most == 2 ? "2" : fmt::format("2 to {}", most)));
    }
    for (std::size_t at = 0; at < spec.arms.size(); ++at) check_arm(spec, at);
    double shares = 0;
    for (const ArmSpec& arm : spec.arms) shares += arm.share;
    if (spec.design == Design::kSplit && !(std::abs(shares - 1) <= 1e-9)) {
      refuse("arms", fmt::format("the shares sum to {}; expected 1", shares));
    }
    if (spec.baseline >= spec.arms.size()) refuse("baseline", "expected the name of an arm");
    const ArmSpec& baseline = spec.arms[spec.baseline];
    if (baseline.policy != "model" && baseline.policy != "given") {
      refuse("baseline", fmt::format("\"{}\" has the policy \"{}\"; the baseline is what is served "
                                     "today, \"model\" or \"given\"",
                                     baseline.name, baseline.policy));
    }
    if (!(spec.level >= 0.5 && spec.level <= 0.9999)) {
      refuse("level", fmt::format("{}; expected 0.5 to 0.9999", spec.level));
    }
    check_rules(spec);
    return std::move(spec);
  });
}

std::string arm_model_name(std::string_view model, std::string_view experiment,
                           std::string_view arm) {
  return fmt::format("{}.{}.{}", model, experiment, arm);
}

double margin_of(const PromotionRule& rule) { return parse_margin(rule.when).value(); }
std::int64_t after_ms(const PromotionRule& rule) { return parse_duration(rule.after).value(); }
double drop_of(const GuardRule& rule) { return parse_percent(rule.drop).value(); }

std::string to_json(const ExperimentSpec& spec) {
  Json object{{"name", spec.name},
              {"baseline", spec.baseline},
              {"design", name_of(spec.design)},
              {"metric", name_of(spec.metric)},
              {"level", spec.level}};
  for (const ArmSpec& arm : spec.arms) {
    object["arms"].push_back({{"name", arm.name},
                              {"policy", arm.policy},
                              {"share", arm.share},
                              {"mode", static_cast<int>(arm.mode)}});
  }
  if (spec.promote) {
    object["promote"] = {{"when", spec.promote->when}, {"after", spec.promote->after}};
  }
  if (spec.guard) object["guard"] = {{"drop", spec.guard->drop}};
  return object.dump();
}

Result<ExperimentSpec> parse_experiment_spec(std::string_view text) {
  try {
    return attempt([&] {
      const Json object = Json::parse(text);
      ExperimentSpec spec;
      object.at("name").get_to(spec.name);
      const std::int64_t baseline = integer_of(object.at("baseline"));
      if (baseline < 0 || baseline >= std::int64_t{kMaxArms}) refuse("baseline", "no such arm");
      spec.baseline = static_cast<std::uint32_t>(baseline);
      spec.design = take(parse_design(object.at("design").get<std::string>()));
      spec.metric = take(parse_value_metric(object.at("metric").get<std::string>()));
      object.at("level").get_to(spec.level);
      for (const Json& arm : object.at("arms")) {
        const std::int64_t mode = integer_of(arm.at("mode"));
        if (mode < 0 || mode > static_cast<int>(Mode::kGiven)) refuse("mode", "no such mode");
        spec.arms.push_back({.name = arm.at("name").get<std::string>(),
                             .policy = arm.at("policy").get<std::string>(),
                             .share = arm.at("share").get<double>(),
                             .mode = static_cast<Mode>(mode)});
      }
      if (object.contains("promote")) {
        spec.promote = {.when = object["promote"].at("when").get<std::string>(),
                        .after = object["promote"].at("after").get<std::string>()};
      }
      if (object.contains("guard")) spec.guard = {object["guard"].at("drop").get<std::string>()};
      return take(check(std::move(spec)));
    });
  } catch (const Json::exception& error) {
    return Error{fmt::format("its spec in the store can't be read: {}", fault_of(error))};
  }
}

}  // namespace plackett::serving
