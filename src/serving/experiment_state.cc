#include "serving/experiment_state.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/attempt.h"
#include "serving/json_integer.h"

namespace plackett::serving {

using Json = nlohmann::ordered_json;

std::string ExperimentState::stopped_because(std::string_view arm) const {
  for (const Stopped& one : stopped) {
    if (one.arm == arm) return one.because;
  }
  return "";
}

std::string to_json(const ExperimentState& state) {
  Json object{{"ended_because", state.ended_because},
              {"promoted", state.promoted},
              {"promotion", state.promotion}};
  if (!state.makers.empty()) object["makers"] = state.makers;
  for (const auto& [arm, because] : state.stopped) object["stopped"][arm] = because;
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
        for (const auto& [arm, because] : object["stopped"].items()) {
          state.stopped.push_back({arm, because.get<std::string>()});
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
    return Error{fmt::format("its state in the store can't be read: {}", error.what())};
  }
}

}  // namespace plackett::serving
