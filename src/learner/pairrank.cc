#include "learner/pairrank.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <numeric>

#include "base/kernels.h"
#include "plackett/method.h"
#include "plackett/pairs.h"
#include "sampling/finite.h"

namespace plackett {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// factor factor^T + row row^T = the new factor times its transpose (Gill et al. 1974). O(n^2).
void add_to_factor(std::vector<double>& factor, std::vector<double> row) {
  const std::size_t size = row.size();
  for (std::size_t at = 0; at < size; ++at) {
    double* const diagonal = &factor[at * size + at];
    const double radius = std::hypot(*diagonal, row[at]);
    const double cosine = radius / *diagonal;
    const double sine = row[at] / *diagonal;
    *diagonal = radius;
    for (std::size_t below = at + 1; below < size; ++below) {
      double& entry = factor[below * size + at];
      entry = (entry + sine * row[below]) / cosine;
      row[below] = cosine * row[below] - sine * entry;
    }
  }
}

// In place: the lower triangle of a positive definite matrix becomes its factor. O(n^3).
void factorise(std::vector<double>& matrix, std::size_t size) {
  for (std::size_t row = 0; row < size; ++row) {
    for (std::size_t column = 0; column <= row; ++column) {
      double sum = matrix[row * size + column];
      for (std::size_t at = 0; at < column; ++at) {
        sum -= matrix[row * size + at] * matrix[column * size + at];
      }
      matrix[row * size + column] =
          row == column ? std::sqrt(sum) : sum / matrix[column * size + column];
    }
  }
}

// In place: x = L^-1 x.
void solve_lower(const std::vector<double>& factor, std::span<double> x) {
  const std::size_t size = x.size();
  for (std::size_t row = 0; row < size; ++row) {
    double sum = x[row];
    for (std::size_t at = 0; at < row; ++at) sum -= factor[row * size + at] * x[at];
    x[row] = sum / factor[row * size + row];
  }
}

// In place: x = L^-T x.
void solve_upper(const std::vector<double>& factor, std::span<double> x) {
  const std::size_t size = x.size();
  for (std::size_t row = size; row-- > 0;) {
    double sum = x[row];
    for (std::size_t at = row + 1; at < size; ++at) sum -= factor[at * size + row] * x[at];
    x[row] = sum / factor[row * size + row];
  }
}

template <typename T>
void shuffle(std::span<T> values, Rng& rng) {
  for (std::size_t left = values.size(); left > 1; --left) {
    std::swap(values[left - 1], values[rng.below(static_cast<std::uint32_t>(left))]);
  }
}

}  // namespace

PairRank::PairRank(std::unique_ptr<LinearRanker> ranker, const PairRankOptions& options)
    : ranker_(std::move(ranker)),
      options_(options),
      state_{.method = "pairrank"},
      features_(ranker_->feature_count()),
      width_(ranker_->padded_weights().size()),
      theta_(width_),
      gradient_(features_) {
  assert(options_.lambda > 0 && options_.refit > 0);
  restore(state_);
}

bool PairRank::rank(const FeatureView& docs, Rng& rng, Ranking& ranking) {
  const std::uint32_t count = docs.doc_count();
  scores_.resize(count);
  ranker_->score(docs, scores_);
  if (!all_finite(scores_)) return false;
  find_blocks(docs);
  std::uint32_t begin = 0;
  for (const std::uint32_t end : block_ends_) {
    shuffle(std::span(order_).subspan(begin, end - begin), rng);
    begin = end;
  }
  ranking.shown.resize(std::min(options_.shown, count));
  ranking.scores.resize(ranking.shown.size());
  ranking.rest = {};
  for (std::size_t rank = 0; rank < ranking.shown.size(); ++rank) {
    ranking.shown[rank] = Doc{order_[rank]};
    ranking.scores[rank] = scores_[order_[rank]];
  }
  last_shown_ = ranking.shown;
  last_rows_ = docs.data();
  rng_ = rng;
  return true;
}

