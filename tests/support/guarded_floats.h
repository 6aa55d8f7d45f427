// Memory that ends the process if it is read past its end.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>

namespace plackett::testing {

// `count` floats, followed directly by an inaccessible page, so their alignment depends on `count`.
class GuardedFloats {
 public:
  explicit GuardedFloats(std::size_t count) : count_(count) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t used = (count * sizeof(float) + page - 1) / page * page;
    size_ = used + page;
    memory_ = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) std::abort();
    char* guard = static_cast<char*>(memory_) + used;
    if (::mprotect(guard, page, PROT_NONE) != 0) std::abort();
    begin_ = reinterpret_cast<float*>(guard) - count;
  }
  GuardedFloats(const GuardedFloats&) = delete;
  GuardedFloats& operator=(const GuardedFloats&) = delete;
  ~GuardedFloats() { ::munmap(memory_, size_); }

  [[nodiscard]] float* begin() const { return begin_; }
  [[nodiscard]] float* end() const { return begin_ + count_; }

 private:
  std::size_t count_;
  std::size_t size_ = 0;
  void* memory_ = nullptr;
  float* begin_ = nullptr;
};

}  // namespace plackett::testing
