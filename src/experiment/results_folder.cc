#include "experiment/results_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "experiment/results_files.h"
#include "experiment/runs_file.h"

namespace plackett {
namespace {

namespace fs = std::filesystem;

// The first line of a folder's spec: only a file that starts with it is overwritten.
constexpr std::string_view kSpecMark =
    "# Written by plackett compare: what the runs beside it are of.\n";

// A sync costs milliseconds and a run may be as short. A machine that fails loses at most this much
// work, a process that is killed nothing.
constexpr std::chrono::milliseconds kSyncEvery(1000);
// How long other processes, one after another, may take to open or to finish. Each reads all runs:
// a second or so for 10,000 of them.
constexpr std::chrono::minutes kPatience(30);

Result<void> remove_file(const fs::path& path) {
  std::error_code error;
  fs::remove(path, error);
  if (error) return system_error(path, "can't remove", error.value());
  return {};
}

// The runs in the order of a finished file.
std::string runs_text(const StoredResults& stored) {
  std::string text = to_line(RunsHeader{stored.plackett});
  for (const StoredCell& cell : stored.cells) {
    for (const auto& [number, run] : cell.runs) text += to_line(run);
  }
  return text;
}

std::string timings_text(const StoredResults& stored) {
  std::string text;
  for (const StoredCell& cell : stored.cells) {
    for (const auto& [number, timing] : cell.timings) {
      const auto run = cell.runs.find(number);
      if (run != cell.runs.end()) text += to_line(run->second, timing);
    }
  }
  return text;
}

// What a process left behind that was killed while it wrote.
void remove_temporaries(const fs::path& folder) {
  constexpr std::size_t kRandomCharacters = 6;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const std::size_t mark = name.rfind(kTemporaryMark);
    if (mark == std::string::npos || mark == 0 ||
        name.size() != mark + kTemporaryMark.size() + kRandomCharacters) {
      continue;
    }
    std::error_code ignored;
    if (entry.is_regular_file(ignored)) fs::remove(entry.path(), ignored);
  }
}

Result<void> require_own_specs(const fs::path& folder) {
  for (const auto& [number, path] : spec_paths(folder)) {
    const auto text = read_file(path);
    if (!text) return text.error();
    if (text->starts_with(kSpecMark)) continue;
    return Error{ErrorCode::kConflict,
                 fmt::format("{}: was not written by plackett, which would overwrite it; use "
                             "another folder",
                             path.string()),
                 Hint::kOtherFolder};
  }
  return {};
}

// Requires: the folder is locked; whoever finishes last removes it.
Result<void> make_parts_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directory(folder / kPartsName, error);
  if (error) return system_error(folder / kPartsName, "can't create", error.value());
  return {};
}

// Fails with kConflict if another process is working on the part.
Result<FileLock> lock_part(const fs::path& folder, const fs::path& part) {
  return FileLock::take(part, fmt::format("{}: another plackett is working on part {}",
                                          folder.string(), part.stem().string()));
}

// A spec of a folder with the identities of its cells.
struct FolderSpec {
  ComparisonSpec spec;
  std::set<std::uint64_t> keys;

  static Result<FolderSpec> of(const ComparisonSpec& spec) {
    const auto cells = empty_cells(spec);
    if (!cells) return cells.error();
    FolderSpec made{spec, {}};
    for (const StoredCell& cell : *cells) made.keys.insert(key_of(cell));
    return made;
  }

  static Result<FolderSpec> read(const fs::path& path) {
    const auto spec = read_spec(path);
    if (!spec) return spec.error();
    return of(*spec);
  }

  // Whether it has all cells of `other`, with as many runs and all its metrics.
  [[nodiscard]] bool contains(const FolderSpec& other) const {
    const auto& metrics = spec.common.metrics;
    return other.spec.common.runs <= spec.common.runs &&
           united(metrics, other.spec.common.metrics) == metrics &&
           std::includes(keys.begin(), keys.end(), other.keys.begin(), other.keys.end());
  }
};

// Removes specs without a run. Requires: no process works on one.
Result<void> remove_specs_without_runs(const fs::path& folder, StoredResults& stored) {
  const CellIndex cells(stored.cells);
  const auto has_runs = [&cells](std::uint64_t key) {
    const StoredCell* cell = cells.find(key);
    return cell != nullptr && !cell->runs.empty();
  };
  for (const auto& [number, path] : spec_paths(folder)) {
    const auto one = FolderSpec::read(path);
    if (!one) return one.error();
    if (std::any_of(one->keys.begin(), one->keys.end(), has_runs)) continue;
    if (auto gone = remove_file(path); !gone) return gone;
  }
  return {};
}

