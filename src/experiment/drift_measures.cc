#include "experiment/drift_measures.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "evaluation/t_test.h"
#include "plackett/simulation.h"

namespace plackett {
namespace {

double rounded(double value) { return std::round(value * 1e6) / 1e6; }

// Where a window starts and ends.
std::uint64_t begin_of(std::size_t window, std::uint64_t impressions) {
  return window * window_length(impressions);
}
std::uint64_t end_of(std::size_t window, std::uint64_t impressions) {
  return window + 1 == window_count(impressions) ? impressions : begin_of(window + 1, impressions);
}

// The window that an impression falls into: so many windows end before it.
std::size_t window_of(std::uint64_t impression, std::uint64_t impressions) {
  const auto window = static_cast<std::size_t>(impression / window_length(impressions));
  return std::min(window, window_count(impressions) - 1);
}

// Sums over the impressions of the windows from `first` to before `end`.
Window sum_of(const std::vector<Window>& windows, std::size_t first, std::size_t end,
              std::uint64_t impressions) {
  Window sum;
  for (std::size_t at = first; at < end; ++at) {
    const auto count = static_cast<double>(end_of(at, impressions) - begin_of(at, impressions));
    sum.online += count * windows[at].online;
    sum.best += count * windows[at].best;
  }
  return sum;
}

// The mean of best - online from a window on.
double regret(const std::vector<Window>& windows, std::size_t first, std::uint64_t impressions) {
  const Window sum = sum_of(windows, first, windows.size(), impressions);
  return (sum.best - sum.online) / static_cast<double>(impressions - begin_of(first, impressions));
}

// Of the kLevelWindows windows from `first` on. Worlds differ in how hard they are, so levels are
// shares of what the best linear ranker reaches.
double level_of(const std::vector<Window>& windows, std::size_t first, std::uint64_t impressions) {
  const Window sum = sum_of(windows, first, first + kLevelWindows, impressions);
  return sum.best > 0 ? sum.online / sum.best : 0;
}

Regained regained(const std::vector<Window>& windows, std::span<const Drift> drifts,
                  std::size_t drift, std::uint64_t impressions) {
  const std::uint64_t length = window_length(impressions);
  const std::uint64_t settled = settled_at(drifts[drift]);
  const std::size_t before = window_of(drifts[drift].at, impressions);
  const auto first = static_cast<std::size_t>((settled + length - 1) / length);
  std::size_t end = windows.size();
  std::uint64_t until = impressions;
  for (const Drift& next : drifts.subspan(drift + 1)) {
    if (next.at == drifts[drift].at) continue;  // two changes at once
    end = window_of(next.at, impressions);
    until = next.at;
    break;
  }
  if (before < kLevelWindows || first + kLevelWindows > end) return {};
  const double level = level_of(windows, before - kLevelWindows, impressions);
  for (std::size_t at = first; at + kLevelWindows <= end; ++at) {
    if (level_of(windows, at, impressions) < kRegained * level) continue;
    const std::uint64_t start = begin_of(at, impressions);
    return {at == first ? 0 : static_cast<double>(start - settled), true};
  }
  return {static_cast<double>(until - settled), false};
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

std::size_t window_count(std::uint64_t impressions) {
  return static_cast<std::size_t>(impressions / window_length(impressions));
}

void WindowMeans::add(double online, double best) {
  sum_.online += online;
  sum_.best += best;
  ++done_;
  const std::size_t window = windows_.size();
  if (done_ != end_of(window, impressions_)) return;
  const auto count = static_cast<double>(done_ - begin_of(window, impressions_));
  windows_.push_back({rounded(sum_.online / count), rounded(sum_.best / count)});
  sum_ = {};
}

DriftMeasures drift_measures(const RunRecord& record, std::span<const Drift> drifts,
                             std::uint64_t impressions) {
  const std::vector<Window>& windows = record.windows;
  DriftMeasures measures;
  measures.regret = regret(windows, 0, impressions);
  // The window that a drift falls into has some of what follows it.
  const std::size_t first = window_of(drifts.front().at, impressions);
  measures.regret_after = regret(windows, first, impressions);
  measures.worst_window = std::numeric_limits<double>::infinity();
  for (std::size_t at = first; at < windows.size(); ++at) {
    measures.worst_window = std::min(measures.worst_window, windows[at].online);
  }
  for (std::size_t drift = 0; drift < drifts.size(); ++drift) {
    measures.regained.push_back(regained(windows, drifts, drift, impressions));
  }
  measures.restarts = record.restarts;
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
  summary.restarts = over_runs([](const DriftMeasures& one) {
    return one.restarts ? static_cast<double>(*one.restarts) : std::nan("");
  });
  for (std::size_t at = 0; at < drifts.size(); ++at) {
    const auto regained =
        std::count_if(measures.begin(), measures.end(),
                      [at](const DriftMeasures& one) { return one.regained[at].was_regained; });
    summary.drifts.push_back({.text = to_text(drifts[at]),
                              .at = drifts[at].at,
                              .settled = settled_at(drifts[at]),
                              .period = drifts[at].period,
                              .regained_after = over_runs([at](const DriftMeasures& one) {
                                return one.regained[at].after;
                              }),
                              .regained = static_cast<std::uint32_t>(regained)});
  }
  for (std::size_t at = 0; at < records.front().windows.size(); ++at) {
    std::vector<double> online;
    std::vector<double> best;
    for (const RunRecord& record : records) {
      online.push_back(record.windows[at].online);
      best.push_back(record.windows[at].best);
    }
    summary.windows.push_back({end_of(at, impressions), moments(online), moments(best)});
  }
  return summary;
}

}  // namespace plackett
