// Where the scratch of a launch's warps lies: as much of it in shared memory as leaves room for all
// warps that work at a time, the rest in the device's memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/device.h"
#include "gpu/run_data.h"

namespace plackett::gpu {

// Bytes of shared memory that a block takes of a multiprocessor's besides its own. What a block can
// have, DeviceLimits::shared_bytes, is without them.
inline constexpr std::uint32_t kBlockOverhead = 1024;

// What runs that are done together have in common.
struct GroupShape {
  Kernel kernel = Kernel::kLearn;
  DuelRules duels = {};        // of kDuel, kMultileave and kDuelNetwork
  NetworkLayout network = {};  // if the ranker has one
  bool has_squares = false;    // of kLearnNetwork: steps are AdaGrad's
  std::size_t runs = 0;
  std::uint32_t width = 0;
  std::uint32_t shown = 0;
  std::uint32_t most_docs = 0;   // of a query that is learned from
  std::uint32_t usual_docs = 0;  // of most of them: they should be done in shared memory
  std::uint32_t queries = 0;     // that are measured, at most
  std::uint64_t tiles = 0;       // of their documents, likewise

  // Whether runs of both may be done together.
  [[nodiscard]] bool fits(const GroupShape& other) const;
};

// Floats of a run's parameters, padded.
std::uint32_t parameter_floats(const GroupShape& shape);
// And of what AdaGrad keeps.
std::uint32_t square_floats(const GroupShape& shape);

// Bytes of a block's shared memory without which runs with networks can't be learned or measured.
// Of the shape, what runs have in common but for the data counts.
std::uint32_t least_shared_bytes(const GroupShape& shape);

// That does such runs: where they are few, blocks do what warps do otherwise.
Kernel kernel_of(const GroupShape& shape, const DeviceLimits& limits);

// Sets the layouts, the spill's, and shared_bytes.
void choose_layout(const GroupShape& shape, const DeviceLimits& limits, BatchArgs& args);

// Runs that all multiprocessors learn at a time, in such a layout.
std::size_t runs_at_a_time(Kernel kernel, const BatchArgs& args, const DeviceLimits& limits);

}  // namespace plackett::gpu
