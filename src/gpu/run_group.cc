#include "gpu/run_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <set>

#include "gpu/evaluate.h"

namespace plackett::gpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLaunchSeconds = 0.3;
constexpr std::uint64_t kFirstLaunch = 64;  // impressions, while the speed is unknown
constexpr std::uint64_t kValueBytes = std::uint64_t{256} << 20;
constexpr std::uint32_t kQueriesPerWarp = 8;
constexpr std::uint32_t kQueriesPerBlock = 32;        // of a network
constexpr std::uint32_t kBlocksAtATime = 16;          // of a multiprocessor: as kernels.cu says
constexpr std::uint32_t kBlockOverhead = 1024;        // bytes of shared memory
constexpr std::uint32_t kMostShownPairs = 20;         // of longer lists, pairs are spilled
constexpr std::uint32_t kMostHiddenBytes = 16 << 10;  // more are spilled
constexpr std::uint32_t kUsualDocs = 256;             // of a query, that shared memory should hold
constexpr std::uint32_t kLeastMeasuredDocs = 4096;    // of a query, for which there must be room
constexpr auto kFloat = static_cast<std::uint32_t>(sizeof(float));

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::uint32_t most_docs_of(const Split& split) {
  std::uint32_t most = 0;
  for (std::uint32_t query = 0; query < split.query_count(); ++query) {
    most = std::max(most, split.features(Query{query}).doc_count());
  }
  return most;
}

std::uint64_t tiles_of(std::uint32_t docs) { return (docs + kTileDocs - 1) / kTileDocs; }

// Of each of the two arrays that a network's step needs of the documents that step.
std::uint32_t hidden_bytes(const NetworkLayout& network, std::uint32_t shown) {
  return shown * network.padded_units * kFloat;
}
std::uint32_t spilled_hidden_bytes(const NetworkLayout& network, std::uint32_t shown) {
  const std::uint32_t both = 2 * hidden_bytes(network, shown);
  return both > kMostHiddenBytes ? both : 0;
}

// What learning keeps outside of shared memory, per warp or per block of a network.
std::uint32_t spill_bytes(const ScratchLayout& large, std::uint32_t pairs, std::uint32_t hidden) {
  const auto of_pairs = pairs * static_cast<std::uint32_t>(sizeof(double));
  return (large.size + of_pairs + hidden + 255) / 256 * 256;
}

std::uint32_t spilled_pairs(std::uint32_t shown) {
  return shown > kMostShownPairs ? ListLayout::pair_count(shown) : 0;
}

class Group {
 public:
  Group(Device& device, std::span<GroupRun> runs, const GroupWatch& watch)
      : device_(device), runs_(runs), watch_(watch) {}

  Result<GroupTimes> run() {
    if (auto ready = prepare(); !ready) return ready.error();
    std::set<std::uint64_t> points;
    for (const GroupRun& run : runs_) points.insert(run.points.begin(), run.points.end());
    for (const std::uint64_t point : points) {
      if (auto learned = learn_until(point); !learned) return learned.error();
      if (is_over()) break;
      if (auto measured = measure_at(point); !measured) return measured.error();
      if (is_over()) break;
    }
    if (auto got = get_floats(args_.weights, &GroupRun::weights); !got) return got.error();
    if (auto got = get_floats(args_.squares, &GroupRun::squares); !got) return got.error();
    return times_;
  }

