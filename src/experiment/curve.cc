#include "experiment/curve.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "base/kernels.h"
#include "plackett/top_k.h"
#include "ranker/linear.h"
#include "ranker/linear_plus_neural.h"

namespace plackett {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kCurvePointsPerDecade = 8;

// Kept points are also measured once their weights are this many floats (4 MB).
constexpr std::size_t kMostKeptFloats = std::size_t{1} << 20;
// A query is scored under as many rankers at a time as give this many scores (256 kB).
constexpr std::size_t kMostScores = std::size_t{1} << 16;

// The padded weights of a ranker whose scores are Kernels::dot_rows of them; empty if it is of
// another kind.
std::span<const float> linear_weights(const Ranker& ranker) {
  if (const auto* linear = dynamic_cast<const LinearRanker*>(&ranker)) {
    return linear->padded_weights();
  }
  const auto* both = dynamic_cast<const LinearPlusNeuralRanker*>(&ranker);
  return both != nullptr && !both->network_on() ? both->linear_weights() : std::span<const float>();
}

bool all_finite(std::span<const float> values) {
  bool finite = true;
  for (const float value : values) {
    finite &= std::fabs(value) <= std::numeric_limits<float>::max();
  }
  return finite;
}

}  // namespace

std::vector<std::uint64_t> curve_points(const SimulationSpec& spec) {
  if (spec.curve == CurveKind::kFinal) return {spec.impressions};
  std::vector<std::uint64_t> points;
  const auto add_after = [&](std::uint64_t start) {
    for (int step = 0;; ++step) {
      const auto point = start + static_cast<std::uint64_t>(std::llround(std::pow(
                                     10.0, static_cast<double>(step) / kCurvePointsPerDecade)));
      if (point >= spec.impressions) break;
      points.push_back(point);
    }
  };
  add_after(0);
  for (const Drift& drift : spec.drift) {
    points.push_back(drift.at);
    add_after(drift.at);
  }
  points.push_back(spec.impressions);
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  return points;
}

Curve::Curve(const std::vector<Split>& held_out, Options options) : options_(std::move(options)) {
  for (const Split& split : held_out) held_out_.push_back({split, NdcgTable(split, kNdcgCut)});
  for (const Metric metric : options_.metrics) {
    metrics_.push_back({.name = std::string(metric_names()[static_cast<std::size_t>(metric)])});
  }
}

bool Curve::keeps(const Ranker& ranker) { return !linear_weights(ranker).empty(); }

Curve::Sums Curve::sums_of(std::size_t point, double weight) const {
  const Rng ties({options_.seed, options_.run, points_[point].impression, Purpose::kTieBreak});
  return {point,
          weight,
          ties,
          ties,
          QueryMean(options_.no_relevant),
          MetricMeans(options_.no_relevant)};
}

void Curve::add(const HeldOut& held_out, Query query, std::span<float> scores, Sums& sums) {
  if (!all_finite(scores)) {
    const std::uint64_t impression = points_[sums.point].impression;
    not_finite_ = std::min(not_finite_.value_or(impression), impression);
    for (float& score : scores) score = std::isfinite(score) ? score : 0;
  }
  const Judgments judgments = held_out.split.judgments(query);
  ranking_.resize(std::min<std::size_t>(scores.size(), kNdcgCut));
  top_k(scores, sums.ties, ranking_);
  sums.ndcg.add(held_out.ndcg.ndcg(query, judgments, ranking_));
  if (metrics_.empty()) return;
  ranking_.resize(scores.size());
  top_k(scores, sums.metric_ties, ranking_);
  sums.metrics.add(plackett::metrics(ranking_, judgments, options_.max_label));
}

