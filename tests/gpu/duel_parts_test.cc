// Parts of the duels' kernels that whole runs seldom reach.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <tuple>
#include <vector>

#include "gpu/launch_layout.h"
#include "gpu/near_normal.h"
#include "gpu/probabilistic.h"
#include "gpu/run_group.h"
#include "plackett/feature_view.h"
#include "plackett/rng.h"

namespace plackett::gpu {
namespace {

TEST(NearNormal, IsWithinItsErrorOfTheEnginesAndDrawsAsMuch) {
  const Rng::Stream name{.seed = 5, .run = 3, .impression = 7};
  Rng rng(name);
  Stream stream(name.seed, name.run, name.impression, name.purpose);
  double worst = 0;
  for (int draw = 0; draw < 300'000; ++draw) {
    worst = std::max(worst, std::abs(near_normal(stream) - rng.normal()));
  }
  EXPECT_LT(worst, kNormalError / 10);  // what is not drawn here may be worse
  EXPECT_EQ(stream.next_u32(), rng.next_u32());
}

// All that two words can make of the angle's eighths, where the parts of the cosine meet.
TEST(NearNormal, HasTheCosineAtTheEndsOfItsParts) {
  for (int eighth = 0; eighth <= 8; ++eighth) {
    for (const double step : {-0x1p-53, 0.0, 0x1p-53}) {
      const double v = std::clamp(eighth / 8.0 + step, 0.0, 1 - 0x1p-53);
      EXPECT_NEAR(cosine_of_turns(v), std::cos(2 * std::numbers::pi * v), 1e-15) << v;
    }
  }
}

// Chances, and uniforms that point at the ends of a document's part, or nearly.
struct Urn {
  std::vector<float> chances;
  std::vector<double> uniforms;
};

Urn make_urn(std::uint32_t docs, Rng& rng) {
  Urn urn;
  double total = 0;
  for (std::uint32_t doc = 0; doc < docs; ++doc) {
    // Some are placed; the others differ by orders of magnitude, as 1 / rank^3 does.
    const bool is_placed = doc > 0 && rng.below(5) == 0;
    const double rank = 1 + rng.below(docs);
    urn.chances.push_back(is_placed ? 0.0F : static_cast<float>(rng.uniform() / (rank * rank)));
    total += urn.chances.back();
  }
  double below = 0;
  for (const float chance : urn.chances) {
    below += chance;
    for (const double off : {-1e-6, -1e-9, -1e-16, 0.0, 1e-16, 1e-9, 1e-6}) {
      urn.uniforms.push_back(std::clamp(below / total + off, 0.0, 1 - 0x1p-53));
    }
    urn.uniforms.push_back(rng.uniform());
  }
  return urn;
}

// By sums of floats, whatever their rounding.
std::uint32_t draw_carelessly(const std::vector<float>& chances, double uniform) {
  float total = 0;
  for (const float chance : chances) total += chance;
  const float target = static_cast<float>(uniform) * total;
  float below = 0;
  std::uint32_t last = 0;
  for (std::uint32_t doc = 0; doc < chances.size(); ++doc) {
    if (chances[doc] == 0) continue;
    last = doc;
    below += chances[doc];
    if (target < below) break;
  }
  return last;
}

TEST(DrawDoc, FindsTheEnginesDocumentWhereRoundingCouldMislead) {
  Rng rng({.seed = 9});
  int careless = 0;
  for (const std::uint32_t docs : {1, 2, 31, 32, 33, 125, 700}) {
    for (int repeat = 0; repeat < 20; ++repeat) {
      const Urn urn = make_urn(docs, rng);
      for (const double uniform : urn.uniforms) {
        const std::uint32_t wanted = draw_in_order(urn.chances.data(), docs, uniform);
        EXPECT_EQ(draw_doc(Warp(), urn.chances.data(), docs, uniform), wanted);
        if (draw_carelessly(urn.chances, uniform) != wanted) ++careless;
      }
    }
  }
  EXPECT_GT(careless, 1000);  // so the check can fail
}

constexpr DeviceLimits kCard = {.free_bytes = std::uint64_t{1} << 37,
                                .shared_bytes = 227 << 10,
                                .all_shared_bytes = 228 << 10,
                                .processors = 132};

GroupShape mgd_shape(std::uint32_t docs) {
  return {.kernel = Kernel::kMultileave,
          .duels = {.candidates = 49, .parameters = 136},
          .runs = 8448,
          .width = 144,
          .shown = 10,
          .most_docs = docs,
          .usual_docs = docs};
}

TEST(LaunchLayout, HasRoomForFourBlocksOfMgdWithMslrsTables) {
  BatchArgs args;
  choose_layout(mgd_shape(125), kCard, args);
  EXPECT_GE(args.duels.small.docs, 125U);
  EXPECT_GE(args.duels.small.size - args.duels.small.ranks, 5U * 8 * 144 * 4);  // weights of 40
  EXPECT_LE(4 * (args.shared_bytes + 1024), kCard.all_shared_bytes);
}

// A few long queries don't keep blocks away from most others.
TEST(LaunchLayout, SpillsTablesOfFewLongQueriesOnly) {
  GroupShape shape = mgd_shape(737);
  shape.usual_docs = 250;
  BatchArgs args;
  choose_layout(shape, kCard, args);
  EXPECT_GE(args.duels.small.docs, 250U);
  EXPECT_LT(args.duels.small.docs, 737U);
  EXPECT_LE(3 * (args.shared_bytes + 1024), kCard.all_shared_bytes);
  EXPECT_EQ(args.block_warps, 5U);
}

TEST(LaunchLayout, SpillsTablesThatDoNotFitTwoBlocks) {
  BatchArgs args;
  choose_layout(mgd_shape(1251), kCard, args);
  EXPECT_LT(args.duels.small.docs, 1251U);
  EXPECT_EQ(args.duels.large.docs, 1251U);
  EXPECT_LE(2 * (args.shared_bytes + 1024), kCard.all_shared_bytes);
  EXPECT_GE(args.spill_stride, args.duels.large.size + args.duels.layout.spill_size);
}

GroupShape network_shape(Kernel kernel, std::uint32_t features, std::uint32_t units,
                         std::uint32_t candidates = 1) {
  return {.kernel = kernel,
          .duels = {.candidates = kernel == Kernel::kDuelNetwork ? candidates : 0U},
          .network = NetworkLayout(padded_width(features), units, Activation::kSigmoid, false),
          .runs = 8448,
          .width = static_cast<std::uint32_t>(padded_width(features)),
          .shown = 10,
          .most_docs = 125,
          .usual_docs = 125,
          .queries = 1};
}

TEST(LaunchLayout, HasRoomForFourBlocksOfNetworksWithMslrsShape) {
  for (const Kernel kernel : {Kernel::kLearnNetwork, Kernel::kDuelNetwork}) {
    BatchArgs args;
    choose_layout(network_shape(kernel, 136, 64), kCard, args);
    EXPECT_GE(kernel == Kernel::kDuelNetwork ? args.duels.small.docs : args.small.docs, 125U);
    EXPECT_LE(4 * (args.shared_bytes + 1024), kCard.all_shared_bytes);
  }
}

TEST(LaunchLayout, DividesFewDocumentsByUnitsWhereThatCostsNoBlocks) {
  const auto blocks = [](std::uint32_t bytes) { return kCard.all_shared_bytes / (bytes + 1024); };
  for (const Kernel kernel :
       {Kernel::kLearnNetwork, Kernel::kPairwiseNetwork, Kernel::kDuelNetwork}) {
    for (const std::uint32_t features : {46, 136, 220, 400, 699}) {
      for (const std::uint64_t runs : {10, 375, 8448}) {
        SCOPED_TRACE(fmt::format("{} features, {} runs", features, runs));
        GroupShape shape = network_shape(kernel, features, 64);
        shape.runs = runs;
        shape.most_docs = shape.usual_docs = 48;
        BatchArgs args;
        choose_layout(shape, kCard, args);
        const std::uint32_t most = 16 / args.block_warps;
        const std::uint32_t of_given = args.network.few_docs * 64 * 4;
        EXPECT_EQ(std::min(blocks(args.shared_bytes), most),
                  std::min(blocks(args.shared_bytes - of_given), most));
        EXPECT_EQ(args.network.given + of_given, args.shared_bytes);
        EXPECT_LE(args.shared_bytes, kCard.shared_bytes);
        EXPECT_LE(args.network.few_docs, (args.block_warps - 1) * 16);
        // Short rows are not worth it; for long ones a block that is alone has room.
        if (features < 256) {
          EXPECT_EQ(args.network.few_docs, 0U);
        } else if (features == 699) {
          EXPECT_EQ(args.network.few_docs, 48U);
        }
      }
    }
  }
}

// As docs/gpu.md says.
TEST(LaunchLayout, HasRoomForNetworksUpToTheSizeThatTheDocumentationSays) {
  for (const auto& [kernel, candidates, of_yahoos] : {std::tuple(Kernel::kLearnNetwork, 0U, 64U),
                                                      {Kernel::kPairwiseNetwork, 0U, 64U},
                                                      {Kernel::kDuelNetwork, 1U, 80U},
                                                      {Kernel::kDuelNetwork, 49U, 64U}}) {
    const auto fits = [&](std::uint32_t features, std::uint32_t units) {
      const GroupShape shape = network_shape(kernel, features, units, candidates);
      return least_shared_bytes(shape) <= kCard.shared_bytes;
    };
    EXPECT_TRUE(fits(136, 384));
    EXPECT_FALSE(fits(136, 385));
    EXPECT_TRUE(fits(699, of_yahoos));
    EXPECT_FALSE(fits(699, of_yahoos + 1));
  }
  GroupShape with_linear = network_shape(Kernel::kDuelNetwork, 136, 384, 49);
  for (const std::uint32_t units : {368, 369}) {
    with_linear.network = NetworkLayout(with_linear.width, units, Activation::kSigmoid, true);
    EXPECT_EQ(least_shared_bytes(with_linear) <= kCard.shared_bytes, units == 368);
  }
}

TEST(LaunchLayout, RefusesNoNetworkThatABlockHasRoomFor) {
  for (const Kernel kernel :
       {Kernel::kLearnNetwork, Kernel::kPairwiseNetwork, Kernel::kDuelNetwork}) {
    for (std::uint32_t features = 16; features <= 1024; features += 16) {
      for (std::uint32_t units = 16; units <= 512; units += 16) {
        GroupShape shape = network_shape(kernel, features, units);
        shape.most_docs = shape.usual_docs = 1;
        BatchArgs args;
        choose_layout(shape, kCard, args);
        ASSERT_EQ(least_shared_bytes(shape) <= kCard.shared_bytes,
                  args.shared_bytes <= kCard.shared_bytes)
            << features << ' ' << units;
      }
    }
  }
}

// To the digits that docs/gpu.md gives.
TEST(LaunchLayout, TakesForARunWhatTheDocumentationSays) {
  struct Size {
    std::uint32_t docs;
    std::uint32_t width;
    double pdgd;  // in KB, as the others
    double dbgd;
    double mgd;
    double dbgd_network;  // besides its parameters
  };
  for (const Size& size : {Size{19, 48, 0.5, 0.7, 21, 0.6}, Size{125, 144, 0.9, 1.1, 41, 0.6},
                           Size{1251, 144, 17, 26, 324, 26}}) {
    SCOPED_TRACE(size.docs);
    const auto kilobytes = [&](Kernel kernel, std::uint32_t candidates) {
      const GroupShape shape = {.kernel = kernel,
                                .duels = {.candidates = candidates, .parameters = size.width},
                                .runs = 8448,
                                .width = size.width,
                                .shown = 10,
                                .most_docs = size.docs,
                                .usual_docs = std::min(size.docs, 250U),
                                .queries = 1};
      return static_cast<double>(group_bytes(shape, kCard) / shape.runs) / 1000;
    };
    EXPECT_NEAR(kilobytes(Kernel::kLearn, 0), size.pdgd, 0.15 + 0.02 * size.pdgd);
    EXPECT_NEAR(kilobytes(Kernel::kDuel, 1), size.dbgd, 0.15 + 0.02 * size.dbgd);
    EXPECT_NEAR(kilobytes(Kernel::kMultileave, 49), size.mgd, 0.15 + 0.02 * size.mgd);
    GroupShape shape = network_shape(Kernel::kDuelNetwork, size.width, 64);
    shape.most_docs = size.docs;
    shape.usual_docs = std::min(size.docs, 250U);
    const double parameters = 4e-3 * shape.network.size;
    const double all = static_cast<double>(group_bytes(shape, kCard) / shape.runs) / 1000;
    EXPECT_NEAR(all - parameters, size.dbgd_network, 0.15 + 0.02 * size.dbgd_network);
  }
}

}  // namespace
}  // namespace plackett::gpu
