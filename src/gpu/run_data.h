// What kernels read and write, as plain data. Pointers are the device's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "evaluation/online_performance.h"
#include "gpu/duel_data.h"
#include "gpu/network_data.h"
#include "gpu/warp.h"

namespace plackett::gpu {

inline constexpr std::uint32_t kCut = 10;  // of NDCG
// Of each lane that measures, how many of a query's documents may be candidates at a time, and the
// shared memory that a warp's take.
inline constexpr std::uint32_t kCandidates = 24;
inline constexpr std::uint32_t kCandidateBytes = kCandidates * 32 * 8;

// Rankers that a warp scores together, so that what it reads of documents serves several.
inline constexpr std::uint32_t kSplitRankers = 8;
// And tiles.
inline constexpr std::uint32_t kSplitTiles = 2;

// Documents of a query whose features lie together, so that a warp reads memory in order: a tile
// holds kTileDocs documents, 16 features of each at a time.
inline constexpr std::uint32_t kTileDocs = 8;

// A split. Rows are padded with zeros to `width` floats, a multiple of 16; queries to whole tiles:
// feature f of a query's document d is at float f % 16 of document d % 8 of chunk f / 16 of tile d
// / 8.
struct SplitData {
  const float* rows = nullptr;
  const std::uint64_t* first_tiles = nullptr;  // of queries
  const std::uint8_t* labels = nullptr;        // one per document
  const std::uint64_t* query_begin = nullptr;  // query_count + 1
  const double* inverse_ideals = nullptr;      // one per query; 0: nothing is relevant
  std::uint32_t query_count = 0;
  std::uint32_t width = 0;
};

// As ClickEnds (plackett/user.h).
struct Ends {
  std::uint64_t click_and_stop = 0;
  std::uint64_t click = 0;
  std::uint64_t click_or_stop = 0;
};

// Where a query's features lie, in floats.
constexpr std::uint64_t tile_size(std::uint32_t width) { return std::uint64_t{kTileDocs} * width; }
constexpr std::uint64_t feature_place(std::uint32_t doc, std::uint32_t feature,
                                      std::uint32_t width) {
  return doc / kTileDocs * tile_size(width) +
         std::uint64_t{feature / 16 * (kTileDocs * 16) + doc % kTileDocs * 16 + feature % 16};
}

// As PairwiseOptions (learner/pairwise.h).
struct PairwiseRules {
  double epsilon = 0;
  std::uint32_t worst_first = 0;
};

// One run: what does not change.
struct RunData {
  SplitData train = {};
  SplitData measured = {};
  const Ends* ends = nullptr;  // [rank (rank + 1) / 2 + below_click][label]
  std::uint64_t seed = 0;
  std::uint64_t impressions = 0;
  double decay = 1;      // of the learning rate
  double sharpness = 1;  // as PairRules
  std::uint32_t run = 0;
  std::uint32_t grade_count = 0;
  std::uint32_t shown = 0;
  std::uint32_t only_above = 0;     // PairKind::kAbove
  std::uint32_t by_last_click = 0;  // whether `ends` depends on below_click
  std::uint32_t features = 0;       // before padding
  float kept = 1;                   // networks: as AdaGradRates
  PairwiseRules pairwise = {};
  DuelRules duels = {};
  double without_relevant = 0;  // what such a query adds to the sum over queries
  double counted = 0;           // queries that count
};

// And what does.
struct RunState {
  std::uint64_t done = 0;     // impressions
  std::uint64_t updates = 0;  // steps
  double learning_rate = 0;
  OnlinePerformance online = {};
  double offline = 0;               // of the last point measured
  std::uint32_t is_not_finite = 0;  // a score was not; it stopped after `done` impressions
  std::uint32_t is_in_doubt = 0;    // it stopped where rounding may decide: the engine must do it
  // When the last launch began and ended with it, in nanoseconds; both 0 on the host.
  std::uint64_t began = 0;
  std::uint64_t ended = 0;
};

// Where a warp's scratch lies: sizes in bytes from its start, all multiples of 16.
struct ScratchLayout {
  std::uint32_t docs = 0;        // documents that scores, masses and sums have room for
  std::uint32_t scores = 0;      // float per document
  std::uint32_t masses = 0;      // double per document, in whole blocks of 16
  std::uint32_t block_sums = 0;  // double per block
  std::uint32_t size = 0;        // of these four

