#include "serving/item_table.h"

#include <algorithm>
#include <mutex>

#include "plackett/feature_view.h"

namespace plackett::serving {

ItemTable::ItemTable(std::uint32_t feature_count) : stride_(padded_width(feature_count)) {}

void ItemTable::put(std::span<const std::string> ids, std::span<const float> rows) {
  const std::unique_lock lock(mutex_);
  for (const std::string& id : ids) {
    rows_[id].assign(rows.begin(), rows.begin() + stride_);
    rows = rows.subspan(stride_);
  }
}

void ItemTable::remove(const std::string& id) {
  const std::unique_lock lock(mutex_);
  rows_.erase(id);
}

std::uint64_t ItemTable::count() const {
  const std::shared_lock lock(mutex_);
  return rows_.size();
}

std::size_t ItemTable::gather(std::span<const std::string_view> ids,
                              std::span<const std::uint8_t> given, std::span<float> rows) const {
  const std::shared_lock lock(mutex_);
  for (std::size_t at = 0; at < ids.size(); ++at) {
    if (given[at] != 0) continue;
    const auto found = rows_.find(ids[at]);
    if (found == rows_.end()) return at;
    std::copy_n(found->second.begin(), stride_, rows.data() + at * stride_);
  }
  return ids.size();
}

}  // namespace plackett::serving
