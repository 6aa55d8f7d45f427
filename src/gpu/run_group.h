// Runs that a device does together: it learns from point to point of their curves, and measures
// there.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gpu/device.h"
#include "gpu/launch_layout.h"
#include "gpu/run_data.h"
#include "gpu/share_clock.h"
#include "plackett/dataset.h"
#include "plackett/record.h"
#include "plackett/result.h"
#include "plackett/user.h"

namespace plackett::gpu {

// What a split takes of a device. Cost: one pass over its queries.
struct SplitSize {
  std::uint64_t bytes = 0;       // of memory
  std::uint64_t tiles = 0;       // of its queries' documents
  std::uint32_t most_docs = 0;   // of a query
  std::uint32_t usual_docs = 0;  // of most queries, at most: twice the mean

  explicit SplitSize(const Split& split);
};

// A split in a device's memory.
class DeviceSplit {
 public:
  static Result<DeviceSplit> make(Device& device, const Split& split);

  [[nodiscard]] const SplitData& data() const { return data_; }
  [[nodiscard]] std::uint32_t most_docs() const { return most_docs_; }    // as SplitSize
  [[nodiscard]] std::uint32_t usual_docs() const { return usual_docs_; }  // likewise
  [[nodiscard]] std::uint32_t tile_count() const { return tile_count_; }
  [[nodiscard]] std::uint32_t queries_without_relevant() const { return without_relevant_; }

 private:
  DeviceMemory rows_;
  DeviceMemory first_tiles_;
  DeviceMemory labels_;
  DeviceMemory query_begin_;
  DeviceMemory inverse_ideals_;
  SplitData data_;
  std::uint32_t most_docs_ = 0;
  std::uint32_t usual_docs_ = 0;
  std::uint32_t tile_count_ = 0;
  std::uint32_t without_relevant_ = 0;
};

// What a user does, in a device's memory.
class DeviceUser {
 public:
  // How much memory it takes.
  static std::uint64_t bytes(const User& user, std::uint32_t shown);
  // Whether the user has ends() for all that can be on lists of that length.
  static bool can_be_made(const User& user, std::uint32_t shown);
  // For lists of that length. Requires: can_be_made().
  static Result<DeviceUser> make(Device& device, const User& user, std::uint32_t shown);

  [[nodiscard]] const Ends* ends() const { return ends_.as<const Ends>(); }
  // Whether they depend on the last click.
  [[nodiscard]] bool by_last_click() const { return by_last_click_; }

 private:
  DeviceMemory ends_;
  bool by_last_click_ = false;
};

// One run of a group, before and after.
struct GroupRun {
  Kernel kernel = Kernel::kLearn;
  RunData data = {};
  const DeviceSplit* train = nullptr;
  const DeviceSplit* measured = nullptr;
  std::vector<std::uint64_t> points = {};  // of its curve, ascending; the last one is its end
  NetworkLayout network = {};              // if it has one
  // data.train.width of them, or `network.size` as pack_network gives them.
  std::vector<float> weights = {};
  std::vector<float> squares = {};  // network.square_count(), or none: constant steps
  std::vector<float> remembered =
      {};  // kRemembered rows of data.train.width, if steps are projected
  RunState state = {};
  std::vector<CurvePoint> curve = {};
};

// What is told while a group runs.
struct GroupWatch {
  std::function<void(std::uint64_t impressions)> advanced = {};
  std::function<bool()> stop = {};
  ShareClock* clock = nullptr;
};

// The group's share of the device's time.
struct GroupTimes {
  double learning = 0;   // seconds
  double measuring = 0;  // likewise
};

// Fails if a block has too little memory for runs of this shape; the message names the device.
Result<void> check_shared_memory(const GroupShape& shape, const DeviceLimits& limits,
                                 const std::string& device);

// How much memory a group takes besides its splits and users.
std::uint64_t group_bytes(const GroupShape& shape, const DeviceLimits& limits);

// Runs that are done together, and what they need in the device's memory.
class RunGroup {
 public:
  virtual ~RunGroup() = default;
  RunGroup(const RunGroup&) = delete;
  RunGroup& operator=(const RunGroup&) = delete;

  // Does all runs to their ends, or until the watch stops it: then the curves are as far as they
  // are. A run with a score that is not finite, or that is in doubt, ends where it is, without the
  // rest of its curve. Launches take about a third of a second at most, if no others run beside
  // them, so that stop() is asked often enough. To be called once.
  virtual Result<GroupTimes> run(const GroupWatch& watch) = 0;

 protected:
  RunGroup() = default;
};
// Of runs whose shapes fit. They and the device outlive it.
Result<std::unique_ptr<RunGroup>> prepare_group(Device& device, std::span<GroupRun> runs);

}  // namespace plackett::gpu
