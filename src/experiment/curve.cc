#include "experiment/curve.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <span>

namespace plackett {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kCurvePointsPerDecade = 8;

}  // namespace

std::vector<std::uint64_t> curve_points(std::uint64_t impressions, std::span<const Drift> drifts) {
  std::vector<std::uint64_t> points;
  const auto add_after = [&](std::uint64_t start) {
    for (int step = 0;; ++step) {
      const auto point = start + static_cast<std::uint64_t>(std::llround(std::pow(
                                     10.0, static_cast<double>(step) / kCurvePointsPerDecade)));
      if (point >= impressions) break;
      points.push_back(point);
    }
  };
  add_after(0);
  for (const Drift& drift : drifts) {
    points.push_back(drift.at);
    add_after(drift.at);
  }
  points.push_back(impressions);
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  return points;
}

Curve::Curve(const std::vector<Split>& held_out, const Options& options) : options_(options) {
  for (const Split& split : held_out) {
    evaluators_.emplace_back(split, EvaluationOptions{kNdcgCut, options.no_relevant});
  }
  for (const Metric metric : options.metrics) {
    metrics_.push_back({.name = std::string(metric_names()[static_cast<std::size_t>(metric)])});
  }
}

bool Curve::measure(const Moment& moment, Ranker& ranker, const std::function<bool()>& stop) {
  const auto start = Clock::now();
  bool finite = true;
  bool stopped = false;
  const auto score = [&](const FeatureView& docs) {
    scores_.resize(docs.doc_count());
    stopped = stopped || (stop && stop());
    if (stopped) {
      std::fill(scores_.begin(), scores_.end(), 0.0F);
      return std::span<const float>(scores_);
    }
    ranker.score(docs, scores_);
    for (float& one : scores_) {
      if (std::isfinite(one)) continue;
      finite = false;
      one = 0;
    }
    return std::span<const float>(scores_);
  };
  const Rng::Stream ties{options_.seed, options_.run, moment.impression, Purpose::kTieBreak};
  points_.push_back({moment.impression, 0, moment.online});
  for (MetricCurve& metric : metrics_) metric.values.push_back(0);
  for (std::size_t state = 0; state < evaluators_.size(); ++state) {
    const double weight = moment.weights[state];
    if (weight == 0) continue;
    Rng rng(ties);
    points_.back().offline += weight * evaluators_[state].mean_ndcg(score, rng);
    if (metrics_.empty()) continue;
    Rng again(ties);
    const MetricSet means =
        evaluators_[state].mean_metrics(score, options_.max_label, again).means();
    for (std::size_t at = 0; at < metrics_.size(); ++at) {
      metrics_[at].values.back() += weight * means[options_.metrics[at]];
    }
  }
  seconds_ += std::chrono::duration<double>(Clock::now() - start).count();
  return finite;
}

}  // namespace plackett
