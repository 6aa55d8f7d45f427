// How often a learner met a document, told by its features: without ids, which a service may not
// have, and in fixed memory.
#pragma once

#include <cstddef>
#include <span>

namespace plackett {

// Counts by a hash of the document's features; documents with the same hash share a count. Once
// half of the counts are in use, all are halved until fewer are: of up to 5,000 documents or so
// each visit counts for ever, though of 4,000 two in five share a count; of more only the last
// ones.
class Visits {
 public:
  static constexpr std::size_t kSlots = 8192;

  Visits() = default;
  // `counts` is the memory, which the caller keeps: kSlots numbers, at first 0.
  explicit Visits(std::span<float> counts);

  // Counts one more visit; returns how many there were, with this one.
  float add(std::span<const float> features);

 private:
  void halve();

  std::span<float> counts_;
  std::size_t used_ = 0;  // counts above 0
};

}  // namespace plackett
