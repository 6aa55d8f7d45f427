// A device that runs the GPU's kernels on the host, warp by warp.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gpu/device.h"
#include "gpu/duel.h"
#include "gpu/duel_network.h"
#include "gpu/evaluate.h"
#include "gpu/learn.h"
#include "gpu/learn_network.h"
#include "gpu/pairwise.h"
#include "gpu/score_network.h"
#include "gpu/score_split.h"

namespace plackett::gpu {

class HostDevice final : public Device {
 public:
  HostDevice() = default;
  explicit HostDevice(const DeviceLimits& limits, HostOrder order = HostOrder::kAscending)
      : order_(order), limits_(limits) {}
  // In descending order it has so few multiprocessors that blocks have fewer warps from five runs
  // on, and warps do the runs of DBGD.
  explicit HostDevice(HostOrder order) : order_(order) {
    if (order != HostOrder::kDescending) return;
    limits_.processors = 2;
    limits_.duels_by_block = 0;
  }

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] Result<DeviceLimits> limits() override {
    const auto now = [this] {
      const std::lock_guard lock(mutex_);
      return limits_;
    }();
    std::this_thread::sleep_for(answering_);
    return now;
  }

  // No more than the limits say is free.
  [[nodiscard]] Result<void*> allocate(std::uint64_t bytes) override {
    const std::lock_guard lock(mutex_);
    if (bytes > limits_.free_bytes || ++allocations_ == refused_allocation_) {
      ++refusals_;
      return Error{ErrorCode::kUnavailable, "no room"};
    }
    void* memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    std::memset(memory, 0xa5, bytes);  // what is read before it is written shows
    limits_.free_bytes -= bytes;
    allocated_ += bytes;
    most_allocated_ = std::max(most_allocated_, allocated_);
    sizes_[memory] = bytes;
    return memory;
  }
  void free(void* memory) override {
    const std::lock_guard lock(mutex_);
    limits_.free_bytes += sizes_.at(memory);
    allocated_ -= sizes_.at(memory);
    sizes_.erase(memory);
    std::free(memory);
  }
  Result<void> upload(void* to, const void* from, std::uint64_t bytes) override {
    {
      const std::lock_guard lock(mutex_);
      const auto memory = std::prev(sizes_.upper_bound(to));  // with `to` in it
      uploaded_[memory->second] += bytes;
    }
    std::memcpy(to, from, bytes);
    return {};
  }
  Result<void> copy(void* to, const void* from, std::uint64_t bytes) override {
    std::memcpy(to, from, bytes);
    return {};
  }
  Result<void> download(void* to, const void* from, std::uint64_t bytes) override {
    std::memcpy(to, from, bytes);
    return {};
  }

  Result<void> launch(const Launch& launch) override {
    const BatchArgs& args = launch.args;
    const bool measures = launch.kernel == Kernel::kMeasure;
    const bool learns = !measures && launch.kernel != Kernel::kScore &&
                        launch.kernel != Kernel::kScoreNetwork && launch.kernel != Kernel::kSum;
    {
      const std::lock_guard lock(mutex_);
      if (launches_left_ == 0) return Error{ErrorCode::kUnavailable, "the host: broken"};
      --launches_left_;
      if (measures) most_measured_ = std::max(most_measured_, args.count);
      if (learns) {
        most_learned_ = std::max(most_learned_, args.count);
        learned_ += args.count;
        ++learning_launches_;
      }
    }
    if (launch.shared_bytes() > limits_.shared_bytes) {
      return Error{ErrorCode::kUnavailable,
                   fmt::format("{} bytes of a block's memory; there are {}", launch.shared_bytes(),
                               limits_.shared_bytes)};
    }
    if (launch.warps == 0 || launch.query_parts == 0 || launch.query_parts > limits_.query_parts) {
      return Error{
          fmt::format("{} warps, {} parts of the queries", launch.warps, launch.query_parts)};
    }
    {
      const std::lock_guard lock(mutex_);
      ++launches_running_;
      most_running_ = std::max(most_running_, launches_running_);
    }
    if (measures) std::this_thread::sleep_for(args.count * measuring_);
    std::vector<Quad> scratch(args.shared_bytes / sizeof(Quad) + 1);
    auto* shared = reinterpret_cast<std::byte*>(scratch.data());
    const Warp warp(order_);
    // Calls work(block), by one thread or by one per warp.
    const auto by_block = [this](unsigned warps, const auto& work) {
      if (!warps_are_threads_) return work(Block(order_, warps));
      WarpThreads team(warps);
      std::vector<std::jthread> threads;
      for (unsigned number = 0; number < warps; ++number) {
        threads.emplace_back([&, number] { work(Block(order_, number, team)); });
      }
    };
    const unsigned places =
        is_by_block(launch.kernel) ? launch.warps / launch.warps_per_block : launch.warps;
    for (std::uint32_t place = 0; place < places; ++place) {
      std::memset(shared, 0xa5, args.shared_bytes);
      std::byte* spill = args.spill + std::uint64_t{place} * args.spill_stride;
      switch (launch.kernel) {
        case Kernel::kLearn:
          learn_run(warp, args, place, shared, spill);
          break;
        case Kernel::kLearnPairwise:
          learn_run_by<PairwiseLearner>(warp, args, place, shared, spill);
          break;
        case Kernel::kDuel:
          duel_run<kDuelGroup>(Alone(warp), args, place, shared, spill);
          break;
        case Kernel::kMultileave:
          by_block(args.block_warps, [&](const Block& block) {
            duel_run<kMultileaveGroup>(block, args, place, shared, spill);
          });
          break;
        case Kernel::kScore:
          by_block(kNetworkWarps, [&](const Block& block) {
            for (std::uint32_t part = 0; part < launch.query_parts; ++part) {
              score_split(block, args, place, part * args.tiles_each, shared);
            }
          });
          break;
        case Kernel::kMeasure:
          by_block(kNetworkWarps, [&](const Block& block) {
            for (std::uint32_t part = 0; part < launch.query_parts; ++part) {
              measure_queries(block, args, place * kWarpLanes, part * args.queries_each, shared);
            }
          });
          break;
        case Kernel::kLearnNetwork:
          by_block(args.block_warps, [&](const Block& block) {
            learn_network_run<PdgdLearner>(block, args, place, shared, spill);
          });
          break;
        case Kernel::kScoreNetwork:
          by_block(kNetworkWarps, [&](const Block& block) {
            for (std::uint32_t part = 0; part < launch.query_parts; ++part) {
              score_network(block, args, place, part * args.tiles_each, shared);
            }
          });
          break;
        case Kernel::kPairwiseNetwork:
          by_block(args.block_warps, [&](const Block& block) {
            learn_network_run<PairwiseLearner>(block, args, place, shared, spill);
          });
          break;
        case Kernel::kDuelNetwork:
          by_block(args.block_warps, [&](const Block& block) {
            duel_network_run(block, args, place, shared, spill);
          });
          break;
        case Kernel::kSum:
          sum_queries(warp, args, place);
          break;
      }
      if (args.states[args.which[place]].is_in_doubt == 0) continue;
      const std::lock_guard lock(mutex_);
      in_doubt_.insert(args.which[place]);
    }
    const std::lock_guard lock(mutex_);
    --launches_running_;
    return {};
  }
  Result<void> finish() override { return {}; }