// Makes a spec the last, hence newest, of the folder's. One that contains others also replaces the
// first of these, so that cells keep their order, and the rest of them go. So do those that only
// said what was newest.
Result<void> write_spec(const fs::path& folder, const ComparisonSpec& spec) {
  auto newest = FolderSpec::of(spec);
  if (!newest) return newest.error();
  const std::map<unsigned, fs::path> paths = spec_paths(folder);
  std::map<unsigned, FolderSpec> kept;
  for (const auto& [number, path] : paths) {
    const auto one = FolderSpec::read(path);
    if (!one) return one.error();
    const bool repeats = std::any_of(kept.begin(), kept.end(), [&](const auto& before) {
      return before.second.contains(*one) && before.second.spec.select == one->spec.select;
    });
    if (!repeats) kept.emplace(number, *one);
    if (one->keys != newest->keys) continue;
    SimulationSpec& common = newest->spec.common;
    common.runs = std::max(common.runs, one->spec.common.runs);
    common.metrics = united(one->spec.common.metrics, common.metrics);
  }
  std::erase_if(kept, [&](const auto& one) { return newest->contains(one.second); });
  unsigned first_free = 1;
  while (kept.contains(first_free)) ++first_free;
  std::set<unsigned> places{first_free};
  if (!kept.empty() && first_free < kept.rbegin()->first) places.insert(kept.rbegin()->first + 1);
  const std::string text = std::string(kSpecMark) + to_toml(newest->spec);
  for (const unsigned place : places) {
    if (auto done = write_if_changed(spec_path(folder, place), text); !done) return done;
  }
  for (const auto& [number, path] : paths) {
    if (kept.contains(number) || places.contains(number)) continue;
    if (auto gone = remove_file(path); !gone) return gone;
  }
  return {};
}

// Gives the runs of `from` to the cells of `to`.
void move_runs(StoredResults& from, StoredResults& to) {
  const CellIndex cells(from.cells);
  for (StoredCell& cell : to.cells) {
    StoredCell* there = cells.find(key_of(cell));
    if (there == nullptr) continue;
    cell.runs = std::move(there->runs);
    cell.timings = std::move(there->timings);
  }
  to.damaged = std::move(from.damaged);
}

// Writes all runs to one file and removes the parts.
Result<void> merge(const fs::path& folder, const StoredResults& stored) {
  auto done = write_if_changed(folder / kRunsName, runs_text(stored));
  if (done) done = write_if_changed(folder / kTimingsName, timings_text(stored));
  if (!done) return done;
  for (const fs::path& part : part_paths(folder)) {
    if (auto gone = remove_file(part); !gone) return gone;
    if (auto gone = remove_file(timings_path(part)); !gone) return gone;
  }
  std::error_code ignored;
  fs::remove(folder / kPartsName, ignored);
  return {};
}

// Whether a process is working on another part than `own`. Requires: the folder is locked.
Result<bool> others_at_work(const fs::path& folder, const fs::path& own) {
  for (const fs::path& part : part_paths(folder)) {
    if (part == own) continue;
    const auto lock = lock_part(folder, part);
    if (!lock && lock.error().code == ErrorCode::kConflict) return true;
    if (!lock) return lock.error();
  }
  return false;
}

// Removes everything but reports.
Result<void> discard(const fs::path& folder) {
  std::vector<fs::path> paths{folder / kRunsName, folder / kTimingsName, folder / kMadeByName};
  for (const auto& [number, path] : spec_paths(folder)) paths.push_back(path);
  for (const fs::path& part : part_paths(folder)) {
    paths.push_back(part);
    paths.push_back(timings_path(part));
  }
  for (const fs::path& path : paths) {
    if (auto gone = remove_file(path); !gone) return gone;
  }
  return {};
}

}  // namespace

bool in_shard(const Shard& shard, std::size_t cell, std::uint32_t run, std::uint32_t runs) {
  return (std::uint64_t{cell} * runs + run) % shard.count + 1 == shard.number;
}

