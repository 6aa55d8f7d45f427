// What the host's lanes show of mistakes that only a device would make.
#include "gpu/warp.h"

#include <gtest/gtest.h>

#include <array>

#include "gpu/block.h"

namespace plackett::gpu {
namespace {

// What lanes find where a phase shifts values by one, in place or by way of the lanes' own.
std::array<float, kWarpLanes> shifted(HostOrder order, bool in_place) {
  const Warp warp(order);
  std::array<float, kWarpLanes> values{};
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) values[lane] = static_cast<float>(lane);
  PerLane<float> own;
  const auto read = [&](unsigned lane) { own[lane] = values[(lane + 1) % kWarpLanes]; };
  const auto write = [&](unsigned lane) { values[lane] = own[lane]; };
  if (in_place) {
    warp.each([&](unsigned lane) {
      read(lane);
      write(lane);
    });
  } else {
    warp.compute(read);
    warp.sync();
    warp.each(write);
  }
  return values;
}

TEST(HostOrder, ShowsAPhaseThatReadsWhatAnotherLaneWrites) {
  EXPECT_EQ(shifted(HostOrder::kAscending, false), shifted(HostOrder::kDescending, false));
  EXPECT_NE(shifted(HostOrder::kAscending, true), shifted(HostOrder::kDescending, true));
}

TEST(HostOrder, ShowsAPhaseThatReadsWhatAnotherWarpWrites) {
  const auto shifted_by_warps = [](HostOrder order) {
    std::array<unsigned, kNetworkWarps> values{1, 2, 3, 4};
    Block(order).each_warp([&](const Warp&, unsigned number) {
      values[number] = values[(number + 1) % kNetworkWarps];
    });
    return values;
  };
  EXPECT_NE(shifted_by_warps(HostOrder::kAscending), shifted_by_warps(HostOrder::kDescending));
}

TEST(WarpDeathTest, EndsWhereAVectorIsNotAligned) {
  alignas(16) const std::array<float, 8> values{};
  EXPECT_EQ(load_quad(values.data() + 4).values[0], 0);
  EXPECT_EQ(read_pair(values.data() + 2).values[0], 0);
  EXPECT_DEATH((void)load_quad(values.data() + 1), "alignof");
  EXPECT_DEATH((void)read_quad(values.data() + 2), "alignof");
  EXPECT_DEATH((void)read_pair(values.data() + 1), "alignof");
}

}  // namespace
}  // namespace plackett::gpu
