#include "gpu/launch_layout.h"

#include <algorithm>

namespace plackett::gpu {
namespace {

// Blocks that a multiprocessor does at a time: as kernels.cu says.
constexpr std::uint32_t kBlocksAtATime = 16;
constexpr std::uint32_t kMultileaveBlocks = 8;
// Of these, so many have the whole table of a query in shared memory before more are preferred.
constexpr std::uint32_t kLeastBlocks = 4;
constexpr std::uint32_t kBlockOverhead = 1024;  // bytes of shared memory
constexpr std::uint32_t kMostShownPairs = 20;   // of longer lists, pairs are spilled
constexpr std::uint32_t kDocStep = 16;

// Of each of `blocks` blocks, at most.
std::uint32_t shared_room(const DeviceLimits& limits, std::uint32_t blocks) {
  return std::min(limits.shared_bytes, limits.all_shared_bytes / blocks - kBlockOverhead);
}

std::uint32_t blocks_at_a_time(const GroupShape& shape, const DeviceLimits& limits,
                               std::uint32_t most) {
  const auto per_processor =
      static_cast<std::uint32_t>((shape.runs + limits.processors - 1) / limits.processors);
  return std::clamp(per_processor, 1U, most);
}

void choose_lists(const GroupShape& shape, const DeviceLimits& limits, BatchArgs& args) {
  const bool with_pairs = shape.kernel == Kernel::kLearn;
  args.pairs_are_spilled = with_pairs && shape.shown > kMostShownPairs;
  args.list = ListLayout(shape.shown, shape.width, with_pairs && !args.pairs_are_spilled);
  const std::uint32_t room = shared_room(limits, blocks_at_a_time(shape, limits, kBlocksAtATime));
  args.small = ScratchLayout(shape.most_docs);
  while (args.small.docs > kDocStep && args.small.size + args.list.size > room) {
    args.small = ScratchLayout(args.small.docs - kDocStep);
  }
  args.large = args.small.docs < shape.most_docs ? ScratchLayout(shape.most_docs) : ScratchLayout();
  args.shared_bytes = args.small.size + args.list.size;
  args.spill_pairs = args.large.size;
  args.spill_stride = args.large.size;
  if (args.pairs_are_spilled) {
    args.spill_stride +=
        ListLayout::pair_count(shape.shown) * static_cast<std::uint32_t>(sizeof(double));
  }
}

void choose_duels(const GroupShape& shape, const DeviceLimits& limits, BatchArgs& args) {
  const bool is_pair = shape.kernel == Kernel::kDuel;
  const std::uint32_t group = is_pair ? kDuelGroup : kMultileaveGroup;
  const std::uint32_t rows = round_up(shape.duels.candidates + 1, group);
  args.small = {};
  args.large = {};
  args.pairs_are_spilled = false;
  args.list = ListLayout(shape.shown, shape.width, false);
  args.duels.layout = DuelLayout(shape.duels, group, shape.shown, shape.width);
  const std::uint32_t others = args.list.size + args.duels.layout.shared_size;
  const std::uint32_t blocks =
      blocks_at_a_time(shape, limits, is_pair ? kBlocksAtATime : kMultileaveBlocks);
  const std::uint32_t room = shared_room(limits, is_pair ? blocks : std::min(blocks, kLeastBlocks));
  TableLayout& small = args.duels.small;
  small = TableLayout(round_up(shape.most_docs, kDocStep), rows);
  while (small.docs > kDocStep && small.size + others > room) {
    small = TableLayout(small.docs - kDocStep, rows);
  }
  args.duels.large =
      small.docs < shape.most_docs ? TableLayout(shape.most_docs, rows) : TableLayout();
  args.shared_bytes = small.size + others;
  args.spill_stride = args.duels.large.size + args.duels.layout.spill_size;
}

}  // namespace

bool GroupShape::fits(const GroupShape& other) const {
  return kernel == other.kernel && width == other.width && shown == other.shown &&
         duels.candidates == other.duels.candidates && duels.team_draft == other.duels.team_draft &&
         duels.by_chance == other.duels.by_chance && duels.projected == other.duels.projected;
}

void choose_layout(const GroupShape& shape, const DeviceLimits& limits, BatchArgs& args) {
  if (shape.kernel == Kernel::kDuel || shape.kernel == Kernel::kMultileave) {
    choose_duels(shape, limits, args);
  } else {
    choose_lists(shape, limits, args);
  }
  args.spill_stride = round_up(args.spill_stride, 256);
}

}  // namespace plackett::gpu
