// The features of one query's candidate documents, borrowed. The one part of this room that
// learners, rankers and the service may see: it holds no labels.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/index.h"

namespace plackett {

// Rows are padded with zeros to a multiple of this many floats (one cache line), so kernels
// need no tail loop.
inline constexpr std::uint32_t kRowAlign = 16;

constexpr std::uint32_t padded_width(std::uint32_t features) {
  return (features + kRowAlign - 1) / kRowAlign * kRowAlign;
}

// doc_count rows of `stride` floats, of which the first feature_count are features and the
// rest are 0. Rows start at 64-byte boundaries. The memory belongs to someone else and must
// outlive the view.
class FeatureView {
 public:
  FeatureView() = default;
  FeatureView(const float* rows, std::uint32_t doc_count, std::uint32_t feature_count)
      : rows_(rows), doc_count_(doc_count), feature_count_(feature_count) {}

  [[nodiscard]] std::uint32_t doc_count() const { return doc_count_; }
  [[nodiscard]] std::uint32_t feature_count() const { return feature_count_; }
  [[nodiscard]] std::uint32_t stride() const { return padded_width(feature_count_); }
  [[nodiscard]] const float* data() const { return rows_; }

  // One document's padded row. Requires: doc < doc_count().
  [[nodiscard]] std::span<const float> row(Doc doc) const {
    assert(index(doc) < doc_count_);
    return {rows_ + std::size_t{index(doc)} * stride(), stride()};
  }

 private:
  const float* rows_ = nullptr;
  std::uint32_t doc_count_ = 0;
  std::uint32_t feature_count_ = 0;
};

// Asks for one of `parts` equal parts of rows that will be read soon. A core has few places for
// memory on its way: asked for all at once it waits for it, asked in parts it works meanwhile.
// Requires: part < parts.
inline void prefetch(const FeatureView& docs, std::size_t part, std::size_t parts) {
  const auto* bytes = reinterpret_cast<const char*>(docs.data());
  const std::size_t lines = std::size_t{docs.doc_count()} * docs.stride() / kRowAlign;
  const std::size_t end = lines * (part + 1) / parts;
  for (std::size_t line = lines * part / parts; line < end; ++line) {
    __builtin_prefetch(bytes + line * kRowAlign * sizeof(float), 0, 2);
  }
}

}  // namespace plackett
