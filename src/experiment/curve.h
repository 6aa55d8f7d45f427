// The offline curve of a run: how well the ranker does on held-out queries as it learns.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "plackett/dataset.h"
#include "plackett/drift.h"
#include "plackett/metrics.h"
#include "plackett/no_relevant.h"
#include "plackett/ranker.h"
#include "plackett/record.h"
#include "plackett/split_evaluator.h"

namespace plackett {

// Both measures are NDCG@10, however many documents are shown.
inline constexpr std::uint32_t kNdcgCut = 10;

// Impressions after which the offline curve is measured: about eight per decade, evenly on a log
// axis, from 1 to the last. Each drift is a point, after which they are as dense as at the start.
std::vector<std::uint64_t> curve_points(std::uint64_t impressions,
                                        std::span<const Drift> drifts = {});

class Curve {
 public:
  struct Options {
    std::uint64_t seed = 1;
    std::uint32_t run = 0;
    std::vector<std::uint64_t> points = {};  // impressions after which it is measured
    NoRelevant no_relevant = NoRelevant::kSkip;
    std::vector<Metric> metrics = {};  // besides NDCG@10
    std::uint32_t max_label = 0;       // the dataset's
  };

  // One split for each state that the queries may be in.
  Curve(const std::vector<Split>& held_out, const Options& options);

  // Whether a point of the curve is due after this many impressions.
  [[nodiscard]] bool due(std::uint64_t impression) const {
    return points_.size() < options_.points.size() && impression == options_.points[points_.size()];
  }

  // When a point is measured.
  struct Moment {
    std::uint64_t impression = 0;
    double online = 0;                     // performance so far
    std::span<const double> weights = {};  // of the states: the point is the weighted mean
  };
  // Measures the ranker as the next point. False if a score is not finite. `stop`, if set, is asked
  // at every query: once true, the rest is skipped and the point is invalid.
  bool measure(const Moment& moment, Ranker& ranker, const std::function<bool()>& stop);

  [[nodiscard]] const std::vector<CurvePoint>& points() const { return points_; }
  [[nodiscard]] const std::vector<MetricCurve>& metrics() const { return metrics_; }
  [[nodiscard]] double seconds() const { return seconds_; }  // spent in measure()

 private:
  Options options_;
  std::vector<SplitEvaluator> evaluators_;  // one per state
  std::vector<float> scores_;
  std::vector<CurvePoint> points_;
  std::vector<MetricCurve> metrics_;
  double seconds_ = 0;
};

}  // namespace plackett
