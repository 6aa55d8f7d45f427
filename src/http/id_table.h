// Ids and their indices, for one request at a time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace plackett::http {

// A hash table with open places, at least half of them free. Keeps its memory; no allocation once
// it has met as many ids. The ids' bytes belong to the caller.
class IdTable {
 public:
  void clear(std::size_t expected) {
    ids_.clear();
    slots_.assign(std::bit_ceil(std::max<std::size_t>(2 * expected, 16)), kFree);
  }

  // The index of `id`, where it was added before; else adds it with the next index.
  std::optional<std::uint32_t> add(std::string_view id) {
    if (2 * (ids_.size() + 1) > slots_.size()) grow();
    std::uint32_t& slot = slot_of(id);
    if (slot != kFree) return slot;
    slot = static_cast<std::uint32_t>(ids_.size());
    ids_.push_back(id);
    return std::nullopt;
  }

  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view id) {
    const std::uint32_t slot = slot_of(id);
    if (slot == kFree) return std::nullopt;
    return slot;
  }

 private:
  static constexpr std::uint32_t kFree = ~std::uint32_t{0};

  std::uint32_t& slot_of(std::string_view id) {
    std::size_t at = std::hash<std::string_view>{}(id);
    while (true) {
      at &= slots_.size() - 1;
      if (slots_[at] == kFree || ids_[slots_[at]] == id) return slots_[at];
      ++at;
    }
  }
  void grow() {
    slots_.assign(2 * slots_.size(), kFree);
    for (std::uint32_t index = 0; index < ids_.size(); ++index) slot_of(ids_[index]) = index;
  }

  std::vector<std::string_view> ids_;
  std::vector<std::uint32_t> slots_;
};

}  // namespace plackett::http
