// A GPU through the driver's own library, which is opened when a GPU is asked for: nothing of CUDA
// is needed to build or to link. What is declared here of its interface is stable since CUDA 7.
#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <bit>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "base/embedded_file.h"
#include "gpu/device.h"

namespace plackett::gpu {

std::span<const EmbeddedFile> embedded_files();

namespace {

using Status = int;  // CUresult
using Address = unsigned long long;
struct Context;
struct Module;
struct Function;

constexpr Status kSuccess = 0;
constexpr Status kNoDevice = 100;
constexpr Status kOutOfMemory = 2;
constexpr int kClockRate = 13;  // CU_DEVICE_ATTRIBUTE_..., in kHz
constexpr int kMultiprocessors = 16;
constexpr int kMajor = 75;  // of the compute capability
constexpr int kMinor = 76;
constexpr int kSharedPerProcessor = 81;
constexpr int kSharedPerBlock = 97;  // if a kernel asks for it
constexpr int kMemoryPools = 115;
constexpr int kMaxDynamicShared = 8;  // CU_FUNC_ATTRIBUTE_...
constexpr int kErrorLog = 5;          // CU_JIT_ERROR_LOG_BUFFER
constexpr int kErrorLogSize = 6;

constexpr const char* kLibrary = "libcuda.so.1";
constexpr int kLeastMajor = 8;  // the kernels' PTX: src/gpu/CMakeLists.txt

// The driver's functions, by their names there. Those that end in ptds and ptsz use a stream of the
// calling thread's.
struct Driver {
  Status (*init)(unsigned flags);
  Status (*driver_version)(int* version);
  Status (*device_count)(int* count);
  Status (*device_get)(int* device, int ordinal);
  Status (*device_name)(char* name, int size, int device);
  Status (*device_attribute)(int* value, int attribute, int device);
  Status (*retain)(Context** context, int device);
  Status (*release)(int device);
  Status (*set_current)(Context* context);
  Status (*load)(Module** module, const void* image, unsigned count, int* options, void** values);
  Status (*get_function)(Function** function, Module* module, const char* name);
  Status (*set_attribute)(Function* function, int attribute, int value);
  Status (*memory_info)(std::size_t* free, std::size_t* total);
  Status (*allocate)(Address* address, std::size_t bytes);
  Status (*free)(Address address);
  Status (*upload)(Address to, const void* from, std::size_t bytes);
  Status (*download)(void* to, Address from, std::size_t bytes);
  Status (*copy)(Address to, Address from, std::size_t bytes);
  Status (*launch)(Function* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                   void* stream, void** arguments, void** extra);
  Status (*synchronize)(void* stream);
  Status (*error_name)(Status status, const char** text);
  Status (*error_text)(Status status, const char** text);
  // Null before CUDA 11.2.
  Status (*allocate_beside)(Address* address, std::size_t bytes, void* stream);
};

constexpr std::array<const char*, 23> kFunctions{"cuInit",
                                                 "cuDriverGetVersion",
                                                 "cuDeviceGetCount",
                                                 "cuDeviceGet",
                                                 "cuDeviceGetName",
                                                 "cuDeviceGetAttribute",
                                                 "cuDevicePrimaryCtxRetain",
                                                 "cuDevicePrimaryCtxRelease_v2",
                                                 "cuCtxSetCurrent",
                                                 "cuModuleLoadDataEx",
                                                 "cuModuleGetFunction",
                                                 "cuFuncSetAttribute",
                                                 "cuMemGetInfo_v2",
                                                 "cuMemAlloc_v2",
                                                 "cuMemFree_v2",
                                                 "cuMemcpyHtoD_v2_ptds",
                                                 "cuMemcpyDtoH_v2_ptds",
                                                 "cuMemcpyDtoD_v2_ptds",
                                                 "cuLaunchKernel_ptsz",
                                                 "cuStreamSynchronize_ptsz",
                                                 "cuGetErrorName",
                                                 "cuGetErrorString",
                                                 "cuMemAllocAsync_ptsz"};
constexpr std::size_t kNeeded = 22;  // the first ones
static_assert(sizeof(Driver) == kFunctions.size() * sizeof(void*));

Error unusable(std::string_view why) {
  return Error{ErrorCode::kUnavailable, fmt::format("no usable GPU: {}", why)};
}

// The driver stays loaded until the process ends.
Result<Driver> open_driver() {
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* error = dlerror();
    const std::string why = error == nullptr ? "unknown error" : error;
    if (why.starts_with(
            fmt::format("{}: cannot open shared object file: No such file", kLibrary))) {
      return unusable(fmt::format("{} is missing; the NVIDIA driver installs it", kLibrary));
    }
    return unusable(fmt::format("{} can't be loaded: {}", kLibrary, why));
  }
  std::array<void*, kFunctions.size()> functions{};
  for (std::size_t at = 0; at < kFunctions.size(); ++at) {
    functions[at] = dlsym(library, kFunctions[at]);
    if (functions[at] != nullptr || at >= kNeeded) continue;
    return unusable(fmt::format("{} has no {}; its driver is too old", kLibrary, kFunctions[at]));
  }
  return std::bit_cast<Driver>(functions);
}

class Gpu final : public Device {
 public:
  explicit Gpu(const Driver& driver) : driver_(driver) {}
  ~Gpu() override {
    if (context_ == nullptr) return;
    if (use()) free_kept();
    driver_.release(device_);
  }