 private:
  // As many floats of each run as it had.
  Result<void> get_floats(const float* from, std::vector<float> GroupRun::*floats) {
    const std::size_t each = (runs_.front().*floats).size();
    if (each == 0) return {};
    std::vector<float> all(runs_.size() * each);
    if (auto got = device_.download(all.data(), from, all.size() * sizeof(float)); !got) return got;
    for (std::size_t at = 0; at < runs_.size(); ++at) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(at * each);
      (runs_[at].*floats).assign(begin, begin + static_cast<std::ptrdiff_t>(each));
    }
    return {};
  }

  Result<void> prepare() {
    const auto limits = device_.limits();
    if (!limits) return limits.error();
    limits_ = *limits;
    const auto count = static_cast<std::uint32_t>(runs_.size());
    args_.width = runs_.front().data.train.width;
    args_.network = runs_.front().network;
    const std::uint32_t shown = runs_.front().data.shown;
    std::vector<double> discounts;
    for (std::uint32_t rank = 0; rank < kCut; ++rank) discounts.push_back(rank_discount(rank));

    std::vector<RunData> data;
    std::vector<float> weights;
    std::vector<float> squares;
    std::uint32_t most_docs = 0;
    for (const GroupRun& run : runs_) {
      data.push_back(run.data);
      states_.push_back(run.state);
      weights.insert(weights.end(), run.weights.begin(), run.weights.end());
      squares.insert(squares.end(), run.squares.begin(), run.squares.end());
      most_docs = std::max(most_docs, run.train->most_docs());
      most_measured_ = std::max(most_measured_, run.measured->most_docs());
      value_stride_ = std::max(value_stride_, run.measured->data().query_count);
    }
    if (args_.network.exists()) {
      choose_network_layout(count, most_docs, shown);
    } else {
      choose_layout(count, most_docs, shown);
    }

    const auto keep = [](Result<DeviceMemory> made, DeviceMemory& memory) -> Result<void> {
      if (!made) return made.error();
      memory = std::move(made).value();
      return {};
    };
    using Which = std::uint32_t;
    values_at_once_ = static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(kValueBytes / sizeof(double) / value_stride_, 1, count));
    for (auto done :
         {keep(DeviceMemory::copy_of(device_, std::span<const RunData>(data)), data_memory_),
          keep(DeviceMemory::copy_of(device_, std::span<const RunState>(states_)), state_memory_),
          keep(DeviceMemory::copy_of(device_, std::span<const float>(weights)), weight_memory_),
          keep(DeviceMemory::copy_of(device_, std::span<const float>(squares)), square_memory_),
          keep(DeviceMemory::make(device_, count * sizeof(Which)), which_memory_),
          keep(DeviceMemory::copy_of(device_, std::span<const double>(discounts)),
               discount_memory_),
          keep(DeviceMemory::make(device_, std::uint64_t{count} * args_.spill_stride),
               spill_memory_),
          keep(DeviceMemory::make(device_,
                                  std::uint64_t{values_at_once_} * value_stride_ * sizeof(double)),
               value_memory_)}) {
      if (!done) return done;
    }
    args_.runs = data_memory_.as<const RunData>();
    args_.states = state_memory_.as<RunState>();
    args_.weights = weight_memory_.as<float>();
    args_.squares = square_memory_.as<float>();
    args_.which = which_memory_.as<const Which>();
    args_.discounts = discount_memory_.as<const double>();
    args_.values = value_memory_.as<double>();
    args_.spill = spill_memory_.as<std::byte>();
    args_.value_stride = value_stride_;
    args_.queries_per_warp = kQueriesPerWarp;
    return {};
  }

  // As many documents in shared memory as leave it room for all warps that work at a time.
  void choose_layout(std::uint32_t count, std::uint32_t most_docs, std::uint32_t shown) {
    args_.pairs_are_spilled = spilled_pairs(shown) > 0;
    args_.list = ListLayout(shown, args_.width, !args_.pairs_are_spilled);
    const std::uint32_t at_a_time =
        std::clamp((count + limits_.processors - 1) / limits_.processors, 1U, kBlocksAtATime);
    const std::uint32_t room =
        std::min(limits_.shared_bytes, limits_.all_shared_bytes / at_a_time - kBlockOverhead);
    args_.small = ScratchLayout(most_docs);
    while (args_.small.docs > 16 && args_.small.size + args_.list.size > room) {
      args_.small = ScratchLayout(args_.small.docs - 16);
    }
    if (args_.small.docs < most_docs) args_.large = ScratchLayout(most_docs);
    args_.shared_bytes = args_.small.size + args_.list.size;
    args_.spill_pairs = args_.large.size;
    args_.spill_stride = spill_bytes(args_.large, spilled_pairs(shown), 0);
  }

  // For a block, with a network's parameters and what its step needs. As many blocks at a time as
  // leave room for the documents of most queries.
  void choose_network_layout(std::uint32_t count, std::uint32_t most_docs, std::uint32_t shown) {
    const std::uint32_t pairs = spilled_pairs(shown);
    const std::uint32_t spilled_hidden = spilled_hidden_bytes(args_.network, shown);
    args_.pairs_are_spilled = pairs > 0;
    args_.hidden_is_spilled = spilled_hidden > 0;
    args_.hidden_floats = hidden_bytes(args_.network, shown) / kFloat;
    args_.list = ListLayout(shown, args_.network.size, !args_.pairs_are_spilled);
    const std::uint32_t fixed = args_.list.size + kBlockStateBytes +
                                (args_.hidden_is_spilled ? 0 : 2 * args_.hidden_floats * kFloat);
    std::uint32_t at_a_time =
        std::clamp((count + limits_.processors - 1) / limits_.processors, 1U, kNetworkBlocks);
    const auto room = [&] {
      const std::uint32_t each =
          std::min(limits_.shared_bytes, limits_.all_shared_bytes / at_a_time - kBlockOverhead);
      return each > fixed ? each - fixed : 0;
    };
    const std::uint32_t usual = ScratchLayout(std::min(most_docs, kUsualDocs)).size;
    while (at_a_time > 1 && room() < usual) --at_a_time;
    args_.small = ScratchLayout(most_docs);
    while (args_.small.docs > 16 && args_.small.size > room()) {
      args_.small = ScratchLayout(args_.small.docs - 16);
    }
    if (args_.small.docs < most_docs) args_.large = ScratchLayout(most_docs);
    args_.block_state = args_.small.size + args_.list.size;
    args_.shared_bytes = args_.small.size + fixed;
    args_.spill_pairs = args_.large.size;
    args_.hidden = args_.hidden_is_spilled ? spill_bytes(args_.large, pairs, 0)
                                           : args_.block_state + kBlockStateBytes;
    args_.spill_stride = spill_bytes(args_.large, pairs, 0) + spill_bytes({}, 0, spilled_hidden);
  }

  // Of the runs at these places.
  Result<void> send_which(const std::vector<std::uint32_t>& which) {
    args_.count = static_cast<std::uint32_t>(which.size());
    return device_.upload(which_memory_.as<void>(), which.data(),
                          which.size() * sizeof(std::uint32_t));
  }

  [[nodiscard]] bool is_stopped() { return stopped_ = stopped_ || (watch_.stop && watch_.stop()); }
  [[nodiscard]] bool is_over() const {
    return stopped_ || std::any_of(states_.begin(), states_.end(),
                                   [](const RunState& state) { return state.is_not_finite != 0; });
  }

  Result<void> get_states() {
    auto got = device_.download(states_.data(), args_.states, states_.size() * sizeof(RunState));
    for (std::size_t at = 0; at < runs_.size(); ++at) runs_[at].state = states_[at];
    return got;
  }

  Result<void> learn_until(std::uint64_t point) {
    while (done_ < point && !is_over() && !is_stopped()) {
      const auto start = Clock::now();
      const std::uint64_t until = std::min(point, done_ + at_once_);
      std::vector<std::uint32_t> which;
      std::uint64_t before = 0;
      for (std::uint32_t at = 0; at < runs_.size(); ++at) {
        before += states_[at].done;
        if (runs_[at].data.impressions > done_) which.push_back(at);
      }
      args_.until = until;
      if (auto sent = send_which(which); !sent) return sent;
      const std::uint32_t warps = args_.network.exists() ? kNetworkWarps : 1;  // of a run
      if (auto done = device_.launch({.kernel = runs_.front().kernel,
                                      .args = args_,
                                      .warps = args_.count * warps,
                                      .warps_per_block = warps});
          !done) {
        return done;
      }
      if (auto got = get_states(); !got) return got;
      const double seconds = seconds_since(start);
      times_.learning += seconds;
      const auto rate = static_cast<double>(until - done_) / seconds;
      at_once_ = std::clamp(static_cast<std::uint64_t>(rate * kLaunchSeconds), std::uint64_t{1},
                            2 * at_once_);
      done_ = until;
      std::uint64_t after = 0;
      for (const RunState& state : states_) after += state.done;
      if (watch_.advanced) watch_.advanced(after - before);
    }
    return {};
  }

  Result<void> measure_at(std::uint64_t point) {
    std::vector<std::uint32_t> due;
    for (std::uint32_t at = 0; at < runs_.size(); ++at) {
      if (std::binary_search(runs_[at].points.begin(), runs_[at].points.end(), point)) {
        due.push_back(at);
      }
    }
    // Those that are measured on the same queries side by side.
    std::stable_sort(due.begin(), due.end(), [this](std::uint32_t one, std::uint32_t other) {
      return std::less<>()(runs_[one].measured, runs_[other].measured);
    });
    const auto start = Clock::now();
    for (std::size_t first = 0; first < due.size() && !is_stopped(); first += values_at_once_) {
      const std::size_t last = std::min<std::size_t>(due.size(), first + values_at_once_);
      const std::vector<std::uint32_t> part(due.begin() + static_cast<std::ptrdiff_t>(first),
                                            due.begin() + static_cast<std::ptrdiff_t>(last));
      if (auto sent = send_which(part); !sent) return sent;
      auto done = args_.network.exists() ? launch_measuring_networks() : launch_measuring();
      if (!done) return done;
    }
    if (stopped_) return {};
    if (auto got = get_states(); !got) return got;
    times_.measuring += seconds_since(start);
    for (const std::uint32_t at : due) {
      runs_[at].curve.push_back({point, states_[at].offline, states_[at].online.total()});
    }
    return {};
  }

  [[nodiscard]] Error no_room_to_measure(std::uint32_t bytes) const {
    return Error{
        ErrorCode::kUnavailable,
        fmt::format("{}: queries of {} documents with {} features need {} bytes of a "
                    "block's memory; there are {}",
                    device_.name(), most_measured_, args_.width, bytes, limits_.shared_bytes)};
  }

  Result<void> launch_measuring() {
    BatchArgs args = args_;
    args.measured_docs = (most_measured_ + 3) / 4 * 4;
    args.shared_bytes = kRankersPerWarp * (args.width + args.measured_docs) * kFloat;
    if (args.shared_bytes > limits_.shared_bytes) return no_room_to_measure(args.shared_bytes);
    const std::uint32_t warps = (args.count + kRankersPerWarp - 1) / kRankersPerWarp;
    auto done =
        device_.launch({.kernel = Kernel::kMeasure,
                        .args = args,
                        .warps = warps,
                        .warps_per_block = std::min(
                            {kMeasureWarps, limits_.shared_bytes / args.shared_bytes, warps}),
                        .query_parts = (value_stride_ + kQueriesPerWarp - 1) / kQueriesPerWarp});
    if (!done) return done;
    return device_.launch({.kernel = Kernel::kSum, .args = args, .warps = args.count});
  }

  Result<void> launch_measuring_networks() {
    BatchArgs args = args_;
    args.measured_docs = (most_measured_ + 3) / 4 * 4;
    args.queries_per_warp = kQueriesPerBlock;
    const std::uint32_t parameters = args.network.size * kFloat;
    const std::uint32_t scores = args.measured_docs * kFloat;
    const std::uint32_t room = limits_.shared_bytes - std::min(limits_.shared_bytes, parameters);
    args.measuring_warps = std::min(kNetworkWarps, room / scores);
    if (args.measuring_warps == 0) return no_room_to_measure(parameters + scores);
    args.shared_bytes = parameters + args.measuring_warps * scores;
    auto done =
        device_.launch({.kernel = Kernel::kMeasureNetwork,
                        .args = args,
                        .warps = args.count * kNetworkWarps,
                        .warps_per_block = kNetworkWarps,
                        .query_parts = (value_stride_ + kQueriesPerBlock - 1) / kQueriesPerBlock});
    if (!done) return done;
    args.shared_bytes = scores;
    return device_.launch({.kernel = Kernel::kSumNetwork, .args = args, .warps = args.count});
  }

  Device& device_;
  std::span<GroupRun> runs_;
  const GroupWatch& watch_;
  DeviceLimits limits_;
  BatchArgs args_;
  std::vector<RunState> states_;
  DeviceMemory data_memory_;
  DeviceMemory state_memory_;
  DeviceMemory weight_memory_;
  DeviceMemory square_memory_;
  DeviceMemory which_memory_;
  DeviceMemory discount_memory_;
  DeviceMemory spill_memory_;
  DeviceMemory value_memory_;
  std::uint32_t most_measured_ = 0;   // documents of a query
  std::uint32_t value_stride_ = 0;    // queries
  std::uint32_t values_at_once_ = 0;  // runs that are measured together
  std::uint64_t done_ = 0;            // impressions, of runs that have not ended
  std::uint64_t at_once_ = kFirstLaunch;
  bool stopped_ = false;
  GroupTimes times_;
};

}  // namespace

