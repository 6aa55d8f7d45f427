// A warp: 32 lanes that work in step. Kernels are written once, as phases that every lane does and
// exchanges between them. A GPU runs the lanes side by side; on the host each phase is a loop over
// them, so tests run the same code where there is no GPU.
//
// What is not per lane is uniform: every lane computes the same value. In one phase no lane may
// read memory that another writes in it. Reads between phases count too, since every lane does
// them: a sync() or the end of an each() must lie between them and the writes before, and between
// them and the next phase that writes that memory. Exchanges, votes and reductions order no memory.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>

namespace plackett::gpu {

inline constexpr unsigned kWarpLanes = 32;

// After a lambda's parameters: it is inlined, however large. What it captures would be in memory.
#define PLACKETT_INLINE __attribute__((always_inline))

// Four floats that are loaded at once.
struct alignas(16) Quad {
  float values[4];
};

// Two.
struct alignas(8) Pair {
  float values[2];
};

// Part of a dot product or of a step: fused on every machine.
inline float multiply_add(float a, float b, float sum) { return __builtin_fmaf(a, b, sum); }

// Rounded correctly, as the host's.
#ifdef __CUDA_ARCH__
inline float square_root(float x) { return __nvvm_sqrt_rn_f(x); }
inline double square_root(double x) { return __nvvm_sqrt_rn_d(x); }
#else
inline float square_root(float x) { return __builtin_sqrtf(x); }
inline double square_root(double x) { return __builtin_sqrt(x); }
#endif

// 1 / x, rounded correctly. Requires: 1 <= x < 2^126. A device's own steps for that range, without
// its test for others.
inline float reciprocal(float x) {
#ifdef __CUDA_ARCH__
  const float near = __nvvm_rcp_approx_ftz_f(x);
  return __builtin_fmaf(near, __builtin_fmaf(-x, near, 1.0F), near);
#else
  return 1.0F / x;
#endif
}

// One of two numbers; of a NaN and another, either.
inline float larger(float one, float other) {
#ifdef __CUDA_ARCH__
  return __nvvm_fmax_f(one, other);
#else
  return one > other ? one : other;
#endif
}
inline float smaller(float one, float other) {
#ifdef __CUDA_ARCH__
  return __nvvm_fmin_f(one, other);
#else
  return one < other ? one : other;
#endif
}

// The larger of |x| and `other`, NaN if one is.
inline float larger_size(float x, float other) {
  const float size = __builtin_fabsf(x);
#ifdef __CUDA_ARCH__
  return __nvvm_fmax_nan_f(size, other);
#else
  return size <= other || other != other ? other : size;
#endif
}

#ifdef __CUDA_ARCH__

#define PLACKETT_PRAGMA(text) _Pragma(#text)
// Before a loop: that many of its rounds are done together, so that their loads overlap.
#define PLACKETT_UNROLL(rounds) PLACKETT_PRAGMA(unroll rounds)
// Before a loop whose rounds index what is in registers.
#define PLACKETT_UNROLL_ALL PLACKETT_PRAGMA(unroll)

// One value per lane.
template <typename T>
struct PerLane {
  T& operator[](unsigned /*lane*/) { return value; }
  const T& operator[](unsigned /*lane*/) const { return value; }
  T value;
};

// The same address, of which the compiler knows nothing: what is computed from it is not computed
// earlier and kept.
[[gnu::always_inline]] inline std::byte* unknown(std::byte* address) {
  std::uint64_t zero = 0;
  asm volatile("" : "+l"(zero));
  return address + zero;
}
[[gnu::always_inline]] inline unsigned unknown(unsigned value) {
  asm volatile("" : "+r"(value));
  return value;
}

inline std::uint64_t now_in_nanoseconds() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now) : : "memory");
  return now;
}

// Into the cache of the device's own memory, the 128 bytes around that place.
inline void prefetch(const float* from) { asm volatile("prefetch.global.L2 [%0];" : : "l"(from)); }

// Read-only data of the device's own memory, four floats at a 16-byte boundary.
inline Quad load_quad(const float* from) {
  using Vector __attribute__((ext_vector_type(4))) = float;
  const Vector vector = __nvvm_ldg_f4(reinterpret_cast<const Vector*>(from));
  return {{vector.x, vector.y, vector.z, vector.w}};
}

