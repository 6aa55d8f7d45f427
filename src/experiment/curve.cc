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

Curve::Curve(const Split& test, const Options& options)
    : options_(options),
      all_(curve_points(options.impressions)),
      evaluator_(test, {kNdcgCut, options.no_relevant}) {}

bool Curve::measure(std::uint64_t impression, double online, Ranker& ranker,
                    const std::function<bool()>& stop) {
  const auto start = Clock::now();
  Rng rng({options_.seed, options_.run, impression, Purpose::kTieBreak});
  bool finite = true;
  bool stopped = false;
  const double offline = evaluator_.mean_ndcg(
      [&](const FeatureView& docs) {
        scores_.resize(docs.doc_count());
        stopped = stopped || (stop && stop());
        if (stopped) {
          std::fill(scores_.begin(), scores_.end(), 0.0F);
          return std::span<const float>(scores_);
        }
        ranker.score(docs, scores_);
        for (float& score : scores_) {
          if (std::isfinite(score)) continue;
          finite = false;
          score = 0;
        }
        return std::span<const float>(scores_);
      },
      rng);
  points_.push_back({impression, offline, online});
  seconds_ += std::chrono::duration<double>(Clock::now() - start).count();
  return finite;
}

}  // namespace plackett
