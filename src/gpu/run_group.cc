#include "gpu/run_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>

#include "base/parallel.h"
#include "experiment/curve.h"
#include "gpu/evaluate.h"
#include "plackett/ndcg.h"

namespace plackett::gpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLaunchSeconds = 0.3;
// Impressions, while the speed is unknown.
constexpr std::uint64_t kFirstLaunch = 64;
constexpr std::uint64_t kFirstMultileaved = 4;  // each is much longer
constexpr std::uint32_t kFirstMeasured = 16;    // runs, likewise
constexpr std::uint32_t kMeasuredGrowth = 4;    // at most, from one launch to the next
// Runs that are not more than so many times what the device does at a time take turns.
constexpr std::size_t kWavesInTurn = 3;
constexpr std::uint64_t kLeastTurns = 4;  // of a run, from one point to the next
constexpr std::uint64_t kMeasuredBytes = std::uint64_t{512} << 20;
constexpr std::uint32_t kQueriesPerBlock = 16;
// Tiles that a block of linear rankers scores, so that it reads their weights seldom; fewer if a
// multiprocessor would have too few such blocks.
constexpr std::uint32_t kTilesPerBlock = 64;
constexpr std::uint32_t kLeastTiles = 8;  // one step of all warps
constexpr std::uint32_t kBlocksPerProcessor = 16;
// Blocks of linear rankers that a multiprocessor does at a time: as kernels.cu says.
constexpr std::uint32_t kScoringBlocks = 4;
constexpr std::uint64_t kStagingBytes = std::uint64_t{64} << 20;
constexpr std::uint32_t kQueriesPerPiece = 64;  // of a thread's work
constexpr auto kFloat = static_cast<std::uint32_t>(sizeof(float));

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::uint32_t divided_up(std::uint32_t count, std::uint32_t by) {
  return static_cast<std::uint32_t>((std::uint64_t{count} + by - 1) / by);
}

std::uint64_t tiles_of(std::uint32_t docs) { return (docs + kTileDocs - 1) / kTileDocs; }

// How many queries, or tiles, a block does: `usual` unless a launch would have too many parts.
std::uint32_t part_size(std::uint32_t count, std::uint32_t usual, const DeviceLimits& limits) {
  return std::max(usual, divided_up(count, limits.query_parts));
}

// Of splits that runs are measured on, the most of each.
struct MeasuredSize {
  std::uint64_t queries = 0;
  std::uint64_t tiles = 0;

  // How many runs are measured together, at most: as many as share rows of scores, or several times
  // as many.
  [[nodiscard]] std::uint32_t runs_at_once(std::size_t runs) const {
    const std::uint64_t of_run = queries * sizeof(double) + tiles * kTileDocs * sizeof(float);
    const std::uint64_t fit = kMeasuredBytes / std::max<std::uint64_t>(of_run, 1);
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(runs, std::max(fit / kScoreRow, std::uint64_t{1}) * kScoreRow));
  }
  [[nodiscard]] std::uint64_t value_bytes(std::uint32_t runs) const {
    return runs * queries * sizeof(double);
  }
  [[nodiscard]] std::uint64_t score_bytes(std::uint32_t runs) const {
    return round_up(runs, kScoreRow) * tiles * kTileDocs * sizeof(float);
  }
};

// Rankers that a block scores: so few that all blocks that a multiprocessor does at a time have
// room for their weights, if there is room for those of several warps.
std::uint32_t rankers_per_block(std::uint32_t runs, std::uint32_t width,
                                const DeviceLimits& limits) {
  const std::uint32_t room = limits.all_shared_bytes / kScoringBlocks - kBlockOverhead;
  std::uint32_t warps = kNetworkWarps;
  while (warps > 1 &&
         (warps * kSplitRankers * width * kFloat > room || warps / 2 * kSplitRankers >= runs)) {
    warps /= 2;
  }
  return warps * kSplitRankers;
}

