// An impression as the store keeps it: all that learning from it and evaluating with it later need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/aligned.h"
#include "plackett/mass.h"
#include "plackett/ranking.h"
#include "plackett/result.h"
#include "serving/store.h"

namespace plackett::serving {

struct ShownItem {
  std::string id;            // empty if it was removed with its unit
  float score = 0;           // the model's
  double sampled_score = 0;  // what it was sampled by: the score over the temperature
  bool pinned = false;
};

// A candidate that was not shown.
struct OtherItem {
  std::string id;
  float score = 0;
  std::int64_t version = 0;  // of the stored item that has its features; 0: they are kept here
};

struct Impression {
  Mode mode = Mode::kExplore;
  std::vector<ShownItem> shown;  // shown[rank], including pinned items
  Mass rest;                     // of the candidates that were sampled from and not shown
  double log_probability = 0;
  double entropy = 0;
  std::string context;  // JSON; empty if none
  std::uint32_t feature_count = 0;
  // Scaled features of shown items, padded_width floats each: of those that are not pinned, in rank
  // order, then of the pinned ones, in rank order. Only what is learned from has the first, and
  // only what is kept has both.
  AlignedVector<float> rows;
  bool learnable = false;  // set by unpack()

  // The other candidates, with probability `keep`.
  double keep = 0;
  bool kept = false;
  std::vector<OtherItem> others;
  // Scaled features of the others, padded_width floats each. 0 for those whose features are in the
  // store, until find_others().
  AlignedVector<float> other_rows;
  // If some are in the store and features are scaled by query: the least and the greatest value of
  // each feature among all candidates, before scaling; one after the other.
  std::vector<float> bounds;

  [[nodiscard]] std::uint32_t sampled_count() const;  // shown items that are not pinned
  // The probability of each shown item at its place, given those above it; 1 if it was not sampled.
  [[nodiscard]] std::vector<double> propensities() const;
};

// As the store keeps it; without id, time, version, unit and the caller's own id.
ImpressionRow pack(const Impression& impression);
// Whether to read features and other candidates too, which are most of an impression.
enum class Rows : std::uint8_t { kRead, kSkip };
// Fails on rows that pack() does not make, and on those of version 1 if they are damaged.
Result<Impression> unpack(const ImpressionRow& row, Rows rows = Rows::kRead);

struct StoredImpression {
  std::int64_t id = 0;
  std::int64_t shown_at = 0;
  std::uint64_t version = 0;
  std::string given;  // the caller's own id; empty if none
  std::string unit;   // empty if unknown
  Impression impression;
  ArmOfList in{};
};

// None if it is not in the store, or damaged.
Result<std::optional<StoredImpression>> read_impression(StoreReader& store, std::int64_t id,
                                                        Rows rows = Rows::kRead);

// Versions of items that were read, for those who read many impressions: they never change. Forgets
// them all when they are many.
class ItemVersionCache {
 public:
  // None if the store does not have it. Valid until the next call.
  Result<const ItemVersion*> find(StoreReader& store, std::int64_t version);

 private:
  std::unordered_map<std::int64_t, ItemVersion> versions_;
  std::size_t bytes_ = 0;
};

// Reads from the store what the impression's others refer to, and scales it as it was then: after
// that all ids and rows are here, and no other refers to the store. Fails if something is missing.
Result<void> find_others(StoreReader& store, Impression& impression, ItemVersionCache& cache);
Result<void> find_others(StoreReader& store, Impression& impression);

// The part of an impression that is learned from: what was sampled, without pinned items.
struct SampledPart {
  Ranking ranking;                   // its docs number the impression's rows
  std::vector<std::uint8_t> clicks;  // one per rank of the ranking
  std::vector<std::uint32_t> ranks;  // the rank in the shown list of each

  // Reuses memory. Requires: `clicked` has one byte per shown item.
  void set(const Impression& impression, std::span<const std::byte> clicked);
};

}  // namespace plackett::serving
