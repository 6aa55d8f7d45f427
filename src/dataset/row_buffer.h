// Zeroed memory for feature rows.
#pragma once

#include <cstddef>
#include <memory>

#include "plackett/result.h"

namespace plackett {

// Floats, all 0, at a 64-byte boundary. Large buffers use huge pages if the system has them, since
// a learner jumps between queries all over the rows.
class RowBuffer {
 public:
  static Result<RowBuffer> zeroed(std::size_t size);

  [[nodiscard]] float* data() const { return data_; }

 private:
  struct Unmap {
    std::size_t bytes;
    void operator()(void* memory) const;
  };
  std::unique_ptr<void, Unmap> memory_;
  float* data_ = nullptr;  // in memory_, aligned
};

}  // namespace plackett