// A query's rows as tiles: at `to`, which need not be zero.
void write_tiles(const FeatureView& docs, std::uint32_t width, float* to) {
  std::fill_n(to, tiles_of(docs.doc_count()) * tile_size(width), 0.0F);
  for (std::uint32_t doc = 0; doc < docs.doc_count(); ++doc) {
    const std::span<const float> row = docs.row(Doc{doc});
    for (std::uint32_t feature = 0; feature < row.size(); feature += 16) {
      std::copy_n(row.data() + feature, std::min<std::size_t>(16, row.size() - feature),
                  to + feature_place(doc, feature, width));
    }
  }
}

// Sends all rows, a bounded part at a time, which all cores write. `first_tiles` are where queries'
// tiles begin, and the end.
Result<DeviceMemory> send_rows(Device& device, const Split& split,
                               std::span<const std::uint64_t> first_tiles) {
  const std::uint32_t width = padded_width(split.feature_count());
  const std::uint64_t tile_bytes = tile_size(width) * sizeof(float);
  const std::uint64_t tiles = first_tiles.back();
  auto rows = DeviceMemory::make(device, tiles * tile_bytes);
  if (!rows || tiles == 0) return rows;
  const std::uint64_t part =
      std::min(tiles, std::max(tiles_of(SplitSize(split).most_docs), kStagingBytes / tile_bytes));
  const auto staging = std::make_unique_for_overwrite<float[]>(part * tile_size(width));
  const unsigned threads = thread_count(0);
  for (std::uint32_t first = 0; first < split.query_count();) {
    const std::uint64_t begin = first_tiles[first];
    const auto past = std::upper_bound(first_tiles.begin(), first_tiles.end(), begin + part);
    const auto end = static_cast<std::uint32_t>(past - first_tiles.begin()) - 1;
    const std::uint32_t pieces = (end - first + kQueriesPerPiece - 1) / kQueriesPerPiece;
    parallel_for(threads, pieces, [&](std::size_t piece) {
      const std::uint32_t from = first + static_cast<std::uint32_t>(piece) * kQueriesPerPiece;
      for (std::uint32_t query = from; query < std::min(end, from + kQueriesPerPiece); ++query) {
        write_tiles(split.features(Query{query}), width,
                    staging.get() + (first_tiles[query] - begin) * tile_size(width));
      }
    });
    auto sent = device.upload(rows->as<float>() + begin * tile_size(width), staging.get(),
                              (first_tiles[end] - begin) * tile_bytes);
    if (!sent) return sent.error();
    first = end;
  }
  return rows;
}

// [rank (rank + 1) / 2 + below_click][label]; none if the user lacks one.
std::optional<std::vector<Ends>> ends_of(const User& user, std::uint32_t shown) {
  std::vector<Ends> all;
  for (std::uint32_t rank = 0; rank < shown; ++rank) {
    for (std::uint32_t below_click = 0; below_click <= rank; ++below_click) {
      for (std::uint32_t label = 0; label < user.grade_count(); ++label) {
        const auto ends = user.ends(rank, below_click, static_cast<std::uint8_t>(label));
        if (!ends) return {};
        all.push_back({ends->click_and_stop, ends->click, ends->click_or_stop});
      }
    }
  }
  return all;
}

class Group final : public RunGroup {
 public:
  Group(Device& device, std::span<GroupRun> runs) : device_(device), runs_(runs) {}

  Result<GroupTimes> run(const GroupWatch& watch) override {
    watch_ = watch;
    const ShareClock::Entry entry(*watch.clock);
    std::set<std::uint64_t> points;
    for (const GroupRun& run : runs_) points.insert(run.points.begin(), run.points.end());
    for (const std::uint64_t point : points) {
      if (auto learned = learn_until(point); !learned) return learned.error();
      if (stopped_) break;
      if (auto measured = measure_at(point); !measured) return measured.error();
      if (stopped_) break;
    }
    if (auto got = get_remembered(); !got) return got.error();
    if (auto got = get_floats(args_.weights, &GroupRun::weights); !got) return got.error();
    if (auto got = get_floats(args_.network.squares, &GroupRun::squares); !got) return got.error();
    return times_;
  }

