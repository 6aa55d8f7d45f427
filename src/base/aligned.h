// Memory for vector kernels.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace plackett {

// A cache line; every kernel's requirement.
inline constexpr std::size_t kAlignment = 64;

template <typename T>
struct AlignedAllocator {
  using value_type = T;  // NOLINT(readability-identifier-naming)

  AlignedAllocator() = default;
  template <typename U>
  AlignedAllocator(const AlignedAllocator<U>&) {}  // NOLINT(google-explicit-constructor)

  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new (count * sizeof(T), std::align_val_t{kAlignment}));
  }
  void deallocate(T* pointer, std::size_t /*count*/) {
    ::operator delete (pointer, std::align_val_t{kAlignment});
  }
  bool operator==(const AlignedAllocator&) const { return true; }
};

template <typename T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

}  // namespace plackett