// One.
inline float load_float(const float* from) { return __nvvm_ldg_f(from); }

// Two, at an 8-byte boundary.
inline Pair load_pair(const float* from) {
  using Vector __attribute__((ext_vector_type(2))) = float;
  const Vector vector = __nvvm_ldg_f2(reinterpret_cast<const Vector*>(from));
  return {{vector.x, vector.y}};
}

// Four floats of any memory, which may have been written before. The compiler divides plain reads
// of a Quad where it cannot see that they are in shared memory.
inline Quad read_quad(const float* from) {
  Quad quad;
  asm volatile("ld.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(quad.values[0]), "=f"(quad.values[1]), "=f"(quad.values[2]),
                 "=f"(quad.values[3])
               : "l"(from)
               : "memory");
  return quad;
}

// An address in shared memory, which takes one register. What is computed from it the compiler does
// not also compute as an address of any memory.
using SharedFloats = const __attribute__((address_space(3))) float*;
inline SharedFloats in_shared(const float* address) {
  auto shared = (SharedFloats)address;
  asm("" : "+l"(shared));
  return shared;
}
// As read_quad.
inline Quad read_shared_quad(SharedFloats from) {
  Quad quad;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(quad.values[0]), "=f"(quad.values[1]), "=f"(quad.values[2]),
                 "=f"(quad.values[3])
               : "l"(from)
               : "memory");
  return quad;
}

// Start to copy four floats, or two, of the device's memory, which may have been written before, to
// shared memory.
#define PLACKETT_IN_SPACE(space) __attribute__((address_space(space))) void*
inline void copy_quad_ahead(const float* from, float* to) {
  __nvvm_cp_async_cg_shared_global_16((PLACKETT_IN_SPACE(3))to, (const PLACKETT_IN_SPACE(1))from);
}
inline void copy_pair_ahead(const float* from, float* to) {
  __nvvm_cp_async_ca_shared_global_8((PLACKETT_IN_SPACE(3))to, (const PLACKETT_IN_SPACE(1))from);
}
// Until what the lane started to copy is there: for all lanes after a sync.
inline void wait_for_copies() { __nvvm_cp_async_wait_all(); }

// Two floats of any memory, at an 8-byte boundary.
inline Pair read_pair(const float* from) {
  using Vector __attribute__((ext_vector_type(2))) = float;
  const Vector vector = *reinterpret_cast<const Vector*>(from);
  return {{vector.x, vector.y}};
}

// Counts those of four that are greater than `than`: a comparison gives all ones, which is -1, and
// one instruction subtracts two of them.
inline void count_greater(const Quad& four, float than, std::uint32_t& count) {
  asm("{ .reg .u32 a, b, c, d;"
      " set.gt.u32.f32 a, %1, %5; set.gt.u32.f32 b, %2, %5;"
      " set.gt.u32.f32 c, %3, %5; set.gt.u32.f32 d, %4, %5;"
      " sub.u32 a, %0, a; sub.u32 a, a, b; sub.u32 a, a, c; sub.u32 %0, a, d; }"
      : "+r"(count)
      : "f"(four.values[0]), "f"(four.values[1]), "f"(four.values[2]), "f"(four.values[3]),
        "f"(than));
}

class Warp {
 public:
  explicit Warp(unsigned lane) : lane_(lane) {}

  // Between two phases: what the next one computes from the lane is not computed earlier and kept.
  void find_again() { lane_ = unknown(lane_); }

  // A phase whose writes to shared or device memory all lanes see after it.
  template <typename Body>
  [[gnu::always_inline]] void each(const Body& body) const {
    body(lane_);
    sync();
  }
  // A phase whose writes to memory no other lane reads before sync() or the end of each().
  template <typename Body>
  [[gnu::always_inline]] void compute(const Body& body) const {
    body(lane_);
  }

  // What lanes wrote before it all see after it.
  void sync() const { __nvvm_bar_warp_sync(kAll); }

