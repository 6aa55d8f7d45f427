#include "serving/experiment_state.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/attempt.h"
#include "serving/json_integer.h"

namespace plackett::serving {

using Json = nlohmann::ordered_json;

namespace {

Json to_object(const ExperimentState::Stopped& stopped) {
  Json object{{"because", stopped.because}, {"at", stopped.at}};
  if (stopped.value) object["value"] = *stopped.value;
  if (!stopped.no_lift.empty()) object["no_lift"] = stopped.no_lift;
  if (stopped.lift) {
    object["lift"] = {{"value", stopped.lift->value},
                      {"low", stopped.lift->low},
                      {"high", stopped.lift->high},
                      {"p_value", stopped.lift->p_value},
                      {"anytime_p_value", stopped.lift->anytime_p_value}};
  }
  return object;
}

// Older builds have why alone.
ExperimentState::Stopped stopped_of(const std::string& arm, const Json& object) {
  if (object.is_string()) return {.arm = arm, .because = object.get<std::string>()};
  ExperimentState::Stopped stopped{.arm = arm, .because = object.at("because").get<std::string>()};
  stopped.at = integer_of(object.at("at"));
  if (object.contains("value")) stopped.value = object["value"].get<double>();
  if (object.contains("no_lift")) stopped.no_lift = object["no_lift"].get<std::string>();
  if (object.contains("lift")) {
    const auto number = [&](const char* key) { return object["lift"].at(key).get<double>(); };
    stopped.lift = Lift{number("value"), number("low"), number("high"), number("p_value"),
                        number("anytime_p_value")};
  }
  return stopped;
}

}  // namespace

const ExperimentState::Stopped* ExperimentState::find_stopped(std::string_view arm) const {
  for (const Stopped& one : stopped) {
    if (one.arm == arm) return &one;
  }
  return nullptr;
}

std::string to_json(const ExperimentState& state) {
  Json object{{"ended_because", state.ended_because},
              {"promoted", state.promoted},
              {"promotion", state.promotion}};
  if (!state.makers.empty()) object["makers"] = state.makers;
  for (const auto& one : state.stopped) object["stopped"][one.arm] = to_object(one);
  if (state.before) {
    object["before"] = {{"serves", static_cast<int>(state.before->serves)},
                        {"snapshot", state.before->snapshot}};
  }
  return object.dump();
}

Result<ExperimentState> parse_experiment_state(std::string_view text) {
  try {
    return attempt([&] {
      const Json object = Json::parse(text);
      ExperimentState state;
      object.at("ended_because").get_to(state.ended_because);
      object.at("promoted").get_to(state.promoted);
      state.promotion = integer_of(object.at("promotion"));
      if (object.contains("makers")) {
        for (const Json& id : object["makers"]) state.makers.push_back(integer_of(id));
      }
      if (object.contains("stopped")) {
        for (const auto& [arm, one] : object["stopped"].items()) {
          state.stopped.push_back(stopped_of(arm, one));
        }
      }
      if (object.contains("before")) {
        const std::int64_t serves = integer_of(object["before"].at("serves"));
        if (serves < 0 || serves > static_cast<int>(Mode::kGiven)) {
          throw Failed{{ErrorCode::kInvalid, "before: no such mode"}};
        }
        state.before = {static_cast<Mode>(serves), integer_of(object["before"].at("snapshot"))};
      }
      return state;
    });
  } catch (const Json::exception& error) {
    return Error{fmt::format("its state in the store can't be read: {}", fault_of(error))};
  }
}

}  // namespace plackett::serving
