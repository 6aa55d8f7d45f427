// Counter-based random numbers (Philox-4x32-10; Salmon et al., SC 2011). A stream is named by
// (seed, run, impression, purpose), so any event can be drawn again alone, in any order, on any
// thread, and by another backend. The layout is specified in docs/formats/random_numbers.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "plackett/export.h"

namespace plackett {

// What a stream's numbers are for. The values are part of the specification: never renumber.
enum class Purpose : std::uint8_t {
  kQuery = 1,       // which query an impression is about
  kRanking = 2,     // the sampled ranking
  kClicks = 3,      // the simulated user
  kInitialise = 4,  // a ranker's first parameters
  kTieBreak = 5,    // order of equal scores when evaluating
  kSynthetic = 6,   // the embedded data
  kWorld = 7,       // which world an impression happens in, under drift
  kDrift = 8,       // what a drift changes: features, intents, groups of queries
  kBestLinear = 9,  // the steps that fit the best linear ranker of a world
  kHeldOut = 10,    // which observed orders a fit is measured on
  kKeep = 11,       // whether a service keeps an impression's other candidates
  kBootstrap = 12,  // how often a unit is in a resampled log
  kTest = 255,      // tests and benchmarks
};

// One block of Philox-4x32-10.
PLACKETT_EXPORT std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                                    std::array<std::uint32_t, 2> key);

// A stream of random numbers. Cheap to make (nothing is drawn until asked for) and to copy.
// One thread at a time.
class PLACKETT_EXPORT Rng {
 public:
  // A stream's name. The same name gives the same numbers.
  struct Stream {
    std::uint64_t seed = 0;            // of the experiment
    std::uint32_t run = 0;             // within it
    std::uint64_t impression = 0;      // within the run; below 2^56
    Purpose purpose = Purpose::kTest;  // within the impression
  };

  // At the stream's beginning.
  explicit Rng(const Stream& stream)
      : key_{static_cast<std::uint32_t>(stream.seed),
             static_cast<std::uint32_t>(stream.seed >> 32)},
        counter_{0, static_cast<std::uint32_t>(stream.impression), stream.run,
                 static_cast<std::uint32_t>(stream.purpose) |
                     (static_cast<std::uint32_t>(stream.impression >> 32) << 8)} {}

  // The next 32 bits.
  std::uint32_t next_u32() {
    if (used_ == 4) refill();
    return block_[used_++];
  }
  // The next 64 bits; the first 32 drawn are the upper half.
  std::uint64_t next_u64() {
    const std::uint64_t high = next_u32();
    return high << 32 | next_u32();
  }

  // Uniform on [0, 1), a multiple of 2^-53.
  double uniform() { return static_cast<double>(next_u64() >> 11) * 0x1p-53; }

  // Uniform on {0, ..., bound - 1}, without bias. Requires: bound > 0.
  std::uint32_t below(std::uint32_t bound);

  // Standard normal (Box-Muller; each call uses two uniforms).
  double normal();

  // How many normals fill_normals makes at a time, from 16 blocks of Philox.
  static constexpr std::size_t kNormalGroup = 64;
  // Many standard normals, of float precision. Starts at a new block. Requires: count
  // is a multiple of kNormalGroup, out starts at a 64-byte boundary.
  void fill_normals(float* out, std::size_t count);

 private:
  void refill();

  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_;
  std::array<std::uint32_t, 4> block_{};
  std::uint32_t used_ = 4;
};

}  // namespace plackett
