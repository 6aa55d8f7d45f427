// The offline curve of a run: how well the ranker does on held-out queries as it learns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "plackett/dataset.h"
#include "plackett/metrics.h"
#include "plackett/ndcg.h"
#include "plackett/no_relevant.h"
#include "plackett/ranker.h"
#include "plackett/record.h"
#include "plackett/rng.h"
#include "plackett/simulation.h"

namespace plackett {

// Both measures are NDCG@10, however many documents are shown.
inline constexpr std::uint32_t kNdcgCut = 10;

// Impressions after which the curve of such a run is measured. A whole one: about eight per decade,
// evenly on a log axis, from 1 to the last; each drift is a point, after which they are as dense as
// at the start.
std::vector<std::uint64_t> curve_points(const SimulationSpec& spec);

// Measures a ranker at points of a run. Reading the held-out queries from memory takes longer than
// scoring them linearly, so the weights of linear rankers are kept, and many points are measured in
// one pass over the queries; rankers of other kinds are measured at once
// (docs/decisions/0022-curve.md). A point's values are the same bits either way.
class Curve {
 public:
  // How many points wait at most.
  static constexpr std::size_t kMostPoints = 64;

  struct Options {
    std::uint64_t seed = 1;
    std::uint32_t run = 0;
    std::vector<std::uint64_t> points = {};  // impressions after which it is measured
    NoRelevant no_relevant = NoRelevant::kSkip;
    std::vector<Metric> metrics = {};  // besides NDCG@10
    std::uint32_t max_label = 0;       // the dataset's
  };

  // One split for each state that the queries may be in.
  Curve(const std::vector<Split>& held_out, Options options);

  // Whether a point of the curve is due after this many impressions.
  [[nodiscard]] bool due(std::uint64_t impression) const {
    return points_.size() < options_.points.size() && impression == options_.points[points_.size()];
  }

  // Whether measure() keeps such a ranker's weights, so that many points cost less than one each.
  [[nodiscard]] static bool keeps(const Ranker& ranker);

  // When a point is measured.
  struct Moment {
    std::uint64_t impression = 0;
    double online = 0;                     // performance so far
    std::span<const double> weights = {};  // of the states: the point is the weighted mean
  };
  // Adds the ranker as it is now as the next point: measures it, or keeps its weights and measures
  // them no later than finish(). `stop`, if set, is asked at every query that is scored: once true,
  // the rest is skipped and the curve is invalid.
  void measure(const Moment& moment, Ranker& ranker, const std::function<bool()>& stop);
  // Measures what is kept. `stop` as above.
  void finish(const std::function<bool()>& stop);

  // The impression of the first measured point at which a score was not finite. A kept point is not
  // measured yet.
  [[nodiscard]] std::optional<std::uint64_t> not_finite() const { return not_finite_; }

  // Valid after finish().
  [[nodiscard]] const std::vector<CurvePoint>& points() const { return points_; }
  [[nodiscard]] const std::vector<MetricCurve>& metrics() const { return metrics_; }
  [[nodiscard]] double seconds() const { return seconds_; }  // spent in measure() and finish()

 private:
  // The queries in one state.
  struct HeldOut {
    Split split;
    NdcgTable ndcg;
  };
  // What one pass over the queries of a state sums up for a point.
  struct Sums {
    std::size_t point = 0;
    double weight = 0;  // of the state
    Rng ties;           // orders equal scores for NDCG@10
    Rng metric_ties;    // and, with the same numbers, for the other metrics
    QueryMean ndcg;
    MetricMeans metrics;
  };
  // Writes the scores of a query's documents under `count` rankers from `first` on, in rows of
  // `stride` floats.
  using Scorer = std::function<void(const FeatureView& docs, std::size_t first, std::size_t count,
                                    float* scores, std::size_t stride)>;

  // Starts the sums of a point in a state.
  [[nodiscard]] Sums sums_of(std::size_t point, double weight) const;
  // Measures the points in sums_ in a state; `score` numbers rankers as sums_ does. False if
  // stopped.
  bool pass(const HeldOut& held_out, const Scorer& score, const std::function<bool()>& stop);
  // Adds one query's scores to the sums of a point.
  void add(const HeldOut& held_out, Query query, std::span<float> scores, Sums& sums);
  void measure_now(const Moment& moment, Ranker& ranker, const std::function<bool()>& stop);
  void measure_kept(const std::function<bool()>& stop);

  Options options_;
  std::vector<HeldOut> held_out_;  // one per state
  std::vector<CurvePoint> points_;
  std::vector<MetricCurve> metrics_;
  std::optional<std::uint64_t> not_finite_;
  double seconds_ = 0;

  // Points that wait to be measured: of each its number, its linear weights, padded, and the
  // states' weights.
  std::vector<std::size_t> kept_;
  AlignedVector<float> kept_weights_;
  std::vector<double> kept_states_;
  std::size_t stride_ = 0;  // of kept_weights_

  std::vector<Sums> sums_;                // of the current pass
  AlignedVector<float> current_weights_;  // of its rankers
  AlignedVector<float> scores_;           // of a query under several of them
  std::vector<Doc> ranking_;
};

}  // namespace plackett
