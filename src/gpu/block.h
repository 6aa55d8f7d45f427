// A block: kNetworkWarps warps that do one run's work together. On a GPU they run side by side, on
// the host one after another, so in one phase no warp may read memory that another writes in it.
// What a warp keeps for itself from phase to phase is not the other warps': they share memory.
#pragma once

#include "gpu/run_data.h"
#include "gpu/scratch.h"
#include "gpu/warp.h"

namespace plackett::gpu {

#ifdef __CUDA_ARCH__

class Block {
 public:
  Block(unsigned lane, unsigned warp) : lane_(lane), warp_(warp) {}

  [[nodiscard]] Warp warp() const { return Warp(lane_); }

  // A phase of all warps: body(warp, its number). What they wrote all see after it.
  template <typename Body>
  [[gnu::always_inline]] void each_warp(const Body& body) const {
    body(Warp(lane_), warp_);
    sync();
  }
  // A phase of the first warp, while the others wait.
  template <typename Body>
  [[gnu::always_inline]] void first_warp(const Body& body) const {
    if (warp_ == 0) body(Warp(lane_));
    sync();
  }

 private:
  static void sync() { __syncthreads(); }

  unsigned lane_;
  unsigned warp_;
};

#else

class Block {
 public:
  explicit Block(HostOrder order = HostOrder::kAscending) : order_(order) {}

  [[nodiscard]] Warp warp() const { return Warp(order_); }
  template <typename Body>
  void each_warp(const Body& body) const {
    for (unsigned at = 0; at < kNetworkWarps; ++at) {
      body(warp(), order_ == HostOrder::kAscending ? at : kNetworkWarps - 1 - at);
    }
  }
  template <typename Body>
  void first_warp(const Body& body) const {
    body(warp());
  }

 private:
  HostOrder order_;
};

#endif

// `count` floats, a multiple of 4, by all warps.
inline void copy_floats(const Block& block, const float* from, std::uint32_t count, float* to) {
  block.each_warp([&](const Warp& warp, unsigned number) {
    warp.compute([&](unsigned lane) {
      for (std::uint32_t at = (number * kWarpLanes + lane) * 4; at < count;
           at += kNetworkWarps * kWarpLanes * 4) {
        *reinterpret_cast<Quad*>(to + at) = *reinterpret_cast<const Quad*>(from + at);
      }
    });
  });
}

// The run's data, and its parameters from `kept`, into its scratch.
inline void load_run(const Block& block, const BatchArgs& args, std::uint32_t which,
                     const float* kept, const ListScratch& list) {
  const auto* run_words = reinterpret_cast<const std::uint32_t*>(args.runs + which);
  copy_floats(block, kept, args.network.layout.size, list.weights);
  block.first_warp([&](const Warp& warp) {
    warp.each([&](unsigned lane) {
      for (std::uint32_t at = lane; at < sizeof(RunData) / 4; at += kWarpLanes) {
        list.run[at] = run_words[at];
      }
    });
  });
}

}  // namespace plackett::gpu
