// MGD's scores as a block computes them, against sums in the engine's order.
#include "gpu/score_rankers.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "gpu/candidates.h"
#include "gpu/launch_layout.h"
#include "plackett/feature_view.h"
#include "plackett/rng.h"

namespace plackett::gpu {
namespace {

constexpr float kNotWritten = -77;

// At 16-byte boundaries.
struct AlignedFloats {
  explicit AlignedFloats(std::size_t count, float value = 0)
      : quads(count / 4 + 1, {{value, value, value, value}}) {}
  float* data() { return quads.front().values; }
  std::vector<Quad> quads;
};

struct ScoringSize {
  std::uint32_t docs = 0;
  std::uint32_t features = 0;
  std::uint32_t rankers = 0;

  [[nodiscard]] std::uint32_t width() const {
    return static_cast<std::uint32_t>(padded_width(features));
  }
  [[nodiscard]] ScoringStage all() const {
    return {.groups = (rankers + kMultileaveGroup - 1) / kMultileaveGroup,
            .steps = (docs + kProductDocs - 1) / kProductDocs,
            .chunks = width() / 16};
  }
};

// A query, and rankers for it.
struct ScoringQuery {
  explicit ScoringQuery(const ScoringSize& its)
      : size(its),
        tiles(std::size_t{round_up(size.docs, kTileDocs)} * size.width()),
        rankers(std::size_t{size.rankers} * size.width()) {
    Rng rng({.seed = size.docs, .run = size.features});
    const auto fill = [&](const auto& place, std::uint32_t rows) {
      for (std::uint32_t row = 0; row < rows; ++row) {
        for (std::uint32_t feature = 0; feature < size.features; ++feature) {
          place(row, feature) = static_cast<float>(rng.uniform() - 0.5);
        }
      }
    };
    fill([&](auto doc, auto feature) -> float& { return *feature_of(doc, feature); }, size.docs);
    fill([&](auto ranker, auto feature) -> float& { return *weight_of(ranker, feature); },
         size.rankers);
  }

  float* feature_of(std::uint32_t doc, std::uint32_t feature) {
    return tiles.data() + feature_place(doc, feature, size.width());
  }
  float* weight_of(std::uint32_t ranker, std::uint32_t feature) {
    return rankers.data() + std::size_t{ranker} * size.width() + feature;
  }

  // As Kernels::dot_rows.
  float score(std::uint32_t doc, std::uint32_t ranker) {
    std::array<float, 16> sums{};
    for (std::uint32_t feature = 0; feature < size.width(); ++feature) {
      float& sum = sums[feature % 16];
      sum = std::fma(*feature_of(doc, feature), *weight_of(ranker, feature), sum);
    }
    for (const std::size_t half : {8, 4}) {
      for (std::size_t at = 0; at < half; ++at) sums[at] += sums[at + half];
    }
    return (sums[0] + sums[2]) + (sums[1] + sums[3]);
  }

