// Philox-4x32-10, for processors and GPUs, and its constants, for its vector form.
#pragma once

#include <cstdint>

namespace plackett::philox_constants {

inline constexpr std::uint32_t kMultiplier0 = 0xD2511F53;
inline constexpr std::uint32_t kMultiplier1 = 0xCD9E8D57;
inline constexpr std::uint32_t kWeyl0 = 0x9E3779B9;
inline constexpr std::uint32_t kWeyl1 = 0xBB67AE85;
inline constexpr int kRounds = 10;

}  // namespace plackett::philox_constants

namespace plackett {

// One block, in place of its counter. As philox() in plackett/rng.h.
constexpr void philox_block(std::uint32_t (&words)[4], std::uint32_t key0, std::uint32_t key1) {
  using namespace philox_constants;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t product0 = std::uint64_t{kMultiplier0} * words[0];
    const std::uint64_t product1 = std::uint64_t{kMultiplier1} * words[2];
    words[0] = static_cast<std::uint32_t>(product1 >> 32) ^ words[1] ^ key0;
    words[1] = static_cast<std::uint32_t>(product1);
    words[2] = static_cast<std::uint32_t>(product0 >> 32) ^ words[3] ^ key1;
    words[3] = static_cast<std::uint32_t>(product0);
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
}

}  // namespace plackett
