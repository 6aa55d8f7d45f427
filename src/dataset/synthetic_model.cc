#include "dataset/synthetic_model.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <span>

namespace plackett {
namespace {

// The streams of Purpose::kSynthetic, by `run`.
constexpr std::uint32_t kFeatureStream = 0;
constexpr std::uint32_t kThresholdStream = 1;
constexpr std::uint32_t kDocCountStream = 2;
constexpr std::uint32_t kDocStream = 3;

// Shares of documents at or below each label but the highest.
constexpr std::array kThreeGrades = {0.80, 0.93};
constexpr std::array kFiveGrades = {0.58, 0.80, 0.92, 0.98};
constexpr std::uint32_t kThresholdSample = 20'000;

constexpr double kLabelNoise = 0.2;
constexpr double kDifficulty = 0.45;

// Nearly normal (a sum of four uniforms), mean 0, variance 1, within +-3.47: no libm, so fast
// and the same on every platform.
double noise(Rng& rng) {
  const std::uint64_t bits = rng.next_u64();
  const std::uint64_t sum =
      (bits & 0xFFFF) + (bits >> 16 & 0xFFFF) + (bits >> 32 & 0xFFFF) + (bits >> 48);
  return (static_cast<double>(sum) * 0x1p-16 - 2.0) * std::numbers::sqrt3;
}

double uniform32(Rng& rng) { return static_cast<double>(rng.next_u32()) * 0x1p-32; }

struct QueryEffect {
  double difficulty = 0;
  double level = 0;
};

QueryEffect draw_query(Rng& rng) {
  const double difficulty = kDifficulty * noise(rng);
  return {difficulty, uniform32(rng)};
}

Factors draw_factors(Rng& rng) {
  Factors factors;
  for (double& factor : factors) factor = uniform32(rng);
  return factors;
}

double draw_relevance(const Factors& factors, const QueryEffect& effect, Rng& rng) {
  return synthetic_relevance(factors) - effect.difficulty + kLabelNoise * noise(rng);
}

// 1 at `centre`, 0 from `reach` away.
double sweet_spot(double factor, double centre, double reach) {
  const double away = (factor - centre) / reach;
  return std::max(0.0, 1.0 - away * away);
}

}  // namespace

double synthetic_relevance(const Factors& factors) {
  const double linear = 0.7 * factors[0] + 0.4 * factors[1];
  const double spots =
      0.9 * sweet_spot(factors[2], 0.5, 0.35) + 0.6 * sweet_spot(factors[3], 0.45, 0.35);
  const double interaction = 0.5 * (2.0 * factors[4] - 1.0) * (2.0 * factors[5] - 1.0);
  const double threshold = factors[6] > 0.6 ? 0.4 * factors[7] : 0.0;
  return linear + spots + interaction + threshold;
}

SyntheticModel::SyntheticModel(const SyntheticOptions& options) : options_(options) {
  draw_features();
  draw_thresholds();
}

Rng SyntheticModel::stream(std::uint32_t run, std::uint64_t number) const {
  return Rng(
      {.seed = options_.seed, .run = run, .impression = number, .purpose = Purpose::kSynthetic});
}

void SyntheticModel::draw_features() {
  Rng rng = stream(kFeatureStream, 0);
  std::vector<std::uint32_t> order(options_.features);
  std::iota(order.begin(), order.end(), 0U);
  for (std::uint32_t left = options_.features; left > 1; --left) {
    std::swap(order[left - 1], order[rng.below(left)]);
  }
  features_.resize(options_.features);
  const std::uint32_t plain = options_.constant_features + options_.noise_features;
  for (std::uint32_t number = 0; number < options_.features; ++number) {
    Feature& feature = features_[order[number]];
    feature.scale = std::pow(10.0, std::floor(rng.uniform() * 6.0) - 1.0);  // 0.1 to 10,000
    feature.query_effect = rng.uniform();
    feature.side_weight = 0.4 * rng.uniform();
    feature.noise = 0.05 + 0.3 * rng.uniform();
    feature.side_factor = rng.below(kFactors);
    const double kind = rng.uniform();
    if (number < plain) {
      feature.shape = number < options_.constant_features ? Shape::kConstant : Shape::kNoise;
      continue;
    }
    // The first of each factor is a nearly clean view of it; the others are distorted.
    const std::uint32_t rank = number - plain;
    feature.main_factor = rank % kFactors;
    feature.shape = rank < kFactors || kind < 0.5 ? Shape::kLinear
                    : kind < 0.75                 ? Shape::kHeavyTail
                    : kind < 0.9                  ? Shape::kCount
                                                  : Shape::kSwitch;
    if (rank < kFactors) {
      feature.side_weight = 0;
      feature.noise = 0.03;
    }
  }
}

void SyntheticModel::draw_thresholds() {
  std::vector<double> relevance;
  relevance.reserve(kThresholdSample);
  Rng rng = stream(kThresholdStream, 0);
  while (relevance.size() < kThresholdSample) {
    const QueryEffect effect = draw_query(rng);
    const Factors factors = draw_factors(rng);
    relevance.push_back(draw_relevance(factors, effect, rng));
  }
  std::sort(relevance.begin(), relevance.end());
  const std::span<const double> shares =
      options_.grades == 3 ? std::span<const double>(kThreeGrades) : kFiveGrades;
  for (const double share : shares) {
    thresholds_.push_back(relevance[static_cast<std::size_t>(share * kThresholdSample)]);
  }
}

std::uint32_t SyntheticModel::doc_count(std::uint64_t query) const {
  Rng rng = stream(kDocCountStream, query);
  // A gamma of shape 2 above the minimum: few long queries, as in the real sets.
  const double spread = 0.5 * (options_.mean_docs - options_.min_docs);
  const double above = -spread * std::log((1.0 - rng.uniform()) * (1.0 - rng.uniform()));
  const double room = options_.max_docs - options_.min_docs;
  return options_.min_docs + static_cast<std::uint32_t>(std::min(above + 0.5, room));
}

double SyntheticModel::raw_value(const Feature& feature, const Factors& factors, double query_level,
                                 Rng& rng) {
  const double jitter = noise(rng);  // drawn for every feature: the stream's use is fixed
  if (feature.shape == Shape::kConstant) return 1.0;
  if (feature.shape == Shape::kNoise) return feature.scale * (4.0 + jitter);
  const double view = factors[feature.main_factor] +
                      feature.side_weight * factors[feature.side_factor] + feature.noise * jitter;
  switch (feature.shape) {
    case Shape::kHeavyTail:
      return feature.scale * std::exp(3.0 * view + feature.query_effect * query_level);
    case Shape::kCount:
      return std::floor(std::exp(2.5 * std::max(view, 0.0)) - 0.5);
    case Shape::kSwitch:
      return view > 0.6 ? 1.0 : 0.0;
    default:
      return feature.scale * (2.0 + view + feature.query_effect * query_level);
  }
}

void SyntheticModel::fill(std::uint64_t query, const ColumnMap& columns,
                          const RawSplit::Target& target) const {
  const std::uint32_t docs = doc_count(query);
  Rng rng = stream(kDocStream, query);
  const QueryEffect effect = draw_query(rng);
  for (std::uint32_t doc = 0; doc < docs; ++doc) {
    const Factors factors = draw_factors(rng);
    const double relevance = draw_relevance(factors, effect, rng);
    target.labels[doc] = static_cast<std::uint8_t>(
        std::upper_bound(thresholds_.begin(), thresholds_.end(), relevance) - thresholds_.begin());
    float* out = target.rows + std::size_t{doc} * target.stride;
    for (std::uint32_t feature = 0; feature < features_.size(); ++feature) {
      const double raw = raw_value(features_[feature], factors, effect.level, rng);
      if (feature >= columns.size() || columns[feature] == kDropped) continue;
      // Six decimals, as in LETOR files. Raw values are between 0 and 10^8.
      const auto millionths = std::llround(std::max(raw, 0.0) * 1e6);
      out[columns[feature]] = static_cast<float>(static_cast<double>(millionths) / 1e6);
    }
  }
}

SyntheticModel::Documents SyntheticModel::documents(std::uint64_t query) const {
  ColumnMap columns(feature_count());
  std::iota(columns.begin(), columns.end(), 0U);
  const std::size_t docs = doc_count(query);
  Documents made{std::vector<float>(docs * feature_count()), std::vector<std::uint8_t>(docs)};
  fill(query, columns, {made.rows.data(), feature_count(), made.labels.data()});
  return made;
}

}  // namespace plackett
