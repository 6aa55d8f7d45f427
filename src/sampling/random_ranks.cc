#include "sampling/random_ranks.h"

#include <limits>
#include <utility>

#include "base/kernels.h"

namespace plackett {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

}  // namespace

std::span<std::uint32_t> RandomRanks::rank(std::span<const float> scores, Rng& rng) {
  const std::size_t docs = scores.size();
  const std::size_t padded = (docs + kLanes - 1) / kLanes * kLanes;
  if (ranks_.size() < padded) {
    ranks_.resize(padded);
    first_.reserve(padded);
    next_.reserve(padded);
    equals_.reserve(padded);
  }
  const std::uint64_t sum = kernels().count_above(scores.data(), docs, ranks_.data());
  // Distinct scores have the ranks 0 ... docs - 1; equal ones share the best of theirs.
  if (sum != std::uint64_t{docs} * (docs - 1) / 2) order_equals(docs, rng);
  return {ranks_.data(), padded};
}

void RandomRanks::order_equals(std::size_t docs, Rng& rng) {
  first_.assign(docs, kNone);
  next_.resize(docs);
  for (std::uint32_t doc = 0; doc < docs; ++doc) {
    next_[doc] = std::exchange(first_[ranks_[doc]], doc);
  }
  for (std::uint32_t rank = 0; rank < docs; ++rank) {
    if (first_[rank] == kNone || next_[first_[rank]] == kNone) continue;
    equals_.clear();
    for (std::uint32_t doc = first_[rank]; doc != kNone; doc = next_[doc]) equals_.push_back(doc);
    for (auto left = static_cast<std::uint32_t>(equals_.size()); left > 1; --left) {
      std::swap(equals_[left - 1], equals_[rng.below(left)]);
    }
    for (std::uint32_t place = 0; place < equals_.size(); ++place) {
      ranks_[equals_[place]] = rank + place;
    }
  }
}

}  // namespace plackett
