#include "experiment/results_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "base/build_id.h"
#include "base/file.h"
#include "base/kernels.h"
#include "experiment/curve.h"
#include "experiment/runs_file.h"
#include "experiment/spec_parts.h"
#include "plackett/method.h"
#include "plackett/options.h"

namespace plackett {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSpecStem = "experiment";
constexpr std::string_view kRunsName = "runs.jsonl";
constexpr std::string_view kTimingsName = "timings.jsonl";
constexpr std::string_view kMadeByName = "made_by";
constexpr std::string_view kPartsName = "parts";
constexpr std::string_view kTimingsSuffix = ".timings";

// The first line of a folder's spec: only a file that starts with it is overwritten.
constexpr std::string_view kSpecMark =
    "# Written by plackett compare: what the runs beside it are of.\n";

// A sync costs milliseconds and a run may be as short. A machine that fails loses at most this much
// work, a process that is killed nothing.
constexpr std::chrono::milliseconds kSyncEvery(1000);
// How long another process may take to open or to finish.
constexpr std::chrono::minutes kPatience(2);

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// Empty if there is no such file.
Result<std::string> read_if_there(const fs::path& path) {
  auto text = read_file(path);
  if (!text && text.error().code == ErrorCode::kNotFound) return std::string();
  return text;
}

Result<void> write_if_changed(const fs::path& path, const std::string& text) {
  if (const auto there = read_file(path); there && *there == text) return {};
  return write_file(path, text);
}

Result<void> remove_file(const fs::path& path) {
  std::error_code error;
  fs::remove(path, error);
  if (error) return system_error(path, "can't remove", error.value());
  return {};
}

// The specs of a folder by their numbers: experiment.toml is 1, experiment-2.toml 2.
fs::path spec_path(const fs::path& folder, unsigned number) {
  return folder / (number == 1 ? fmt::format("{}.toml", kSpecStem)
                               : fmt::format("{}-{}.toml", kSpecStem, number));
}

std::map<unsigned, fs::path> spec_paths(const fs::path& folder) {
  std::map<unsigned, fs::path> paths;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kSpecStem)) continue;
    unsigned number = 1;
    if (name.size() > kSpecStem.size() + 1) {
      std::from_chars(name.data() + kSpecStem.size() + 1, name.data() + name.size(), number);
    }
    if (number > 0 && entry.path() == spec_path(folder, number)) paths[number] = entry.path();
  }
  return paths;
}

std::uint64_t key_of(const StoredCell& cell) { return identity(cell.dataset, cell.simulation); }

// A folder's cells by their identities.
class Cells {
 public:
  explicit Cells(std::vector<StoredCell>& cells) : cells_(cells) {
    for (std::size_t at = 0; at < cells.size(); ++at) index_[key_of(cells[at])] = at;
  }

  // Null if there is none.
  [[nodiscard]] StoredCell* find(std::uint64_t key) {
    const auto found = index_.find(key);
    return found == index_.end() ? nullptr : &cells_[found->second];
  }
  // A newer spec decides how a cell that is there is shown; the larger number of runs counts.
  void add(StoredCell cell) {
    const std::uint64_t key = key_of(cell);
    if (StoredCell* there = find(key)) {
      cell.simulation.runs = std::max(cell.simulation.runs, there->simulation.runs);
      cell.runs = std::move(there->runs);
      cell.timings = std::move(there->timings);
      *there = std::move(cell);
    } else {
      index_[key] = cells_.size();
      cells_.push_back(std::move(cell));
    }
  }

 private:
  std::vector<StoredCell>& cells_;
  std::map<std::uint64_t, std::size_t> index_;
};

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

// Whether `text` is the start of a header whose writing was interrupted: the file holds no run.
bool incomplete_header(std::string_view text) {
  constexpr std::string_view kStart = "{\"checksum\":\"";
  constexpr std::size_t kLongest = 300;
  return text.size() < kLongest && text.find('\n') == std::string_view::npos &&
         kStart.starts_with(text.substr(0, kStart.size()));
}

