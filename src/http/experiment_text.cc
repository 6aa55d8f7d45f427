#include "http/model_text.h"

namespace plackett::http {
namespace {

using serving::ArmInfo;
using serving::ExperimentInfo;

// The interval alone, or all of it.
enum class Part : std::uint8_t { kInterval, kAll };

void write_lift(JsonWriter& json, const std::optional<Lift>& lift, Part part) {
  if (!lift) return json.value(std::optional<double>());
  json.object([&] {
    json.fields("value", lift->value, "low", lift->low, "high", lift->high);
    if (part == Part::kAll) {
      json.fields("p_value", lift->p_value, "anytime_p_value", lift->anytime_p_value);
    }
  });
}

void write_arm(JsonWriter& json, const ExperimentInfo& info, const ArmInfo& arm) {
  const bool given = arm.spec.mode == serving::Mode::kGiven;
  const bool split = info.spec.design == serving::Design::kSplit;
  const auto write_detects = [&](const ArmInfo::Detects& one) {
    json.object("effect", one.effect, "seconds", one.seconds);
  };
  json.object(
      "name", arm.spec.name, "policy", arm.spec.policy,                               //
      "mode", given ? std::nullopt : std::optional(serving::name_of(arm.spec.mode)),  //
      "share", split ? std::optional(arm.spec.share) : std::nullopt,                  //
      "model", null_if_empty(arm.model),                                              //
      "stopped_because", null_if_empty(arm.stopped_because),                          //
      "impressions", arm.impressions, "units", arm.units, "clicks", arm.clicks,       //
      "value", arm.value, "lift", [&] { write_lift(json, arm.lift, Part::kAll); },    //
      "no_lift", null_if_empty(arm.no_lift),                                          //
      "detects", [&] { json.array(arm.detects, write_detects); });
}

}  // namespace

void write_json(JsonWriter& json, const ExperimentInfo& info) {
  const auto& spec = info.spec;
  const auto write_point = [&](const serving::ExperimentPoint& point) {
    const auto write_one = [&, at = std::size_t{0}](const ArmInfo& arm) mutable {
      json.object("name", spec.arms[at++].name, "value", arm.value,  //
                  "lift", [&] { write_lift(json, arm.lift, Part::kInterval); });
    };
    json.object("at", point.at, "arms", [&] { json.array(point.arms, write_one); });
  };
  const auto write_promote = [&] {
    if (!spec.promote) return json.value(std::optional<double>());
    json.object("when", spec.promote->when, "after", spec.promote->after);
  };
  const auto write_guard = [&] {
    if (!spec.guard) return json.value(std::optional<double>());
    json.object("drop", spec.guard->drop);
  };
  const auto ended_at = info.ended_at == 0 ? std::nullopt : std::optional(info.ended_at);
  json.object(
      "name", spec.name, "state", info.ended_at == 0 ? "running" : "ended",  //
      "started_at", info.started_at, "ended_at", ended_at,                   //
      "ended_because", null_if_empty(info.ended_because),                    //
      "design", serving::name_of(spec.design), "metric", name_of(spec.metric), "level", spec.level,
      "promote", write_promote, "guard", write_guard,                       //
      "baseline", spec.arms[spec.baseline].name,                            //
      "promoted", null_if_empty(info.promoted), "can_undo", info.can_undo,  //
      "arms",
      [&] { json.array(info.arms, [&](const ArmInfo& arm) { write_arm(json, info, arm); }); },
      "points", [&] { json.array(info.points, write_point); });
}

}  // namespace plackett::http