  // The warps of a block are threads.
  void run_warps_as_threads() { warps_are_threads_ = true; }
  // Launches after so many fail.
  void break_after(std::uint64_t launches) { launches_left_ = launches; }
  // The allocation of that number, from 1, fails, and no other.
  void refuse_allocation(std::uint64_t number) { refused_allocation_ = number; }
  void refuse_next_allocation() {
    const std::lock_guard lock(mutex_);
    refused_allocation_ = allocations_ + 1;
  }
  // Allocations that failed.
  [[nodiscard]] std::uint64_t refusals() const { return refusals_; }
  // Another program takes so much of what is free.
  void take(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    limits_.free_bytes -= std::min(bytes, limits_.free_bytes);
  }
  // How old what limits() says is, at least.
  void answer_slowly(std::chrono::milliseconds age) { answering_ = age; }
  // How long measuring takes per run, at least.
  void measure_slowly(std::chrono::milliseconds per_run) { measuring_ = per_run; }
  // Runs that a launch measured, at most.
  [[nodiscard]] std::uint32_t most_measured() const { return most_measured_; }
  // Runs that a launch let learn: the most, and in the mean.
  [[nodiscard]] std::uint32_t most_learned() const { return most_learned_; }
  [[nodiscard]] double mean_learned() const {
    return static_cast<double>(learned_) / static_cast<double>(learning_launches_);
  }
  // Launches at the same time, at most.
  [[nodiscard]] std::uint32_t most_running() const { return most_running_; }
  // At any time.
  [[nodiscard]] std::uint64_t most_allocated() const { return most_allocated_; }
  // Into pieces of memory of that size, all together.
  [[nodiscard]] std::uint64_t bytes_uploaded_into(std::uint64_t size) const {
    const auto found = uploaded_.find(size);
    return found == uploaded_.end() ? 0 : found->second;
  }
  // How many places of groups have had a run that it left to the engine.
  [[nodiscard]] std::size_t runs_in_doubt() const { return in_doubt_.size(); }

 private:
  std::string name_ = "the host";
  std::mutex mutex_;  // over the following, but not what memory holds
  std::map<void*, std::uint64_t> sizes_;
  std::map<std::uint64_t, std::uint64_t> uploaded_;  // bytes, by the size of the memory
  std::uint64_t allocations_ = 0;
  std::uint64_t refused_allocation_ = 0;  // 0: none
  std::uint64_t refusals_ = 0;
  std::uint64_t allocated_ = 0;
  std::uint64_t most_allocated_ = 0;
  std::set<std::uint32_t> in_doubt_;
  std::chrono::milliseconds answering_{0};
  std::chrono::milliseconds measuring_{0};
  bool warps_are_threads_ = false;
  std::uint32_t most_measured_ = 0;
  std::uint32_t most_learned_ = 0;
  std::uint64_t learned_ = 0;
  std::uint64_t learning_launches_ = 0;
  std::uint32_t launches_running_ = 0;
  std::uint32_t most_running_ = 0;
  std::uint64_t launches_left_ = ~std::uint64_t{0};
  HostOrder order_ = HostOrder::kAscending;  // of lanes, and of a block's warps
  DeviceLimits limits_ = {.free_bytes = std::uint64_t{1} << 30,
                          .shared_bytes = 227 << 10,
                          .all_shared_bytes = 228 << 10,
                          .processors = 132,
                          .width_to_divide = 1};
};

}  // namespace plackett::gpu
