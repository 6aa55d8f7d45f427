// A stream of random numbers, as Rng (plackett/rng.h), for kernels.
#pragma once

#include <cstdint>

#include "base/philox.h"
#include "plackett/rng.h"

namespace plackett::gpu {

class Stream {
 public:
  constexpr Stream(std::uint64_t seed, std::uint32_t run, std::uint64_t impression, Purpose purpose)
      : seed_(seed),
        impression_low_(static_cast<std::uint32_t>(impression)),
        run_(run),
        purpose_(static_cast<std::uint32_t>(purpose) |
                 (static_cast<std::uint32_t>(impression >> 32) << 8)) {}

  constexpr std::uint32_t next_u32() {
    if (used_ == 4) {
      words_[0] = next_block_++;
      words_[1] = impression_low_;
      words_[2] = run_;
      words_[3] = purpose_;
      philox_block(words_, static_cast<std::uint32_t>(seed_),
                   static_cast<std::uint32_t>(seed_ >> 32));
      used_ = 0;
    }
    return words_[used_++];
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
  std::uint32_t used_ = 4;
  std::uint32_t words_[4] = {};
};

}  // namespace plackett::gpu