  // The value of the lane whose number differs in the bits of `distance`.
  template <typename T>
  [[nodiscard]] PerLane<T> exchanged(const PerLane<T>& values, unsigned distance) const {
    return {exchange(values.value, distance)};
  }
  // The value of the lane `distance` before; 0 for the first ones.
  [[nodiscard]] PerLane<float> shifted(const PerLane<float>& values, unsigned distance) const {
    const float other = __nvvm_shfl_sync_up_f32(kAll, values.value, static_cast<int>(distance), 0);
    return {lane_ < distance ? 0.0F : other};
  }
  [[nodiscard]] PerLane<std::uint32_t> shifted(const PerLane<std::uint32_t>& values,
                                               unsigned distance) const {
    const int other = __nvvm_shfl_sync_up_i32(kAll, static_cast<int>(values.value),
                                              static_cast<int>(distance), 0);
    return {lane_ < distance ? 0 : static_cast<std::uint32_t>(other)};
  }
  // One lane's value.
  [[nodiscard]] float from(const PerLane<float>& values, unsigned lane) const {
    return __nvvm_shfl_sync_idx_f32(kAll, values.value, static_cast<int>(lane), 31);
  }
  [[nodiscard]] double from(const PerLane<double>& values, unsigned lane) const {
    const auto bits = __builtin_bit_cast(std::uint64_t, values.value);
    const std::uint64_t low = from(PerLane{static_cast<std::uint32_t>(bits)}, lane);
    const std::uint64_t high = from(PerLane{static_cast<std::uint32_t>(bits >> 32)}, lane);
    return __builtin_bit_cast(double, high << 32 | low);
  }
  [[nodiscard]] std::uint32_t from(const PerLane<std::uint32_t>& values, unsigned lane) const {
    return static_cast<std::uint32_t>(
        __nvvm_shfl_sync_idx_i32(kAll, static_cast<int>(values.value), static_cast<int>(lane), 31));
  }
  [[nodiscard]] bool any(const PerLane<bool>& flags) const {
    return __nvvm_vote_any_sync(kAll, flags.value);
  }
  [[nodiscard]] std::uint32_t largest(const PerLane<std::uint32_t>& values) const {
    return static_cast<std::uint32_t>(__nvvm_redux_sync_umax(values.value, static_cast<int>(kAll)));
  }
  [[nodiscard]] std::uint32_t least(const PerLane<std::uint32_t>& values) const {
    return static_cast<std::uint32_t>(__nvvm_redux_sync_umin(values.value, static_cast<int>(kAll)));
  }
  // Bit l is lane l's flag.
  [[nodiscard]] std::uint32_t mask(const PerLane<bool>& flags) const {
    return __nvvm_vote_ballot_sync(kAll, flags.value);
  }

 private:
  static constexpr unsigned kAll = 0xffffffff;

  static std::uint32_t exchange(std::uint32_t value, unsigned distance) {
    return static_cast<std::uint32_t>(
        __nvvm_shfl_sync_bfly_i32(kAll, static_cast<int>(value), static_cast<int>(distance), 31));
  }
  static float exchange(float value, unsigned distance) {
    return __nvvm_shfl_sync_bfly_f32(kAll, value, static_cast<int>(distance), 31);
  }
  static double exchange(double value, unsigned distance) {
    const auto bits = __builtin_bit_cast(std::uint64_t, value);
    const std::uint64_t low = exchange(static_cast<std::uint32_t>(bits), distance);
    const std::uint64_t high = exchange(static_cast<std::uint32_t>(bits >> 32), distance);
    return __builtin_bit_cast(double, high << 32 | low);
  }

  unsigned lane_;
};

#else

#define PLACKETT_UNROLL(rounds)
#define PLACKETT_UNROLL_ALL

template <typename T>
struct PerLane {
  T& operator[](unsigned lane) { return values[lane]; }
  const T& operator[](unsigned lane) const { return values[lane]; }
  T values[kWarpLanes];
};

inline std::byte* unknown(std::byte* address) { return address; }
inline unsigned unknown(unsigned value) { return value; }
inline std::uint64_t now_in_nanoseconds() { return 0; }
inline void prefetch(const float* from) { __builtin_prefetch(from); }