// A certain order has the higher score first, so all certain orders agree with that of the scores.
// Documents joined by uncertain pairs, with cycles between such groups merged, are therefore runs
// of the sorted documents: a run ends where every document before is certainly before every one
// after.
void PairRank::find_blocks(const FeatureView& docs) {
  const std::uint32_t count = docs.doc_count();
  order_.resize(count);
  std::iota(order_.begin(), order_.end(), 0U);
  std::stable_sort(order_.begin(), order_.end(), [this](std::uint32_t one, std::uint32_t other) {
    return scores_[one] > scores_[other];
  });
  whitened_.resize(std::size_t{count} * features_);
  for (std::uint32_t at = 0; at < count; ++at) {
    const std::span<double> row(&whitened_[std::size_t{at} * features_], features_);
    const auto features = docs.row(Doc{order_[at]});
    std::copy_n(features.begin(), features_, row.begin());
    solve_lower(confidence_, row);
  }
  const std::size_t words = (count + 63) / 64;
  certain_.assign(count * words, 0);
  // From the last, so that what a document reaches is complete when it is needed.
  for (std::uint32_t at = count; at-- > 0;) {
    std::uint64_t* const own = &certain_[at * words];
    for (std::uint32_t below = at + 1; below < count; ++below) {
      if ((own[below / 64] >> (below % 64) & 1) != 0) continue;
      const double margin = double{scores_[order_[at]]} - double{scores_[order_[below]]};
      double squares = 0;
      for (std::size_t feature = 0; feature < features_; ++feature) {
        const double difference = whitened_[std::size_t{at} * features_ + feature] -
                                  whitened_[std::size_t{below} * features_ + feature];
        squares += difference * difference;
      }
      if (!(sigmoid(margin) - options_.alpha * std::sqrt(squares) > 0.5)) continue;
      own[below / 64] |= std::uint64_t{1} << (below % 64);
      for (std::size_t word = 0; word < words; ++word) own[word] |= certain_[below * words + word];
    }
  }
  block_ends_.clear();
  std::uint32_t reach = 0;  // the last document that one so far is not certainly before
  for (std::uint32_t at = 0; at < count; ++at) {
    for (std::uint32_t below = count; below-- > std::max(reach, at) + 1;) {
      if ((certain_[at * words + below / 64] >> (below % 64) & 1) != 0) continue;
      reach = below;
      break;
    }
    if (at >= reach) {
      block_ends_.push_back(at + 1);
      reach = at + 1;
    }
  }
}

void PairRank::learn(const FeatureView& docs, const Ranking& ranking,
                     std::span<const std::uint8_t> clicks) {
  if (ranking.shown != last_shown_ || docs.data() != last_rows_) return;
  last_shown_.clear();
  winners_.clear();
  losers_.clear();
  const std::uint32_t seen = seen_places(clicks);
  for (std::uint32_t rank = 0; rank < seen; ++rank) {
    (clicks[rank] != 0 ? winners_ : losers_).push_back(rank);
  }
  if (winners_.empty() || losers_.empty()) return;
  const auto row = [&](std::uint32_t rank) { return docs.row(ranking.shown[rank]).data(); };
  if (options_.independent) {
    shuffle(std::span(winners_), rng_);
    shuffle(std::span(losers_), rng_);
    const std::size_t count = std::min(winners_.size(), losers_.size());
    for (std::size_t at = 0; at < count; ++at) add_pair(row(winners_[at]), row(losers_[at]));
  } else {
    for (const std::uint32_t winner : winners_) {
      for (const std::uint32_t loser : losers_) add_pair(row(winner), row(loser));
    }
  }
  ++state_.updates;
  if (pair_count_ - fitted_ >= options_.refit) fit();
}

void PairRank::add_pair(const float* winner, const float* loser) {
  pairs_.resize((pair_count_ + 1) * width_);
  float* const row = &pairs_[pair_count_ * width_];
  std::vector<double> difference(features_);
  for (std::size_t feature = 0; feature < features_; ++feature) {
    row[feature] = winner[feature] - loser[feature];
    difference[feature] = double{row[feature]};
  }
  ++pair_count_;
  add_to_factor(confidence_, std::move(difference));
}

