// What runs kernels: a GPU through its driver, or, in tests, the host.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "gpu/run_data.h"
#include "plackett/result.h"

namespace plackett::gpu {

enum class Kernel : std::uint8_t {
  kLearn,
  kMeasure,
  kSum,
  kLearnPairwise,
  kDuel,
  kMultileave,
  kLearnNetwork,
  kScoreNetwork,
  kDuelNetwork,
  kPairwiseNetwork,
  kScore
};
inline constexpr std::size_t kKernelCount = 11;
// In that order, as kernels.cu has them.
inline constexpr std::array<const char*, kKernelCount> kKernelNames = {
    // clang-format off
    "plackett_learn", "plackett_measure", "plackett_sum",
    "plackett_learn_pairwise", "plackett_duel", "plackett_multileave",
    "plackett_learn_network", "plackett_score_network",
    "plackett_duel_network", "plackett_pairwise_network", "plackett_score"
    // clang-format on
};

// Whether the warps of a block do a run, or several, together, rather than each warp one.
constexpr bool is_by_block(Kernel kernel) {
  return kernel == Kernel::kScore || kernel == Kernel::kMeasure || kernel == Kernel::kMultileave ||
         kernel == Kernel::kLearnNetwork || kernel == Kernel::kScoreNetwork ||
         kernel == Kernel::kDuelNetwork || kernel == Kernel::kPairwiseNetwork;
}

// How a kernel's warps are laid out: for each run that takes part and each part of the queries,
// one.
struct Launch {
  Kernel kernel = Kernel::kLearn;
  BatchArgs args = {};
  unsigned warps = 0;  // for each part of the queries
  unsigned warps_per_block = 1;
  unsigned query_parts = 1;  // kScore, kScoreNetwork, kMeasure

  // Of a block: its warps have args.shared_bytes each, or together.
  [[nodiscard]] unsigned shared_bytes() const {
    return (is_by_block(kernel) ? 1 : warps_per_block) * args.shared_bytes;
  }
};

// What it can hold, and up to where some ways of working pay on it.
struct DeviceLimits {
  std::uint64_t free_bytes = 0;        // of memory, now
  std::uint32_t shared_bytes = 0;      // that a block can have, apart from kBlockOverhead
  std::uint32_t all_shared_bytes = 0;  // of all blocks that a multiprocessor does at a time
  std::uint32_t processors = 0;        // multiprocessors
  double clock_hz = 0;                 // of these, at most; for benchmarks
  std::uint32_t query_parts = 65'535;  // of a launch: what CUDA takes
  // Padded features from which on a network's units are worth dividing among warps.
  std::uint32_t width_to_divide = 256;
  // Runs of DBGD per multiprocessor up to which a block does one, rather than a warp.
  std::uint32_t duels_by_block = 4;
};

// Several threads may use it at once: what each asks for is done in order, beside what others do.
class Device {
 public:
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  [[nodiscard]] virtual const std::string& name() const = 0;
  [[nodiscard]] virtual Result<DeviceLimits> limits() = 0;

  // Of 256-byte alignment at least. Requires: bytes > 0.
  [[nodiscard]] virtual Result<void*> allocate(std::uint64_t bytes) = 0;
  virtual void free(void* memory) = 0;
  // Other threads' launches may read it after finish().
  virtual Result<void> upload(void* to, const void* from, std::uint64_t bytes) = 0;
  virtual Result<void> copy(void* to, const void* from, std::uint64_t bytes) = 0;
  // Waits for what this thread has launched.
  virtual Result<void> download(void* to, const void* from, std::uint64_t bytes) = 0;
  virtual Result<void> launch(const Launch& launch) = 0;
  // Waits for what this thread has asked for.
  virtual Result<void> finish() = 0;

 protected:
  Device() = default;
};

// The first GPU, through libcuda.so.1, with the kernels compiled for it. Fails if there is none
// that can be used; the message says what is missing.
Result<std::unique_ptr<Device>> open_gpu();

// Memory of a device, freed with its owner.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(DeviceMemory&& other) noexcept
      : device_(std::exchange(other.device_, nullptr)),
        memory_(std::exchange(other.memory_, nullptr)) {}
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~DeviceMemory() {
    if (memory_ != nullptr) device_->free(memory_);
  }

  static Result<DeviceMemory> make(Device& device, std::uint64_t bytes) {
    DeviceMemory made;
    if (bytes == 0) return made;
    auto memory = device.allocate(bytes);
    if (!memory) return memory.error();
    made.device_ = &device;
    made.memory_ = *memory;
    return made;
  }
  // Room for a copy of `values`, and the copy.
  template <typename T>
  static Result<DeviceMemory> copy_of(Device& device, std::span<const T> values) {
    auto made = make(device, values.size_bytes());
    if (!made) return made.error();
    if (values.empty()) return made;
    if (auto sent = device.upload(made->memory_, values.data(), values.size_bytes()); !sent) {
      return sent.error();
    }
    return made;
  }

  template <typename T>
  [[nodiscard]] T* as() const {
    return static_cast<T*>(memory_);
  }

 private:
  Device* device_ = nullptr;
  void* memory_ = nullptr;
};

}  // namespace plackett::gpu