std::uint64_t DeviceSplit::bytes(const Split& split) {
  std::uint64_t tiles = 0;
  for (std::uint32_t query = 0; query < split.query_count(); ++query) {
    tiles += tiles_of(split.features(Query{query}).doc_count());
  }
  return tiles * tile_size(padded_width(split.feature_count())) * sizeof(float) +
         split.doc_count() + split.query_count() * (2 * sizeof(std::uint64_t) + sizeof(double));
}

Result<DeviceSplit> DeviceSplit::make(Device& device, const Split& split, const NdcgTable& ndcg) {
  const Split::Storage& storage = split.storage();
  const std::uint32_t width = padded_width(split.feature_count());
  DeviceSplit made;
  std::vector<std::uint64_t> first_tiles;
  std::uint64_t tiles = 0;
  for (std::uint32_t query = 0; query < split.query_count(); ++query) {
    first_tiles.push_back(tiles);
    tiles += tiles_of(split.features(Query{query}).doc_count());
  }
  std::vector<float> rows(tiles * tile_size(width));
  for (std::uint32_t query = 0; query < split.query_count(); ++query) {
    const FeatureView docs = split.features(Query{query});
    float* to = rows.data() + first_tiles[query] * tile_size(width);
    for (std::uint32_t doc = 0; doc < docs.doc_count(); ++doc) {
      const std::span<const float> row = docs.row(Doc{doc});
      for (std::uint32_t feature = 0; feature < row.size(); feature += 16) {
        std::copy_n(row.data() + feature, std::min<std::size_t>(16, row.size() - feature),
                    to + feature_place(doc, feature, width));
      }
    }
  }
  std::vector<double> inverse_ideals;
  for (std::uint32_t query = 0; query < split.query_count(); ++query) {
    inverse_ideals.push_back(ndcg.inverse_ideal(Query{query}));
  }
  const auto send = [&device]<typename T>(std::span<const T> values,
                                          DeviceMemory& memory) -> Result<void> {
    auto copy = DeviceMemory::copy_of(device, values);
    if (!copy) return copy.error();
    memory = std::move(copy).value();
    return {};
  };
  const std::span<const std::uint64_t> query_begin(storage.query_begin,
                                                   split.query_count() + std::size_t{1});
  if (auto sent = send(std::span<const float>(rows), made.rows_); !sent) return sent.error();
  if (auto sent = send(std::span<const std::uint64_t>(first_tiles), made.first_tiles_); !sent) {
    return sent.error();
  }
  if (auto sent = send(std::span(storage.labels, split.doc_count()), made.labels_); !sent) {
    return sent.error();
  }
  if (auto sent = send(query_begin, made.query_begin_); !sent) return sent.error();
  if (auto sent = send(std::span<const double>(inverse_ideals), made.inverse_ideals_); !sent) {
    return sent.error();
  }
  made.data_ = {.rows = made.rows_.as<const float>(),
                .first_tiles = made.first_tiles_.as<const std::uint64_t>(),
                .labels = made.labels_.as<const std::uint8_t>(),
                .query_begin = made.query_begin_.as<const std::uint64_t>(),
                .inverse_ideals = made.inverse_ideals_.as<const double>(),
                .query_count = split.query_count(),
                .width = width};
  made.most_docs_ = most_docs_of(split);
  return made;
}

