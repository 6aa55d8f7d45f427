#include "offpolicy/prefix_sums.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace plackett {

void RankSums::add(double w, double p, double gained) {
  lists += 1;
  weight += w / p;
  squared_weight += w / p * (w / p);
  gain += w / p * gained;
  logged += 1 / p * gained;  // the same bits as `gain` if W is 1
  keep += 1 / p;
  squared_keep += 1 / (p * p);
  cross += w / (p * p);
}

void RankSums::merge(const RankSums& other) {
  lists += other.lists;
  weight += other.weight;
  squared_weight += other.squared_weight;
  gain += other.gain;
  logged += other.logged;
  keep += other.keep;
  squared_keep += other.squared_keep;
  cross += other.cross;
}

double RankSums::effective_lists() const {
  const double effective = weight * weight / squared_weight;
  return std::isfinite(effective) ? effective : 0.0;
}

double RankSums::mean_error() const {
  const double squares = squared_weight - 2 * cross + squared_keep;
  return keep > 0 ? std::sqrt(std::max(0.0, squares)) / keep : 0.0;
}

void PrefixSums::grow(std::size_t ranks) {
  if (ranks <= longer_.size()) return;
  longer_.resize(ranks);
  ended_.resize(ranks + 1);
}

void PrefixSums::add(std::span<const double> weights, double p, std::span<const double> gains) {
  assert(weights.size() == gains.size());
  const std::size_t count = weights.size();
  grow(count);
  lists_ += 1;
  if (count == 0) return ended_[0].add(1, p, 0);
  for (std::size_t rank = 0; rank + 1 < count; ++rank) {
    longer_[rank].add(weights[rank], p, gains[rank]);
  }
  ended_[count].add(weights[count - 1], p, gains[count - 1]);
}

void PrefixSums::merge(const PrefixSums& other) {
  grow(other.ranks());
  lists_ += other.lists_;
  ended_[0].merge(other.ended_[0]);
  for (std::size_t rank = 0; rank < other.ranks(); ++rank) {
    longer_[rank].merge(other.longer_[rank]);
    ended_[rank + 1].merge(other.ended_[rank + 1]);
  }
}

std::vector<RankSums> PrefixSums::of_all() const {
  std::vector<RankSums> all(ranks());
  RankSums ended = ended_[0];
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    // What lists were worth that end above is of those ranks.
    ended.gain = 0;
    ended.logged = 0;
    ended.merge(ended_[rank + 1]);
    all[rank] = longer_[rank];
    all[rank].merge(ended);
  }
  return all;
}

RankSums PrefixSums::with_rank(std::size_t rank) const {
  RankSums sums = longer_[rank];
  sums.merge(ended_[rank + 1]);
  return sums;
}

double PrefixSums::effective_lists(std::size_t rank) const {
  const RankSums with = with_rank(rank);
  return with.lists > 0 ? with.effective_lists() * (lists_ / with.lists) : 0.0;
}

void ShownRanks::grow(std::size_t ranks) {
  if (ranks > ranks_.size()) ranks_.resize(ranks);
}

void ShownRanks::add(std::span<const double> gains) {
  grow(gains.size());
  lists_ += 1;
  for (std::size_t rank = 0; rank < gains.size(); ++rank) {
    ranks_[rank].lists += 1;
    ranks_[rank].gains += std::abs(gains[rank]);
  }
}

void ShownRanks::merge(const ShownRanks& other) {
  grow(other.ranks());
  lists_ += other.lists_;
  for (std::size_t rank = 0; rank < other.ranks(); ++rank) {
    ranks_[rank].lists += other.ranks_[rank].lists;
    ranks_[rank].gains += other.ranks_[rank].gains;
  }
}

std::vector<double> ShownRanks::stakes() const {
  std::vector<double> stakes(ranks());
  double below = 0;  // and there
  for (std::size_t rank = ranks(); rank-- > 0;) stakes[rank] = below += ranks_[rank].gains;
  for (std::size_t rank = 0; rank < ranks(); ++rank) {
    const double of_gains = below > 0 ? stakes[rank] / below : 0.0;
    stakes[rank] = std::max(ranks_[rank].lists / lists_, of_gains);
  }
  return stakes;
}

}  // namespace plackett
