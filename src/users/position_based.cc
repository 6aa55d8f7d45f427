#include "users/position_based.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace plackett {
namespace {

constexpr std::size_t kTabulatedRanks = 128;  // lower ranks are computed on demand

}  // namespace

PositionBasedUser::PositionBasedUser(const Spec& spec)
    : eta_(spec.eta),
      grade_count_(static_cast<std::uint32_t>(spec.click.size())),
      name_(spec.name) {
  assert(!spec.click.empty() && spec.click.size() <= click_.size());
  assert(std::isfinite(eta_) && eta_ >= 0);
  std::copy(spec.click.begin(), spec.click.end(), click_.begin());
  examined_scaled_.reserve(kTabulatedRanks);
  for (std::size_t rank = 0; rank < kTabulatedRanks; ++rank) {
    examined_scaled_.push_back(examined(rank) * 0x1p32);
  }
}

double PositionBasedUser::examined(std::size_t rank) const {
  return std::pow(static_cast<double>(rank + 1), -eta_);
}

void PositionBasedUser::click(std::span<const Doc> shown, const Judgments& judgments, Rng& rng,
                              std::span<std::uint8_t> clicks) const {
  assert(clicks.size() == shown.size());
  for (std::size_t rank = 0; rank < shown.size(); ++rank) {
    const std::uint8_t label = judgments.label(shown[rank]);
    assert(label < grade_count_);
    const double scaled = rank < kTabulatedRanks ? examined_scaled_[rank] : examined(rank) * 0x1p32;
    clicks[rank] = static_cast<double>(rng.next_u32()) < scaled * click_[label] ? 1 : 0;
  }
}

double PositionBasedUser::pattern_probability(std::span<const std::uint8_t> labels,
                                              std::span<const std::uint8_t> clicks) const {
  assert(clicks.size() == labels.size());
  double product = 1;
  for (std::size_t rank = 0; rank < labels.size(); ++rank) {
    assert(labels[rank] < grade_count_);
    const double clicked = examined(rank) * click_[labels[rank]];
    product *= clicks[rank] != 0 ? clicked : 1 - clicked;
  }
  return product;
}

bool PositionBasedUser::alike(std::uint8_t label, std::uint8_t other) const {
  assert(label < grade_count_ && other < grade_count_);
  return click_[label] == click_[other];
}

}  // namespace plackett
