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

std::vector<std::uint64_t> curve_points(std::uint64_t impressions) {
  std::vector<std::uint64_t> points;
  for (int step = 0;; ++step) {
    const auto point = static_cast<std::uint64_t>(
        std::llround(std::pow(10.0, static_cast<double>(step) / kCurvePointsPerDecade)));
    if (point >= impressions) break;
    if (points.empty() || point > points.back()) points.push_back(point);
  }
  points.push_back(impressions);
  return points;
}

Curve::Curve(const Split& held_out, const Options& options)
    : options_(options),
      all_(curve_points(options.impressions)),
      evaluator_(held_out, {kNdcgCut, options.no_relevant}) {
  for (const Metric metric : options.metrics) {
    metrics_.push_back({.name = std::string(metric_names()[static_cast<std::size_t>(metric)])});
  }
}

bool Curve::measure(std::uint64_t impression, double online, Ranker& ranker,
                    const std::function<bool()>& stop) {
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
  const Rng::Stream ties{options_.seed, options_.run, impression, Purpose::kTieBreak};
  Rng rng(ties);
  points_.push_back({impression, evaluator_.mean_ndcg(score, rng), online});
  if (!metrics_.empty()) {
    Rng again(ties);
    const MetricSet means = evaluator_.mean_metrics(score, options_.max_label, again).means();
    for (std::size_t at = 0; at < metrics_.size(); ++at) {
      metrics_[at].values.push_back(means[options_.metrics[at]]);
    }
  }
  seconds_ += std::chrono::duration<double>(Clock::now() - start).count();
  return finite;
}

}  // namespace plackett
