#include "dataset/row_buffer.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstdint>
#include <limits>

namespace plackett {

void RowBuffer::Unmap::operator()(void* memory) const { ::munmap(memory, bytes); }

Result<RowBuffer> RowBuffer::zeroed(std::size_t size) {
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  const Error no_memory(ErrorCode::kUnavailable,
                        fmt::format("out of memory for {} feature values of 4 bytes", size));
  if (size > std::numeric_limits<std::ptrdiff_t>::max() / sizeof(float) - kHugePage) {
    return no_memory;
  }
  RowBuffer buffer;
  if (size == 0) return buffer;
  const bool huge = size * sizeof(float) >= 2 * kHugePage;
  const std::size_t bytes = size * sizeof(float) + (huge ? kHugePage : 0);
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return no_memory;  // NOLINT(performance-no-int-to-ptr)
  buffer.memory_ = {memory, Unmap{bytes}};
  if (huge) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    memory = static_cast<std::byte*>(memory) + (kHugePage - address % kHugePage) % kHugePage;
    ::madvise(memory, size * sizeof(float), MADV_HUGEPAGE);  // a refusal only costs speed
  }
  buffer.data_ = static_cast<float*>(memory);
  return buffer;
}

}  // namespace plackett