  ScoringSize size;
  AlignedFloats tiles;
  AlignedFloats rankers;
};

struct ScoringPlace {
  HostOrder order = HostOrder::kAscending;
  std::uint32_t warps = kNetworkWarps;
  std::uint32_t room = 0;  // floats
};

// [ranker][stride], and a row that nothing belongs in.
std::vector<float> scores_by_block(ScoringQuery& query, const ScoringPlace& place) {
  const std::uint32_t stride = table_stride(query.size.docs);
  AlignedFloats scores(std::size_t{query.size.rankers + 1} * stride, kNotWritten);
  AlignedFloats staged(place.room + 4, kNotWritten);
  const Block block(place.order, place.warps);
  score_rankers(block, {.tiles = query.tiles.data(),
                        .docs = query.size.docs,
                        .width = query.size.width(),
                        .rankers = query.rankers.data(),
                        .count = query.size.rankers,
                        .scores = scores.data(),
                        .stride = stride,
                        .staged = staged.data(),
                        .room = place.room});
  for (std::uint32_t at = 0; at < 4; ++at) EXPECT_EQ(staged.data()[place.room + at], kNotWritten);
  return {scores.data(), scores.data() + std::size_t{query.size.rankers + 1} * stride};
}

// With room for all weights, for some groups of them, for less than one, and for the least.
std::vector<ScoringPlace> scoring_places(const ScoringSize& size) {
  std::vector<ScoringPlace> result;
  const std::uint32_t of_group = size.width() * kMultileaveGroup;
  for (const HostOrder order : {HostOrder::kAscending, HostOrder::kDescending}) {
    for (const std::uint32_t warps : {kNetworkWarps, kManyWarps}) {
      const std::uint32_t least = warps * kStagedBytes / 4;
      for (const std::uint32_t room :
           {7 * of_group, 3 * of_group + 16, of_group, of_group / 2, least}) {
        result.push_back({order, warps, std::max(room, least)});
      }
    }
  }
  return result;
}

// All that the stages can be: whole or in parts, with the last part cut short.
const std::vector<ScoringSize>& scoring_sizes() {
  static const std::vector<ScoringSize> kSizes = [] {
    std::vector<ScoringSize> all;
    for (const std::uint32_t docs : {1, 8, 9, 15, 16, 17, 33, 130}) {
      for (const std::uint32_t features : {1, 16, 17, 46, 136}) {
        for (const std::uint32_t rankers : {3, 8, 9, 50}) all.push_back({docs, features, rankers});
      }
    }
    for (const std::uint32_t docs : {1, 15, 24, 33, 70, 130}) all.push_back({docs, 700, 50});
    all.push_back({17, 136, 51});
    return all;
  }();
  return kSizes;
}

TEST(ScoreRankers, GivesTheEnginesScoresWhateverThereIsRoomFor) {
  for (const ScoringSize& size : scoring_sizes()) {
    ScoringQuery query(size);
    std::vector<float> expected;
    for (std::uint32_t ranker = 0; ranker < size.rankers; ++ranker) {
      for (std::uint32_t doc = 0; doc < size.docs; ++doc) {
        expected.push_back(query.score(doc, ranker));
      }
    }
    for (const ScoringPlace& place : scoring_places(size)) {
      const std::vector<float> scores = scores_by_block(query, place);
      const std::uint32_t stride = table_stride(size.docs);
      std::uint32_t wrong = 0;
      for (std::uint32_t ranker = 0; ranker < size.rankers; ++ranker) {
        for (std::uint32_t doc = 0; doc < size.docs; ++doc) {
          wrong += scores[ranker * stride + doc] == expected[ranker * size.docs + doc] ? 0U : 1U;
        }
      }
      EXPECT_EQ(wrong, 0U) << fmt::format("{} x {}, {} rankers, {} warps, room {}", size.docs,
                                          size.features, size.rankers, place.warps, place.room);
      for (std::uint32_t at = size.rankers * stride; at < scores.size(); ++at) {
        ASSERT_EQ(scores[at], kNotWritten);
      }
    }
  }
}

// So the comparison would show it.
TEST(ScoreRankers, GivesOtherBitsInAnotherOrder) {
  ScoringQuery query({.docs = 33, .features = 136, .rankers = 50});
  std::uint32_t others = 0;
  for (std::uint32_t doc = 0; doc < 33; ++doc) {
    float sum = 0;
    for (std::uint32_t feature = 0; feature < 136; ++feature) {
      sum = std::fma(*query.feature_of(doc, feature), *query.weight_of(49, feature), sum);
    }
    others += sum == query.score(doc, 49) ? 0U : 1U;
  }
  EXPECT_GT(others, 20U);
}

TEST(ScoringStage, FitsItsRoomAndKeepsSumsOfOneProductPerWarp) {
  std::uint32_t divided = 0;
  for (const ScoringSize& size : scoring_sizes()) {
    const ScoringStage all = size.all();
    for (const ScoringPlace& place : scoring_places(size)) {
      const ScoringStage stage = choose_stage(all, place.room, place.warps);
      EXPECT_LE(stage.groups * stage.chunks * kStagedFloats, place.room);
      ASSERT_GT(stage.groups * stage.steps * stage.chunks, 0U);
      if (stage.chunks == all.chunks) continue;
      EXPECT_LE(stage.groups * stage.steps, place.warps);
      ++divided;
    }
  }
  EXPECT_GT(divided, 20U);
}

TEST(MoveScores, FindsAScoreThatIsNotFiniteWhereverItIs) {
  constexpr std::uint32_t kRankers = 50;
  for (const std::uint32_t docs : {1, 16, 33}) {
    const std::uint32_t stride = table_stride(docs);
    const std::vector<float> lengths(kRankers - 1, 0.5F);
    const auto move = [&](AlignedFloats& scores) {
      return move_scores(
          Block(), {.table = scores.data(), .stride = stride, .docs = docs, .rankers = kRankers},
          lengths.data());
    };
    AlignedFloats scores(std::size_t{kRankers} * stride, 1);
    ASSERT_TRUE(move(scores));
    for (std::uint32_t ranker = 0; ranker < kRankers; ++ranker) {
      for (std::uint32_t doc = 0; doc < stride; ++doc) {
        EXPECT_EQ(scores.data()[ranker * stride + doc],
                  doc >= docs   ? -std::numeric_limits<float>::infinity()
                  : ranker == 0 ? 1.0F
                                : 1.5F);
      }
    }
    for (const float bad :
         {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
      for (const std::uint32_t ranker : {0U, 1U, 8U, kRankers - 1}) {
        for (const std::uint32_t doc : {0U, docs - 1}) {
          AlignedFloats others(std::size_t{kRankers} * stride, 1);
          others.data()[ranker * stride + doc] = bad;
          EXPECT_FALSE(move(others)) << ranker << ' ' << doc;
        }
      }
      // What lies after the last document counts for nothing.
      AlignedFloats others(std::size_t{kRankers} * stride, 1);
      others.data()[kRankers * stride - 1] = bad;
      EXPECT_EQ(move(others), docs < stride);
    }
  }
}

// Of any number of documents, whatever their features: less would be none for some warp.
TEST(LaunchLayout, LeavesRoomForStagedWeightsBesideEveryTable) {
  for (const std::uint32_t features : {1, 46, 136, 700, 5000}) {
    for (const std::uint32_t most_docs : {1, 24, 125, 1251}) {
      const GroupShape shape = {.kernel = Kernel::kMultileave,
                                .duels = {.candidates = 49, .parameters = features},
                                .runs = 375,
                                .width = static_cast<std::uint32_t>(padded_width(features)),
                                .shown = 10,
                                .most_docs = most_docs,
                                .usual_docs = most_docs};
      BatchArgs args;
      choose_layout(shape,
                    {.free_bytes = std::uint64_t{1} << 37,
                     .shared_bytes = 227 << 10,
                     .all_shared_bytes = 228 << 10,
                     .processors = 132},
                    args);
      const TableLayout& small = args.duels.small;
      const std::uint32_t rows = 50 * table_stride(small.docs) * 4;
      EXPECT_GE(small.size, rows + args.block_warps * kStagedBytes);
      EXPECT_LE(16 / args.block_warps * (args.shared_bytes + kBlockOverhead), 228U << 10);
    }
  }
}

}  // namespace
}  // namespace plackett::gpu
