// How a run fares under drift: from what users were shown, window by window. What the measures mean
// for a reader: docs/drift.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plackett/drift.h"
#include "plackett/record.h"

namespace plackett {

// A run has about this many windows.
inline constexpr std::uint64_t kWindows = 100;
// So many windows in a row are a level, of those before a drift and of those that regain it: their
// online NDCG as a share of the best linear ranker's.
inline constexpr std::size_t kLevelWindows = 5;
// The part of the level before a drift that counts as regained.
inline constexpr double kRegained = 0.95;

// Impressions per window. What is left over at the end of a run belongs to its last window.
std::uint64_t window_length(std::uint64_t impressions);
// Windows per run. Requires: impressions > 0.
std::size_t window_count(std::uint64_t impressions);

// Collects the windows of a run.
class WindowMeans {
 public:
  explicit WindowMeans(std::uint64_t impressions) : impressions_(impressions) {}

  // One impression: what was shown, and what the best linear ranker of its world would have shown.
  void add(double online, double best);
  // Means are rounded to six decimals, as they are stored.
  [[nodiscard]] const std::vector<Window>& windows() const { return windows_; }

 private:
  std::uint64_t impressions_;
  std::uint64_t done_ = 0;
  Window sum_;
  std::vector<Window> windows_;
};

// Of a finished run. Requires: a drift or more; a record with window_count(impressions) windows.
DriftMeasures drift_measures(const RunRecord& record, std::span<const Drift> drifts,
                             std::uint64_t impressions);

// Of all runs of a cell. Requires: `measures` holds one per record; at least one.
DriftSummary summarise_drift(std::span<const RunRecord> records,
                             const std::vector<DriftMeasures>& measures,
                             std::span<const Drift> drifts, std::uint64_t impressions);

}  // namespace plackett
