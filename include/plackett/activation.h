// What a network's hidden units do with their sums.
#pragma once

#include <cstdint>

namespace plackett {

enum class Activation : std::uint8_t {
  kSigmoid,  // 1 / (1 + exp(-x))
  kRelu,     // max(x, 0)
  kTanh,
};

}  // namespace plackett
