// A stream of random numbers, as Rng (plackett/rng.h), for kernels.
#pragma once

#include <cstdint>

#include "base/philox.h"
#include "plackett/rng.h"

namespace plackett::gpu {

// As Rng::uniform.
constexpr double to_uniform(std::uint32_t high, std::uint32_t low) {
  return static_cast<double>((std::uint64_t{high} << 32 | low) >> 11) * 0x1p-53;
}

class Stream {
 public:
  constexpr Stream(std::uint64_t seed, std::uint32_t run, std::uint64_t impression, Purpose purpose)
      : seed_(seed),
        impression_low_(static_cast<std::uint32_t>(impression)),
        run_(run),
        purpose_(static_cast<std::uint32_t>(purpose) |
                 (static_cast<std::uint32_t>(impression >> 32) << 8)) {}

  constexpr std::uint32_t next_u32() {
    if (left_ == 0) {
      words_[0] = next_block_++;
      words_[1] = impression_low_;
      words_[2] = run_;
      words_[3] = purpose_;
      philox_block(words_, static_cast<std::uint32_t>(seed_),
                   static_cast<std::uint32_t>(seed_ >> 32));
      left_ = 4;
    }
    // Shifted, so that no index is needed, which would keep the words in memory.
    const std::uint32_t word = words_[0];
    words_[0] = words_[1];
    words_[1] = words_[2];
    words_[2] = words_[3];
    --left_;
    return word;
  }

  constexpr double uniform() {
    const std::uint32_t high = next_u32();
    return to_uniform(high, next_u32());
  }

  constexpr std::uint32_t below(std::uint32_t bound) {
    std::uint64_t product = std::uint64_t{next_u32()} * bound;
    auto low = static_cast<std::uint32_t>(product);
    if (low < bound) {
      const std::uint32_t threshold = (0U - bound) % bound;
      while (low < threshold) {
        product = std::uint64_t{next_u32()} * bound;
        low = static_cast<std::uint32_t>(product);
      }
    }
    return static_cast<std::uint32_t>(product >> 32);
  }

 private:
  std::uint64_t seed_;
  std::uint32_t impression_low_;
  std::uint32_t run_;
  std::uint32_t purpose_;
  std::uint32_t next_block_ = 0;
  std::uint32_t left_ = 0;  // of the words
  std::uint32_t words_[4] = {};
};

}  // namespace plackett::gpu
