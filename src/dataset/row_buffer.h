// Zeroed heap memory for feature rows.
#pragma once

#include <cstddef>
#include <span>

#include "plackett/result.h"

namespace plackett {

// `size` floats, all 0, at a 64-byte boundary. Large buffers come from huge pages where the
// system has them, since a learner jumps between queries all over the rows. Moves, never copies.
class RowBuffer {
 public:
  static Result<RowBuffer> zeroed(std::size_t size);

  RowBuffer() = default;
  RowBuffer(RowBuffer&& other) noexcept;
  RowBuffer& operator=(RowBuffer&& other) noexcept;
  RowBuffer(const RowBuffer&) = delete;
  RowBuffer& operator=(const RowBuffer&) = delete;
  ~RowBuffer();

  [[nodiscard]] float* data() { return data_; }
  [[nodiscard]] const float* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  float* data_ = nullptr;
  std::size_t size_ = 0;
  void* mapping_ = nullptr;  // where it is a mapping of its own, its start and length
  std::size_t mapping_bytes_ = 0;
};

}  // namespace plackett