void PairRank::factorise_curvature(std::span<const double> probabilities) {
  curvature_.assign(std::size_t{features_} * features_, 0.0);
  const auto count = static_cast<double>(pair_count_);
  for (std::size_t pair = 0; pair < pair_count_; ++pair) {
    const float* const row = &pairs_[pair * width_];
    const double weight = probabilities[pair] * (1 - probabilities[pair]) / count;
    for (std::size_t one = 0; one < features_; ++one) {
      const double scaled = weight * double{row[one]};
      if (scaled == 0) continue;
      for (std::size_t other = 0; other <= one; ++other) {
        curvature_[one * features_ + other] += scaled * double{row[other]};
      }
    }
  }
  for (std::size_t at = 0; at < features_; ++at) {
    curvature_[at * features_ + at] += 2 * options_.lambda;
  }
  factorise(curvature_, features_);
  // As the state keeps it.
  for (double& entry : curvature_) entry = static_cast<double>(static_cast<float>(entry));
  curvature_pairs_ = pair_count_;
}

// Newton's method with a curvature that may be old: of the loss's mean, it changes little with one
// pair more, so one or two steps reach the minimum.
void PairRank::fit() {
  constexpr int kMostSteps = 100;
  constexpr double kSmallest = 1e-7;  // of the gradient's largest component
  constexpr double kGrowth = 1.1;     // of the pairs, until the curvature is computed again
  if (pair_count_ == 0) return;
  fitted_ = pair_count_;
  const RowsView rows{pairs_.data(), pair_count_, width_, width_};
  std::vector<double> theta(features_);
  std::vector<double> probabilities(pair_count_);
  margins_.resize((pair_count_ + kLanes - 1) / kLanes * kLanes);
  scales_.resize(margins_.size());
  rows_.resize(pair_count_);
  for (std::size_t pair = 0; pair < pair_count_; ++pair) rows_[pair] = &pairs_[pair * width_];
  std::copy(ranker_->padded_weights().begin(), ranker_->padded_weights().end(), theta_.begin());
  std::copy_n(theta_.begin(), features_, theta.begin());
  AlignedVector<float> sums(width_);
  for (int step = 0; step < kMostSteps; ++step) {
    kernels().dot_rows(rows, theta_.data(), margins_.data());
    const double share = 1 / static_cast<double>(pair_count_);
    for (std::size_t pair = 0; pair < pair_count_; ++pair) {
      probabilities[pair] = sigmoid(double{margins_[pair]});
      scales_[pair] = static_cast<float>(1 - probabilities[pair]);
    }
    std::fill(sums.begin(), sums.end(), 0.0F);
    kernels().add_scaled_rows(rows_.data(), scales_.data(), pair_count_, width_, sums.data());
    double largest = 0;
    for (std::size_t at = 0; at < features_; ++at) {
      gradient_[at] = 2 * options_.lambda * theta[at] - share * double{sums[at]};
      largest = std::max(largest, std::abs(gradient_[at]));
    }
    if (!(largest > kSmallest)) break;
    if (static_cast<double>(pair_count_) > kGrowth * static_cast<double>(curvature_pairs_)) {
      factorise_curvature(probabilities);
    }
    solve_lower(curvature_, gradient_);
    solve_upper(curvature_, gradient_);
    for (std::size_t at = 0; at < features_; ++at) {
      theta[at] -= gradient_[at];
      theta_[at] = static_cast<float>(theta[at]);
    }
  }
  ranker_->set_parameters(std::span<const float>(theta_).first(features_));
}

