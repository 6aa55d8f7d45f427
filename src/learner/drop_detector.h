// Tells when the mean of a sequence has dropped, by Page's test (Page, Biometrika 1954; Hinkley,
// Biometrika 1971).
#pragma once

#include <cstddef>
#include <span>

namespace plackett {

// Keeps running estimates of mean m and deviation s of all values x since the start. From the 101st
// on, sums (m - x) / s - 0.1, never below 0: a mean that stays lets the sum fall back to 0, and one
// that drops by d deviations lets it rise by d - 0.1 per value. A sum above the threshold is a
// drop.
class DropDetector {
 public:
  static constexpr std::size_t kWarmUp = 100;    // values that it only estimates from
  static constexpr double kTolerance = 0.1;      // drop that counts as none, in deviations
  static constexpr std::size_t kMemorySize = 4;  // count, m, s^2, sum

  // Requires: threshold > 0.
  explicit DropDetector(double threshold) : threshold_(threshold) {}

  // Adds a value. True if the mean has dropped. Requires: memory.size() == kMemorySize, all 0 at
  // the start.
  [[nodiscard]] bool add(double value, std::span<float> memory) const;

 private:
  double threshold_;
};

}  // namespace plackett
