// Sampling without replacement, with the bits of sample_ranking (sampling/plackett_luce.cc, which
// says why each step of Urn is as it is).
//
// Only the document that a draw finds must be the same. Sums of floats over all lanes find it at
// once in nearly all draws, and know when rounding could have misled them; then Urn goes on, draw
// by draw as the engine does.
#pragma once

#include "base/portable_exp.h"
#include "gpu/scratch.h"
#include "gpu/warp.h"

namespace plackett::gpu {

// Draws while it is certain. Its documents' masses are in the scratch: 0 for those taken out.
class QuickUrn {
 public:
  // Requires: scores finite, `highest` among them; docs > 0.
  [[gnu::always_inline]] QuickUrn(const Warp& warp, const DocScratch& scratch, std::uint32_t docs,
                                  float highest)
      : warp_(warp),
        masses_(scratch.masses),
        docs_(docs),
        per_lane_((docs + kWarpLanes - 1) / kWarpLanes) {
    const double shift = highest;
    const std::uint32_t in_blocks = (docs + 15) / 16 * 16;
    warp_.each([&](unsigned lane) {
      for (std::uint32_t doc = lane; doc < in_blocks; doc += kWarpLanes) {
        masses_[doc] = doc < docs_ ? portable_exp(scratch.scores[doc] - shift) : 0.0;
      }
    });
    warp_.compute([&](unsigned lane) {
      own_[lane] = 0;
      for (std::uint32_t doc = lane * per_lane_; doc < end_of(lane); ++doc) {
        own_[lane] += static_cast<float>(masses_[doc]);
      }
    });
  }

  // Takes a document out, as placed[count]. False, without a change, if it is not certain: the draw
  // lies so near to the document's ends that rounding, of these sums or of the exact ones, could
  // move them past it. That is about once in a thousand draws.
  [[gnu::always_inline]] bool draw(double uniform, std::uint32_t* placed, std::uint32_t count) {
    constexpr float kLeast = 1e-20F;  // far above what vanishes in floats, and kRebaseBelow
    constexpr std::uint32_t kNone = ~std::uint32_t{0};
    PerLane<float> sums = own_;
    add_those_before(warp_, sums);
    const float total = warp_.from(sums, kWarpLanes - 1);
    if (!(total > kLeast)) return false;
    const float target = static_cast<float>(uniform) * total;
    // A sum has per_lane_ + 5 roundings of at most 2^-24 of the total, the target two more.
    const float margin = total * static_cast<float>(per_lane_ + 16) * 0x1p-22F;
    PerLane<bool> is_below;
    warp_.compute([&](unsigned lane) { is_below[lane] = target < sums[lane]; });
    const std::uint32_t below = warp_.mask(is_below);
    if (below == 0) return false;
    const auto chosen_lane = static_cast<unsigned>(__builtin_ctz(below));
    PerLane<std::uint32_t> chosen;
    warp_.compute([&](unsigned lane) {
      chosen[lane] = kNone;
      if (lane != chosen_lane) return;
      float low = sums[lane] - own_[lane];
      float rest = 0;
      bool found = false;
      for (std::uint32_t doc = lane * per_lane_; doc < end_of(lane); ++doc) {
        const auto mass = static_cast<float>(masses_[doc]);
        if (!found && target < low + mass) {
          found = true;
          if (target - low > margin && low + mass - target > margin) chosen[lane] = doc;
        } else {
          rest += mass;
        }
        low += mass;
      }
      if (chosen[lane] == kNone) return;
      own_[lane] = rest;
      masses_[chosen[lane]] = 0;
      placed[count] = chosen[lane];
    });
    return warp_.from(chosen, chosen_lane) != kNone;
  }

 private:
  // A lane's documents are those in a row that end before.
  [[nodiscard]] std::uint32_t end_of(unsigned lane) const {
    const std::uint32_t end = (lane + 1) * per_lane_;
    return end < docs_ ? end : docs_;
  }

