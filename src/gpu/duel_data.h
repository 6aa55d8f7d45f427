// What DBGD and MGD read, and where their scratch lies. Ranker 0 is the current one, ranker c + 1
// is candidate c.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/network_data.h"

namespace plackett::gpu {

// How far near_normal (gpu/near_normal.h) may be from Rng::normal.
inline constexpr double kNormalError = 1e-13;

// Of a run: as DuelingBanditOptions (learner/dueling_bandit.h).
struct DuelRules {
  std::uint32_t candidates = 0;
  std::uint32_t parameters = 0;  // of a ranker; the directions' padding begins there
  std::uint32_t team_draft = 0;  // otherwise probabilistic multileaving
  std::uint32_t by_chance = 0;   // ProbabilisticMultileaving::Ties::kByChance
  std::uint32_t projected = 0;   // and these as there
  std::uint32_t further = 0;
  // How far normals that decide duels may be from the engine's: kNormalError. More sends more runs
  // to the engine.
  double normal_error = kNormalError;
};

// Examined documents that a run remembers if its steps are projected: DuelingBandit::kRemembered.
inline constexpr std::uint32_t kRemembered = 10;

// Rankers whose scores are computed together: what a warp reads of features serves so many.
inline constexpr unsigned kDuelGroup = 2;        // DBGD's two
inline constexpr unsigned kMultileaveGroup = 8;  // MGD's 50 are seven groups
inline constexpr unsigned kNetworkGroup = 1;
// Blocks of MGD's runs that a multiprocessor does at a time, at most.
inline constexpr unsigned kMultileaveBlocks = 4;

constexpr std::uint32_t round_up(std::uint32_t value, std::uint32_t unit) {
  return (value + unit - 1) / unit * unit;
}

// Of weights that are staged for scoring, for each warp: 32 features of a group, at least.
inline constexpr std::uint32_t kStagedBytes = 1 << 10;

// Floats from a ranker's row of the table to the next: whole blocks of 16, an odd number of them,
// so that two rows' blocks lie in different banks of shared memory.
constexpr std::uint32_t table_stride(std::uint32_t docs) {
  const std::uint32_t blocks = (docs + 15) / 16;
  return (blocks + 1 - blocks % 2) * 16;
}

// The scratch of one query's documents: offsets in bytes. While blocks score, what follows the
// query's own rows of the table holds weights: gpu/score_rankers.h.
struct TableLayout {
  std::uint32_t docs = 0;      // that there is room for
  std::uint32_t table = 0;     // [ranker][table_stride] floats: scores, later weights
  std::uint32_t ranks = 0;     // u32 per document, for each warp; later a float, its chance
  std::uint32_t order = 0;     // u32 per document
  std::uint32_t unplaced = 0;  // float per document: 1, or 0 once placed
  std::uint32_t size = 0;

  constexpr TableLayout() = default;
  // For up to that many documents. `rows` is the number of rankers. After the table are `staged`
  // bytes, at least.
  constexpr TableLayout(std::uint32_t most_docs, std::uint32_t rows, std::uint32_t warps,
                        std::uint32_t staged = 0)
      : docs(most_docs) {
    const std::uint32_t line = table_stride(docs) * static_cast<std::uint32_t>(sizeof(float));
    ranks = table + rows * line;
    order = ranks + warps * line;
    unplaced = order + line;
    size = unplaced + line;
    if (size < ranks + staged) size = ranks + staged;
  }
};

inline constexpr std::uint32_t kDuelToldBytes = 32;

// Candidates whose duels are decided side by side.
constexpr std::uint32_t duel_lanes(const DuelRules& rules) {
  return rules.candidates < 32 ? rules.candidates : 32;
}

// Doubles of SampledScratch (gpu/click_credit.h) for lists of `shown` documents: what warps share,
// and a warp's own.
constexpr std::uint32_t sampled_size(std::uint32_t shown) { return 3 * (shown + 1); }
constexpr std::uint32_t sampled_warp_size(std::uint32_t shown) {
  return 2 * (shown + 1) + 2 * (shown + 1) * (shown + 1);
}

// The scratch of the rankers, apart from documents. First what lies in shared memory, then what
// lies in the spill: each from its own start.
struct DuelLayout {
  static constexpr std::uint32_t kMostSharedScales = 8 << 10;  // bytes

