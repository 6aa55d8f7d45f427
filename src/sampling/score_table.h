// Several rankers' scores of the same documents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "base/aligned.h"
#include "base/kernels.h"

namespace plackett {

// [ranker][stride] floats. A row holds the documents' scores, padded with +infinity to the stride,
// a multiple of kLanes, as the kernels require. Reuses its memory.
class ScoreTable {
 public:
  void resize(std::uint32_t rankers, std::uint32_t docs) {
    rankers_ = rankers;
    docs_ = docs;
    stride_ = (std::size_t{docs} + kLanes - 1) / kLanes * kLanes;
    if (scores_.size() < rankers * stride_) scores_.resize(rankers * stride_);
    for (std::uint32_t ranker = 0; ranker < rankers; ++ranker) {
      for (std::size_t at = docs; at < stride_; ++at) {
        scores_[ranker * stride_ + at] = std::numeric_limits<float>::infinity();
      }
    }
  }

  [[nodiscard]] std::uint32_t rankers() const { return rankers_; }
  [[nodiscard]] std::uint32_t docs() const { return docs_; }
  [[nodiscard]] std::size_t stride() const { return stride_; }

  [[nodiscard]] std::span<float> row(std::uint32_t ranker) {
    return {scores_.data() + ranker * stride_, docs_};
  }
  [[nodiscard]] std::span<const float> row(std::uint32_t ranker) const {
    return {scores_.data() + ranker * stride_, docs_};
  }

 private:
  std::uint32_t rankers_ = 0;
  std::uint32_t docs_ = 0;
  std::size_t stride_ = 0;
  AlignedVector<float> scores_;
};

}  // namespace plackett
