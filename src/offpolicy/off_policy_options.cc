// The names of metrics and estimators, and the declared options of off-policy evaluation.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/declare_option.h"
#include "offpolicy/estimators.h"
#include "plackett/off_policy.h"

namespace plackett {
namespace {

constexpr std::array<std::string_view, 4> kMetricNames{"clicks", "click-through", "dcg", "events"};
constexpr std::array<std::string_view, kEstimatorCount> kEstimatorNames{
    "prefix-ips", "self-normalised", "doubly-robust", "exposure"};

Result<std::vector<std::string>> parse_estimators(std::string_view text) {
  std::vector<std::string> names;
  for (const std::string_view name : option_value::split(text)) names.emplace_back(name);
  if (const auto known = estimators_of(names); !known) return known.error();
  return names;
}

Result<double> parse_level(std::string_view text) {
  auto level = option_value::read_number(text, {});
  if (level && *level >= 0.5 && *level <= 0.9999) return level;
  return Error{fmt::format("\"{}\"; expected a number from 0.5 to 0.9999", text)};
}

}  // namespace

Result<Estimators> estimators_of(const std::vector<std::string>& names) {
  Estimators asked{};
  for (const std::string& name : names) {
    const auto found = std::find(kEstimatorNames.begin(), kEstimatorNames.end(), name);
    if (found == kEstimatorNames.end()) {
      return Error{fmt::format("\"{}\"; expected {}", name, fmt::join(kEstimatorNames, ", "))};
    }
    asked[static_cast<std::size_t>(found - kEstimatorNames.begin())] = true;
  }
  return asked;
}

std::span<const std::string_view> value_metric_names() { return kMetricNames; }
std::string_view name_of(ValueMetric metric) {
  return kMetricNames.at(static_cast<std::size_t>(metric));
}
Result<ValueMetric> parse_value_metric(std::string_view name) {
  const auto found = std::find(kMetricNames.begin(), kMetricNames.end(), name);
  if (found == kMetricNames.end()) {
    return Error{fmt::format("\"{}\"; expected {}", name, fmt::join(kMetricNames, ", "))};
  }
  return static_cast<ValueMetric>(found - kMetricNames.begin());
}
std::span<const std::string_view> estimator_names() { return kEstimatorNames; }
std::string_view name_of(Estimator estimator) {
  return kEstimatorNames.at(static_cast<std::size_t>(estimator));
}

std::uint32_t least_bootstraps(double level) {
  constexpr double kRounding = 1e-6;  // of 1 - level
  return static_cast<std::uint32_t>(std::ceil(2 / (1 - level) - kRounding));
}

std::span<const Option<OffPolicyOptions>> off_policy_options() {
  using Options = OffPolicyOptions;
  static const std::array options{
      named_option<parse_value_metric, &Options::metric>(
          "metric", fmt::format("what a list is worth: {}", fmt::join(kMetricNames, ", "))),
      named_option<parse_estimators, &Options::estimators>(
          "estimators", fmt::format("some of {}", fmt::join(kEstimatorNames, ", "))),
      named_option<parse_level, &Options::level>("level", "of the intervals"),
      option<&Options::ranks>("ranks", "only the first ranks count; 0: all", {0, 100}),
      option<&Options::bootstraps>("bootstraps", "resampled logs", {100, 100'000}),
      option<&Options::least_lists>(
          "least-lists", "effective lists that each rank must have for an estimate", {2, 1u << 30}),
      option<&Options::seed>("seed", "of the resampling",
                             {0, std::numeric_limits<std::uint64_t>::max()}),
      option<&Options::threads>("threads", "0: one per core", {0, 1024, false})};
  return options;
}

}  // namespace plackett