bool Curve::pass(const HeldOut& held_out, const Scorer& score, const std::function<bool()>& stop) {
  for (std::uint32_t at = 0; at < held_out.split.query_count(); ++at) {
    const Query query{at};
    if (!held_out.ndcg.has_relevant(query)) {
      for (Sums& sums : sums_) {
        sums.ndcg.add_without_relevant();
        sums.metrics.add_without_relevant();
      }
      continue;
    }
    if (stop && stop()) return false;
    const FeatureView docs = held_out.split.features(query);
    const std::size_t stride = padded_width(docs.doc_count());
    const std::size_t most = std::clamp<std::size_t>(kMostScores / stride, 1, sums_.size());
    if (scores_.size() < most * stride) scores_.resize(most * stride);
    for (std::size_t first = 0; first < sums_.size(); first += most) {
      const std::size_t count = std::min(most, sums_.size() - first);
      score(docs, first, count, scores_.data(), stride);
      for (std::size_t row = 0; row < count; ++row) {
        add(held_out, query, {scores_.data() + row * stride, docs.doc_count()}, sums_[first + row]);
      }
    }
  }
  for (const Sums& sums : sums_) {
    points_[sums.point].offline += sums.weight * sums.ndcg.mean();
    if (metrics_.empty()) continue;
    const MetricSet means = sums.metrics.means();
    for (std::size_t at = 0; at < metrics_.size(); ++at) {
      metrics_[at].values[sums.point] += sums.weight * means[options_.metrics[at]];
    }
  }
  return true;
}

void Curve::measure_now(const Moment& moment, Ranker& ranker, const std::function<bool()>& stop) {
  const Scorer score = [&ranker](const FeatureView& docs, std::size_t, std::size_t, float* scores,
                                 std::size_t) {
    ranker.score(docs, {scores, docs.doc_count()});
  };
  for (std::size_t state = 0; state < held_out_.size(); ++state) {
    if (moment.weights[state] == 0) continue;
    sums_.assign(1, sums_of(points_.size() - 1, moment.weights[state]));
    if (!pass(held_out_[state], score, stop)) return;
  }
}

void Curve::measure_kept(const std::function<bool()>& stop) {
  const Scorer score = [this](const FeatureView& docs, std::size_t first, std::size_t count,
                              float* scores, std::size_t stride) {
    kernels().dot_rows_each({docs.data(), docs.doc_count(), docs.stride(), docs.readable_width()},
                            {current_weights_.data() + first * stride_, count, stride_, stride_},
                            scores, stride);
  };
  for (std::size_t state = 0; state < held_out_.size(); ++state) {
    sums_.clear();
    current_weights_.clear();
    for (std::size_t at = 0; at < kept_.size(); ++at) {
      const double weight = kept_states_[at * held_out_.size() + state];
      if (weight == 0) continue;
      sums_.push_back(sums_of(kept_[at], weight));
      const float* weights = kept_weights_.data() + at * stride_;
      current_weights_.insert(current_weights_.end(), weights, weights + stride_);
    }
    if (!sums_.empty() && !pass(held_out_[state], score, stop)) break;
  }
  kept_.clear();
  kept_weights_.clear();
  kept_states_.clear();
}

void Curve::measure(const Moment& moment, Ranker& ranker, const std::function<bool()>& stop) {
  const auto start = Clock::now();
  points_.push_back({moment.impression, 0, moment.online});
  for (MetricCurve& metric : metrics_) metric.values.push_back(0);
  const std::span<const float> weights = linear_weights(ranker);
  if (weights.empty()) {
    measure_now(moment, ranker, stop);
  } else {
    stride_ = weights.size();
    const std::size_t most = std::min(
        {std::max<std::size_t>(kMostKeptFloats / stride_, 1), kMostPoints, options_.points.size()});
    kept_.reserve(most);
    kept_weights_.reserve(most * stride_);
    kept_states_.reserve(most * held_out_.size());
    sums_.reserve(most);
    current_weights_.reserve(most * stride_);
    kept_.push_back(points_.size() - 1);
    kept_weights_.insert(kept_weights_.end(), weights.begin(), weights.end());
    kept_states_.insert(kept_states_.end(), moment.weights.begin(), moment.weights.end());
    if (kept_.size() >= most) measure_kept(stop);
  }
  seconds_ += std::chrono::duration<double>(Clock::now() - start).count();
}

void Curve::finish(const std::function<bool()>& stop) {
  if (kept_.empty()) return;
  const auto start = Clock::now();
  measure_kept(stop);
  seconds_ += std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace plackett
