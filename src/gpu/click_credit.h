// Clicks credited to rankers, and the duels that they decide, with the bits of ClickCredit and
// SampledCredit (sampling/click_credit.h).
#pragma once

#include "gpu/near_normal.h"
#include "gpu/stream.h"
#include "gpu/warp.h"
#include "sampling/click_credit.h"

namespace plackett::gpu {

// The clicks of a list, credited to rankers.
struct Credits {
  const float* table = nullptr;
  std::uint32_t stride = 0;
  std::uint32_t rankers = 0;
  const float* scales = nullptr;         // [rank][ranker]
  const std::uint32_t* docs = nullptr;   // per rank
  const std::uint32_t* ranks = nullptr;  // that were clicked
  std::uint32_t clicks = 0;
  double* totals = nullptr;      // per click, of all rankers
  double* to_current = nullptr;  // per click

  [[nodiscard]] double plain(std::uint32_t click, std::uint32_t ranker) const {
    const std::uint32_t rank = ranks[click];
    return double{table[std::size_t{ranker} * stride + docs[rank]]} *
           scales[std::size_t{rank} * rankers + ranker];
  }
  // P(ranker | the click's document).
  [[nodiscard]] double of(std::uint32_t click, std::uint32_t ranker) const {
    return plain(click, ranker) / totals[click];
  }
};

// Fills in totals and to_current.
[[gnu::always_inline]] inline void sum_credits(const Warp& warp, const Credits& credits) {
  warp.each([&](unsigned lane) {
    for (std::uint32_t click = lane; click < credits.clicks; click += kWarpLanes) {
      double total = 0;
      PLACKETT_UNROLL(4)
      for (std::uint32_t ranker = 0; ranker < credits.rankers; ++ranker) {
        total += credits.plain(click, ranker);
      }
      credits.totals[click] = total;
      credits.to_current[click] = credits.plain(click, 0) / total;
    }
  });
}

// The expected sign of (the ranker's clicks - the current one's). `differences` is scratch,
// 2 * clicks + 1 doubles that lie `stride` apart.
[[gnu::always_inline]] inline double expected_sign(const Credits& credits, std::uint32_t ranker,
                                                   double* differences, std::uint32_t stride) {
  differences[0] = 1;
  std::uint32_t count = 1;
  for (std::uint32_t click = 0; click < credits.clicks; ++click) {
    const double up = credits.of(click, ranker);
    const double down = credits.to_current[click];
    const double plain_stay = 1.0 - up - down;
    const double stay = plain_stay > 0 ? plain_stay : 0.0;
    // In place, from the top: each needs the old values at, below and two below it.
    double here = 0;
    double below = 0;
    double two_below = differences[(count - 1) * std::size_t{stride}];
    for (std::uint32_t at = count + 2; at-- > 0;) {
      differences[at * std::size_t{stride}] = up * two_below + stay * below + down * here;
      here = below;
      below = two_below;
      two_below = at >= 3 ? differences[(at - 3) * std::size_t{stride}] : 0.0;
    }
    count += 2;
  }
  double ahead = 0;
  double behind = 0;
  for (std::uint32_t at = 0; at < credits.clicks; ++at) {
    behind += differences[at * std::size_t{stride}];
    ahead += differences[(2 * credits.clicks - at) * std::size_t{stride}];
  }
  const double expected = ahead - behind;
  const double size = expected < 0 ? -expected : expected;
  return size <= kEqualCredit * (ahead + behind) ? 0.0 : expected;
}

// Duels with expectation 0 or nearly 0, decided as the engine's estimate from many samples would
// be. All lanes work on one duel, and warps on several.
struct SampledScratch {
  [[gnu::always_inline]] SampledScratch(double* common, double* of_warp, std::uint32_t counts)
      : chances(common),
        noise(common + std::size_t{2} * counts),
        terms(of_warp),
        variances(of_warp + counts),
        joint(of_warp + std::size_t{2} * counts) {}