  Result<void> prepare() {
    const auto limits = device_.limits();
    if (!limits) return limits.error();
    limits_ = *limits;
    const auto count = static_cast<std::uint32_t>(runs_.size());
    args_.width = runs_.front().data.train.width;
    if (runs_.front().data.duels.candidates > 1) at_once_ = kFirstMultileaved;
    std::vector<double> discounts;
    for (std::uint32_t rank = 0; rank < kCut; ++rank) discounts.push_back(rank_discount(rank));

    std::vector<RunData> data;
    std::vector<float> weights;
    std::vector<float> squares;
    std::uint32_t most_docs = 0;
    std::uint32_t usual_docs = 0;
    MeasuredSize size;
    for (const GroupRun& run : runs_) {
      data.push_back(run.data);
      states_.push_back(run.state);
      weights.insert(weights.end(), run.weights.begin(), run.weights.end());
      squares.insert(squares.end(), run.squares.begin(), run.squares.end());
      most_docs = std::max(most_docs, run.train->most_docs());
      usual_docs = std::max(usual_docs, run.train->usual_docs());
      value_stride_ = std::max(value_stride_, run.measured->data().query_count);
      size.tiles = std::max<std::uint64_t>(size.tiles, run.measured->tile_count());
    }
    const RunData& first = runs_.front().data;
    const GroupShape shape{.kernel = runs_.front().kernel,
                           .duels = first.duels,
                           .network = runs_.front().network,
                           .has_squares = !squares.empty(),
                           .runs = count,
                           .width = args_.width,
                           .shown = first.shown,
                           .most_docs = most_docs,
                           .usual_docs = usual_docs};
    if (auto fits = check_shared_memory(shape, limits_, device_.name()); !fits) return fits;
    choose_layout(shape, limits_, args_);
    kernel_ = kernel_of(shape, limits_);
    at_a_time_ = runs_at_a_time(kernel_, args_, limits_);

    const auto keep = [](Result<DeviceMemory> made, DeviceMemory& memory) -> Result<void> {
      if (!made) return made.error();
      memory = std::move(made).value();
      return {};
    };
    const std::vector<float> remembered(
        first.duels.projected != 0 ? std::size_t{count} * kRemembered * args_.width : 0);
    using Which = std::uint32_t;
    size.queries = value_stride_;
    most_at_once_ = size.runs_at_once(count);
    measured_at_once_ = std::min(most_at_once_, kFirstMeasured);
    for (auto done :
         {keep(DeviceMemory::copy_of(device_, std::span<const RunData>(data)), data_memory_),
          keep(DeviceMemory::copy_of(device_, std::span<const RunState>(states_)), state_memory_),
          keep(DeviceMemory::copy_of(device_, std::span<const float>(weights)), weight_memory_),
          keep(DeviceMemory::copy_of(device_, std::span<const float>(squares)), square_memory_),
          keep(DeviceMemory::copy_of(device_, std::span<const float>(remembered)),
               remembered_memory_),
          keep(DeviceMemory::make(device_, count * sizeof(Which)), which_memory_),
          keep(DeviceMemory::copy_of(device_, std::span<const double>(discounts)),
               discount_memory_),
          keep(DeviceMemory::make(device_, std::uint64_t{count} * args_.spill_stride),
               spill_memory_),
          keep(DeviceMemory::make(device_, size.value_bytes(most_at_once_)), value_memory_),
          keep(DeviceMemory::make(device_, size.score_bytes(most_at_once_)), score_memory_)}) {
      if (!done) return done;
    }
    args_.runs = data_memory_.as<const RunData>();
    args_.states = state_memory_.as<RunState>();
    args_.weights = weight_memory_.as<float>();
    args_.network.squares = square_memory_.as<float>();
    args_.remembered = remembered_memory_.as<float>();
    args_.which = which_memory_.as<const Which>();
    args_.discounts = discount_memory_.as<const double>();
    args_.values = value_memory_.as<double>();
    args_.scores = score_memory_.as<float>();
    args_.spill = spill_memory_.as<std::byte>();
    args_.value_stride = value_stride_;
    args_.weight_stride = parameter_floats(shape);
    return {};
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

  // Of the runs at these places.
  Result<void> send_which(const std::vector<std::uint32_t>& which) {
    args_.count = static_cast<std::uint32_t>(which.size());
    return device_.upload(which_memory_.as<void>(), which.data(),
                          which.size() * sizeof(std::uint32_t));
  }

  [[nodiscard]] bool is_stopped() { return stopped_ = stopped_ || (watch_.stop && watch_.stop()); }
  // Whether the run at that place can learn and be measured.
  [[nodiscard]] bool goes_on(std::uint32_t at) const {
    return states_[at].is_not_finite == 0 && states_[at].is_in_doubt == 0;
  }

  Result<void> get_remembered() {
    if (args_.remembered == nullptr) return {};
    const std::size_t of_run = std::size_t{kRemembered} * args_.width;
    for (std::size_t at = 0; at < runs_.size(); ++at) {
      runs_[at].remembered.resize(of_run);
      auto got = device_.download(runs_[at].remembered.data(), args_.remembered + at * of_run,
                                  of_run * sizeof(float));
      if (!got) return got;
    }
    return {};
  }

  Result<void> get_states() {
    auto got = device_.download(states_.data(), args_.states, states_.size() * sizeof(RunState));
    for (std::size_t at = 0; at < runs_.size(); ++at) runs_[at].state = states_[at];
    return got;
  }

  // Runs that have not come to `point`, nor to their ends.
  [[nodiscard]] std::vector<std::uint32_t> runs_before(std::uint64_t point) const {
    std::vector<std::uint32_t> runs;
    for (std::uint32_t at = 0; at < runs_.size(); ++at) {
      if (goes_on(at) && states_[at].done < std::min(point, runs_[at].data.impressions)) {
        runs.push_back(at);
      }
    }
    return runs;
  }

  // If the device does most of them at a time, the rest would leave much of it idle. Then as many
  // as it does at a time take turns, those that are least far. Of runs by single warps a few more
  // don't matter.
  void take_turns(std::vector<std::uint32_t>& runs) {
    if (!is_by_block(kernel_) || runs.size() <= at_a_time_ ||
        runs.size() > kWavesInTurn * at_a_time_) {
      return;
    }
    std::stable_sort(runs.begin(), runs.end(), [this](std::uint32_t one, std::uint32_t other) {
      return states_[one].done < states_[other].done;
    });
    runs.resize(at_a_time_);
  }

  Result<void> learn_until(std::uint64_t point) {
    while (!is_stopped()) {
      std::vector<std::uint32_t> which = runs_before(point);
      if (which.empty()) return {};
      const double share_start = watch_.clock->now();
      const auto start = Clock::now();
      const std::size_t all = which.size();
      take_turns(which);
      args_.until = point;
      args_.at_most = at_once_;
      if (which.size() < all) {  // so often that all get there at about the same time
        const std::uint64_t left = point - states_[which.front()].done;
        args_.at_most = std::min(at_once_, (left + kLeastTurns - 1) / kLeastTurns);
      }
      if (auto sent = send_which(which); !sent) return sent;
      if (auto done = device_.launch({.kernel = kernel_,
                                      .args = args_,
                                      .warps = args_.count * warps_of_run(),
                                      .warps_per_block = warps_of_run()});
          !done) {
        return done;
      }
      const std::vector<RunState> before = states_;
      if (auto got = get_states(); !got) return got;
      times_.learning += watch_.clock->now() - share_start;
      std::uint64_t done = 0;
      std::uint64_t most = 0;  // of a run
      for (const std::uint32_t at : which) {
        const std::uint64_t own = states_[at].done - before[at].done;
        done += own;
        most = std::max(most, own);
      }
      const auto rate = static_cast<double>(most) / launch_seconds(which, seconds_since(start));
      at_once_ = std::clamp(static_cast<std::uint64_t>(rate * kLaunchSeconds), std::uint64_t{1},
                            2 * at_once_);
      if (watch_.advanced) watch_.advanced(done);
    }
    return {};
  }

  // Without the time that the launch waited for other groups'. `all`: with it.
  [[nodiscard]] double launch_seconds(std::span<const std::uint32_t> which, double all) const {
    std::uint64_t began = ~std::uint64_t{0};
    std::uint64_t ended = 0;
    for (const std::uint32_t at : which) {
      began = std::min(began, states_[at].began);
      ended = std::max(ended, states_[at].ended);
    }
    return ended > began ? std::min(1e-9 * static_cast<double>(ended - began), all) : all;
  }

  [[nodiscard]] std::uint32_t warps_of_run() const {
    return is_by_block(kernel_) ? args_.block_warps : 1;
  }

  Result<void> measure_at(std::uint64_t point) {
    std::vector<std::uint32_t> due;
    for (std::uint32_t at = 0; at < runs_.size(); ++at) {
      const std::vector<std::uint64_t>& points = runs_[at].points;
      if (goes_on(at) && std::binary_search(points.begin(), points.end(), point)) due.push_back(at);
    }
    // Those that are measured on the same queries side by side.
    std::stable_sort(due.begin(), due.end(), [this](std::uint32_t one, std::uint32_t other) {
      return std::less<>()(runs_[one].measured, runs_[other].measured);
    });
    const double start = watch_.clock->now();
    auto waited = Clock::now();
    std::size_t since = 0;  // runs since then
    for (std::size_t first = 0; first < due.size() && !is_stopped();) {
      // On the same queries.
      std::size_t last = first + 1;
      while (last < due.size() && last - first < measured_at_once_ &&
             runs_[due[last]].measured == runs_[due[first]].measured) {
        ++last;
      }
      const std::vector<std::uint32_t> part(due.begin() + static_cast<std::ptrdiff_t>(first),
                                            due.begin() + static_cast<std::ptrdiff_t>(last));
      if (auto sent = send_which(part); !sent) return sent;
      auto done = launch_measuring(*runs_[part.front()].measured);
      if (!done) return done;
      first = last;
      since += part.size();
      if (is_worth_waiting_for(since)) {
        if (auto finished = device_.finish(); !finished) return finished;
        measured(since, seconds_since(waited));
        waited = Clock::now();
        since = 0;
      }
    }
    if (stopped_) return {};
    if (auto got = get_states(); !got) return got;
    times_.measuring += watch_.clock->now() - start;
    for (const std::uint32_t at : due) {
      if (!goes_on(at)) continue;
      runs_[at].curve.push_back({point, states_[at].offline, states_[at].online.total()});
    }
    return {};
  }

  // To see how long runs take that were launched since the last time, or because that is long.
  [[nodiscard]] bool is_worth_waiting_for(std::size_t count) const {
    return measured_at_once_ < most_at_once_ ||
           static_cast<double>(count) * measuring_seconds_ >= kLaunchSeconds ||
           measuring_seconds_ == 0;
  }

  // Chooses how many runs are measured next, after so many took so long.
  void measured(std::size_t count, double seconds) {
    measuring_seconds_ = seconds / static_cast<double>(count);
    if (count < measured_at_once_ && seconds < kLaunchSeconds) return;  // says nothing of more
    const double fit = static_cast<double>(count) * kLaunchSeconds / seconds;
    const std::uint32_t most = std::min(most_at_once_, kMeasuredGrowth * measured_at_once_);
    const auto next = static_cast<std::uint32_t>(std::clamp<double>(fit, 1, most));
    const bool divided = next > kScoreRow && next < most_at_once_;
    measured_at_once_ = divided ? next / kScoreRow * kScoreRow : next;
  }

  Result<void> launch_parts(const Launch& launch) {
    return launch.query_parts == 0 ? Result<void>() : device_.launch(launch);
  }

  // A block of kNetworkWarps warps for so many runs and each part.
  Result<void> launch_by_block(Kernel kernel, const BatchArgs& args, std::uint32_t runs,
                               std::uint32_t parts) {
    return launch_parts({.kernel = kernel,
                         .args = args,
                         .warps = divided_up(args.count, runs) * kNetworkWarps,
                         .warps_per_block = kNetworkWarps,
                         .query_parts = parts});
  }

  // By linear rankers, or the linear parts of networks.
  Result<void> launch_scoring(BatchArgs args) {
    args.rankers_per_block = rankers_per_block(args.count, args.width, limits_);
    args.tile_step = kNetworkWarps * kSplitTiles * kSplitRankers / args.rankers_per_block;
    args.shared_bytes = args.rankers_per_block * args.width * kFloat;
    const std::uint64_t tiles =
        std::uint64_t{args.tile_count} * divided_up(args.count, args.rankers_per_block);
    const auto wanted = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
        tiles / (kBlocksPerProcessor * limits_.processors), kLeastTiles, kTilesPerBlock));
    args.tiles_each = round_up(part_size(args.tile_count, wanted, limits_), kLeastTiles);
    return launch_by_block(Kernel::kScore, args, args.rankers_per_block,
                           divided_up(args.tile_count, args.tiles_each));
  }

  Result<void> launch_scoring_networks(BatchArgs args) {
    args.shared_bytes = kStepBytes;
    args.tiles_each = round_up(part_size(args.tile_count, kStepTiles, limits_), kStepTiles);
    return launch_by_block(Kernel::kScoreNetwork, args, 1,
                           divided_up(args.tile_count, args.tiles_each));
  }

  // Of the runs that take part, which are measured on this split.
  Result<void> launch_measuring(const DeviceSplit& split) {
    BatchArgs args = args_;
    args.tile_count = split.tile_count();
    const NetworkLayout& network = args.network.layout;
    if (!network.exists() || network.has_linear != 0) {
      if (auto done = launch_scoring(args); !done) return done;
    }
    if (network.exists()) {
      if (auto done = launch_scoring_networks(args); !done) return done;
    }
    const std::uint32_t queries = split.data().query_count;
    args.shared_bytes = kNetworkWarps * kCandidateBytes;
    args.queries_each = part_size(queries, kQueriesPerBlock, limits_);
    auto done =
        launch_by_block(Kernel::kMeasure, args, kWarpLanes, divided_up(queries, args.queries_each));
    if (!done) return done;
    args.shared_bytes = 0;
    return device_.launch({.kernel = Kernel::kSum, .args = args, .warps = args.count});
  }

  Device& device_;
  std::span<GroupRun> runs_;
  GroupWatch watch_;
  DeviceLimits limits_;
  BatchArgs args_;
  std::vector<RunState> states_;
  DeviceMemory data_memory_;
  DeviceMemory state_memory_;
  DeviceMemory weight_memory_;
  DeviceMemory square_memory_;
  DeviceMemory remembered_memory_;
  DeviceMemory which_memory_;
  DeviceMemory discount_memory_;
  DeviceMemory spill_memory_;
  DeviceMemory value_memory_;
  DeviceMemory score_memory_;
  std::uint32_t value_stride_ = 0;        // queries
  std::uint32_t most_at_once_ = 0;        // runs that there is room to measure together
  std::uint32_t measured_at_once_ = 0;    // of these, that are
  double measuring_seconds_ = 0;          // of a run; 0: not known
  Kernel kernel_ = Kernel::kLearn;        // that learns
  std::size_t at_a_time_ = 0;             // runs that the device does
  std::uint64_t at_once_ = kFirstLaunch;  // impressions of a run in a launch, at most
  bool stopped_ = false;
  GroupTimes times_;
};

}  // namespace

