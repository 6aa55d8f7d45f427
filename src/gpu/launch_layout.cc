#include "gpu/launch_layout.h"

#include <algorithm>

#include "gpu/network.h"

namespace plackett::gpu {
namespace {

// Warps that learn which a multiprocessor does at a time: as kernels.cu says.
constexpr std::uint32_t kWarpsAtATime = kManyWarps;
// MGD's tables are rather spilled than leave a multiprocessor fewer blocks.
constexpr std::uint32_t kFewBlocks = 2;
constexpr std::uint32_t kMostShownPairs = 20;  // of longer lists, pairs are spilled
constexpr std::uint32_t kDocStep = 16;
constexpr std::uint32_t kMostHiddenBytes = 16 << 10;  // more are spilled
constexpr auto kFloat = static_cast<std::uint32_t>(sizeof(float));
constexpr auto kDouble = static_cast<std::uint32_t>(sizeof(double));

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
  const std::uint32_t room = shared_room(limits, blocks_at_a_time(shape, limits, kWarpsAtATime));
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

// Of a block, if the multiprocessor does so many blocks at a time.
std::uint32_t warps_of(std::uint32_t blocks) { return kWarpsAtATime / blocks; }

// Of a query's documents and so many rows of scores, as many in shared memory as there is room for.
// Also the spill's size. `warps`: that rank rows. `staged`: as TableLayout.
void choose_tables(const GroupShape& shape, std::uint32_t rows, std::uint32_t warps,
                   std::uint32_t staged, std::uint32_t room, BatchArgs& args) {
  TableLayout& small = args.duels.small;
  small = TableLayout(round_up(shape.most_docs, kDocStep), rows, warps, staged);
  while (small.docs > kDocStep && small.size > room) {
    small = TableLayout(small.docs - kDocStep, rows, warps, staged);
  }
  args.duels.large =
      small.docs < shape.most_docs ? TableLayout(shape.most_docs, rows, warps) : TableLayout();
  args.spill_stride = args.duels.large.size + args.duels.layout.spill_size;
}

// Makes room for the weights of as many whole groups as a block has, beside its largest table.
void stage_groups(const GroupShape& shape, std::uint32_t room, TableLayout& table) {
  if (room <= table.size) return;
  const std::uint32_t of_group = kMultileaveGroup * shape.width * kFloat;
  const std::uint32_t groups = (shape.duels.candidates + kMultileaveGroup) / kMultileaveGroup;
  const std::uint32_t staged = std::min((room - table.ranks) / of_group, groups) * of_group;
  table.size = std::max(table.size, table.ranks + staged);
}

void choose_duels(const GroupShape& shape, const DeviceLimits& limits, BatchArgs& args) {
  const bool is_pair = shape.kernel == Kernel::kDuel;
  const std::uint32_t group = is_pair ? kDuelGroup : kMultileaveGroup;
  const std::uint32_t rows = shape.duels.candidates + 1;
  args.small = {};
  args.large = {};
  args.pairs_are_spilled = false;
  args.list = ListLayout(shape.shown, shape.width, false);
  args.duels.layout = DuelLayout(shape.duels, group, shape.shown, shape.width);
  const std::uint32_t others = args.list.size + args.duels.layout.shared_size;
  std::uint32_t blocks =
      blocks_at_a_time(shape, limits, is_pair ? kWarpsAtATime : kMultileaveBlocks);
  const auto room = [&] {
    const std::uint32_t all = shared_room(limits, blocks);
    return all > others ? all - others : 0;
  };
  args.block_warps = 1;
  std::uint32_t staged = 0;
  if (!is_pair) {
    const std::uint32_t usual = TableLayout(shape.usual_docs, rows, kNetworkWarps).size;
    while (blocks > kFewBlocks && room() < usual) --blocks;
    args.block_warps = warps_of(blocks);
    staged = args.block_warps * kStagedBytes;
  }
  choose_tables(shape, rows, args.block_warps, staged, room(), args);
  if (!is_pair) {
    // Other groups' blocks may be beside these.
    blocks = kWarpsAtATime / args.block_warps;
    while (blocks > 1 && room() < args.duels.small.size) --blocks;
    stage_groups(shape, room(), args.duels.small);
  }
  args.shared_bytes = args.duels.small.size + others;
}

// What a network's block needs in shared memory besides the scratch of a query's documents. Sets
// the layouts of that.
std::uint32_t choose_fixed(const NetworkLayout& network, std::uint32_t shown, BatchArgs& args) {
  args.network.layout = network;
  args.network.hidden_floats = shown * network.padded_units;
  const std::uint32_t hidden = 2 * args.network.hidden_floats * kFloat;
  args.network.hidden_is_spilled = hidden > kMostHiddenBytes;
  args.pairs_are_spilled = shown > kMostShownPairs;
  args.list = ListLayout(shown, network.size, !args.pairs_are_spilled);
  return args.list.size + kBlockStateBytes + (args.network.hidden_is_spilled ? 0 : hidden);
}

// Of each of as many blocks at a time as leave `usual` bytes besides the fixed ones, what is left.
// Sets how many warps such a block has.
std::uint32_t room_of_block(const GroupShape& shape, const DeviceLimits& limits,
                            std::uint32_t fixed, std::uint32_t usual, BatchArgs& args) {
  std::uint32_t blocks = blocks_at_a_time(shape, limits, kNetworkBlocks);
  const auto room = [&] {
    const std::uint32_t all = shared_room(limits, blocks);
    return all > fixed ? all - fixed : 0;
  };
  while (blocks > 1 && room() < usual) --blocks;
  args.block_warps = warps_of(blocks);
  return room();
}

// Sets for how many documents a query is scored in parts: where there are fewer batches than warps,
// where rows are so long that this outweighs one more wait for all warps, and where what units give
// fits beside all else, without which a multiprocessor does as many blocks at a time.
void choose_few_docs(const GroupShape& shape, const DeviceLimits& limits, BatchArgs& args) {
  const std::uint32_t most_blocks = kNetworkBlocks * kNetworkWarps / args.block_warps;
  const std::uint32_t blocks =
      std::clamp(limits.all_shared_bytes / (args.shared_bytes + kBlockOverhead), 1U, most_blocks);
  const std::uint32_t room = shared_room(limits, blocks);
  const std::uint32_t left = room > args.shared_bytes ? room - args.shared_bytes : 0;
  const std::uint32_t of_doc = args.network.layout.padded_units * kFloat;
  args.network.given = args.shared_bytes;
  if (shape.network.width < limits.width_to_divide) return;
  args.network.few_docs =
      std::min({(args.block_warps - 1) * kBatchDocs, shape.usual_docs, left / of_doc});
  args.shared_bytes += args.network.few_docs * of_doc;
}

void choose_networks(const GroupShape& shape, const DeviceLimits& limits, BatchArgs& args) {
  const std::uint32_t fixed = choose_fixed(shape.network, shape.shown, args);
  const std::uint32_t usual = ScratchLayout(shape.usual_docs).size;
  const std::uint32_t room = room_of_block(shape, limits, fixed, usual, args);
  args.small = ScratchLayout(shape.most_docs);
  while (args.small.docs > kDocStep && args.small.size > room) {
    args.small = ScratchLayout(args.small.docs - kDocStep);
  }
  args.large = args.small.docs < shape.most_docs ? ScratchLayout(shape.most_docs) : ScratchLayout();
  args.network.block_state = args.small.size + args.list.size;
  args.shared_bytes = args.small.size + fixed;
  args.spill_pairs = args.large.size;
  args.spill_stride = args.large.size;
  if (args.pairs_are_spilled) {
    args.spill_stride += round_up(ListLayout::pair_count(shape.shown) * kDouble, 16);
  }
  choose_few_docs(shape, limits, args);
  args.network.hidden = args.network.block_state + kBlockStateBytes;
  if (args.network.hidden_is_spilled) {
    args.network.hidden = args.spill_stride;
    args.spill_stride += 2 * args.network.hidden_floats * kFloat;
  }
}

// As choose_fixed. A network's directions take no scratch.
std::uint32_t choose_fixed_of_duels(const GroupShape& shape, BatchArgs& args) {
  args.network.layout = shape.network;
  args.list = ListLayout(shape.shown, shape.network.size, false);
  args.duels.layout = DuelLayout(shape.duels, kNetworkGroup, shape.shown, 0);
  return args.list.size + args.duels.layout.shared_size + kBlockStateBytes;
}

void choose_network_duels(const GroupShape& shape, const DeviceLimits& limits, BatchArgs& args) {
  const std::uint32_t fixed = choose_fixed_of_duels(shape, args);
  const std::uint32_t rows = shape.duels.candidates + 1;
  const std::uint32_t usual = TableLayout(shape.usual_docs, rows, 1).size;
  choose_tables(shape, rows, 1, 0, room_of_block(shape, limits, fixed, usual, args), args);
  args.small = {};
  args.large = {};
  args.pairs_are_spilled = false;
  args.shared_bytes = args.duels.small.size + fixed;
  args.network.block_state = args.shared_bytes - kBlockStateBytes;
  choose_few_docs(shape, limits, args);
}

}  // namespace

bool GroupShape::fits(const GroupShape& other) const {
  return kernel == other.kernel && width == other.width && shown == other.shown &&
         duels.candidates == other.duels.candidates && duels.team_draft == other.duels.team_draft &&
         duels.by_chance == other.duels.by_chance && duels.projected == other.duels.projected &&
         network == other.network && has_squares == other.has_squares;
}

std::uint32_t parameter_floats(const GroupShape& shape) {
  return shape.network.exists() ? shape.network.size : shape.width;
}

std::uint32_t square_floats(const GroupShape& shape) {
  return shape.has_squares ? shape.network.square_count() : 0;
}

std::uint32_t least_shared_bytes(const GroupShape& shape) {
  BatchArgs args;
  return shape.kernel == Kernel::kDuelNetwork
             ? choose_fixed_of_duels(shape, args) +
                   TableLayout(kDocStep, shape.duels.candidates + 1, 1).size
             : choose_fixed(shape.network, shape.shown, args) + ScratchLayout(kDocStep).size;
}

Kernel kernel_of(const GroupShape& shape, const DeviceLimits& limits) {
  const bool are_few = shape.runs <= std::size_t{limits.duels_by_block} * limits.processors;
  return shape.kernel == Kernel::kDuel && are_few ? Kernel::kMultileave : shape.kernel;
}

void choose_layout(const GroupShape& of_runs, const DeviceLimits& limits, BatchArgs& args) {
  GroupShape shape = of_runs;
  shape.kernel = kernel_of(of_runs, limits);
  if (shape.kernel == Kernel::kDuel || shape.kernel == Kernel::kMultileave) {
    choose_duels(shape, limits, args);
  } else if (shape.kernel == Kernel::kLearnNetwork || shape.kernel == Kernel::kPairwiseNetwork) {
    choose_networks(shape, limits, args);
  } else if (shape.kernel == Kernel::kDuelNetwork) {
    choose_network_duels(shape, limits, args);
  } else {
    choose_lists(shape, limits, args);
  }
  args.spill_stride = round_up(args.spill_stride, 256);
}

std::size_t runs_at_a_time(Kernel kernel, const BatchArgs& args, const DeviceLimits& limits) {
  const std::uint32_t warps = is_by_block(kernel) ? args.block_warps : 1;
  const std::uint32_t blocks = std::min(
      kWarpsAtATime / warps, limits.all_shared_bytes / (args.shared_bytes + kBlockOverhead));
  return std::size_t{std::max(blocks, 1U)} * limits.processors;
}

}  // namespace plackett::gpu
