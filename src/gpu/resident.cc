#include "gpu/resident.h"

#include <map>

namespace plackett::gpu {

SplitKey key_of(const Split& split) {
  const Split::Storage& storage = split.storage();
  return {storage.rows, storage.labels, storage.query_begin, storage.query_count};
}

Result<const DeviceSplit*> Resident::split(const Split& split) {
  const SplitKey key = key_of(split);
  if (const auto found = splits_.find(key); found != splits_.end()) return &found->second.first;
  auto made = DeviceSplit::make(device_, split);
  if (!made) return made.error();
  const std::uint64_t bytes = SplitSize(split).bytes;
  bytes_ += bytes;
  return &splits_.emplace(key, std::pair(std::move(made).value(), bytes)).first->second.first;
}

Result<const DeviceUser*> Resident::user(const User& user, std::uint32_t shown) {
  const UserKey key(&user, shown);
  if (const auto found = users_.find(key); found != users_.end()) return &found->second.first;
  auto made = DeviceUser::make(device_, user, shown);
  if (!made) return made.error();
  const std::uint64_t bytes = DeviceUser::bytes(user, shown);
  bytes_ += bytes;
  return &users_.emplace(key, std::pair(std::move(made).value(), bytes)).first->second.first;
}

void Resident::make_room(const Needs& needs, std::uint64_t room) {
  std::uint64_t unneeded = 0;
  for (const auto& [key, split] : splits_) unneeded += needs.has(key) ? 0 : split.second;
  for (const auto& [key, user] : users_) unneeded += needs.has(key) ? 0 : user.second;
  if (needs.bytes() + unneeded <= room) return;
  bytes_ -= unneeded;
  std::erase_if(splits_, [&needs](const auto& entry) { return !needs.has(entry.first); });
  std::erase_if(users_, [&needs](const auto& entry) { return !needs.has(entry.first); });
}

}  // namespace plackett::gpu
