// Waits for another thread or process.
#pragma once

#include <chrono>
#include <thread>

namespace plackett::testing {

// Waits until `holds`, for at most a minute; returns whether it does.
template <typename Condition>
bool eventually(Condition holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace plackett::testing