SplitSize::SplitSize(const Split& split) {
  for (std::uint32_t query = 0; query < split.query_count(); ++query) {
    const std::uint32_t docs = split.features(Query{query}).doc_count();
    tiles += tiles_of(docs);
    most_docs = std::max(most_docs, docs);
  }
  if (split.query_count() > 0) {
    const std::uint64_t twice_mean = 2 * split.doc_count() / split.query_count();
    usual_docs = static_cast<std::uint32_t>(std::min<std::uint64_t>(most_docs, twice_mean));
  }
  bytes = tiles * tile_size(padded_width(split.feature_count())) * sizeof(float) +
          split.doc_count() + sizeof(std::uint64_t) +
          split.query_count() * (2 * sizeof(std::uint64_t) + sizeof(double));
}

Result<DeviceSplit> DeviceSplit::make(Device& device, const Split& split) {
  const Split::Storage& storage = split.storage();
  DeviceSplit made;
  const SplitSize size(split);
  made.most_docs_ = size.most_docs;
  made.usual_docs_ = size.usual_docs;
  made.tile_count_ = static_cast<std::uint32_t>(size.tiles);
  std::vector<std::uint64_t> first_tiles{0};
  for (std::uint32_t query = 0; query < split.query_count(); ++query) {
    first_tiles.push_back(first_tiles.back() + tiles_of(split.features(Query{query}).doc_count()));
  }
  auto rows = send_rows(device, split, first_tiles);
  if (!rows) return rows.error();
  made.rows_ = std::move(rows).value();
  const NdcgTable ndcg(split, kNdcgCut);
  std::vector<double> inverse_ideals;
  for (std::uint32_t query = 0; query < split.query_count(); ++query) {
    inverse_ideals.push_back(ndcg.inverse_ideal(Query{query}));
    if (!ndcg.has_relevant(Query{query})) ++made.without_relevant_;
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
  const auto starts = std::span<const std::uint64_t>(first_tiles).first(split.query_count());
  if (auto sent = send(starts, made.first_tiles_); !sent) return sent.error();
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
                .width = padded_width(split.feature_count())};
  return made;
}

