#include "serving/item_table.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "plackett/feature_view.h"

namespace plackett::serving {

ItemTable::ItemTable(std::uint32_t feature_count) : stride_(padded_width(feature_count)) {}

void ItemTable::put(std::span<const std::string> ids, std::span<const std::int64_t> versions,
                    std::span<const float> rows) {
  const std::unique_lock lock(mutex_);
  for (std::size_t at = 0; at < ids.size(); ++at) {
    Item& item = items_[ids[at]];
    item.version = versions[at];
    item.row.assign(rows.begin(), rows.begin() + stride_);
    rows = rows.subspan(stride_);
  }
}

void ItemTable::remove(const std::string& id) {
  const std::unique_lock lock(mutex_);
  items_.erase(id);
}

std::uint64_t ItemTable::count() const {
  const std::shared_lock lock(mutex_);
  return items_.size();
}

std::int64_t ItemTable::version_with(const std::string& id, const float* row) const {
  const std::shared_lock lock(mutex_);
  const auto found = items_.find(id);
  if (found == items_.end()) return 0;
  const Item& item = found->second;
  return std::memcmp(item.row.data(), row, stride_ * sizeof(float)) == 0 ? item.version : 0;
}

void ItemTable::gather(std::span<const std::string_view> ids, std::span<const std::uint8_t> given,
                       std::span<float> rows, std::span<std::int64_t> versions) const {
  const std::shared_lock lock(mutex_);
  for (std::size_t at = 0; at < ids.size(); ++at) {
    versions[at] = 0;
    if (given[at] != 0) continue;
    const auto found = items_.find(ids[at]);
    if (found == items_.end()) continue;
    versions[at] = found->second.version;
    std::copy_n(found->second.row.begin(), stride_, rows.data() + at * stride_);
  }
}

}  // namespace plackett::serving
