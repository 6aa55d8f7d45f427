// A block: warps that do one run's work together. On a GPU they run side by side, on
// the host one after another, so in one phase no warp may read memory that another writes in it.
// What a warp keeps for itself from phase to phase is not the other warps': they share memory.
// What stands between phases all warps do alike, so it depends on what all of them know. On the
// host they share what each of a GPU's warps has its own of, unless they are threads (WarpThreads).
//
// Alone: a warp that does a run by itself, in the same words.
#pragma once

#ifndef __CUDA_ARCH__
#include <atomic>
#include <barrier>
#endif

#include "gpu/run_data.h"
#include "gpu/scratch.h"
#include "gpu/warp.h"

namespace plackett::gpu {

#ifdef __CUDA_ARCH__

// What a warp keeps for itself through a block's phases.
template <typename T>
struct PerWarp {
  T& operator[](unsigned /*warp*/) { return value; }
  T value;
};

class Block {
 public:
  static constexpr bool kIsAlone = false;

  Block(unsigned lane, unsigned warp, unsigned warps) : lane_(lane), warp_(warp), warps_(warps) {}

  [[nodiscard]] unsigned warps() const { return warps_; }

  [[nodiscard]] Warp warp() const { return Warp(lane_); }

  // A phase of all warps: body(warp, its number). What they wrote all see after it.
  template <typename Body>
  [[gnu::always_inline]] void each_warp(const Body& body) const {
    body(Warp(unknown(lane_)), unknown(warp_));
    sync();
  }
  // A phase of the first warp, while the others wait.
  template <typename Body>
  [[gnu::always_inline]] void first_warp(const Body& body) const {
    if (warp_ == 0) body(Warp(unknown(lane_)));
    sync();
  }
  // As each_warp: whether body(warp, its number), the same for all its lanes, is true for any.
  template <typename Body>
  [[nodiscard]] [[gnu::always_inline]] bool any_warp(const Body& body) const {
    return __nvvm_bar0_or(body(Warp(unknown(lane_)), unknown(warp_)) ? 1 : 0) != 0;
  }

 private:
  static void sync() { __syncthreads(); }

  unsigned lane_;
  unsigned warp_;
  unsigned warps_;
};

#else

template <typename T>
struct PerWarp {
  T& operator[](unsigned warp) { return values[warp]; }
  T values[kManyWarps];
};

// The warps of a block as threads, each of which does the whole run with a Block of its own, as on
// a GPU: so ThreadSanitizer sees what one reads while another may write it.
class WarpThreads {
 public:
  explicit WarpThreads(unsigned warps) : warps_(warps), all_(warps) {}

  [[nodiscard]] unsigned warps() const { return warps_; }
  void sync() { all_.arrive_and_wait(); }
  // Whether any thread votes so.
  bool any(bool vote) {
    if (vote) voted_ = true;
    sync();
    const bool result = voted_;
    sync();
    voted_ = false;
    sync();
    return result;
  }

 private:
  unsigned warps_;
  std::barrier<> all_;
  std::atomic<bool> voted_{false};
};

class Block {
 public:
  static constexpr bool kIsAlone = false;

  explicit Block(HostOrder order = HostOrder::kAscending, unsigned warps = kNetworkWarps)
      : order_(order), warps_(warps) {}
  // Of thread `number`.
  Block(HostOrder order, unsigned number, WarpThreads& threads)
      : order_(order), warps_(threads.warps()), number_(number), threads_(&threads) {}

  [[nodiscard]] unsigned warps() const { return warps_; }

  [[nodiscard]] Warp warp() const { return Warp(order_); }
  template <typename Body>
  void each_warp(const Body& body) const {
    if (threads_ != nullptr) {
      body(warp(), number_);
      return threads_->sync();
    }
    for (unsigned at = 0; at < warps_; ++at) {
      body(warp(), order_ == HostOrder::kAscending ? at : warps_ - 1 - at);
    }
  }
  template <typename Body>
  void first_warp(const Body& body) const {
    if (number_ == 0) body(warp());
    if (threads_ != nullptr) threads_->sync();
  }
  template <typename Body>
  [[nodiscard]] bool any_warp(const Body& body) const {
    if (threads_ != nullptr) return threads_->any(body(warp(), number_));
    bool result = false;
    each_warp([&](const Warp& warp, unsigned number) { result = body(warp, number) || result; });
    return result;
  }

 private:
  HostOrder order_;
  unsigned warps_;
  unsigned number_ = 0;
  WarpThreads* threads_ = nullptr;
};

#endif

class Alone {
 public:
  static constexpr bool kIsAlone = true;

  explicit Alone(const Warp& warp) : warp_(warp) {}

  [[nodiscard]] static constexpr unsigned warps() { return 1; }

  [[nodiscard]] Warp warp() const { return warp_; }
  template <typename Body>
  [[gnu::always_inline]] void each_warp(const Body& body) const {
    body(warp_, 0U);
    warp_.sync();
  }
  template <typename Body>
  [[gnu::always_inline]] void first_warp(const Body& body) const {
    body(warp_);
    warp_.sync();
  }
  template <typename Body>
  [[nodiscard]] [[gnu::always_inline]] bool any_warp(const Body& body) const {
    const bool result = body(warp_, 0U);
    warp_.sync();
    return result;
  }

 private:
  Warp warp_;
};

// `count` floats, a multiple of 4, by `threads` threads, of which this is one. Several loads are
// under way at a time.
[[gnu::always_inline]] inline void copy_share(const float* from, std::uint32_t count,
                                              std::uint32_t thread, std::uint32_t threads,
                                              float* to) {
  constexpr unsigned kAtOnce = 4;
  const std::uint32_t step = unknown(threads) * 4;
  std::uint32_t at = thread * 4;
  for (; at + (kAtOnce - 1) * step < count; at += kAtOnce * step) {
    Quad quads[kAtOnce];
    PLACKETT_UNROLL_ALL
    for (unsigned quad = 0; quad < kAtOnce; ++quad)
      quads[quad] = read_quad(from + at + quad * step);
    PLACKETT_UNROLL_ALL
    for (unsigned quad = 0; quad < kAtOnce; ++quad) {
      *reinterpret_cast<Quad*>(to + at + quad * step) = quads[quad];
    }
  }
  for (; at < count; at += step) *reinterpret_cast<Quad*>(to + at) = read_quad(from + at);
}

// `count` floats, a multiple of 4, by all warps of a team: a Block, or a warp alone.
template <typename Team>
[[gnu::always_inline]] inline void copy_floats(const Team& team, const float* from,
                                               std::uint32_t count, float* to) {
  team.each_warp([&](const Warp& warp, unsigned number) PLACKETT_INLINE {
    warp.compute([&](unsigned lane) PLACKETT_INLINE {
      copy_share(from, count, number * kWarpLanes + lane, team.warps() * kWarpLanes, to);
    });
  });
}

// The run's data, and its `count` parameters from `kept`, into its scratch.
template <typename Team>
[[gnu::always_inline]] inline void load_run(const Team& team, const BatchArgs& args,
                                            std::uint32_t which, const float* kept,
                                            std::uint32_t count, const ListScratch& list) {
  const auto* run_words = reinterpret_cast<const std::uint32_t*>(args.runs + which);
  copy_floats(team, kept, count, list.weights);
  team.first_warp([&](const Warp& warp) PLACKETT_INLINE {
    warp.each([&](unsigned lane) {
      for (std::uint32_t at = lane; at < sizeof(RunData) / 4; at += kWarpLanes) {
        list.run[at] = run_words[at];
      }
    });
  });
}

}  // namespace plackett::gpu
