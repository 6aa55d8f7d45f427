// A libcuda.so.1 for tests: the functions that gpu/driver.cc calls, with the kernels run on the
// host. The environment's PLACKETT_STUB_CUDA says what is wrong with it: no-device, no-devices,
// old-card, no-compiler, no-memory, no-launch, or nothing if it is not set. With "queues", its name
// says how many it was asked for. With "pools", it gives memory from pools only, otherwise never.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>

#include "gpu/host_device.h"

namespace {

using plackett::gpu::BatchArgs;
using plackett::gpu::HostDevice;
using plackett::gpu::Kernel;
using plackett::gpu::kKernelNames;
using plackett::gpu::Launch;

using Status = int;
constexpr Status kSuccess = 0;
constexpr Status kInvalid = 1;
constexpr Status kOutOfMemory = 2;
constexpr Status kNoDevice = 100;
constexpr Status kInvalidPtx = 218;
constexpr Status kLaunchFailed = 719;

bool wrong_with(std::string_view what) {
  const char* wrong = std::getenv("PLACKETT_STUB_CUDA");
  return wrong != nullptr && wrong == what;
}

HostDevice& host() {
  static HostDevice device;
  return device;
}

void* pointer(unsigned long long address) { return reinterpret_cast<void*>(address); }

// How many of a grid's warps have work; the kernels leave at once in the others.
unsigned warps_of(Kernel kernel, const BatchArgs& args, unsigned blocks, unsigned per_block) {
  if (is_by_block(kernel)) return blocks * per_block;
  return std::min(blocks * per_block, args.count);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Status cuInit(unsigned /*flags*/) { return wrong_with("no-device") ? kNoDevice : kSuccess; }
Status cuDriverGetVersion(int* version) {
  *version = 12'040;
  return kSuccess;
}
Status cuDeviceGetCount(int* count) {
  *count = wrong_with("no-devices") ? 0 : 1;
  return kSuccess;
}
Status cuDeviceGet(int* device, int ordinal) {
  *device = 7;
  return ordinal == 0 ? kSuccess : kInvalid;
}
Status cuDeviceGetName(char* name, int size, int /*device*/) {
  const char* queues = wrong_with("queues") ? std::getenv("CUDA_DEVICE_MAX_CONNECTIONS") : nullptr;
  std::snprintf(name, static_cast<std::size_t>(size), "Stub GPU%s%s",
                queues == nullptr ? "" : ", queues: ", queues == nullptr ? "" : queues);
  return kSuccess;
}
Status cuDeviceGetAttribute(int* value, int attribute, int device) {
  const auto limits = host().limits().value();
  const bool is_old = wrong_with("old-card");
  switch (attribute) {
    case 13:
      *value = 2'000'000;
      break;
    case 16:
      *value = static_cast<int>(limits.processors);
      break;
    case 75:
      *value = is_old ? 7 : 9;
      break;
    case 76:
      *value = is_old ? 5 : 0;
      break;
    case 81:
      *value = static_cast<int>(limits.all_shared_bytes);
      break;
    case 97:
      *value = static_cast<int>(limits.shared_bytes);
      break;
    case 115:
      *value = wrong_with("pools") ? 1 : 0;
      break;
    default:
      return kInvalid;
  }
  return device == 7 ? kSuccess : kInvalid;
}
Status cuDevicePrimaryCtxRetain(void** context, int /*device*/) {
  *context = &host();
  return kSuccess;
}
Status cuDevicePrimaryCtxRelease_v2(int /*device*/) { return kSuccess; }
Status cuCtxSetCurrent(void* context) { return context == &host() ? kSuccess : kInvalid; }
Status cuModuleLoadDataEx(void** module, const void* image, unsigned count, const int* options,
                          void** values) {
  if (std::strstr(static_cast<const char*>(image), "plackett_learn") == nullptr) return kInvalid;
  *module = &host();
  if (!wrong_with("no-compiler")) return kSuccess;
  for (unsigned at = 0; at < count; ++at) {
    if (options[at] == 5) std::strcpy(static_cast<char*>(values[at]), "ptxas: line 3: no");
  }
  return kInvalidPtx;
}
Status cuModuleGetFunction(const void** function, void* /*module*/, const char* name) {
  const auto found =
      std::find_if(kKernelNames.begin(), kKernelNames.end(),
                   [name](const char* kernel) { return std::string_view(kernel) == name; });
  *function = &*found;
  return found == kKernelNames.end() ? kInvalid : kSuccess;
}
Status cuFuncSetAttribute(void* /*function*/, int /*attribute*/, int value) {
  return static_cast<unsigned>(value) <= host().limits()->shared_bytes ? kSuccess : kInvalid;
}
Status cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  *free = *total = host().limits()->free_bytes;
  return kSuccess;
}
Status cuMemAlloc_v2(unsigned long long* address, std::size_t bytes) {
  const auto memory = host().allocate(bytes);
  if (!memory || wrong_with("no-memory") || wrong_with("pools")) return kOutOfMemory;
  *address = reinterpret_cast<unsigned long long>(*memory);
  return kSuccess;
}
Status cuMemAllocAsync_ptsz(unsigned long long* address, std::size_t bytes, void* /*stream*/) {
  const auto memory = host().allocate(bytes);
  if (!memory || !wrong_with("pools")) return kOutOfMemory;
  *address = reinterpret_cast<unsigned long long>(*memory);
  return kSuccess;
}
Status cuMemFree_v2(unsigned long long address) {
  host().free(pointer(address));
  return kSuccess;
}
Status cuMemcpyHtoD_v2_ptds(unsigned long long to, const void* from, std::size_t bytes) {
  return host().upload(pointer(to), from, bytes) ? kSuccess : kInvalid;
}
Status cuMemcpyDtoH_v2_ptds(void* to, unsigned long long from, std::size_t bytes) {
  return host().download(to, pointer(from), bytes) ? kSuccess : kInvalid;
}
Status cuMemcpyDtoD_v2_ptds(unsigned long long to, unsigned long long from, std::size_t bytes) {
  return host().copy(pointer(to), pointer(from), bytes) ? kSuccess : kInvalid;
}
Status cuLaunchKernel_ptsz(const void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                           unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                           void* /*stream*/, void** arguments, void** /*extra*/) {
  if (wrong_with("no-launch")) return kLaunchFailed;
  const auto kernel =
      static_cast<Kernel>(static_cast<const char* const*>(function) - kKernelNames.data());
  const auto& args = *static_cast<const BatchArgs*>(arguments[0]);
  const unsigned per_block = block_x / 32;
  const Launch launch{.kernel = kernel,
                      .args = args,
                      .warps = warps_of(kernel, args, grid_x, per_block),
                      .warps_per_block = per_block,
                      .query_parts = grid_y};
  if (grid_z * block_y * block_z != 1 || shared != launch.shared_bytes()) return kInvalid;
  return host().launch(launch) ? kSuccess : kInvalid;
}
Status cuStreamSynchronize_ptsz(void* /*stream*/) { return kSuccess; }
Status cuGetErrorName(Status status, const char** text) {
  *text = status == kLaunchFailed ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR_INVALID_PTX";
  return kSuccess;
}
#ifndef PLACKETT_STUB_IS_OLD
Status cuGetErrorString(Status /*status*/, const char** text) {
  *text = "a text";
  return kSuccess;
}
#endif

}  // extern "C"
#pragma GCC visibility pop