  std::uint32_t told = 0;      // DuelTold: what the first warp tells the others
  std::uint32_t lengths = 0;   // float per candidate: 1 / its direction's length
  std::uint32_t won = 0;       // u32 per candidate that won: which
  std::uint32_t factors = 0;   // float per candidate that won: of its direction, in the step
  std::uint32_t tied = 0;      // u32 per ranker: 1 if some of its scores are equal; later a
                               // candidate whose duel samples decide
  std::uint32_t expected = 0;  // double per candidate: the expected sign of its duel
  // Probabilistic: [rank][ranker] floats, 1 / the ranker's weight of what was not yet placed. Team
  // draft: u32 per ranker, the order of turns; another, whether it had one; u32 per rank: whose.
  // In the spill if they are many.
  std::uint32_t scales = 0;
  bool scales_are_spilled = false;
  std::uint32_t shared_size = 0;
  // [ranker][width] floats: the current weights and the directions. In shared memory if `group` is
  // kDuelGroup.
  std::uint32_t rankers = 0;
  // [part][at][lane] doubles: parts of duel_lanes() candidates, which are decided side by side.
  std::uint32_t differences = 0;  // later a double per duel that samples decide: its normal
  // Ties by chance: as SampledScratch.
  std::uint32_t sampled = 0;
  std::uint32_t sampled_of_warps = 0;
  // If steps are projected: [row][width] floats, as many products, a row, and the direction.
  std::uint32_t basis = 0;
  std::uint32_t products = 0;
  std::uint32_t row = 0;
  std::uint32_t direction = 0;
  std::uint32_t spill_size = 0;

  constexpr DuelLayout() = default;
  constexpr DuelLayout(const DuelRules& rules, std::uint32_t group, std::uint32_t shown,
                       std::uint32_t width) {
    const std::uint32_t count = rules.candidates + 1;
    constexpr auto kFloat = static_cast<std::uint32_t>(sizeof(float));
    constexpr auto kDouble = static_cast<std::uint32_t>(sizeof(double));
    const auto take = [](std::uint32_t& size, std::uint32_t bytes) {
      const std::uint32_t at = size;
      size += round_up(bytes, 16);
      return at;
    };
    told = take(shared_size, kDuelToldBytes);
    lengths = take(shared_size, rules.candidates * kFloat);
    won = take(shared_size, rules.candidates * kFloat);
    factors = take(shared_size, rules.candidates * kFloat);
    tied = take(shared_size, count * kFloat);
    expected = take(shared_size, rules.candidates * kDouble);
    const std::uint32_t of_scales =
        (rules.team_draft != 0 ? 2 * count + shown : shown * count) * kFloat;
    scales_are_spilled = of_scales > kMostSharedScales;
    scales = take(scales_are_spilled ? spill_size : shared_size, of_scales);
    rankers = take(group == kDuelGroup ? shared_size : spill_size, count * width * kFloat);
    if (rules.projected != 0) {
      basis = take(spill_size, (shown + kRemembered) * width * kFloat);
      products = take(spill_size, (shown + kRemembered) * kFloat);
      row = take(spill_size, width * kFloat);
      direction = take(spill_size, width * kFloat);
    }
    if (rules.team_draft != 0) return;
    const std::uint32_t parts = (rules.candidates + 31) / 32;
    differences = take(spill_size, (2 * shown + 1) * parts * duel_lanes(rules) * kDouble);
    if (rules.by_chance == 0) return;
    sampled = take(spill_size, sampled_size(shown) * kDouble);
    const std::uint32_t warps = group == kMultileaveGroup ? kManyWarps : 1;
    sampled_of_warps = take(spill_size, warps * sampled_warp_size(shown) * kDouble);
  }
};

// Of a launch, whose runs have the same rules but for normal_error.
struct DuelArgs {
  TableLayout small = {};  // in shared memory, after the list's
  TableLayout large = {};  // in the spill: for queries with more documents
  DuelLayout layout = {};  // after those
};

}  // namespace plackett::gpu