Result<ResultsFolder> ResultsFolder::open(const fs::path& folder, const ComparisonSpec& spec,
                                          const Options& options) {
  if (!spec.users.empty()) {
    return Error{
        fmt::format("click model \"{}\" is a user of this program's own, which a folder can't tell "
                    "from another of that name; compare in memory, or describe it in a .toml file",
                    spec.users.front()->name())};
  }
  if (auto read = parse_spec(to_toml(spec), spec_path("", 1).string()); !read) return read.error();
  auto cells = empty_cells(spec);
  if (!cells) return cells.error();
  const bool is_part = options.shard.count > 1;
  if (is_part && options.fresh) {
    return Error{
        fmt::format("{}: to start over discards the runs of all shards; do that without a "
                    "shard, or use another folder",
                    folder.string())};
  }
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return system_error(folder, "can't create", error.value());
  auto setting_up = FileLock::take_folder(folder, kPatience);
  if (!setting_up) return setting_up.error();
  if (is_part && !setting_up->excludes_others()) {
    return Error{fmt::format("{}: its file system has no locks, so shards would overwrite each "
                             "other's runs; use another folder",
                             folder.string()),
                 Hint::kOtherFolder};
  }
  if (auto ours = require_own_specs(folder); !ours) return ours.error();

  const fs::path part = part_path(folder, options.shard);
  const auto others = others_at_work(folder, is_part ? part : fs::path());
  if (!others) return others.error();
  if (*others && !is_part) {
    return Error{ErrorCode::kConflict,
                 fmt::format("{}: another plackett is working in this folder", folder.string())};
  }
  if (fs::exists(part, error)) {
    if (const auto free = lock_part(folder, part); !free) return free.error();
  }
  if (options.fresh) {
    if (auto gone = discard(folder); !gone) return gone.error();
  }
  auto read = read_folder(folder, *cells);
  if (!read) return read.error();
  const auto own = made_by(*cells, options.version);
  if (!own) return own.error();
  const auto made = agreed(folder, *read, *own, *others);
  if (!made) return made.error();
  if (auto done = record(folder, *made); !done) return done.error();
  remove_temporaries(folder);
  remove_temporaries(folder / kPartsName);
  if (!*others) {
    if (auto done = remove_specs_without_runs(folder, *read); !done) return done.error();
  }
  auto specs = read_specs(folder, *cells);
  if (!specs) return specs.error();
  StoredResults stored = std::move(*specs);
  const std::vector<StoredCell> without_runs = stored.cells;
  move_runs(*read, stored);
  stored.plackett = options.version;
  stored.spec = spec;
  if (auto marked = name_cells(stored); !marked) return marked.error();
  if (!*others) {
    // What was left behind, without what is damaged.
    if (auto done = merge(folder, stored); !done) return done.error();
  }
  if (auto done = make_parts_folder(folder); !done) return done.error();
  StoredResults in_part{.plackett = options.version, .cells = without_runs};
  const CellIndex part_cells(in_part.cells);
  if (auto done = RunsReader(in_part, part_cells).read(part, true); !done) return done.error();
  if (auto done = write_file(part, runs_text(in_part)); !done) return done.error();
  if (auto done = write_file(timings_path(part), ""); !done) return done.error();
  auto lock = lock_part(folder, part);
  if (!lock) return lock.error();
  auto runs = AppendFile::open(part, kSyncEvery);
  if (!runs) return runs.error();
  auto timings = AppendFile::open(timings_path(part), std::chrono::hours(1));
  if (!timings) return timings.error();
  return ResultsFolder(Parts{
      folder, std::move(stored), false,
      Output{part, std::move(lock).value(), std::move(runs).value(), std::move(timings).value()}});
}

Result<void> ResultsFolder::require_own_part() const {
  const Output& output = *parts_.output;
  const FileId there = FileId::of(output.part);
  if (there != FileId{} && there == output.lock.file()) return {};
  return Error{
      ErrorCode::kConflict,
      fmt::format("{}: was removed while runs were added to it; if another machine did that, "
                  "locks (flock) don't hold across machines here: use another folder",
                  output.part.string()),
      Hint::kOtherFolder};
}

Result<void> ResultsFolder::claim_inputs(const MadeBy& inputs) {
  const auto claiming = FileLock::take_folder(parts_.folder, kPatience);
  if (!claiming) return claiming.error();
  if (auto claimed = claim(parts_.folder, inputs); !claimed) return claimed;
  // Before the runs, which mean nothing without it.
  return write_own_spec();
}

Result<void> ResultsFolder::write_own_spec() {
  if (std::exchange(parts_.has_written_spec, true)) return {};
  return write_spec(parts_.folder, parts_.stored.spec);
}

Result<void> ResultsFolder::append(std::size_t cell, FinishedRun run, unsigned threads) {
  Output& output = *parts_.output;
  if (auto own = require_own_part(); !own) return own;
  StoredCell& stored = parts_.stored.cells[cell];
  const auto there = stored.runs.find(run.record.run);
  FinishedRun both = run;
  if (there != stored.runs.end() && !merge(there->second, both)) {
    return Error{ErrorCode::kConflict,
                 fmt::format("{}: {} under {} on {}, run {}: not the result that the folder holds",
                             parts_.folder.string(), run.method, run.click_model, run.dataset,
                             run.record.run)};
  }
  if (auto done = output.runs.append(to_line(run)); !done) return done;
  const RunTiming timing{run.record.seconds, run.record.evaluation_seconds, threads};
  const std::string timing_line = to_line(run, timing);
  stored.timings.insert_or_assign(run.record.run, timing);
  stored.runs.insert_or_assign(run.record.run, std::move(both));
  return output.timings.append(timing_line);
}

Result<void> ResultsFolder::finish() {
  if (auto done = parts_.output->runs.sync(); !done) return done;
  if (auto own = require_own_part(); !own) return own;
  // Of several processes that finish at once, the last to take the lock sees that no part is being
  // worked on.
  parts_.output.reset();
  const auto finishing = FileLock::take_folder(parts_.folder, kPatience);
  if (!finishing) return finishing.error();
  if (auto done = write_own_spec(); !done) return done;
  // Before reading: one that is at work may add runs and end meanwhile.
  const auto others = others_at_work(parts_.folder, {});
  if (!others) return others.error();
  auto stored = read_folder(parts_.folder, {});
  if (!stored) return stored.error();
  parts_.stored = std::move(*stored);
  return *others ? Result<void>() : merge(parts_.folder, parts_.stored);
}

}  // namespace plackett
