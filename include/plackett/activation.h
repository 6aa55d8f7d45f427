// The activation functions of a network's hidden units.
#pragma once

#include <cstdint>

namespace plackett {

// Applied to each unit.
enum class Activation : std::uint8_t {
  kSigmoid,  // 1 / (1 + exp(-x))
  kRelu,     // max(x, 0)
  kTanh,     // tanh(x)
};

}  // namespace plackett