Result<void> add_runs(RunsFile file, const std::string& name, Cells& cells) {
  for (std::size_t at = 0; at < file.runs.size(); ++at) {
    FinishedRun& run = file.runs[at];
    StoredCell* cell = cells.find(run.cell);
    const auto wrong = [&](std::string_view what) {
      return Error{fmt::format("{}:{}: {} under {} on {}, run {}: {}", name, file.line_of_runs[at],
                               run.method, run.click_model, run.dataset, run.record.run, what)};
    };
    if (cell == nullptr) {
      return wrong("not a run of an experiment in this folder; the command that made it adds the "
                   "experiment again");
    }
    const std::vector<std::uint64_t> points = curve_points(cell->simulation.impressions);
    const auto& curve = run.record.curve;
    const bool fits = std::equal(curve.begin(), curve.end(), points.begin(), points.end(),
                                 [](const CurvePoint& point, std::uint64_t impression) {
                                   return point.impression == impression;
                                 });
    if (!fits) return wrong("its curve is of another number of impressions");
    const auto [there, added] = cell->runs.emplace(run.record.run, run);
    if (!added && to_line(there->second) != to_line(run)) {
      return wrong("a second, different result of the same run");
    }
  }
  return {};
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

// An address in the program or shared library that defines a method.
const void* code_of(const decltype(Method::make)& make) {
  using Plain = std::unique_ptr<Learner> (*)(std::unique_ptr<Ranker>, const MethodRules&,
                                             const SettingValues&);
  if (const auto* plain = make.target<Plain>()) return reinterpret_cast<const void*>(*plain);
  return &make.target_type();  // a class of the caller's own: its type information
}

// What a run's bits depend on besides spec and data: keys and values. All instruction sets with
// fused multiply-add agree. A method that a program added is identified by the file that holds its
// code.
using MadeBy = std::map<std::string, std::string>;

MadeBy made_by(const std::vector<StoredCell>& cells) {
  const std::string_view kernels_name = kernels().name;
  const bool fused = kernels_name == "avx2" || kernels_name == "avx512";
  MadeBy made{{"build", std::string(build_id())},
              {"arithmetic", std::string(fused ? "fused" : kernels_name)}};
  for (const StoredCell& cell : cells) {
    const std::string& name = cell.simulation.method;
    const auto found = find_method(name);
    if (!found || is_built_in(*found.value())) continue;
    made.try_emplace("method " + name, file_id(code_of(found.value()->make)));
  }
  return made;
}

MadeBy parse_made_by(std::string_view text) {
  MadeBy made;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t space = line.rfind(' ');
    if (space == std::string_view::npos) continue;
    made.emplace(line.substr(0, space), line.substr(space + 1));
  }
  return made;
}

// Records what makes the runs. Fails if what is recorded differs and there are runs.
Result<void> claim_made_by(const fs::path& folder, const StoredResults& stored,
                           const std::vector<StoredCell>& cells) {
  const auto text = read_if_there(folder / kMadeByName);
  if (!text) return text.error();
  MadeBy all = stored.finished() > 0 ? parse_made_by(*text) : MadeBy();
  for (const auto& [key, value] : made_by(cells)) {
    if (all.try_emplace(key, value).first->second == value) continue;
    return Error{ErrorCode::kConflict,
                 fmt::format("{}: its runs were made by another build of plackett or on another "
                             "kind of processor, and may differ from what this one gives; {}",
                             folder.string(), kStartOver),
                 Hint::kOtherFolderOrFresh};
  }
  std::string lines;
  for (const auto& [key, value] : all) lines += fmt::format("{} {}\n", key, value);
  return write_if_changed(folder / kMadeByName, lines);
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

// The files of one shard.
fs::path part_path(const fs::path& folder, const Shard& shard) {
  return folder / kPartsName / fmt::format("{}-of-{}.jsonl", shard.number, shard.count);
}
fs::path timings_path(const fs::path& part) {
  return part.parent_path() / (part.stem().string() + std::string(kTimingsSuffix) + ".jsonl");
}

std::set<fs::path> part_paths(const fs::path& folder) {
  std::set<fs::path> paths;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder / kPartsName, error)) {
    const fs::path name = entry.path().filename();
    if (name.extension() == ".jsonl" && name.stem().extension() != kTimingsSuffix) {
      paths.insert(entry.path());
    }
  }
  return paths;
}

// Fails with kConflict if another process is working on the part.
Result<FileLock> lock_part(const fs::path& folder, const fs::path& part) {
  return FileLock::take(part, fmt::format("{}: another plackett is working on part {}",
                                          folder.string(), part.stem().string()));
}

// One file's runs; a file that is not there has none. An incomplete last line of a part is one that
// is being written.
Result<void> read_runs(const fs::path& path, bool is_part, StoredResults& stored, Cells& cells) {
  auto text = read_if_there(path);
  if (!text) return text.error();
  if (incomplete_header(*text)) return {};
  if (is_part) text->erase(text->rfind('\n') + 1);
  const std::string name = path.string();
  auto file = parse_runs(*text, {.name = name});
  if (!file) return file.error();
  if (!stored.plackett.empty() && stored.plackett != file->header.plackett) {
    return Error{fmt::format("{}:1: made by plackett {}, other runs by {}", name,
                             file->header.plackett, stored.plackett)};
  }
  stored.plackett = file->header.plackett;
  for (const std::size_t line : file->damaged) {
    stored.damaged.push_back(fmt::format("{}:{}", name, line));
  }
  return add_runs(std::move(*file), name, cells);
}

void read_timings(const fs::path& path, Cells& cells) {
  const auto text = read_file(path);
  if (!text) return;
  for (const auto& [key, timing] : parse_timings(*text)) {
    if (StoredCell* cell = cells.find(key.first)) cell->timings[key.second] = timing;
  }
}

