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

// Four words, in a register each.
using WordQuad __attribute__((vector_size(16))) = std::uint32_t;

// The block of a stream that has this counter. Not inlined: ten rounds would be in many places.
[[gnu::noinline]] inline WordQuad stream_block(WordQuad counter, std::uint64_t seed) {
  std::uint32_t words[4] = {counter[0], counter[1], counter[2], counter[3]};
  philox_block(words, static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
  return WordQuad{words[0], words[1], words[2], words[3]};
}

// Inlined everywhere: what is called with its address would have to be in memory.
class Stream {
 public:
  [[gnu::always_inline]] Stream(std::uint64_t seed, std::uint32_t run, std::uint64_t impression,
                                Purpose purpose)
      : seed_(seed),
        impression_low_(static_cast<std::uint32_t>(impression)),
        run_(run),
        purpose_(static_cast<std::uint32_t>(purpose) |
                 (static_cast<std::uint32_t>(impression >> 32) << 8)) {}

  [[gnu::always_inline]] std::uint32_t next_u32() {
    if (left_ == 0) {
      block_ = stream_block(WordQuad{next_block_++, impression_low_, run_, purpose_}, seed_);
      left_ = 4;
    }
    // Shifted, so that no index is needed, which would keep the words in memory.
    const std::uint32_t word = block_[0];
    block_ = WordQuad{block_[1], block_[2], block_[3], 0};
    --left_;
    return word;
  }

  // Goes on with the block that many after the next one.
  [[gnu::always_inline]] void skip_blocks(std::uint32_t count) {
    next_block_ += count;
    left_ = 0;
  }
  // Goes on so many words later.
  [[gnu::always_inline]] void skip_words(std::uint64_t count) {
    const std::uint64_t next = std::uint64_t{next_block_} * 4 - left_ + count;
    next_block_ = static_cast<std::uint32_t>(next / 4);
    left_ = 0;
    for (std::uint64_t word = next % 4; word > 0; --word) next_u32();
  }

  [[gnu::always_inline]] double uniform() {
    const std::uint32_t high = next_u32();
    return to_uniform(high, next_u32());
  }

  [[gnu::always_inline]] std::uint32_t below(std::uint32_t bound) {
    for (;;) {
      bool is_refused = false;
      const std::uint32_t number = below_by_one_word(bound, is_refused);
      if (!is_refused) return number;
    }
  }
  // The same, unless the word is one that below() refuses.
  [[gnu::always_inline]] std::uint32_t below_by_one_word(std::uint32_t bound, bool& is_refused) {
    const std::uint64_t product = std::uint64_t{next_u32()} * bound;
    const auto low = static_cast<std::uint32_t>(product);
    if (low < bound && low < (0U - bound) % bound) is_refused = true;
    return static_cast<std::uint32_t>(product >> 32);
  }

 private:
  std::uint64_t seed_;
  std::uint32_t impression_low_;
  std::uint32_t run_;
  std::uint32_t purpose_;
  std::uint32_t next_block_ = 0;
  std::uint32_t left_ = 0;  // of the block's words
  WordQuad block_ = {};
};

}  // namespace plackett::gpu
