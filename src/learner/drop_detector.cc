#include "learner/drop_detector.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace plackett {
namespace {

// A float counts no further; the mean then follows the last so many values.
constexpr float kMostCounted = 1e6F;

}  // namespace

bool DropDetector::add(double value, std::span<float> memory) const {
  assert(memory.size() == kMemorySize);
  float& count = memory[0];
  float& mean = memory[1];
  float& variance = memory[2];
  float& sum = memory[3];
  count = std::min(count + 1, kMostCounted);
  const double before = value - mean;
  mean = static_cast<float>(mean + before / count);
  variance = static_cast<float>(variance + (before * (value - mean) - variance) / count);
  if (count <= kWarmUp || variance <= 0) return false;
  const double drop = (mean - value) / std::sqrt(double{variance}) - kTolerance;
  sum = static_cast<float>(std::max(0.0, sum + drop));
  return sum > threshold_;
}

}  // namespace plackett
