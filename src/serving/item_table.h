// The stored items of a model, in memory: found by id, read by many threads.
#pragma once

#include <cstdint>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/aligned.h"

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

  // `rows`: stride() floats per id, in order.
  void put(std::span<const std::string> ids, std::span<const float> rows);
  void remove(const std::string& id);

  [[nodiscard]] std::uint64_t count() const;
  [[nodiscard]] std::uint32_t stride() const { return stride_; }

  // Copies the row of every id whose `given` is 0 to its place in `rows`. Gives the index of
  // the first id that is not stored, or ids.size().
  [[nodiscard]] std::size_t gather(std::span<const std::string_view> ids,
                                   std::span<const std::uint8_t> given,
                                   std::span<float> rows) const;

 private:
  std::uint32_t stride_;
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::string, AlignedVector<float>, TextHash, std::equal_to<>> rows_;
};

}  // namespace plackett::serving
