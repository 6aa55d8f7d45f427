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
    const std::span<const float> row = rows.first(stride_);
    rows = rows.subspan(stride_);
    if (versions[at] == 0) continue;
    const auto found = items_.find(ids[at]);
    // Another node has removed it since, or changed it.
    if (found == items_.end() ? versions[at] <= applied_ : versions[at] < found->second.version) {
      continue;
    }
    Item& item = items_[ids[at]];
    item.version = versions[at];
    last_version_ = std::max(last_version_, item.version);
    item.row.assign(row.begin(), row.end());
  }
}

void ItemTable::remove(const std::string& id, std::int64_t version) {
  const std::unique_lock lock(mutex_);
  const auto found = items_.find(id);
  if (found != items_.end() && found->second.version <= version) items_.erase(found);
}

void ItemTable::apply(std::span<const SharedStore::ItemChange> changes) {
  const std::unique_lock lock(mutex_);
  for (const SharedStore::ItemChange& change : changes) {
    last_version_ = std::max(last_version_, change.version);
    applied_ = std::max(applied_, change.version);
    const auto found = items_.find(change.id);
    if (found != items_.end() && found->second.version >= change.version) continue;
    if (!change.features) {
      items_.erase(change.id);
      continue;
    }
    Item& item = items_[change.id];
    item.version = change.version;
    item.row.assign(stride_, 0.0F);
    std::memcpy(item.row.data(), change.features->data(),
                std::min(change.features->size(), stride_ * sizeof(float)));
  }
}

std::int64_t ItemTable::last_version() const {
  const std::shared_lock lock(mutex_);
  return last_version_;
}

bool ItemTable::has(std::string_view id) const {
  const std::shared_lock lock(mutex_);
  return items_.find(id) != items_.end();
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
