#include "serving/experiment.h"

#include <fmt/format.h>

#include <cmath>

#include "base/attempt.h"
#include "base/hash.h"
#include "serving/writer_thread.h"

namespace plackett::serving {
namespace {

// The challenger of an interleaved experiment: its sums are those of both arms.
std::uint32_t challenger_of(const Experiment& experiment) { return 1 - experiment.spec.baseline; }

std::int64_t key_of(const Experiment& experiment, std::int64_t list, std::string_view unit) {
  const std::uint64_t key = unit.empty() ? checksum(fmt::format("{} list {}", experiment.id, list))
                                         : unit_key(experiment.id, unit);
  return static_cast<std::int64_t>(key);
}

}  // namespace

std::uint64_t unit_key(std::int64_t experiment, std::string_view unit) {
  return checksum(fmt::format("{} unit {}", experiment, unit));
}

std::uint32_t Experiment::arm_of(std::uint64_t key) const {
  const double at = std::ldexp(static_cast<double>(key >> 11), -53);
  double end = 0;
  for (std::uint32_t arm = 0; arm + 1 < spec.arms.size(); ++arm) {
    end += spec.arms[arm].share;
    if (at < end) return arm;
  }
  return static_cast<std::uint32_t>(spec.arms.size() - 1);
}

std::uint32_t Experiment::find_arm(std::string_view name) const {
  for (std::uint32_t arm = 0; arm < spec.arms.size(); ++arm) {
    if (spec.arms[arm].name == name) return arm;
  }
  return kNone;
}

double click_gain(ValueMetric metric, std::uint32_t rank, bool first) {
  switch (metric) {
    case ValueMetric::kClickThrough:
      return first ? 1 : 0;
    case ValueMetric::kDcg:
      return 1 / std::log2(static_cast<double>(rank) + 2);
    case ValueMetric::kClicks:
    case ValueMetric::kEvents:
      return 1;
  }
  return 0;
}

void count_list(Transaction& transaction, const Experiment& experiment, const ImpressionRow& list) {
  if (experiment.spec.design == Design::kInterleave) {
    for (std::uint32_t arm = 0; arm < 2; ++arm) ++transaction.arm(experiment.id, arm).impressions;
    return;
  }
  const std::uint32_t arm = experiment.find_arm(list.in.arm);
  if (arm == Experiment::kNone) return;
  ArmSums& sums = transaction.arm(experiment.id, arm);
  ++sums.impressions;
  // A list without a unit has a row once it is worth something.
  if (list.unit.empty()) return sums.units.change({}, {.x = 1});
  transaction.unit(experiment.id, key_of(experiment, list.id, list.unit), arm).more.x += 1;
}

void count_gain(Transaction& transaction, const Experiment& experiment, std::int64_t list,
                std::string_view unit, const ArmOfList& in, const Gain& gain) {
  const std::int64_t key = key_of(experiment, list, unit);
  if (experiment.spec.design == Design::kSplit) {
    const std::uint32_t arm = experiment.find_arm(in.arm);
    if (arm == Experiment::kNone) return;
    if (gain.click) ++transaction.arm(experiment.id, arm).clicks;
    if (gain.value == 0) return;
    UnitChange& change = transaction.unit(experiment.id, key, arm);
    if (unit.empty()) change.start = {.x = 1};
    change.more.y += gain.value;
    return;
  }
  const char team = gain.rank < in.teams.size() ? in.teams[gain.rank] : '-';
  if (team == '-') return;
  const std::uint32_t challenger = challenger_of(experiment);
  const bool is_challenger = team == '1';
  if (gain.click) {
    ++transaction.arm(experiment.id, is_challenger ? challenger : 1 - challenger).clicks;
  }
  if (gain.value == 0) return;
  UnitTotals& more = transaction.unit(experiment.id, key, challenger).more;
  (is_challenger ? more.y : more.x) += gain.value;
}

}  // namespace plackett::serving
