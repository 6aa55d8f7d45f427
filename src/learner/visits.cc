#include "learner/visits.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>

namespace plackett {
namespace {

// A few multiplications per feature; the same on every machine.
std::size_t slot_of(std::span<const float> features) {
  std::uint64_t hash = features.size();
  for (const float value : features) {
    hash = (hash ^ std::bit_cast<std::uint32_t>(value)) * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 32U;
  }
  return hash % Visits::kSlots;
}

}  // namespace

Visits::Visits(std::span<float> counts)
    : counts_(counts),
      used_(static_cast<std::size_t>(
          std::count_if(counts.begin(), counts.end(), [](float count) { return count > 0; }))) {
  assert(counts.size() == kSlots);
}

float Visits::add(std::span<const float> features) {
  float& count = counts_[slot_of(features)];
  constexpr float kMost = 0x1p24F;  // adding 1 to more would change nothing
  if (count == 0) ++used_;
  count = std::min(count + 1, kMost);
  const float visits = count;
  while (used_ > kSlots / 2) halve();
  return visits;
}

void Visits::halve() {
  for (float& count : counts_) count = std::floor(count / 2);
  used_ = static_cast<std::size_t>(
      std::count_if(counts_.begin(), counts_.end(), [](float count) { return count > 0; }));
}

}  // namespace plackett
