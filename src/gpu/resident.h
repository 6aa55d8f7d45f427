// What lies in a device's memory from one group of runs to the next: splits and users, each sent
// once.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "gpu/device.h"
#include "gpu/run_group.h"
#include "plackett/dataset.h"
#include "plackett/result.h"
#include "plackett/user.h"

namespace plackett::gpu {

// Splits are the same if all their arrays are. One of a caller's may have the rows of another with
// other labels or fewer queries.
using SplitKey = std::tuple<const float*, const std::uint8_t*, const std::uint64_t*, std::uint32_t>;
SplitKey key_of(const Split& split);
// A user, and how many documents are shown.
using UserKey = std::pair<const User*, std::uint32_t>;

// What a group needs, and how many bytes that takes.
class Needs {
 public:
  // `bytes` of memory, unless it is needed already.
  void add(const SplitKey& split, std::uint64_t bytes) {
    if (splits_.insert(split).second) bytes_ += bytes;
  }
  void add(const UserKey& user, std::uint64_t bytes) {
    if (users_.insert(user).second) bytes_ += bytes;
  }
  [[nodiscard]] bool has(const SplitKey& split) const { return splits_.contains(split); }
  [[nodiscard]] bool has(const UserKey& user) const { return users_.contains(user); }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  std::set<SplitKey> splits_;
  std::set<UserKey> users_;
  std::uint64_t bytes_ = 0;
};

// Pointers stay valid until the next call of make_room().
class Resident {
 public:
  // In a device that outlives this. What is asked for must outlive it, too.
  explicit Resident(Device& device) : device_(device) {}

  Result<const DeviceSplit*> split(const Split& split);
  Result<const DeviceUser*> user(const User& user, std::uint32_t shown);

  [[nodiscard]] bool has(const SplitKey& split) const { return splits_.contains(split); }
  // Of all that is there.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  // Frees what is not needed, if all together would take more than `room` bytes.
  void make_room(const Needs& needs, std::uint64_t room);

 private:
  Device& device_;
  std::map<SplitKey, std::pair<DeviceSplit, std::uint64_t>> splits_;  // and their bytes
  std::map<UserKey, std::pair<DeviceUser, std::uint64_t>> users_;
  std::uint64_t bytes_ = 0;
};

}  // namespace plackett::gpu
