#include "dataset/row_buffer.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

namespace plackett {
namespace {

constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;
constexpr std::size_t kLineBytes = 64;

Error no_memory(std::size_t size) {
  return Error{fmt::format("out of memory for {} feature values of 4 bytes", size)};
}

}  // namespace

Result<RowBuffer> RowBuffer::zeroed(std::size_t size) {
  if (size > std::numeric_limits<std::ptrdiff_t>::max() / sizeof(float) - kHugePageBytes) {
    return no_memory(size);
  }
  RowBuffer buffer;
  const std::size_t bytes = (size * sizeof(float) + kLineBytes - 1) / kLineBytes * kLineBytes;
  if (bytes == 0) return buffer;
  if (bytes < 2 * kHugePageBytes) {
    void* memory = std::aligned_alloc(kLineBytes, bytes);
    if (memory == nullptr) return no_memory(size);
    std::memset(memory, 0, bytes);
    buffer.data_ = static_cast<float*>(memory);
  } else {
    buffer.mapping_bytes_ = bytes + kHugePageBytes;
    void* memory = ::mmap(nullptr, buffer.mapping_bytes_, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return no_memory(size);  // NOLINT(performance-no-int-to-ptr)
    buffer.mapping_ = memory;
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    const std::size_t skip = (kHugePageBytes - address % kHugePageBytes) % kHugePageBytes;
    void* aligned = static_cast<std::byte*>(memory) + skip;
    ::madvise(aligned, bytes, MADV_HUGEPAGE);  // only advice: a refusal costs speed alone
    buffer.data_ = static_cast<float*>(aligned);
  }
  buffer.size_ = size;
  return buffer;
}

RowBuffer::RowBuffer(RowBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      mapping_(std::exchange(other.mapping_, nullptr)),
      mapping_bytes_(std::exchange(other.mapping_bytes_, 0)) {}

RowBuffer& RowBuffer::operator=(RowBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(mapping_, other.mapping_);
  std::swap(mapping_bytes_, other.mapping_bytes_);
  return *this;
}

RowBuffer::~RowBuffer() {
  if (mapping_ != nullptr) {
    ::munmap(mapping_, mapping_bytes_);
  } else {
    std::free(data_);
  }
}

}  // namespace plackett
