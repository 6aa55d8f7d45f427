// Timing on a noisy machine: what is compared is interleaved, and medians are taken.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

namespace plackett::bench {

inline double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Median of each contender's numbers over `repeats` rounds, in each of which all take a turn.
inline std::vector<double> interleaved(int repeats,
                                       const std::vector<std::function<double()>>& contenders) {
  std::vector<std::vector<double>> values(contenders.size());
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (std::size_t at = 0; at < contenders.size(); ++at) values[at].push_back(contenders[at]());
  }
  std::vector<double> medians;
  for (auto& one : values) medians.push_back(median(std::move(one)));
  return medians;
}

}  // namespace plackett::bench
