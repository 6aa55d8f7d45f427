// The stored items of a model, in memory: found by id, read by many threads.
#pragma once

#include <cstdint>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/aligned.h"
#include "serving/shared_store.h"

namespace plackett::serving {

// For lookups by string_view in a map of strings.
struct TextHash {
  using is_transparent = void;  // NOLINT(readability-identifier-naming)
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};

// Readers share it; they wait while a change copies its rows.
class ItemTable {
 public:
  explicit ItemTable(std::uint32_t feature_count);

  // What this node has stored. `rows`: stride() floats per id, in order; `versions`: as the store
  // numbers them; items with version 0 are left out. So is what another node has replaced or
  // removed since, as far as it is known here.
  void put(std::span<const std::string> ids, std::span<const std::int64_t> versions,
           std::span<const float> rows);
  // What this node has removed; it had this version.
  void remove(const std::string& id, std::int64_t version);

  // What all nodes have changed since the changes of the last call, in order: those that are older
  // than what is here are left out.
  void apply(std::span<const SharedStore::ItemChange> changes);

  [[nodiscard]] std::uint64_t count() const;
  [[nodiscard]] bool has(std::string_view id) const;
  [[nodiscard]] std::int64_t last_version() const;  // the highest so far
  // The version of the item if it has these features, to the bit; else 0.
  [[nodiscard]] std::int64_t version_with(const std::string& id, const float* row) const;
  [[nodiscard]] std::uint32_t stride() const { return stride_; }

  // Copies the row of every id whose `given` is 0 to its place in `rows`, and its version to that
  // in `versions`: 0 if it is not stored, and if it is given.
  void gather(std::span<const std::string_view> ids, std::span<const std::uint8_t> given,
              std::span<float> rows, std::span<std::int64_t> versions) const;

 private:
  struct Item {
    std::int64_t version = 0;
    AlignedVector<float> row;
  };
  std::uint32_t stride_;
  mutable std::shared_mutex mutex_;
  std::int64_t last_version_ = 0;
  std::int64_t applied_ = 0;  // apply() has seen all changes up to this one
  std::unordered_map<std::string, Item, TextHash, std::equal_to<>> items_;
};

}  // namespace plackett::serving
