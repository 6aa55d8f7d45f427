// What an experiment is: policies that are tested on live traffic. Fixed when it is started.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plackett/off_policy.h"
#include "plackett/result.h"
#include "serving/store.h"

namespace plackett::serving {

inline constexpr std::size_t kMaxArms = 8;

// Where an arm's lists come from.
enum class ArmSource : std::uint8_t {
  kModel,     // "model": the experiment's own model
  kGiven,     // "given": the caller's own order
  kSnapshot,  // "snapshot:ID": a model of its own that starts from the snapshot
  kOther,     // "model:NAME": another model
};

struct ArmPolicy {
  ArmSource source = ArmSource::kModel;
  std::int64_t snapshot = 0;  // of kSnapshot
  std::string model{};        // of kOther
};
// Fails on a text of another form.
Result<ArmPolicy> parse_arm_policy(std::string_view text);

struct ArmSpec {
  std::string name;
  std::string policy = "model";
  double share = 0;            // of the units; 0 if interleaved
  Mode mode = Mode::kExplore;  // of lists by a model; kGiven: the caller's own order
  bool operator==(const ArmSpec&) const = default;
};

enum class Design : std::uint8_t {
  kSplit,       // each unit sees one arm
  kInterleave,  // each list is drafted from both arms
};
std::string_view name_of(Design design);  // "split", "interleave"
Result<Design> parse_design(std::string_view name);

// When an arm is promoted without being asked for: once the lower bound of its lift is above the
// margin, and the experiment has run that long.
struct PromotionRule {
  std::string when = "lower > 0";  // or "lower > 2 %"
  std::string after = "0s";        // such as "30m", "12h", "3d"
  bool operator==(const PromotionRule&) const = default;
};
// When an arm is stopped: once the upper bound of its lift is below this drop.
struct GuardRule {
  std::string drop = "5 %";
  bool operator==(const GuardRule&) const = default;
};

struct ExperimentSpec {
  std::string name;
  std::vector<ArmSpec> arms;
  std::uint32_t baseline = 0;  // which arm is served today: "model" or "given"
  Design design = Design::kSplit;
  ValueMetric metric = ValueMetric::kClicks;
  double level = 0.95;  // of the intervals
  std::optional<PromotionRule> promote;
  std::optional<GuardRule> guard;

  bool operator==(const ExperimentSpec&) const = default;
};

// Fails, naming the field, if something is not allowed.
Result<ExperimentSpec> check(ExperimentSpec spec);

// The model that a kSnapshot arm becomes.
std::string arm_model_name(std::string_view model, std::string_view experiment,
                           std::string_view arm);

// The numbers behind the texts of checked rules.
double margin_of(const PromotionRule& rule);
std::int64_t after_ms(const PromotionRule& rule);
double drop_of(const GuardRule& rule);

// As the store keeps it: a JSON object (docs/formats/store.md).
std::string to_json(const ExperimentSpec& spec);
// Reads and checks what to_json wrote.
Result<ExperimentSpec> parse_experiment_spec(std::string_view text);

}  // namespace plackett::serving