  constexpr ScratchLayout() = default;
  // For up to that many documents.
  constexpr explicit ScratchLayout(std::uint32_t most_docs) {
    const std::uint32_t blocks = (most_docs + 15) / 16;
    docs = blocks * 16;
    scores = 0;
    masses = docs * static_cast<std::uint32_t>(sizeof(float));
    block_sums = masses + docs * static_cast<std::uint32_t>(sizeof(double));
    size = block_sums + (blocks + blocks % 2) * static_cast<std::uint32_t>(sizeof(double));
  }
};

// The scratch of a list of `shown` documents, and of the ranker's weights.
struct ListLayout {
  std::uint32_t uniforms = 0;     // double per rank, an even number
  std::uint32_t masses = 0;       // two doubles per rank and two more
  std::uint32_t scores = 0;       // double per rank
  std::uint32_t click_draws = 0;  // u32 per rank, a multiple of 4
  std::uint32_t docs = 0;         // u32 per rank
  std::uint32_t labels = 0;       // u32 per rank
  std::uint32_t winners = 0;      // u32 per rank: ranks
  std::uint32_t losers = 0;       // u32 per rank: ranks
  std::uint32_t scales = 0;       // float per rank
  std::uint32_t query = 0;        // u32
  std::uint32_t run = 0;          // RunData
  std::uint32_t weights = 0;      // float per column
  std::uint32_t pairs = 0;        // double per pair, if it is in shared memory
  std::uint32_t size = 0;

  static constexpr std::uint32_t pair_count(std::uint32_t shown) { return shown * shown / 4; }

  constexpr ListLayout() = default;
  constexpr ListLayout(std::uint32_t shown, std::uint32_t width, bool with_pairs) {
    const std::uint32_t ranks = (shown + 3) / 4 * 4;
    const auto take = [this](std::uint32_t count, std::size_t each) {
      const std::uint32_t at = size;
      size += (count * static_cast<std::uint32_t>(each) + 15) / 16 * 16;
      return at;
    };
    uniforms = take(ranks, sizeof(double));
    masses = take(2 * ranks + 2, sizeof(double));
    scores = take(ranks, sizeof(double));
    click_draws = take(ranks, sizeof(std::uint32_t));
    docs = take(ranks, sizeof(std::uint32_t));
    labels = take(ranks, sizeof(std::uint32_t));
    winners = take(ranks, sizeof(std::uint32_t));
    losers = take(ranks, sizeof(std::uint32_t));
    scales = take(ranks, sizeof(float));
    query = take(1, sizeof(std::uint32_t));
    run = take(1, sizeof(RunData));
    weights = take(width, sizeof(float));
    pairs = take(with_pairs ? pair_count(shown) : 0, sizeof(double));
  }
};

// Arguments of all kernels.
struct BatchArgs {
  const RunData* runs = nullptr;
  RunState* states = nullptr;
  float* weights = nullptr;              // [run][width], or [run][network.layout.size]
  float* remembered = nullptr;           // [run][kRemembered][width]: oldest first; zeros at first
  const std::uint32_t* which = nullptr;  // runs that take part, `count` of them
  double* values = nullptr;              // [place in which][query], of the measured split
  float* scores = nullptr;               // of all its documents: scores_of
  std::byte* spill = nullptr;            // scratch that shared memory has no room for, per run
  std::uint64_t until = 0;               // impressions
  std::uint64_t at_most = 0;             // impressions of a run in this launch
  std::uint32_t count = 0;
  std::uint32_t width = 0;
  std::uint32_t value_stride = 0;       // queries
  std::uint32_t weight_stride = 0;      // floats of a run
  std::uint32_t rankers_per_block = 0;  // score: a multiple of kSplitRankers
  std::uint32_t tile_count = 0;         // of the measured split
  std::uint32_t tiles_each = 0;         // score: of a part of it
  std::uint32_t tile_step = 0;          // score: that a block's warps do at a time
  std::uint32_t shared_bytes = 0;       // of a warp, or of a block
  std::uint32_t block_warps = 0;        // of a block that does a run
  std::uint32_t queries_each = 0;       // measure: of a part of the queries
  const double* discounts = nullptr;    // of the first kCut ranks
  ScratchLayout small = {};             // in shared memory
  ScratchLayout large = {};             // in the spill: for queries with more documents
  ListLayout list = {};                 // in shared memory
  std::uint32_t spill_pairs = 0;        // in the spill, if pairs are there
  bool pairs_are_spilled = false;
  std::uint32_t spill_stride = 0;  // bytes per run
  DuelArgs duels = {};
  NetworkArgs network = {};
};

inline RunState begin_launch(const BatchArgs& args, std::uint32_t which) {
  RunState state = args.states[which];
  state.began = now_in_nanoseconds();
  return state;
}
inline RunState end_launch(RunState state) {
  state.ended = now_in_nanoseconds();
  return state;
}

// How far a run that is so far goes in this launch.
inline std::uint64_t end_of_launch(const BatchArgs& args, const RunState& state) {
  const std::uint64_t end = state.done + args.at_most;
  return end < args.until ? end : args.until;
}

// The scores that the run at `place` gives to a split's documents from `tile` on, kScoreRow floats
// apart: so many runs' lie side by side.
inline constexpr std::uint32_t kScoreRow = 32;
inline float* scores_of(const BatchArgs& args, std::uint32_t place, std::uint64_t tile) {
  return args.scores +
         (place / kScoreRow * std::uint64_t{args.tile_count} + tile) * kTileDocs * kScoreRow +
         place % kScoreRow;
}

}  // namespace plackett::gpu
