#include "serving/experiment_report.h"

#include <algorithm>
#include <cmath>

#include "serving/promotion.h"
#include "serving/stored_experiment.h"

namespace plackett::serving {
namespace {

ArmSums sums_of(const std::vector<ArmSums>& sums, std::uint32_t arm) {
  return arm < sums.size() ? sums[arm] : ArmSums{};
}

SequenceOptions options_of(const ExperimentSpec& spec, const LogSettings& logging) {
  SequenceOptions options{.level = spec.level,
                          .challengers = static_cast<std::uint32_t>(spec.arms.size() - 1)};
  if (spec.metric != ValueMetric::kEvents) return options;
  for (const NamedWeight& event : logging.events) {
    options.largest_event = std::max(options.largest_event, std::abs(event.weight));
  }
  // Otherwise what can come is like the clicks that do.
  if (options.largest_event <= 1) options.largest_event = 0;
  return options;
}

// What a list of the arm was worth.
std::optional<double> value_of(const ExperimentSpec& spec, const std::vector<ArmSums>& sums,
                               std::uint32_t arm) {
  const ArmSums own = sums_of(sums, arm);
  if (own.impressions == 0) return std::nullopt;
  const auto lists = static_cast<double>(own.impressions);
  if (spec.design == Design::kSplit) return own.units.y / lists;
  const RatioSums credits = sums_of(sums, 1 - spec.baseline).units;
  return (arm == spec.baseline ? credits.x : credits.y) / lists;
}

// Value and lift.
ArmInfo measured(const ExperimentSpec& spec, const LogSettings& logging,
                 const std::vector<ArmSums>& sums, std::uint32_t arm) {
  ArmInfo info;
  info.value = value_of(spec, sums, arm);
  if (arm == spec.baseline) return info;
  ArmComparison comparison = compare_arm(spec, logging, sums, arm);
  info.lift = comparison.lift;
  info.no_lift = std::move(comparison.no_lift);
  return info;
}

std::vector<ArmInfo::Detects> detects(const ExperimentSpec& spec, const LogSettings& logging,
                                      const std::vector<ArmSums>& sums, std::uint32_t arm,
                                      double elapsed_seconds) {
  std::vector<ArmInfo::Detects> all;
  if (!(elapsed_seconds > 0)) return all;
  const ArmComparison comparison = compare_arm(spec, logging, sums, arm);
  for (const double effect : {0.01, 0.02, 0.05, 0.1}) {
    if (const auto seconds =
            seconds_until_shown(effect, elapsed_seconds, comparison, options_of(spec, logging))) {
      all.push_back({effect, *seconds});
    }
  }
  return all;
}

// An arm is compared with the baseline of its own time: what came after its stop is no matter.
ArmInfo as_stopped(const ExperimentState::Stopped& stopped) {
  ArmInfo info;
  info.value = stopped.value;
  info.lift = stopped.lift;
  info.no_lift = stopped.no_lift;
  return info;
}

}  // namespace

ArmComparison compare_arm(const ExperimentSpec& spec, const LogSettings& logging,
                          const std::vector<ArmSums>& sums, std::uint32_t arm) {
  const ArmNames names{spec.arms[spec.baseline].name, spec.arms[arm].name};
  const SequenceOptions options = options_of(spec, logging);
  const RatioSums own = sums_of(sums, arm).units;
  if (spec.design == Design::kInterleave) return compare_interleaved(own, names, options);
  return compare_split(sums_of(sums, spec.baseline).units, own, names, options);
}

std::optional<double> greatest_lift(const ExperimentSpec& spec, const LogSettings& logging,
                                    const std::vector<ArmSums>& sums, std::uint32_t arm) {
  const SequenceOptions options = options_of(spec, logging);
  const RatioSums own = sums_of(sums, arm).units;
  if (spec.design == Design::kInterleave) return greatest_lift_of_interleaved(own, options);
  return greatest_lift_of_split(sums_of(sums, spec.baseline).units, own, options);
}

ExperimentInfo describe(const StoredExperiment& stored, const LogSettings& logging,
                        const std::vector<ArmSums>& sums, const std::vector<ArmsPoint>& points,
                        std::int64_t now) {
  const auto& [row, spec, state] = stored;
  ExperimentInfo info;
  info.spec = spec;
  info.started_at = row.started_at;
  info.ended_at = row.ended_at;
  info.ended_because = state.ended_because;
  info.promoted = state.promoted;
  const double elapsed =
      static_cast<double>((row.ended_at == 0 ? now : row.ended_at) - row.started_at) / 1000;
  for (std::uint32_t arm = 0; arm < spec.arms.size(); ++arm) {
    const ExperimentState::Stopped* stopped = state.find_stopped(spec.arms[arm].name);
    ArmInfo one = stopped != nullptr && stopped->at != 0 ? as_stopped(*stopped)
                                                         : measured(spec, logging, sums, arm);
    one.spec = spec.arms[arm];
    if (stopped != nullptr) one.stopped_because = stopped->because;
    const ArmSums own = sums_of(sums, arm);
    one.impressions = own.impressions;
    one.clicks = own.clicks;
    const RatioSums& units =
        spec.design == Design::kSplit ? own.units : sums_of(sums, 1 - spec.baseline).units;
    one.units = static_cast<std::uint64_t>(units.units);
    if (arm != spec.baseline && row.ended_at == 0 && stopped == nullptr) {
      one.detects = detects(spec, logging, sums, arm, elapsed);
    }
    info.arms.push_back(std::move(one));
  }
  for (const ArmsPoint& point : points) {
    ExperimentPoint shown{.at = point.at, .arms = {}};
    for (std::uint32_t arm = 0; arm < spec.arms.size(); ++arm) {
      const ExperimentState::Stopped* stopped = state.find_stopped(spec.arms[arm].name);
      const bool is_after = stopped != nullptr && stopped->at != 0 && point.at >= stopped->at;
      shown.arms.push_back(is_after ? as_stopped(*stopped)
                                    : measured(spec, logging, point.arms, arm));
    }
    info.points.push_back(std::move(shown));
  }
  return info;
}

ExperimentState::Stopped stopped_now(const ExperimentSpec& spec, const LogSettings& logging,
                                     const std::vector<ArmSums>& sums, std::uint32_t arm) {
  const ArmInfo now = measured(spec, logging, sums, arm);
  return {.arm = spec.arms[arm].name, .value = now.value, .lift = now.lift, .no_lift = now.no_lift};
}

namespace {

// Of all of a model's experiments, or the one of a name.
std::vector<ExperimentInfo> read_experiments(const ServiceParts& parts, const Model& model,
                                             std::optional<std::string_view> name) {
  const std::lock_guard lock(parts.reader_mutex);
  StoreReader& store = *parts.reader;
  std::vector<ExperimentInfo> all;
  const auto rows = experiments_of(model, store);
  const Promotions promotions = promotions_of(rows);
  for (const ExperimentRow& row : rows) {
    if (name && row.name != *name) continue;
    const auto points = name ? take(store.arm_points(row.id)) : std::vector<ArmsPoint>();
    const StoredExperiment stored = parse_stored(row);
    ExperimentInfo info = describe(stored, model.logging(), take(store.arm_sums(row.id)), points,
                                   parts.options.clock());
    info.can_undo = undo_refusal(stored, promotions).empty();
    for (ArmInfo& arm : info.arms) arm.model = maker_name(model, info.spec, arm.spec);
    all.push_back(std::move(info));
  }
  return all;
}

}  // namespace

Result<std::vector<ExperimentInfo>> Service::experiments(const Model& model) const {
  return attempt([&] {
    auto all = read_experiments(*parts_, model, std::nullopt);
    std::reverse(all.begin(), all.end());
    return all;
  });
}

Result<ExperimentInfo> Service::experiment(const Model& model, std::string_view name) const {
  return attempt([&] {
    auto found = read_experiments(*parts_, model, name);
    if (found.empty()) {
      throw Failed{{ErrorCode::kNotFound, fmt::format("unknown experiment \"{}\"", name)}};
    }
    return std::move(found.front());
  });
}

}  // namespace plackett::serving
