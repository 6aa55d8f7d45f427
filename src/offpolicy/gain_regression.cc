#include "offpolicy/gain_regression.h"

#include <cmath>

#include "base/cholesky.h"

namespace plackett {
namespace {

constexpr std::size_t kBase = 3;  // coefficients of base_k

}  // namespace

void RankMeans::add(const LoggedList& list, std::span<const double> gains) {
  auto& sums = sums_[fold_of(list)];
  if (sums.size() < gains.size()) sums.resize(gains.size());
  for (std::size_t rank = 0; rank < gains.size(); ++rank) {
    sums[rank].gains += gains[rank];
    sums[rank].lists += 1;
  }
}

void RankMeans::merge(const RankMeans& other) {
  for (std::size_t fold = 0; fold < kFolds; ++fold) {
    auto& sums = sums_[fold];
    const auto& more = other.sums_[fold];
    if (sums.size() < more.size()) sums.resize(more.size());
    for (std::size_t rank = 0; rank < more.size(); ++rank) {
      sums[rank].gains += more[rank].gains;
      sums[rank].lists += more[rank].lists;
    }
  }
}

std::vector<double> RankMeans::outside(std::size_t fold) const {
  std::vector<Sum> sums;
  for (std::size_t other = 0; other < kFolds; ++other) {
    if (other == fold) continue;
    if (sums.size() < sums_[other].size()) sums.resize(sums_[other].size());
    for (std::size_t rank = 0; rank < sums_[other].size(); ++rank) {
      sums[rank].gains += sums_[other][rank].gains;
      sums[rank].lists += sums_[other][rank].lists;
    }
  }
  std::vector<double> means;
  for (const Sum& sum : sums) means.push_back(sum.lists > 0 ? sum.gains / sum.lists : 0.0);
  return means;
}

GainRegression::GainRegression(std::uint32_t feature_count)
    : size_(kBase + feature_count), row_(size_) {
  for (Sums& sums : sums_) {
    sums.matrix.resize(size_ * size_);
    sums.vector.resize(size_);
  }
}

double GainRegression::factor(std::size_t rank) {
  return 1 / std::log2(static_cast<double>(rank) + 2);
}

double GainRegression::base(const LoggedList& list, std::size_t rank) const {
  const std::vector<double>& weights = weights_[RankMeans::fold_of(list)];
  const double at = factor(rank);
  return weights[0] + at * (weights[1] + at * weights[2]);
}

void GainRegression::add(const LoggedList& list, std::span<const double> gains) {
  Sums& sums = sums_[RankMeans::fold_of(list)];
  std::uint32_t doc = 0;
  for (std::size_t rank = 0; rank < gains.size(); ++rank) {
    if (list.pinned[rank] != 0) continue;
    const auto features = list.docs.row(Doc{doc++});
    const double scale = factor(rank);
    row_[0] = 1;
    row_[1] = scale;
    row_[2] = scale * scale;
    for (std::size_t at = 0; at < features.size(); ++at) row_[kBase + at] = scale * features[at];
    for (std::size_t at = 0; at < size_; ++at) {
      const double value = row_[at];
      if (value == 0) continue;
      double* matrix = sums.matrix.data() + at * size_;
      for (std::size_t other = 0; other <= at; ++other) matrix[other] += value * row_[other];
      sums.vector[at] += value * gains[rank];
    }
  }
}

void GainRegression::merge(const GainRegression& other) {
  for (std::size_t fold = 0; fold < RankMeans::kFolds; ++fold) {
    for (std::size_t at = 0; at < sums_[fold].matrix.size(); ++at) {
      sums_[fold].matrix[at] += other.sums_[fold].matrix[at];
    }
    for (std::size_t at = 0; at < size_; ++at)
      sums_[fold].vector[at] += other.sums_[fold].vector[at];
  }
}

void GainRegression::solve() {
  for (std::size_t fold = 0; fold < RankMeans::kFolds; ++fold) {
    std::vector<double> matrix(size_ * size_);
    std::vector<double>& weights = weights_[fold];
    weights.assign(size_, 0);
    for (std::size_t other = 0; other < RankMeans::kFolds; ++other) {
      if (other == fold) continue;
      for (std::size_t at = 0; at < matrix.size(); ++at) matrix[at] += sums_[other].matrix[at];
      for (std::size_t at = 0; at < size_; ++at) weights[at] += sums_[other].vector[at];
    }
    // Features that are constant or repeat others have many solutions; the ridge takes a small one.
    constexpr double kRidge = 1e-4;
    double trace = 0;
    for (std::size_t at = 0; at < size_; ++at) trace += matrix[at * size_ + at];
    if (!(trace > 0)) {
      weights.assign(size_, 0);
      continue;
    }
    for (std::size_t at = 0; at < size_; ++at) {
      matrix[at * size_ + at] += kRidge * trace / static_cast<double>(size_);
    }
    factorise(matrix, size_);
    solve_lower(matrix, weights);
    solve_upper(matrix, weights);
  }
}

void GainRegression::predict(const LoggedList& list, std::vector<double>& values) const {
  const std::vector<double>& weights = weights_[RankMeans::fold_of(list)];
  values.resize(list.docs.doc_count());
  for (std::uint32_t doc = 0; doc < list.docs.doc_count(); ++doc) {
    const auto features = list.docs.row(Doc{doc});
    double value = 0;
    for (std::size_t at = 0; at < features.size(); ++at)
      value += weights[kBase + at] * features[at];
    values[doc] = value;
  }
}

}  // namespace plackett
