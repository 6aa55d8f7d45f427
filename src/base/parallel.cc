#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace plackett {

void parallel_for(unsigned threads, std::size_t count,
                  const std::function<void(std::size_t)>& piece) {
  const std::size_t workers = std::min<std::size_t>(std::max(threads, 1U), count);
  if (workers <= 1) {
    for (std::size_t number = 0; number < count; ++number) piece(number);
    return;
  }
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  std::size_t failed = count;
  const auto work = [&] {
    while (true) {
      const std::size_t number = next.fetch_add(1);
      if (number >= count) return;
      try {
        piece(number);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (number < failed) {
          failed = number;
          failure = std::current_exception();
        }
        next.store(count);
      }
    }
  };
  {
    std::vector<std::jthread> helpers;
    helpers.reserve(workers - 1);
    try {
      while (helpers.size() + 1 < workers) helpers.emplace_back(work);
    } catch (const std::system_error&) {
      // Fewer threads than asked for; those that started and the caller do the work.
    }
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

unsigned thread_count(unsigned asked) {
  return asked > 0 ? asked : std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace plackett