  double* chances;  // [2][counts]: P(the current ranker has n of the clicks)
  double* noise;    // [counts]: the samples' share of that, minus the truth
  // A warp's own.
  double* terms;      // [counts]
  double* variances;  // [counts]
  double* joint;      // [2][counts * counts]: [current's][candidate's] counts
};

// Draws a new set of samples: fills in the noise.
[[gnu::always_inline]] inline void draw_samples(const Warp& warp, const Credits& credits,
                                                const SampledScratch& scratch, Stream& stream) {
  const std::uint32_t counts = credits.clicks + 1;
  warp.each([&](unsigned lane) {
    for (std::uint32_t count = lane; count < counts; count += kWarpLanes) {
      scratch.chances[count] = count == 0 ? 1 : 0;
    }
  });
  double* chances = scratch.chances;
  double* next = scratch.chances + counts;
  for (std::uint32_t click = 0; click < credits.clicks; ++click) {
    const double own = credits.to_current[click];
    warp.each([&](unsigned lane) {
      for (std::uint32_t count = lane; count < counts; count += kWarpLanes) {
        next[count] = count == 0 ? chances[0] * (1 - own)
                                 : chances[count] + own * (chances[count - 1] - chances[count]);
      }
    });
    double* const other = chances;
    chances = next;
    next = other;
  }
  double total = 0;
  for (std::uint32_t first = 0; first < counts; first += kWarpLanes) {
    const std::uint32_t left = counts - first < kWarpLanes ? counts - first : kWarpLanes;
    PerLane<double> noise;
    warp.compute([&](unsigned lane) {
      noise[lane] = 0;
      if (lane >= left) return;
      const double chance = chances[first + lane];
      noise[lane] =
          square_root(chance > 0 ? chance : 0.0) * near_normal_after(stream, first + lane);
      scratch.noise[first + lane] = noise[lane];
    });
    for (std::uint32_t at = 0; at < left; ++at) total += warp.from(noise, at);
  }
  stream.skip_words(std::uint64_t{counts} * kNormalWords);
  warp.each([&](unsigned lane) {
    for (std::uint32_t count = lane; count < counts; count += kWarpLanes) {
      scratch.noise[count] =
          (scratch.noise[count] - chances[count] * total) / square_root(SampledCredit::kSamples);
    }
  });
}

// Whether a duel's expectation is so near to 0 that the samples decide it.
inline bool is_near(double expected) {
  constexpr double kDecided = 8;  // as SampledCredit::won
  return (expected < 0 ? -expected : expected) * square_root(SampledCredit::kSamples) <= kDecided;
}

// By how much the samples' mean sign is above what a win takes. `normal` is the duel's own.
[[gnu::always_inline]] inline double sampled_lead(const Warp& warp, const Credits& credits,
                                                  std::uint32_t ranker, double expected,
                                                  const SampledScratch& scratch, double normal) {
  const std::uint32_t counts = credits.clicks + 1;
  const std::uint32_t square = counts * counts;
  warp.each([&](unsigned lane) {
    for (std::uint32_t at = lane; at < 2 * square; at += kWarpLanes) {
      scratch.joint[at] = at == 0 ? 1 : 0;
    }
  });
  double* joint = scratch.joint;
  double* next = scratch.joint + square;
  for (std::uint32_t click = 0; click < credits.clicks; ++click) {
    const double own = credits.of(click, ranker);
    const double current = credits.to_current[click];
    const double plain_other = 1.0 - own - current;
    const double other = plain_other > 0 ? plain_other : 0.0;
    const std::uint32_t side = click + 2;  // counts that are possible after this click
    warp.each([&](unsigned lane) {
      for (std::uint32_t entry = lane; entry < side * side; entry += kWarpLanes) {
        const std::uint32_t a = entry / side;
        const std::uint32_t b = entry % side;
        if (a + b >= side) continue;
        const std::uint32_t at = a * counts + b;
        double chance = other * joint[at];
        if (a > 0) chance += current * joint[at - counts];
        if (b > 0) chance += own * joint[at - 1];
        next[at] = chance;
      }
    });
    double* const swapped = joint;
    joint = next;
    next = swapped;
  }
  // Each of the current ranker's counts adds to the mean and to the variance; the sums go in order.
  warp.each([&](unsigned lane) {
    for (std::uint32_t a = lane; a < counts; a += kWarpLanes) {
      double chance = 0;
      double sign = 0;
      double size = 0;
      for (std::uint32_t b = 0; b + a < counts; ++b) {
        const double p = joint[a * counts + b];
        chance += p;
        if (b > a) sign += p;
        if (b < a) sign -= p;
        if (b != a) size += p;
      }
      const bool counts_at_all = chance > 0;
      scratch.terms[a] = counts_at_all ? sign / chance * scratch.noise[a] : 0.0;
      scratch.variances[a] = counts_at_all ? size - sign * sign / chance : 0.0;
    }
  });
  double mean = expected;
  double variance = 0;
  for (std::uint32_t a = 0; a < counts; ++a) {
    mean += scratch.terms[a];
    variance += scratch.variances[a];
  }
  mean += square_root((variance > 0 ? variance : 0.0) / SampledCredit::kSamples) * normal;
  warp.sync();
  return mean - 0.5 / SampledCredit::kSamples;
}

// How far sampled_lead may be from the engine's, for normals that are at most `normal_error` off:
// each count's noise has those of all counts, divided by the root of the samples.
inline double lead_error(std::uint32_t clicks, double normal_error) {
  const auto terms = static_cast<double>(clicks + 2);
  return terms * terms * normal_error / 50;
}

}  // namespace plackett::gpu
