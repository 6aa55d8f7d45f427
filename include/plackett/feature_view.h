// The features of one query's candidate documents, borrowed. Rankers and learners see nothing else
// of the data: it holds no labels.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

#include "plackett/index.h"

namespace plackett {

// The engine's own rows are padded with zeros to a multiple of this many floats (one cache line),
// so that kernels need no tail.
inline constexpr std::uint32_t kRowAlign = 16;

// Floats from one of the engine's own rows to the next.
constexpr std::uint32_t padded_width(std::uint32_t features) {
  return (features + kRowAlign - 1) / kRowAlign * kRowAlign;
}

// doc_count rows of feature_count floats, `stride` floats apart. The memory belongs to the caller,
// must outlive the view and is never copied or written to.
class FeatureView {
 public:
  FeatureView() = default;

  // Rows as the engine keeps them: they start at 64-byte boundaries, padded_width(feature_count)
  // floats apart, padded with zeros.
  FeatureView(const float* rows, std::uint32_t doc_count, std::uint32_t feature_count)
      : rows_(rows),
        doc_count_(doc_count),
        feature_count_(feature_count),
        stride_(padded_width(feature_count)),
        readable_width_(padded_width(feature_count)) {}

  // Rows of any layout: what lies between them is never read. Results have the same bits as for
  // padded rows of the same features. Requires: stride >= feature_count.
  static FeatureView of(const float* rows, std::uint32_t doc_count, std::uint32_t feature_count,
                        std::size_t stride) {
    assert(stride >= feature_count);
    FeatureView view;
    view.rows_ = rows;
    view.doc_count_ = doc_count;
    view.feature_count_ = feature_count;
    view.stride_ = stride;
    view.readable_width_ = feature_count;
    return view;
  }

  // Number of candidates.
  [[nodiscard]] std::uint32_t doc_count() const { return doc_count_; }
  // Features per document.
  [[nodiscard]] std::uint32_t feature_count() const { return feature_count_; }
  // Floats from one document's features to the next one's.
  [[nodiscard]] std::size_t stride() const { return stride_; }
  // How many floats of a row may be read: its features, and the zeros of padded rows.
  [[nodiscard]] std::uint32_t readable_width() const { return readable_width_; }
  // The first document's features.
  [[nodiscard]] const float* data() const { return rows_; }

  // One document's features. Requires: doc < doc_count().
  [[nodiscard]] std::span<const float> row(Doc doc) const {
    assert(index(doc) < doc_count_);
    return {rows_ + std::size_t{index(doc)} * stride_, feature_count_};
  }

 private:
  const float* rows_ = nullptr;
  std::uint32_t doc_count_ = 0;
  std::uint32_t feature_count_ = 0;
  std::size_t stride_ = 0;
  std::uint32_t readable_width_ = 0;
};

}  // namespace plackett
