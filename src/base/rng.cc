#include "plackett/rng.h"

#include <cassert>
#include <cmath>
#include <numbers>

#include "base/kernels.h"
#include "base/philox.h"

namespace plackett {

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key) {
  std::uint32_t words[4] = {counter[0], counter[1], counter[2], counter[3]};
  philox_block(words, key[0], key[1]);
  return {words[0], words[1], words[2], words[3]};
}

void Rng::refill() {
  block_ = philox(counter_, key_);
  ++counter_[0];
  used_ = 0;
}

std::uint32_t Rng::below(std::uint32_t bound) {
  // Lemire, "Fast random integer generation in an interval", 2019.
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

double Rng::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

void Rng::fill_normals(float* out, std::size_t count) {
  assert(count % kNormalGroup == 0);
  kernels().normals(counter_.data(), key_.data(), count / kNormalGroup, out);
  counter_[0] += static_cast<std::uint32_t>(count / 4);
  used_ = 4;
}

}  // namespace plackett
