// What limits the rate of impressions on a card, by counting, and the rates that are aimed at.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "bench_data.h"
#include "gpu/device_method.h"
#include "gpu/random_ranks.h"

namespace plackett::bench {

// What limits are computed from.
struct Card {
  double bandwidth = 0;          // bytes per second of a copy, read and written
  std::uint32_t processors = 0;  // multiprocessors
  double clock_hz = 0;           // the highest
};

struct Limit {
  double rate = 0;    // impressions per second
  std::string basis;  // how that is counted
};

// Instructions of a warp by which MGD ranks so many documents under one ranker: the loop bodies of
// what ptxas makes for sm_90, times their rounds.
inline double rank_instructions(std::uint32_t docs) {
  const auto rounds = [](std::uint32_t count, std::uint32_t each) {
    return static_cast<double>((count + each - 1) / each);
  };
  constexpr std::uint32_t kLanes = gpu::kWarpLanes;
  if (docs < gpu::kLeastSorted || docs > gpu::kMostSorted) {  // all are compared with all
    const std::uint32_t own = docs <= kLanes ? 1 : docs <= 2 * kLanes ? 2 : 4;  // of a lane
    const double of_16 = own == 1 ? 54 : own == 2 ? 94 : 174;                   // with 16 others
    return rounds(docs, own * kLanes) * rounds(docs, 4) / 4 * of_16;
  }
  const double to_sort = docs <= 4 * kLanes ? 285 : docs <= 8 * kLanes ? 615 : 1'360;
  return to_sort + rounds(docs, 4 * kLanes) * (112 + 39.0 * std::bit_width(docs - 1));
}

// Of MGD's warps, per impression: docs/decisions/0021-gpu.md counts all but the ranks for 50
// rankers, 125 documents and 136 features.
inline double multileave_instructions(const Shape& shape, std::uint32_t rankers) {
  const double features = shape.features / 136.0;
  const double docs = shape.docs / 125.0;
  return rankers / 50.0 * (18'000 * features + (40'000 * features + 14'000) * docs) +
         rankers * rank_instructions(shape.docs) + 16'000;
}

// Memory limits linear rankers, but for MGD's; instructions limit these; multiply-adds networks.
inline Limit limit_of(const gpu::DeviceMethod& method, const Shape& shape, const Card& card) {
  const double cycles = card.processors * card.clock_hz;  // per second, of all multiprocessors
  const std::uint32_t rankers = method.data.duels.candidates + 1;
  if (method.network.exists()) {
    constexpr double kLanes = 128;  // of a multiprocessor, from compute capability 8.6 on
    const double networks = method.kernel == gpu::Kernel::kDuelNetwork ? rankers : 1;
    const double fused = networks * shape.docs * shape.features * method.network.units;
    return {cycles * kLanes / fused,
            fmt::format("{:.2f} M fused multiply-adds for the scores, {:.0f} TFLOP/s", fused * 1e-6,
                        2e-12 * cycles * kLanes)};
  }
  if (method.kernel == gpu::Kernel::kMultileave) {
    const double instructions = multileave_instructions(shape, rankers);
    return {4 * cycles / instructions,
            fmt::format("{:.0f} thousand instructions of a warp, 4 per cycle of {} multiprocessors",
                        instructions * 1e-3, card.processors)};
  }
  const double bytes = static_cast<double>(shape.docs) * padded_width(shape.features) * 4;
  return {card.bandwidth / bytes, fmt::format("{:.0f} KB of features", bytes * 1e-3)};
}

// What it must reach on an H200, and what it last did.
struct Target {
  std::string_view method;
  std::string_view shape;
  double rate = 0;      // impressions per second
  double share = 0;     // of the limit
  double measured = 0;  // as `rate`: docs/gpu.md
};
inline constexpr Target kTargets[] = {{"pdgd", "mslr", 40e6, 0.65, 41.7e6},
                                      {"pdgd", "mq2008", 150e6, 0, 158e6},
                                      {"pdgd:neural", "mslr", 6e6, 0, 6.4e6},
                                      {"mgd", "mslr", 1e6, 0, 2.8e6}};
inline constexpr double kNoLoss = 0.95;  // of what was measured: runs differ by less

inline std::string target_text(std::string_view method, std::string_view shape, double rate,
                               double share) {
  for (const Target& target : kTargets) {
    if (target.method != method || target.shape != shape) continue;
    const bool reaches = rate >= target.rate && share >= target.share;
    const bool is_loss = rate < kNoLoss * target.measured;
    return fmt::format("; {} the target of {:.0f} M{}; {}{:.1f} M measured before",
                       reaches ? "reaches" : "MISSES", target.rate * 1e-6,
                       target.share > 0 ? fmt::format(" and {:.2f}", target.share) : "",
                       is_loss ? "LESS than the " : "", target.measured * 1e-6);
  }
  return {};
}

}  // namespace plackett::bench