Result<DeviceUser> DeviceUser::make(Device& device, const User& user, std::uint32_t shown) {
  std::vector<Ends> all;
  for (std::uint32_t rank = 0; rank < shown; ++rank) {
    for (std::uint32_t below_click = 0; below_click <= rank; ++below_click) {
      for (std::uint32_t label = 0; label < user.grade_count(); ++label) {
        const auto ends = user.ends(rank, below_click, static_cast<std::uint8_t>(label));
        all.push_back({ends->click_and_stop, ends->click, ends->click_or_stop});
      }
    }
  }
  const auto differs = [](const Ends& one, const Ends& other) {
    return one.click_and_stop != other.click_and_stop || one.click != other.click ||
           one.click_or_stop != other.click_or_stop;
  };
  DeviceUser made;
  std::size_t begin = 0;  // of the rank's
  for (std::uint32_t rank = 0; rank < shown; ++rank) {
    const std::size_t end = begin + (rank + std::size_t{1}) * user.grade_count();
    for (std::size_t at = begin + user.grade_count(); at < end; ++at) {
      made.by_last_click_ = made.by_last_click_ || differs(all[at], all[at - user.grade_count()]);
    }
    begin = end;
  }
  auto copy = DeviceMemory::copy_of(device, std::span<const Ends>(all));
  if (!copy) return copy.error();
  made.ends_ = std::move(copy).value();
  return made;
}

