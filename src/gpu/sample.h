// Sampling without replacement, with the bits of sample_ranking (sampling/plackett_luce.cc, which
// says why each step is as it is): a draw finds its block of 16 masses, then its document.
#pragma once

#include "base/portable_exp.h"
#include "gpu/scratch.h"
#include "gpu/warp.h"

namespace plackett::gpu {

inline constexpr std::uint32_t kBlock = 16;
inline constexpr double kRebaseBelow = 1e-250;

class Urn {
 public:
  // Requires: scores finite, `highest` among them; docs > 0.
  Urn(const Warp& warp, const DocScratch& scratch, std::uint32_t docs, float highest)
      : warp_(warp),
        scratch_(scratch),
        docs_(docs),
        blocks_((docs + kBlock - 1) / kBlock),
        shift_(highest) {
    fill([&](std::uint32_t doc) { return portable_exp(scratch_.scores[doc] - shift_); });
  }

  // Takes a document out. `placed` are those taken before, `count` of them.
  // Requires: a document is left.
  std::uint32_t draw(double uniform, const std::uint32_t* placed, std::uint32_t count) {
    const std::uint32_t doc = find(uniform);
    remove(doc);
    if (total_ < kRebaseBelow && count + 1 < docs_) rebase(doc, placed, count);
    return doc;
  }

  [[nodiscard]] Mass rest() const { return total_ == 0 ? Mass{} : Mass{shift_, total_}; }

 private:
  // masses[doc] = mass_of(doc), and their sums.
  template <typename MassOf>
  void fill(const MassOf& mass_of) {
    for (std::uint32_t first = 0; first < docs_; first += kWarpLanes) {
      PerLane<double> sums;
      warp_.compute([&](unsigned lane) {
        const std::uint32_t doc = first + lane;
        sums[lane] = doc < docs_ ? mass_of(doc) : 0.0;
        if (doc < blocks_ * kBlock) scratch_.masses[doc] = sums[lane];
      });
      sum_block(sums);
      warp_.compute([&](unsigned lane) {
        const std::uint32_t block = (first + lane) / kBlock;
        if (lane % kBlock == 0 && block < blocks_) scratch_.block_sums[block] = sums[lane];
      });
    }
    warp_.sync();
    sum_total();
  }

  // Each lane's mass to the sum of its block.
  void sum_block(PerLane<double>& masses) const {
    add_at_distance(warp_, masses, 4);
    add_at_distance(warp_, masses, 8);
    add_at_distance(warp_, masses, 2);
    add_at_distance(warp_, masses, 1);
  }

  void sum_total() {
    total_ = 0;
    for (std::uint32_t block = 0; block < blocks_; ++block) total_ += scratch_.block_sums[block];
  }

  [[nodiscard]] std::uint32_t find(double uniform) const {
    double target = uniform * total_;
    std::uint32_t block = 0;
    for (; block + 1 < blocks_; ++block) {
      const double sum = scratch_.block_sums[block];
      if (!(target >= sum)) break;
      target -= sum;
    }
    while (block > 0 && scratch_.block_sums[block] == 0) --block;
    const double* masses = scratch_.masses + block * kBlock;
    // A mass of 0 is never above the target. Rounding may point past the last one that is not 0.
    std::uint32_t at = 0;
    for (; at < kBlock; ++at) {
      const double mass = masses[at];
      if (target < mass) return block * kBlock + at;
      target -= mass;
    }
    for (at = kBlock - 1; at > 0 && masses[at] == 0; --at) {
    }
    return block * kBlock + at;
  }

  void remove(std::uint32_t doc) {
    const std::uint32_t block = doc / kBlock;
    PerLane<double> masses;
    warp_.compute([&](unsigned lane) {
      const std::uint32_t own = block * kBlock + lane % kBlock;
      masses[lane] = own == doc ? 0.0 : scratch_.masses[own];
    });
    sum_block(masses);
    warp_.each([&](unsigned lane) {
      if (lane == 0) scratch_.masses[doc] = 0;
      if (lane == 1) scratch_.block_sums[block] = masses[lane];
    });
    sum_total();
  }

  void rebase(std::uint32_t last, const std::uint32_t* placed, std::uint32_t count) {
    warp_.each([&](unsigned lane) {
      for (std::uint32_t at = lane; at <= count; at += kWarpLanes) {
        scratch_.masses[at == count ? last : placed[at]] = -1;
      }
    });
    PerLane<float> highest;
    warp_.compute([&](unsigned lane) {
      highest[lane] = -__builtin_inff();
      for (std::uint32_t doc = lane; doc < docs_; doc += kWarpLanes) {
        const float score = scratch_.scores[doc];
        if (scratch_.masses[doc] >= 0 && score > highest[lane]) highest[lane] = score;
      }
    });
    shift_ = largest(warp_, highest);
    fill([&](std::uint32_t doc) {
      return scratch_.masses[doc] < 0 ? 0.0 : portable_exp(scratch_.scores[doc] - shift_);
    });
  }

  const Warp& warp_;
  const DocScratch& scratch_;
  std::uint32_t docs_;
  std::uint32_t blocks_;
  double shift_;
  double total_ = 0;
};

}  // namespace plackett::gpu
