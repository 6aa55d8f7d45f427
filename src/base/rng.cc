#include "plackett/rng.h"

#include <cassert>
#include <cmath>
#include <numbers>

#include "base/kernels.h"
#include "base/philox.h"

namespace plackett {

using namespace philox_constants;

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t product0 = std::uint64_t{kMultiplier0} * counter[0];
    const std::uint64_t product1 = std::uint64_t{kMultiplier1} * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(product0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return counter;
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