  Result<void> open() {
    if (const Status status = driver_.init(0); status != kSuccess) {
      return status == kNoDevice ? unusable("the driver sees no device")
                                 : unusable(text_of("cuInit", status));
    }
    int count = 0;
    if (driver_.device_count(&count) != kSuccess || count == 0) {
      return unusable("the driver sees no device");
    }
    std::array<char, 256> name{};
    int major = 0;
    int minor = 0;
    if (auto done = checked(driver_.device_get(&device_, 0), "cuDeviceGet"); !done) return done;
    driver_.device_name(name.data(), static_cast<int>(name.size()) - 1, device_);
    name_ = name.data();
    major = attribute(kMajor);
    minor = attribute(kMinor);
    if (major < kLeastMajor) {
      return unusable(fmt::format("{} has compute capability {}.{}; expected at least {}.0", name_,
                                  major, minor, kLeastMajor));
    }
    if (auto done = checked(driver_.retain(&context_, device_), "cuDevicePrimaryCtxRetain");
        !done) {
      return done;
    }
    if (auto done = use(); !done) return done;
    has_pools_ = driver_.allocate_beside != nullptr && attribute(kMemoryPools) != 0;
    return load();
  }

  [[nodiscard]] const std::string& name() const override { return name_; }

  [[nodiscard]] Result<DeviceLimits> limits() override {
    if (auto used = use(); !used) return used.error();
    std::size_t free = 0;
    std::size_t total = 0;
    if (auto done = checked(driver_.memory_info(&free, &total), "cuMemGetInfo"); !done) {
      return done.error();
    }
    const auto number = [this](int which) { return static_cast<std::uint32_t>(attribute(which)); };
    return DeviceLimits{.free_bytes = free + kept_bytes(),
                        .shared_bytes = number(kSharedPerBlock),
                        .all_shared_bytes = number(kSharedPerProcessor),
                        .processors = number(kMultiprocessors),
                        .clock_hz = 1e3 * number(kClockRate)};
  }

  [[nodiscard]] Result<void*> allocate(std::uint64_t bytes) override {
    if (auto used = use(); !used) return used.error();
    const std::lock_guard lock(memory_mutex_);
    Address address = 0;
    const auto kept = kept_.lower_bound(bytes);
    // Hardly larger: what it has more of is counted nowhere.
    if (kept != kept_.end() && kept->first <= bytes + bytes / 16) {
      address = kept->second;
      sizes_[address] = kept->first;
      kept_.erase(kept);
      return std::bit_cast<void*>(address);
    }
    Status status = allocate_more(&address, bytes);
    if (status == kOutOfMemory) {
      free_kept();
      status = allocate_more(&address, bytes);
    }
    if (status == kOutOfMemory) {
      return Error{ErrorCode::kUnavailable,
                   fmt::format("{}: no room for {} bytes more", name_, bytes)};
    }
    if (auto done = checked(status, "cuMemAlloc"); !done) return done.error();
    sizes_[address] = bytes;
    return std::bit_cast<void*>(address);
  }
  // Kept for who asks next. Requires: nothing that was launched uses it.
  void free(void* memory) override {
    const std::lock_guard lock(memory_mutex_);
    const auto size = sizes_.extract(address_of(memory));
    kept_.emplace(size.mapped(), size.key());
  }
  Result<void> upload(void* to, const void* from, std::uint64_t bytes) override {
    if (auto used = use(); !used) return used;
    return checked(driver_.upload(address_of(to), from, bytes), "cuMemcpyHtoD");
  }
  Result<void> download(void* to, const void* from, std::uint64_t bytes) override {
    if (auto used = use(); !used) return used;
    return checked(driver_.download(to, address_of(from), bytes), "cuMemcpyDtoH");
  }

