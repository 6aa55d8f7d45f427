// The offline curve of a run: how well the ranker does on held-out queries as it learns.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "plackett/dataset.h"
#include "plackett/metrics.h"
#include "plackett/no_relevant.h"
#include "plackett/ranker.h"
#include "plackett/record.h"
#include "plackett/split_evaluator.h"

namespace plackett {

// Both measures are NDCG@10, however many documents are shown.
inline constexpr std::uint32_t kNdcgCut = 10;

// Impressions after which the offline curve is measured: about eight per decade, evenly on a log
// axis, from 1 to the last.
std::vector<std::uint64_t> curve_points(std::uint64_t impressions);

class Curve {
 public:
  struct Options {
    std::uint64_t seed = 1;
    std::uint32_t run = 0;
    std::uint64_t impressions = 0;
    NoRelevant no_relevant = NoRelevant::kSkip;
    std::vector<Metric> metrics = {};  // besides NDCG@10
    std::uint32_t max_label = 0;       // the dataset's
  };

  Curve(const Split& held_out, const Options& options);

  // Whether a point of the curve is due after this many impressions.
  [[nodiscard]] bool due(std::uint64_t impression) const {
    return points_.size() < all_.size() && impression == all_[points_.size()];
  }

  // Measures the ranker as the next point. False if a score is not finite. `stop`, if set, is asked
  // at every query: once true, the rest is skipped and the point is invalid.
  bool measure(std::uint64_t impression, double online, Ranker& ranker,
               const std::function<bool()>& stop);

  [[nodiscard]] const std::vector<CurvePoint>& points() const { return points_; }
  [[nodiscard]] const std::vector<MetricCurve>& metrics() const { return metrics_; }
  [[nodiscard]] double seconds() const { return seconds_; }  // spent in measure()

 private:
  Options options_;
  std::vector<std::uint64_t> all_;
  SplitEvaluator evaluator_;
  std::vector<float> scores_;
  std::vector<CurvePoint> points_;
  std::vector<MetricCurve> metrics_;
  double seconds_ = 0;
};

}  // namespace plackett
