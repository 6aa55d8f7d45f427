// Ids and their indices, for one request at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace plackett::http {

// A hash table with open addressing, at most half full. Keeps its memory between requests. The
// ids' bytes belong to the caller.
class IdTable {
 public:
  void clear() {
    ids_.clear();
    slots_.assign(kFirstSlots, kFree);
  }

  // Adds `id` with the next index, unless it is there already: then returns its index.
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
    return slot == kFree ? std::nullopt : std::optional(slot);
  }

 private:
  static constexpr std::uint32_t kFree = ~std::uint32_t{0};
  static constexpr std::size_t kFirstSlots = 256;  // powers of 2

  std::uint32_t& slot_of(std::string_view id) {
    for (std::size_t at = std::hash<std::string_view>{}(id);; ++at) {
      std::uint32_t& slot = slots_[at & (slots_.size() - 1)];
      if (slot == kFree || ids_[slot] == id) return slot;
    }
  }
  void grow() {
    slots_.assign(2 * slots_.size(), kFree);
    for (std::uint32_t index = 0; index < ids_.size(); ++index) slot_of(ids_[index]) = index;
  }

  std::vector<std::string_view> ids_;
  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(kFirstSlots, kFree);
};

}  // namespace plackett::http
