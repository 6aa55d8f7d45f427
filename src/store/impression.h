// An impression as the store keeps it: all that learning from it later needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/aligned.h"
#include "plackett/mass.h"
#include "plackett/result.h"

namespace plackett::store {

struct ShownItem {
  std::string id;
  float score = 0;           // the model's
  double sampled_score = 0;  // what it was sampled by: the score over the temperature
  bool pinned = false;
};

struct Impression {
  bool exploit = false;
  std::vector<ShownItem> shown;  // shown[rank], pinned ones among them
  Mass rest;                     // of the candidates that were sampled from and not shown
  double log_probability = 0;
  double entropy = 0;
  std::string context;
  std::uint32_t feature_count = 0;
  // The rows of the shown items that are not pinned, in rank order, scaled, each padded_width
  // floats apart in memory. None where it is not to be learned from.
  AlignedVector<float> rows;
  bool learnable = false;  // whether the store has its rows; set by unpack()

  [[nodiscard]] std::uint32_t learned_count() const;  // shown items that are not pinned
};

std::vector<std::byte> pack(const Impression& impression);
// Whether features are read too: they are most of an impression.
enum class Rows : std::uint8_t { kRead, kSkip };
// Fails on bytes that pack() does not write.
Result<Impression> unpack(std::span<const std::byte> bytes, Rows rows = Rows::kRead);

}  // namespace plackett::store