std::uint64_t DeviceUser::bytes(const User& user, std::uint32_t shown) {
  return std::uint64_t{shown} * (shown + 1) / 2 * user.grade_count() * sizeof(Ends);
}

bool DeviceUser::can_be_made(const User& user, std::uint32_t shown) {
  return ends_of(user, shown).has_value();
}

Result<DeviceUser> DeviceUser::make(Device& device, const User& user, std::uint32_t shown) {
  const std::vector<Ends> all = ends_of(user, shown).value();
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

Result<void> check_shared_memory(const GroupShape& shape, const DeviceLimits& limits,
                                 const std::string& device) {
  BatchArgs args;
  choose_layout(shape, limits, args);
  if (args.shared_bytes > limits.shared_bytes) {
    return Error{ErrorCode::kUnavailable,
                 fmt::format("{}: lists of {} documents with {} features and {} rankers need {} "
                             "bytes of a block's memory; there are {}",
                             device, shape.shown, shape.width, shape.duels.candidates + 1,
                             args.shared_bytes, limits.shared_bytes)};
  }
  const NetworkLayout& network = shape.network;
  std::uint64_t measuring = network.exists() ? kStepBytes : 0;
  if (!network.exists() || network.has_linear != 0) {
    measuring = std::max(measuring, std::uint64_t{kSplitRankers} * shape.width * kFloat);
  }
  if (measuring > limits.shared_bytes) {
    return Error{ErrorCode::kUnavailable,
                 fmt::format("{}: measuring with {} features needs {} bytes of a block's memory; "
                             "there are {}",
                             device, shape.width, measuring, limits.shared_bytes)};
  }
  return {};
}

std::uint64_t group_bytes(const GroupShape& shape, const DeviceLimits& limits) {
  BatchArgs args;
  choose_layout(shape, limits, args);
  const std::uint64_t floats = std::uint64_t{parameter_floats(shape)} + square_floats(shape);
  const std::uint64_t remembered =
      shape.duels.projected != 0 ? std::uint64_t{kRemembered} * shape.width : 0;
  const std::uint64_t per_run = sizeof(RunData) + sizeof(RunState) + sizeof(std::uint32_t) +
                                (floats + remembered) * sizeof(float) + args.spill_stride;
  const MeasuredSize size{.queries = shape.queries, .tiles = shape.tiles};
  const std::uint32_t measured = size.runs_at_once(shape.runs);
  return shape.runs * per_run + size.value_bytes(measured) + size.score_bytes(measured) +
         kCut * sizeof(double);
}

Result<std::unique_ptr<RunGroup>> prepare_group(Device& device, std::span<GroupRun> runs) {
  auto group = std::make_unique<Group>(device, runs);
  if (auto ready = group->prepare(); !ready) return ready.error();
  return std::unique_ptr<RunGroup>(std::move(group));
}

}  // namespace plackett::gpu