// A device faults where these are not aligned.
template <typename T>
const T& read_aligned(const float* from) {
  assert(std::bit_cast<std::uintptr_t>(from) % alignof(T) == 0);
  return *reinterpret_cast<const T*>(from);
}
inline Quad load_quad(const float* from) { return read_aligned<Quad>(from); }
inline float load_float(const float* from) { return *from; }
inline Pair load_pair(const float* from) { return read_aligned<Pair>(from); }
inline Pair read_pair(const float* from) { return read_aligned<Pair>(from); }
inline Quad read_quad(const float* from) { return read_aligned<Quad>(from); }
using SharedFloats = const float*;
inline SharedFloats in_shared(const float* address) { return address; }
inline void copy_quad_ahead(const float* from, float* to) {
  const Quad quad = read_aligned<Quad>(from);
  std::copy_n(quad.values, 4, to);
}
inline void copy_pair_ahead(const float* from, float* to) {
  const Pair pair = read_aligned<Pair>(from);
  std::copy_n(pair.values, 2, to);
}
inline void wait_for_copies() {}
inline void count_greater(const Quad& four, float than, std::uint32_t& count) {
  for (const float one : four.values) count += one > than ? 1U : 0U;
}

// In which order the host does lanes, and warps: any must give the same, so what differs shows that
// a phase reads what another lane writes in it.
enum class HostOrder : std::uint8_t { kAscending, kDescending };

class Warp {
 public:
  explicit Warp(HostOrder order = HostOrder::kAscending) : order_(order) {}

  void find_again() {}

  template <typename Body>
  void each(const Body& body) const {
    for (unsigned at = 0; at < kWarpLanes; ++at) {
      body(order_ == HostOrder::kAscending ? at : kWarpLanes - 1 - at);
    }
  }
  template <typename Body>
  void compute(const Body& body) const {
    each(body);
  }
  void sync() const {}
  template <typename T>
  [[nodiscard]] PerLane<T> exchanged(const PerLane<T>& values, unsigned distance) const {
    PerLane<T> result;
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) result[lane] = values[lane ^ distance];
    return result;
  }
  template <typename T>
  [[nodiscard]] PerLane<T> shifted(const PerLane<T>& values, unsigned distance) const {
    PerLane<T> result;
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      result[lane] = lane < distance ? T{} : values[lane - distance];
    }
    return result;
  }
  template <typename T>
  [[nodiscard]] T from(const PerLane<T>& values, unsigned lane) const {
    return values[lane];
  }
  [[nodiscard]] bool any(const PerLane<bool>& flags) const {
    bool result = false;
    for (const bool flag : flags.values) result = result || flag;
    return result;
  }
  [[nodiscard]] std::uint32_t largest(const PerLane<std::uint32_t>& values) const {
    return *std::max_element(values.values, values.values + kWarpLanes);
  }
  [[nodiscard]] std::uint32_t least(const PerLane<std::uint32_t>& values) const {
    return *std::min_element(values.values, values.values + kWarpLanes);
  }
  [[nodiscard]] std::uint32_t mask(const PerLane<bool>& flags) const {
    std::uint32_t result = 0;
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      result |= std::uint32_t{flags[lane]} << lane;
    }
    return result;
  }

 private:
  HostOrder order_;
};

#endif

template <typename T>
void add(const Warp& warp, PerLane<T>& values, const PerLane<T>& others) {
  warp.compute([&](unsigned lane) { values[lane] += others[lane]; });
}
// Every lane's value plus that of the lane at `distance`.
template <typename T>
void add_at_distance(const Warp& warp, PerLane<T>& values, unsigned distance) {
  add(warp, values, warp.exchanged(values, distance));
}

// Every lane's value plus those of all lanes before.
template <typename T>
[[gnu::always_inline]] inline void add_those_before(const Warp& warp, PerLane<T>& values) {
  for (unsigned distance = 1; distance < kWarpLanes; distance *= 2) {
    add(warp, values, warp.shifted(values, distance));
  }
}

// The largest value, for every lane. Requires: no NaN.
inline float largest(const Warp& warp, PerLane<float> values) {
  for (unsigned distance = kWarpLanes / 2; distance > 0; distance /= 2) {
    const PerLane<float> others = warp.exchanged(values, distance);
    warp.compute([&](unsigned lane) {
      if (others[lane] > values[lane]) values[lane] = others[lane];
    });
  }
  return values[0];
}

}  // namespace plackett::gpu