// Adds a spec to those of the folder, in place of those that it contains and, if this process is
// `alone`, of those without a finished run.
Result<void> write_spec(const fs::path& folder, ComparisonSpec spec, StoredResults& stored,
                        bool alone) {
  Cells cells(stored.cells);
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
  auto written = write_if_changed(spec_path(folder, number), std::string(kSpecMark) + to_toml(spec));
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

std::uint32_t StoredCell::missing() const {
  const auto done = std::distance(runs.begin(), runs.lower_bound(simulation.runs));
  return simulation.runs - static_cast<std::uint32_t>(done);
}

std::uint64_t StoredResults::finished() const {
  std::uint64_t count = 0;
  for (const StoredCell& cell : cells) count += cell.runs.size();
  return count;
}

std::uint64_t StoredResults::asked() const {
  std::uint64_t count = finished();
  for (const StoredCell& cell : cells) count += cell.missing();
  return count;
}

Result<std::vector<StoredCell>> empty_cells(const ComparisonSpec& spec) {
  auto cells = cells_of(spec);
  if (!cells) return cells.error();
  std::vector<StoredCell> all;
  for (ComparedCell& cell : *cells) {
    all.push_back({.dataset = spec.datasets[cell.dataset],
                   .simulation = std::move(cell.simulation),
                   .family = std::move(cell.family),
                   .swept = std::move(cell.swept),
                   .surroundings = std::move(cell.surroundings)});
  }
  return all;
}

bool in_shard(const Shard& shard, std::size_t cell, std::uint32_t run, std::uint32_t runs) {
  return (std::uint64_t{cell} * runs + run) % shard.count + 1 == shard.number;
}

Result<StoredResults> read_folder(const fs::path& folder, std::vector<StoredCell> asked) {
  StoredResults stored;
  Cells cells(stored.cells);
  for (const auto& [number, path] : spec_paths(folder)) {
    const auto spec = read_spec(path);
    if (!spec) return spec.error();
    auto added = empty_cells(*spec);
    if (!added) return added.error().in(path.string());
    for (StoredCell& cell : *added) cells.add(std::move(cell));
    stored.spec = *spec;
  }
  for (StoredCell& cell : asked) cells.add(std::move(cell));
  // A process that finishes moves runs from the parts to the one file, so that comes last.
  for (const fs::path& part : part_paths(folder)) {
    if (auto read = read_runs(part, true, stored, cells); !read) return read.error();
    read_timings(timings_path(part), cells);
  }
  if (auto read = read_runs(folder / kRunsName, false, stored, cells); !read) return read.error();
  read_timings(folder / kTimingsName, cells);
  if (auto marked = set_baselines(stored); !marked) return marked.error();
  return stored;
}

Result<std::optional<StoredResults>> read_results(const fs::path& folder) {
  if (spec_paths(folder).empty()) {
    if (!is_there(folder / kRunsName)) return std::optional<StoredResults>();
    return Error{fmt::format(
        "{}: {} without {}, so nothing says what the runs are of; the command that made them "
        "restores it",
        folder.string(), kRunsName, spec_path("", 1).string())};
  }
  auto stored = read_folder(folder, {});
  if (!stored) return stored.error();
  if (stored->finished() == 0 && stored->damaged.empty()) return std::optional<StoredResults>();
  return std::optional<StoredResults>(std::move(*stored));
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
  if (auto read = parse_spec(to_toml(spec), std::string(kSpecStem)); !read) return read.error();
  auto cells = empty_cells(spec);
  if (!cells) return cells.error();
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return system_error(folder, "can't create", error.value());
  auto setting_up = FileLock::take_folder(folder, kPatience);
  if (!setting_up) return setting_up.error();
  if (auto ours = require_own_specs(folder); !ours) return ours.error();

  const fs::path part = part_path(folder, options.shard);
  const bool alone = options.shard.count == 1 || options.fresh;
  const auto others = others_at_work(folder, alone ? fs::path() : part);
  if (!others) return others.error();
  if (*others && alone) {
    return Error{ErrorCode::kConflict,
                 fmt::format("{}: another plackett is working in this folder", folder.string())};
  }
  if (is_there(part)) {
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
  if (auto marked = set_baselines(stored); !marked) return marked.error();
  if (!*others) {
    // What was left behind, without what is damaged.
    if (auto done = merge(folder, stored); !done) return done.error();
  }
  if (auto made = make_parts_folder(folder); !made) return made.error();
  StoredResults own{.plackett = options.version, .cells = *cells};
  Cells own_cells(own.cells);
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
      Output{std::move(lock).value(), std::move(runs).value(), std::move(timings).value()}});
}

Result<void> ResultsFolder::append(std::size_t cell, FinishedRun run, unsigned threads) {
  Output& output = *parts_.output;
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
