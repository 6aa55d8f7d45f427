// The labels of one query's candidate documents: what users, evaluation and the synthetic
// data know, and learners never do.
#pragma once

#include <cassert>
#include <cstdint>
#include <span>

#include "plackett/index.h"

namespace plackett {

// Highest label that a file may hold: 2^31 - 1 is the largest exact gain we want to meet.
inline constexpr std::uint32_t kMaxLabel = 31;

// Borrowed; one label per document, in the order of its FeatureView's rows.
class Judgments {
 public:
  Judgments() = default;
  // Over someone else's labels, which must outlive it.
  explicit Judgments(std::span<const std::uint8_t> labels) : labels_(labels) {}

  // Documents judged: all candidates of the query.
  [[nodiscard]] std::uint32_t doc_count() const {
    return static_cast<std::uint32_t>(labels_.size());
  }
  // 0: not relevant; the higher, the better. Requires: doc < doc_count().
  [[nodiscard]] std::uint8_t label(Doc doc) const {
    assert(index(doc) < labels_.size());
    return labels_[index(doc)];
  }
  // All of them, by doc.
  [[nodiscard]] std::span<const std::uint8_t> labels() const { return labels_; }

 private:
  std::span<const std::uint8_t> labels_;
};

}  // namespace plackett
