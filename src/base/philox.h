// The constants of Philox-4x32-10, for its plain and its vector form.
#pragma once

#include <cstdint>

namespace plackett::philox_constants {

inline constexpr std::uint32_t kMultiplier0 = 0xD2511F53;
inline constexpr std::uint32_t kMultiplier1 = 0xCD9E8D57;
inline constexpr std::uint32_t kWeyl0 = 0x9E3779B9;
inline constexpr std::uint32_t kWeyl1 = 0xBB67AE85;
inline constexpr int kRounds = 10;

}  // namespace plackett::philox_constants