  Result<void> copy(void* to, const void* from, std::uint64_t bytes) override {
    if (auto used = use(); !used) return used;
    return checked(driver_.copy(address_of(to), address_of(from), bytes), "cuMemcpyDtoD");
  }

  Result<void> launch(const Launch& launch) override {
    if (auto used = use(); !used) return used;
    Function* function = functions_[static_cast<std::size_t>(launch.kernel)];
    BatchArgs args = launch.args;
    void* arguments[] = {&args};
    const unsigned blocks = (launch.warps + launch.warps_per_block - 1) / launch.warps_per_block;
    return checked(
        driver_.launch(function, blocks, launch.query_parts, 1, launch.warps_per_block * 32, 1, 1,
                       launch.shared_bytes(), nullptr, arguments, nullptr),
        "cuLaunchKernel");
  }

  Result<void> finish() override {
    if (auto used = use(); !used) return used;
    return checked(driver_.synchronize(nullptr), "cuStreamSynchronize");
  }

 private:
  static Address address_of(const void* memory) { return reinterpret_cast<Address>(memory); }

  // For any thread after finish(). From a pool, if there are some: otherwise the driver waits until
  // nothing runs, while other threads launch more and more.
  [[nodiscard]] Status allocate_more(Address* address, std::uint64_t bytes) const {
    return has_pools_ ? driver_.allocate_beside(address, bytes, nullptr)
                      : driver_.allocate(address, bytes);
  }

  [[nodiscard]] std::uint64_t kept_bytes() {
    const std::lock_guard lock(memory_mutex_);
    std::uint64_t bytes = 0;
    for (const auto& [size, address] : kept_) bytes += size;
    return bytes;
  }
  void free_kept() {
    for (const auto& [size, address] : kept_) driver_.free(address);
    kept_.clear();
  }

  [[nodiscard]] std::string text_of(std::string_view call, Status status) const {
    const char* name = nullptr;
    const char* text = nullptr;
    driver_.error_name(status, &name);
    driver_.error_text(status, &text);
    return fmt::format("{}: {} ({})", call, name == nullptr ? "unknown error" : name,
                       text == nullptr ? fmt::format("{}", status) : text);
  }
  [[nodiscard]] Result<void> checked(Status status, std::string_view call) const {
    if (status == kSuccess) return {};
    return Error{ErrorCode::kUnavailable, fmt::format("{}: {}", name_, text_of(call, status))};
  }
  [[nodiscard]] int attribute(int which) const {
    int value = 0;
    driver_.device_attribute(&value, which, device_);
    return value;
  }
  // The context belongs to threads; any may call.
  Result<void> use() { return checked(driver_.set_current(context_), "cuCtxSetCurrent"); }

  // The driver compiles the kernels for the card.
  Result<void> load() {
    const std::string image(embedded_files().front().bytes);
    std::array<char, 4096> log{};
    std::array<int, 2> options{kErrorLog, kErrorLogSize};
    std::array<void*, 2> values{log.data(), std::bit_cast<void*>(log.size() - 1)};
    const Status status =
        driver_.load(&module_, image.c_str(), static_cast<unsigned>(options.size()), options.data(),
                     values.data());
    if (status != kSuccess) {
      int version = 0;
      driver_.driver_version(&version);
      return unusable(fmt::format("{}, driver for CUDA {}.{}, can't compile the kernels: {} {}",
                                  name_, version / 1000, version % 1000 / 10,
                                  text_of("cuModuleLoadDataEx", status), log.data()));
    }
    for (std::size_t at = 0; at < kKernelCount; ++at) {
      auto found = checked(driver_.get_function(&functions_[at], module_, kKernelNames[at]),
                           "cuModuleGetFunction");
      if (!found) return found;
      auto set = checked(
          driver_.set_attribute(functions_[at], kMaxDynamicShared, attribute(kSharedPerBlock)),
          "cuFuncSetAttribute");
      if (!set) return set;
    }
    return {};
  }

  Driver driver_;
  std::string name_ = "GPU 0";
  int device_ = 0;
  Context* context_ = nullptr;
  bool has_pools_ = false;
  Module* module_ = nullptr;
  std::array<Function*, kKernelCount> functions_{};
  std::mutex memory_mutex_;
  std::map<Address, std::uint64_t> sizes_;      // of what is used
  std::multimap<std::uint64_t, Address> kept_;  // by size: what is not
};

}  // namespace

Result<std::unique_ptr<Device>> open_gpu() {
  const auto driver = open_driver();
  if (!driver) return driver.error();
  auto gpu = std::make_unique<Gpu>(*driver);
  if (auto opened = gpu->open(); !opened) return opened.error();
  return std::unique_ptr<Device>(std::move(gpu));
}

}  // namespace plackett::gpu
