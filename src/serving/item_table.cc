#include "serving/item_table.h"

#include <algorithm>
#include <mutex>

#include "plackett/feature_view.h"

namespace plackett::serving {

ItemTable::ItemTable(std::uint32_t feature_count) : stride_(padded_width(feature_count)) {}

void ItemTable::put(std::span<const std::string> ids, std::span<const float> rows) {
  const std::unique_lock lock(mutex_);
  for (std::size_t at = 0; at < ids.size(); ++at) {
    auto found = places_.find(std::string_view(ids[at]));
    if (found == places_.end()) {
      auto place = static_cast<std::uint32_t>(places_.size());
      if (!free_.empty()) {
        place = free_.back();
        free_.pop_back();
      } else if (rows_.size() < (std::size_t{place} + 1) * stride_) {
        rows_.resize((std::size_t{place} + 1) * stride_);
      }
      found = places_.emplace(ids[at], place).first;
    }
    std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(at * stride_), stride_,
                rows_.begin() + static_cast<std::ptrdiff_t>(std::size_t{found->second} * stride_));
  }
}

bool ItemTable::remove(std::string_view id) {
  const std::unique_lock lock(mutex_);
  const auto found = places_.find(id);
  if (found == places_.end()) return false;
  free_.push_back(found->second);
  places_.erase(found);
  return true;
}

std::uint64_t ItemTable::count() const {
  const std::shared_lock lock(mutex_);
  return places_.size();
}

std::size_t ItemTable::gather(std::span<const std::string_view> ids,
                              std::span<const std::uint8_t> given, std::span<float> rows) const {
  const std::shared_lock lock(mutex_);
  for (std::size_t at = 0; at < ids.size(); ++at) {
    if (given[at] != 0) continue;
    const auto found = places_.find(ids[at]);
    if (found == places_.end()) return at;
    std::copy_n(rows_.begin() + static_cast<std::ptrdiff_t>(std::size_t{found->second} * stride_),
                stride_, rows.begin() + static_cast<std::ptrdiff_t>(at * stride_));
  }
  return ids.size();
}

}  // namespace plackett::serving
