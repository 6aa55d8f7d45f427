// Timing on a noisy machine: contenders take turns, and medians are compared.
#pragma once

#include <algorithm>
#include <chrono>
#include <ctime>
#include <functional>
#include <vector>

namespace plackett::bench {

// Of the wall clock.
inline double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// CPU time of this thread: what other processes take of the core is left out.
inline double cpu_seconds_of(const std::function<void()>& work) {
  const auto now = [] {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const double start = now();
  work();
  return now() - start;
}

inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The median of each contender's numbers over `repeats` rounds. In a round each takes one turn.
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
