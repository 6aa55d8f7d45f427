#include "experiment/results_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "experiment/made_by.h"
#include "experiment/results_files.h"
#include "experiment/runs_file.h"
#include "plackett/options.h"

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

// Adds a spec to those of the folder, in place of those that it contains and, if this process is
// `alone`, of those without a finished run.
Result<void> write_spec(const fs::path& folder, ComparisonSpec spec, StoredResults& stored,
                        bool alone) {
  const CellIndex cells(stored.cells);
  const auto has_runs = [&cells](std::uint64_t key) {
    const StoredCell* cell = cells.find(key);
    return cell != nullptr && !cell->runs.empty();
  };
  const auto keys_of = [](const ComparisonSpec& one) -> Result<std::set<std::uint64_t>> {
    const auto made = empty_cells(one);
    if (!made) return made.error();
    std::set<std::uint64_t> keys;
    for (const StoredCell& cell : *made) keys.insert(key_of(cell));
    return keys;
  };
  const auto asked = keys_of(spec);
  if (!asked) return asked.error();
  const std::map<unsigned, fs::path> paths = spec_paths(folder);
  std::vector<unsigned> contained;
  for (const auto& [number, path] : paths) {
    const auto there = read_spec(path);
    if (!there) return there.error();
    const auto keys = keys_of(*there);
    if (!keys) return keys.error();
    if (alone && std::none_of(keys->begin(), keys->end(), has_runs)) {
      contained.push_back(number);
      continue;
    }
    const bool has_all = std::includes(keys->begin(), keys->end(), asked->begin(), asked->end());
    const bool is_in = std::includes(asked->begin(), asked->end(), keys->begin(), keys->end());
    if (has_all && is_in) spec.common.runs = std::max(spec.common.runs, there->common.runs);
    if (has_all && !is_in && there->common.runs >= spec.common.runs) return {};
    if (is_in && there->common.runs <= spec.common.runs) contained.push_back(number);
  }
  const unsigned next = paths.empty() ? 1 : paths.rbegin()->first + 1;
  const unsigned number = contained.empty() ? next : contained.front();
  auto written =
      write_if_changed(spec_path(folder, number), std::string(kSpecMark) + to_toml(spec));
  for (std::size_t at = 1; written && at < contained.size(); ++at) {
    written = remove_file(spec_path(folder, contained[at]));
  }
  return written;
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

Result<void> require_same(const StoredResults& stored, const std::vector<StoredCell>& cells,
                          const std::string& version, const fs::path& folder) {
  std::string conflict;
  if (stored.finished() > 0 && stored.plackett != version) {
    conflict =
        fmt::format("its runs were made by plackett {}, this is {}", stored.plackett, version);
  }
  for (const StoredCell& there : stored.cells) {
    for (const StoredCell& asked : cells) {
      if (there.runs.empty() || there.dataset.name != asked.dataset.name) continue;
      for (const auto& option : dataset_options()) {
        const std::string then = option.text(there.dataset);
        const std::string now = option.text(asked.dataset);
        if (!option.changes_results || then == now) continue;
        conflict = fmt::format("its runs on {} were made with {} {}, not {}", there.dataset.name,
                               option.name, then, now);
      }
    }
  }
  if (conflict.empty()) return {};
  return Error{ErrorCode::kConflict,
               fmt::format("{}: {}; {}", folder.string(), conflict, kStartOver),
               Hint::kOtherFolderOrFresh};
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
  auto same = require_same(*read, *cells, options.version, folder);
  if (same) same = claim_made_by(folder, *read, *cells);
  if (!same) return same.error();
  remove_temporaries(folder);
  remove_temporaries(folder / kPartsName);
  // The spec comes first: runs without one mean nothing.
  if (auto done = write_spec(folder, spec, *read, !*others); !done) return done.error();
  read = read_folder(folder, *cells);
  if (!read) return read.error();
  StoredResults stored = std::move(*read);
  stored.plackett = options.version;
  stored.spec = spec;
  if (auto marked = name_cells(stored); !marked) return marked.error();
  if (!*others) {
    // What was left behind, without what is damaged.
    if (auto done = merge(folder, stored); !done) return done.error();
  }
  if (auto made = make_parts_folder(folder); !made) return made.error();
  StoredResults own{.plackett = options.version, .cells = *cells};
  const CellIndex own_cells(own.cells);
  if (auto done = read_runs(part, true, own, own_cells); !done) return done.error();
  if (auto done = write_file(part, runs_text(own)); !done) return done.error();
  if (auto done = write_file(timings_path(part), ""); !done) return done.error();
  auto lock = lock_part(folder, part);
  if (!lock) return lock.error();
  auto runs = AppendFile::open(part, kSyncEvery);
  if (!runs) return runs.error();
  auto timings = AppendFile::open(timings_path(part), std::chrono::hours(1));
  if (!timings) return timings.error();
  return ResultsFolder(Parts{
      folder, std::move(stored),
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

Result<void> ResultsFolder::append(std::size_t cell, FinishedRun run, unsigned threads) {
  Output& output = *parts_.output;
  if (auto own = require_own_part(); !own) return own;
  if (auto done = output.runs.append(to_line(run)); !done) return done;
  const RunTiming timing{run.record.seconds, run.record.evaluation_seconds, threads};
  const std::string timing_line = to_line(run, timing);
  StoredCell& stored = parts_.stored.cells[cell];
  stored.timings.insert_or_assign(run.record.run, timing);
  stored.runs.insert_or_assign(run.record.run, std::move(run));
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
  auto stored = read_folder(parts_.folder, {});
  if (!stored) return stored.error();
  parts_.stored = std::move(*stored);
  const auto others = others_at_work(parts_.folder, {});
  if (!others) return others.error();
  return *others ? Result<void>() : merge(parts_.folder, parts_.stored);
}

}  // namespace plackett