// Pairs that are in the curvature, those that were fitted, the curvature's factor, the pairs.
LearnerState PairRank::state() const {
  LearnerState state = state_;
  state.memory = {static_cast<float>(curvature_pairs_), static_cast<float>(fitted_)};
  for (const double entry : curvature_) state.memory.push_back(static_cast<float>(entry));
  for (std::size_t pair = 0; pair < pair_count_; ++pair) {
    const float* const row = &pairs_[pair * width_];
    state.memory.insert(state.memory.end(), row, row + features_);
  }
  return state;
}

void PairRank::restore(const LearnerState& state) {
  const std::size_t squared = std::size_t{features_} * features_;
  state_ = state;
  state_.memory.clear();
  pairs_.clear();
  pair_count_ = fitted_ = curvature_pairs_ = 0;
  curvature_.assign(squared, 0.0);
  confidence_.assign(squared, 0.0);
  for (std::size_t at = 0; at < features_; ++at) {
    confidence_[at * features_ + at] = std::sqrt(options_.lambda);
  }
  const std::size_t start = 2 + squared;
  if (features_ == 0 || state.memory.size() < start) return;
  const std::size_t pairs = (state.memory.size() - start) / features_;
  const auto counts_pairs = [&](float count) {
    return count >= 0 && count <= static_cast<float>(pairs);
  };
  if (start + pairs * features_ != state.memory.size() || !counts_pairs(state.memory[0]) ||
      !counts_pairs(state.memory[1])) {
    return;
  }
  const std::vector<float> nothing(features_);
  for (std::size_t at = start; at < state.memory.size(); at += features_) {
    add_pair(&state.memory[at], nothing.data());
  }
  curvature_pairs_ = static_cast<std::size_t>(state.memory[0]);
  fitted_ = static_cast<std::size_t>(state.memory[1]);
  std::copy_n(state.memory.begin() + 2, squared, curvature_.begin());
}

namespace {

constexpr std::string_view kRidge = "ridge";
constexpr std::string_view kAlpha = "alpha";
constexpr std::string_view kPairs = "pairs";
constexpr std::string_view kRefit = "refit";
constexpr std::array<std::string_view, 2> kPairNames{"independent", "all"};
constexpr std::array kSettings{
    Setting{.name = kRidge,
            .help = "lambda: weight of the ridge, and of the confidence bound's start",
            .fallback = PairRankOptions{}.lambda,
            .least = 1e-9,
            .most = 1e9},
    Setting{.name = kAlpha,
            .help = "width of the confidence bound: larger explores more",
            .fallback = PairRankOptions{}.alpha,
            .least = 0,
            .most = 1e9},
    Setting{
        .name = kPairs, .help = "pairs of one list: disjoint ones, or all", .names = kPairNames},
    Setting{.name = kRefit,
            .help = "new pairs after which the ranker is fitted again",
            .fallback = PairRankOptions{}.refit,
            .least = 1,
            .most = 1e6,
            .whole = true}};

Result<void> check_ranker(const Ranker& ranker, const SettingValues& /*settings*/) {
  if (dynamic_cast<const LinearRanker*>(&ranker) != nullptr) return {};
  return Error{"pairrank needs the ranker linear: its confidence bound is that of linear scores"};
}

std::unique_ptr<Learner> make_pairrank(std::unique_ptr<Ranker> ranker, const MethodRules& rules,
                                       const SettingValues& settings) {
  std::unique_ptr<LinearRanker> linear(
      static_cast<LinearRanker*>(ranker.release()));  // check_ranker() made sure
  return std::make_unique<PairRank>(std::move(linear),
                                    PairRankOptions{.lambda = settings.number(kRidge),
                                                    .alpha = settings.number(kAlpha),
                                                    .independent = settings.whole(kPairs) == 0,
                                                    .refit = settings.whole(kRefit),
                                                    .shown = rules.shown});
}

}  // namespace

extern const Method kPairRank;
const Method kPairRank{.name = "pairrank",
                       .title = "PairRank",
                       .summary = "keeps the orders that it is certain of, shuffles the rest",
                       .settings = kSettings,
                       .check = check_ranker,
                       .make = make_pairrank};

}  // namespace plackett
