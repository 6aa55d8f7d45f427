// An impression as the store keeps it: all that learning from it later needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "plackett/mass.h"
#include "plackett/ranking.h"
#include "plackett/result.h"
#include "serving/store.h"

namespace plackett::serving {

struct ShownItem {
  std::string id;
  float score = 0;           // the model's
  double sampled_score = 0;  // what it was sampled by: the score over the temperature
  bool pinned = false;
};

struct Impression {
  bool exploit = false;
  std::vector<ShownItem> shown;  // shown[rank], including pinned items
  Mass rest;                     // of the candidates that were sampled from and not shown
  double log_probability = 0;
  double entropy = 0;
  std::string context;
  std::uint32_t feature_count = 0;
  // Scaled features of the shown items that are not pinned, in rank order, padded_width floats
  // each. Empty if the impression is not to be learned from.
  AlignedVector<float> rows;
  bool learnable = false;  // whether the store has its rows; set by unpack()

  [[nodiscard]] std::uint32_t sampled_count() const;  // shown items that are not pinned
};

std::vector<std::byte> pack(const Impression& impression);
// Whether to read features too, which are most of an impression.
enum class Rows : std::uint8_t { kRead, kSkip };
// Fails on bytes that pack() does not write.
Result<Impression> unpack(std::span<const std::byte> bytes, Rows rows = Rows::kRead);

struct StoredImpression {
  std::int64_t id = 0;
  std::int64_t shown_at = 0;
  std::uint64_t version = 0;
  std::string given;  // the caller's own id; empty if none
  Impression impression;
};

// None if it is not in the store, or damaged.
Result<std::optional<StoredImpression>> read_impression(StoreReader& store, std::int64_t id,
                                                        Rows rows = Rows::kRead);

// The part of an impression that is learned from: what was sampled, without pinned items.
struct SampledPart {
  Ranking ranking;                   // its docs number the impression's rows
  std::vector<std::uint8_t> clicks;  // one per rank of the ranking
  std::vector<std::uint32_t> ranks;  // the rank in the shown list of each

  // Reuses memory. Requires: `clicked` has one byte per shown item.
  void set(const Impression& impression, std::span<const std::byte> clicked);
};

}  // namespace plackett::serving
