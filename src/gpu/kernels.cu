// The kernels, for a GPU: compiled to PTX by Clang without a CUDA toolkit (src/gpu/CMakeLists.txt),
// and by the driver for the card at hand.

// Clang's own headers for CUDA expect these of the toolkit.
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

// What these declare is constexpr, which Clang compiles for the device too, or not used by kernels.
#include <cstddef>
#include <cstdint>

#include "evaluation/online_performance.h"
#include "plackett/mass.h"
#include "plackett/rng.h"
#include "sampling/click_credit.h"
#include "sampling/swap_odds.h"

#pragma clang force_cuda_host_device begin
#include "gpu/duel.h"
#include "gpu/duel_network.h"
#include "gpu/evaluate.h"
#include "gpu/learn.h"
#include "gpu/learn_network.h"
#include "gpu/pairwise.h"
#include "gpu/score_network.h"
#include "gpu/score_split.h"
#pragma clang force_cuda_host_device end

#define PLACKETT_KERNEL extern "C" __global__ void

namespace plackett::gpu {
namespace {

// The warp's part of what the launch gave each block.
__device__ std::byte* shared_scratch(const BatchArgs& args, unsigned warp_of_block) {
  extern __shared__ Quad shared[];
  return reinterpret_cast<std::byte*>(shared) + warp_of_block * args.shared_bytes;
}

struct Place {
  __device__ Place()
      : lane(static_cast<unsigned>(__nvvm_read_ptx_sreg_tid_x()) % kWarpLanes),
        warp_of_block(static_cast<unsigned>(__nvvm_read_ptx_sreg_tid_x()) / kWarpLanes),
        warps(static_cast<unsigned>(__nvvm_read_ptx_sreg_ntid_x()) / kWarpLanes),
        place(static_cast<unsigned>(__nvvm_read_ptx_sreg_ctaid_x()) * warps + warp_of_block) {}

  unsigned lane;
  unsigned warp_of_block;
  unsigned warps;
  unsigned place;  // of the run
};

}  // namespace

// Registers for as many blocks of a multiprocessor as were fastest: docs/decisions/0021-gpu.md.
__launch_bounds__(kWarpLanes, 16) PLACKETT_KERNEL plackett_learn(BatchArgs args) {
  const Place at;
  if (at.place >= args.count) return;
  learn_run(Warp(at.lane), args, at.place, shared_scratch(args, at.warp_of_block),
            args.spill + std::uint64_t{at.place} * args.spill_stride);
}

__launch_bounds__(kWarpLanes, 16) PLACKETT_KERNEL plackett_learn_pairwise(BatchArgs args) {
  const Place at;
  if (at.place >= args.count) return;
  learn_run_by<PairwiseLearner>(Warp(at.lane), args, at.place,
                                shared_scratch(args, at.warp_of_block),
                                args.spill + std::uint64_t{at.place} * args.spill_stride);
}

// DBGD.
__launch_bounds__(kWarpLanes, 16) PLACKETT_KERNEL plackett_duel(BatchArgs args) {
  const Place at;
  if (at.place >= args.count) return;
  duel_run<kDuelGroup>(Alone(Warp(at.lane)), args, at.place, shared_scratch(args, at.warp_of_block),
                       args.spill + std::uint64_t{at.place} * args.spill_stride);
}

// MGD. 16 warps of a multiprocessor, in blocks of kNetworkWarps to kManyWarps; networks, too.
__launch_bounds__(kManyWarps* kWarpLanes, 1) PLACKETT_KERNEL plackett_multileave(BatchArgs args) {
  const Place at;
  const auto place = static_cast<unsigned>(__nvvm_read_ptx_sreg_ctaid_x());
  duel_run<kMultileaveGroup>(Block(at.lane, at.warp_of_block, at.warps), args, place,
                             shared_scratch(args, 0),
                             args.spill + std::uint64_t{place} * args.spill_stride);
}

// A block for args.rankers_per_block runs. Blocks' y: parts of the split.
__launch_bounds__(kNetworkWarps* kWarpLanes, 4) PLACKETT_KERNEL plackett_score(BatchArgs args) {
  const Place at;
  const auto part = static_cast<unsigned>(__nvvm_read_ptx_sreg_ctaid_y());
  score_split(Block(at.lane, at.warp_of_block, at.warps), args,
              static_cast<unsigned>(__nvvm_read_ptx_sreg_ctaid_x()), part * args.tiles_each,
              shared_scratch(args, 0));
}

// A block for kWarpLanes runs. Blocks' y: parts of the queries.
__launch_bounds__(kNetworkWarps* kWarpLanes, 7) PLACKETT_KERNEL plackett_measure(BatchArgs args) {
  const Place at;
  const auto part = static_cast<unsigned>(__nvvm_read_ptx_sreg_ctaid_y());
  measure_queries(Block(at.lane, at.warp_of_block, at.warps), args,
                  static_cast<unsigned>(__nvvm_read_ptx_sreg_ctaid_x()) * kWarpLanes,
                  part * args.queries_each, shared_scratch(args, 0));
}

__launch_bounds__(kManyWarps* kWarpLanes, 1) PLACKETT_KERNEL
    plackett_learn_network(BatchArgs args) {
  const Place at;
  const auto place = static_cast<unsigned>(__nvvm_read_ptx_sreg_ctaid_x());
  learn_network_run<PdgdLearner>(Block(at.lane, at.warp_of_block, at.warps), args, place,
                                 shared_scratch(args, 0),
                                 args.spill + std::uint64_t{place} * args.spill_stride);
}

__launch_bounds__(kManyWarps* kWarpLanes, 1) PLACKETT_KERNEL
    plackett_pairwise_network(BatchArgs args) {
  const Place at;
  const auto place = static_cast<unsigned>(__nvvm_read_ptx_sreg_ctaid_x());
  learn_network_run<PairwiseLearner>(Block(at.lane, at.warp_of_block, at.warps), args, place,
                                     shared_scratch(args, 0),
                                     args.spill + std::uint64_t{place} * args.spill_stride);
}

__launch_bounds__(kManyWarps* kWarpLanes, 1) PLACKETT_KERNEL plackett_duel_network(BatchArgs args) {
  const Place at;
  const auto place = static_cast<unsigned>(__nvvm_read_ptx_sreg_ctaid_x());
  duel_network_run(Block(at.lane, at.warp_of_block, at.warps), args, place, shared_scratch(args, 0),
                   args.spill + std::uint64_t{place} * args.spill_stride);
}

// A block per run. Blocks' y: parts of the split.
__launch_bounds__(kNetworkWarps* kWarpLanes, 4) PLACKETT_KERNEL
    plackett_score_network(BatchArgs args) {
  const Place at;
  const auto part = static_cast<unsigned>(__nvvm_read_ptx_sreg_ctaid_y());
  score_network(Block(at.lane, at.warp_of_block, at.warps), args,
                static_cast<unsigned>(__nvvm_read_ptx_sreg_ctaid_x()), part * args.tiles_each,
                shared_scratch(args, 0));
}

__launch_bounds__(kWarpLanes, 16) PLACKETT_KERNEL plackett_sum(BatchArgs args) {
  const Place at;
  if (at.place >= args.count) return;
  sum_queries(Warp(at.lane), args, at.place);
}

}  // namespace plackett::gpu
