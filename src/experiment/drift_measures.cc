#include "experiment/drift_measures.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "evaluation/t_test.h"
#include "plackett/simulation.h"

namespace plackett {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

double rounded(double value) { return std::round(value * 1e6) / 1e6; }

// Worlds differ in how hard they are, so levels are shares of what the best linear ranker reaches.
double level_of(std::span<const Window> windows) {
  double online = 0;
  double best = 0;
  for (const Window& window : windows) {
    online += window.online;
    best += window.best;
  }
  return best > 0 ? online / best : 0;
}

// The mean of best - online over the impressions of the windows from `first` on. All windows but
// the last of the run are of the same length.
double regret(const std::vector<Window>& windows, std::size_t first, std::uint64_t impressions) {
  const std::uint64_t length = window_length(impressions);
  double sum = 0;
  for (std::size_t at = first; at < windows.size(); ++at) {
    const std::uint64_t begin = at * length;
    const std::uint64_t end = std::min(begin + length, impressions);
    sum += (windows[at].best - windows[at].online) * static_cast<double>(end - begin);
  }
  return sum / static_cast<double>(impressions - first * length);
}

// The first window that starts at an impression or after it.
std::size_t first_window(std::uint64_t impression, std::uint64_t length) {
  return static_cast<std::size_t>((impression + length - 1) / length);
}

// Impressions from when the drift is complete to the first level that regains the one before it;
// NaN if there is none until the next drift or the end, or if one of them is too near.
double regained_after(const std::vector<Window>& windows, std::span<const Drift> drifts,
                      std::size_t drift, std::uint64_t impressions) {
  const std::uint64_t length = window_length(impressions);
  const std::uint64_t settled = settled_at(drifts[drift]);
  const auto before = static_cast<std::size_t>(drifts[drift].at / length);
  std::size_t end = windows.size();
  for (const Drift& next : drifts.subspan(drift + 1)) {
    if (next.at == drifts[drift].at) continue;  // two changes at once
    end = std::min(end, static_cast<std::size_t>(next.at / length));
    break;
  }
  if (before < kLevelWindows) return kUnknown;
  const std::span all(windows);
  const double level = level_of(all.subspan(before - kLevelWindows, kLevelWindows));
  const std::size_t first = first_window(settled, length);
  for (std::size_t at = first; at + kLevelWindows <= end; ++at) {
    if (level_of(all.subspan(at, kLevelWindows)) < kRegained * level) continue;
    return static_cast<double>((at - first) * length);
  }
  return kUnknown;
}

Estimate estimate(const std::vector<double>& values) {
  std::vector<double> known;
  std::copy_if(values.begin(), values.end(), std::back_inserter(known),
               [](double value) { return std::isfinite(value); });
  Estimate made{.runs = static_cast<std::uint32_t>(known.size())};
  if (!known.empty()) made.mean = moments(known).mean;
  made.half_width = paired_t_test(known).half_width;
  return made;
}

}  // namespace

std::uint64_t window_length(std::uint64_t impressions) {
  return (impressions + kWindows - 1) / kWindows;
}

void WindowMeans::add(double online, double best) {
  sum_.online += online;
  sum_.best += best;
  ++done_;
  if (done_ % length_ != 0 && done_ != impressions_) return;
  const std::uint64_t begin = windows_.size() * length_;
  const auto count = static_cast<double>(done_ - begin);
  windows_.push_back({rounded(sum_.online / count), rounded(sum_.best / count)});
  sum_ = {};
}

DriftMeasures drift_measures(const std::vector<Window>& windows, std::span<const Drift> drifts,
                             std::uint64_t impressions) {
  const std::uint64_t length = window_length(impressions);
  DriftMeasures measures;
  measures.regret = regret(windows, 0, impressions);
  // The window that a drift falls into has some of what follows it.
  const auto first = static_cast<std::size_t>(drifts.front().at / length);
  measures.regret_after = regret(windows, first, impressions);
  measures.worst_window = std::numeric_limits<double>::infinity();
  for (std::size_t at = first; at < windows.size(); ++at) {
    measures.worst_window = std::min(measures.worst_window, windows[at].online);
  }
  for (std::size_t drift = 0; drift < drifts.size(); ++drift) {
    measures.regained_after.push_back(regained_after(windows, drifts, drift, impressions));
  }
  return measures;
}

DriftSummary summarise_drift(std::span<const RunRecord> records,
                             const std::vector<DriftMeasures>& measures,
                             std::span<const Drift> drifts, std::uint64_t impressions) {
  DriftSummary summary;
  const auto over_runs = [&](auto value) {
    std::vector<double> values;
    values.reserve(measures.size());
    for (const DriftMeasures& one : measures) values.push_back(value(one));
    return estimate(values);
  };
  summary.regret = over_runs([](const DriftMeasures& one) { return one.regret; });
  summary.regret_after = over_runs([](const DriftMeasures& one) { return one.regret_after; });
  summary.worst_window = over_runs([](const DriftMeasures& one) { return one.worst_window; });
  for (std::size_t at = 0; at < drifts.size(); ++at) {
    summary.drifts.push_back({.text = to_text(drifts[at]),
                              .at = drifts[at].at,
                              .settled = settled_at(drifts[at]),
                              .period = drifts[at].period,
                              .regained_after = over_runs([at](const DriftMeasures& one) {
                                return one.regained_after[at];
                              })});
  }
  const std::uint64_t length = window_length(impressions);
  for (std::size_t at = 0; at < records.front().windows.size(); ++at) {
    std::vector<double> online;
    std::vector<double> best;
    for (const RunRecord& record : records) {
      online.push_back(record.windows[at].online);
      best.push_back(record.windows[at].best);
    }
    summary.windows.push_back(
        {std::min((at + 1) * length, impressions), moments(online), moments(best)});
  }
  return summary;
}

}  // namespace plackett