  const Warp& warp_;
  double* masses_;
  std::uint32_t docs_;
  std::uint32_t per_lane_;
  PerLane<float> own_;  // the sum of a lane's masses
};

// The engine's urn: a draw finds its block of 16 masses, then its document.
class Urn {
 public:
  // Of the masses in the scratch, after the draws of `placed`, `count` of them. `shift` is the
  // highest score.
  Urn(const Warp& warp, const DocScratch& scratch, std::uint32_t docs, double shift,
      const std::uint32_t* placed, std::uint32_t count)
      : warp_(warp),
        scratch_(scratch),
        docs_(docs),
        blocks_((docs + kBlock - 1) / kBlock),
        shift_(shift) {
    fill([&](std::uint32_t doc) { return scratch_.masses[doc]; });
    rebase_if_needed(placed, count);
  }

  // Takes a document out, as placed[count]; placed[0 .. count) were taken before.
  // Requires: a document is left.
  void draw(double uniform, std::uint32_t* placed, std::uint32_t count) {
    remove(find(uniform), placed, count);
    rebase_if_needed(placed, count + 1);
  }

  [[nodiscard]] Mass rest() const { return total_ == 0 ? Mass{} : Mass{shift_, total_}; }

 private:
  static constexpr std::uint32_t kBlock = 16;
  static constexpr double kRebaseBelow = 1e-250;

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
    PLACKETT_UNROLL(4)
    for (std::uint32_t block = 0; block < blocks_; ++block) total_ += scratch_.block_sums[block];
  }

  [[nodiscard]] std::uint32_t find(double uniform) const {
    double target = uniform * total_;
    std::uint32_t block = 0;
    while (block + 1 < blocks_ && target >= scratch_.block_sums[block]) {
      target -= scratch_.block_sums[block];
      ++block;
    }
    // Rounding may point past the last mass of a block, or to an empty block.
    while (block > 0 && scratch_.block_sums[block] == 0) --block;
    const double* masses = scratch_.masses + std::size_t{block} * kBlock;
    std::uint32_t chosen = 0;
    for (std::uint32_t at = 0; at < kBlock; ++at) {
      if (masses[at] == 0) continue;
      chosen = at;
      if (target < masses[at]) break;
      target -= masses[at];
    }
    return block * kBlock + chosen;
  }

  void remove(std::uint32_t doc, std::uint32_t* placed, std::uint32_t count) {
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
      if (lane == 2) placed[count] = doc;
    });
    sum_total();
  }

  void rebase_if_needed(const std::uint32_t* placed, std::uint32_t count) {
    if (!(total_ < kRebaseBelow) || count == docs_) return;
    warp_.each([&](unsigned lane) {
      for (std::uint32_t at = lane; at < count; at += kWarpLanes) scratch_.masses[placed[at]] = -1;
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

// The draws from `first` to `last`, after those that QuickUrn did, and the mass of what is left.
// Not inlined: it would keep registers from what is done more often.
[[gnu::noinline]] inline Mass draw_exactly(Warp warp, DocScratch scratch, std::uint32_t docs,
                                           double shift, const double* uniforms,
                                           std::uint32_t* placed, std::uint32_t first,
                                           std::uint32_t last) {
  warp.sync();
  Urn urn(warp, scratch, docs, shift, placed, first);
  for (std::uint32_t rank = first; rank < last; ++rank) urn.draw(uniforms[rank], placed, rank);
  return urn.rest();
}

// Draws `ranks` documents into `placed` and returns the mass of the others.
// Requires: scores finite, `highest` among them; 0 < ranks <= docs.
[[gnu::always_inline]] inline Mass draw_list(const Warp& warp, const DocScratch& scratch,
                                             std::uint32_t docs, float highest,
                                             const double* uniforms, std::uint32_t ranks,
                                             std::uint32_t* placed) {
  QuickUrn urn(warp, scratch, docs, highest);
  std::uint32_t rank = 0;
  while (rank < ranks && urn.draw(uniforms[rank], placed, rank)) ++rank;
  return draw_exactly(warp, scratch, docs, highest, uniforms, placed, rank, ranks);
}

}  // namespace plackett::gpu