std::uint64_t group_bytes(const GroupSize& size) {
  const std::uint64_t floats =
      size.network.exists()
          ? size.network.size + (size.has_squares ? size.network.square_count() : 0)
          : size.width;
  const std::uint64_t spilled =
      spill_bytes(ScratchLayout(size.most_docs), spilled_pairs(size.shown), 0) +
      spill_bytes({}, 0, spilled_hidden_bytes(size.network, size.shown));
  const std::uint64_t per_run =
      sizeof(RunData) + sizeof(RunState) + sizeof(std::uint32_t) + floats * sizeof(float) + spilled;
  return size.runs * per_run + std::max<std::uint64_t>(kValueBytes, size.queries * sizeof(double));
}

std::uint32_t least_shared_bytes(const NetworkLayout& network, std::uint32_t shown) {
  const ListLayout list(shown, network.size, spilled_pairs(shown) == 0);
  const std::uint32_t hidden =
      spilled_hidden_bytes(network, shown) > 0 ? 0 : 2 * hidden_bytes(network, shown);
  const std::uint32_t to_learn =
      ScratchLayout(16).size + list.size + kBlockStateBytes + hidden + kBlockOverhead;
  return std::max(to_learn, (network.size + kLeastMeasuredDocs) * kFloat);
}

Result<GroupTimes> run_group(Device& device, std::span<GroupRun> runs, const GroupWatch& watch) {
  return Group(device, runs, watch).run();
}

}  // namespace plackett::gpu
