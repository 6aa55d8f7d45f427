#include "base/memory_reserve.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace plackett {
namespace {

std::size_t reserved_bytes = 0;
std::atomic<void*> reserve{nullptr};

// Called by operator new after a failure, which it then repeats.
void give_up_reserve() {
  void* kept = reserve.exchange(nullptr);
  if (kept == nullptr) throw std::bad_alloc();
  std::free(kept);
}

}  // namespace

void install_memory_reserve(std::size_t bytes) {
  reserved_bytes = bytes;
  refill_memory_reserve();
  std::set_new_handler(give_up_reserve);
}

void refill_memory_reserve() {
  if (reserved_bytes == 0 || reserve.load() != nullptr) return;
  void* none = nullptr;
  void* taken = std::malloc(reserved_bytes);
  if (!reserve.compare_exchange_strong(none, taken)) std::free(taken);
}

}  // namespace plackett
