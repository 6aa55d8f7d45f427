#include "experiment/results_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "base/build_id.h"
#include "base/file.h"
#include "base/kernels.h"
#include "experiment/curve.h"
#include "experiment/runs_file.h"
#include "experiment/spec_parts.h"
#include "plackett/method.h"

namespace plackett {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSpecName = "experiment.toml";
constexpr std::string_view kRunsName = "runs.jsonl";
constexpr std::string_view kTimingsName = "timings.jsonl";
constexpr std::string_view kMadeByName = "made_by";

// The first line of a folder's spec: only a file that starts with it is overwritten.
constexpr std::string_view kSpecMark =
    "# Written by plackett compare: what the runs beside it are of.\n";

// A sync costs milliseconds and a run may be as short. A machine that fails loses at most this much
// work, a process that is killed nothing.
constexpr std::chrono::milliseconds kSyncEvery(1000);

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

// The runs in the order of a finished file.
std::string runs_text(const StoredResults& stored) {
  std::string text = to_line(RunsHeader{stored.plackett, identity(stored.spec)});
  for (const auto& [place, run] : stored.runs) text += to_line(run);
  return text;
}

// Whether `text` is the start of a header whose writing was interrupted: the file holds no run.
bool incomplete_header(std::string_view text) {
  constexpr std::string_view kStart = "{\"checksum\":\"";
  constexpr std::size_t kLongest = 300;
  return text.size() < kLongest && text.find('\n') == std::string_view::npos &&
         kStart.starts_with(text.substr(0, kStart.size()));
}

Result<void> add_runs(RunsFile file, const std::string& name, StoredResults& stored) {
  const std::vector<std::uint64_t> points = curve_points(stored.spec.common.impressions);
  for (std::size_t at = 0; at < file.runs.size(); ++at) {
    FinishedRun& run = file.runs[at];
    const auto place =
        place_of(stored.spec, {run.dataset, run.method, run.click_model, run.record.run});
    const auto& curve = run.record.curve;
    const bool fits = place && std::equal(curve.begin(), curve.end(), points.begin(), points.end(),
                                          [](const CurvePoint& point, std::uint64_t impression) {
                                            return point.impression == impression;
                                          });
    if (!fits) {
      return Error{fmt::format("{}:{}: {} under {} on {}, run {}, is not a run of {}", name,
                               file.line_of_runs[at], run.method, run.click_model, run.dataset,
                               run.record.run, kSpecName)};
    }
    const auto [there, added] = stored.runs.emplace(*place, run);
    if (!added && to_line(there->second) != to_line(run)) {
      return Error{fmt::format("{}:{}: a second, different result of the same run", name,
                               file.line_of_runs[at])};
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

// What a run's bits depend on besides spec and data. All instruction sets with fused multiply-add
// agree. A method that a program added is identified by the file that holds its code.
std::string made_by(const ComparisonSpec& spec) {
  const std::string_view kernels_name = kernels().name;
  const bool fused = kernels_name == "avx2" || kernels_name == "avx512";
  std::string text =
      fmt::format("build {}\narithmetic {}\n", build_id(), fused ? "fused" : kernels_name);
  for (const ComparedMethod& method : spec.methods) {
    const auto found = find_method(method.entry.method);
    if (!found || is_built_in(*found.value())) continue;
    text +=
        fmt::format("method {} {}\n", method.entry.method, file_id(code_of(found.value()->make)));
  }
  return text;
}

Result<void> require_same_build(const fs::path& folder, const ComparisonSpec& spec) {
  const auto there = read_file(folder / kMadeByName);
  if (!there || *there == made_by(spec)) return {};
  return Error{ErrorCode::kConflict,
               fmt::format("{}: its runs were made by another build of plackett or on another kind "
                           "of processor, and may differ from what this one gives; {}",
                           folder.string(), kStartOver),
               Hint::kOtherFolderOrFresh};
}

Result<void> require_own_spec(const fs::path& path) {
  if (!is_there(path)) return {};
  const auto text = read_file(path);
  if (!text) return text.error();
  if (text->starts_with(kSpecMark)) return {};
  return Error{ErrorCode::kConflict,
               fmt::format("{}: was not written by plackett, which would overwrite it; use "
                           "another folder",
                           path.string()),
               Hint::kOtherFolder};
}

// If a folder has lost its spec and its runs are of this one, writes it again.
Result<void> restore_spec(const fs::path& folder, const ComparisonSpec& spec,
                          const std::string& spec_text) {
  if (is_there(folder / kSpecName) || !is_there(folder / kRunsName)) return {};
  const auto text = read_file(folder / kRunsName);
  if (!text) return text.error();
  const auto file = parse_runs(*text, {.name = (folder / kRunsName).string()});
  if (!file) return file.error();
  if (file->header.experiment != identity(spec)) {
    return Error{ErrorCode::kConflict,
                 fmt::format("{}: holds runs of another experiment, and no {} to say which; {}",
                             folder.string(), kSpecName, kStartOver),
                 Hint::kOtherFolderOrFresh};
  }
  return write_file(folder / kSpecName, spec_text);
}

}  // namespace

Result<std::optional<StoredResults>> read_results(const fs::path& folder) {
  const bool has_runs = is_there(folder / kRunsName);
  if (!is_there(folder / kSpecName)) {
    if (!has_runs) return std::optional<StoredResults>();
    return Error{fmt::format(
        "{}: {} without {}, so nothing says what the runs are of; the command that made them "
        "restores it",
        folder.string(), kRunsName, kSpecName)};
  }
  auto spec = read_spec(folder / kSpecName);
  if (!spec) return spec.error();
  const auto text = read_if_there(folder / kRunsName);
  if (!text) return text.error();
  // No run was stored: the next command may ask for another experiment.
  if (incomplete_header(*text)) return std::optional<StoredResults>();

  const std::string name = (folder / kRunsName).string();
  auto file = parse_runs(*text, {.name = name});
  if (!file) return file.error();
  if (file->header.experiment != identity(*spec)) {
    return Error{fmt::format("{}:1: not of the experiment in {}", name, kSpecName)};
  }
  if (file->runs.empty() && file->damaged.empty()) return std::optional<StoredResults>();
  StoredResults stored{
      .spec = std::move(spec).value(), .plackett = file->header.plackett, .damaged = file->damaged};
  if (auto added = add_runs(std::move(file).value(), name, stored); !added) return added.error();
  if (const auto timings = read_file(folder / kTimingsName)) {
    stored.timings = parse_timings(*timings, stored.spec);
  }
  return std::optional<StoredResults>(std::move(stored));
}

Result<void> require_same(const StoredResults& stored, const ComparisonSpec& spec,
                          const std::string& version, const fs::path& folder) {
  std::string conflict;
  if (const auto differ = differences(stored.spec, spec); !differ.empty()) {
    conflict = fmt::format("holds another experiment ({})", fmt::join(differ, "; "));
  } else if (stored.plackett != version) {
    conflict =
        fmt::format("its runs were made by plackett {}, this is {}", stored.plackett, version);
  } else {
    return {};
  }
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
  const std::string spec_text = std::string(kSpecMark) + to_toml(spec);
  if (auto read = parse_spec(spec_text, std::string(kSpecName)); !read) return read.error();
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return system_error(folder, "can't create", error.value());
  auto lock = FileLock::take_folder(folder);
  if (!lock) return lock.error();
  if (auto ours = require_own_spec(folder / kSpecName); !ours) return ours.error();
  if (options.fresh) {
    for (const std::string_view name : {kRunsName, kTimingsName, kMadeByName}) {
      fs::remove(folder / name, error);
      if (error) return system_error(folder / name, "can't remove", error.value());
    }
  }
  if (auto done = restore_spec(folder, spec, spec_text); !done) return done.error();
  auto read = read_results(folder);
  if (!read) return read.error();
  StoredResults stored;
  if (*read) {
    stored = std::move(**read);
    auto same = require_same(stored, spec, options.version, folder);
    if (same) same = require_same_build(folder, spec);
    if (!same) return same.error();
  }
  remove_temporaries(folder);
  stored.spec = spec;
  stored.plackett = options.version;
  auto timings_text = read_if_there(folder / kTimingsName);
  if (!timings_text) return timings_text.error();
  timings_text->erase(timings_text->rfind('\n') + 1);  // an incomplete last line
  // The spec comes first: runs without one mean nothing.
  auto written = write_if_changed(folder / kSpecName, spec_text);
  if (written &&
      (!is_there(folder / kRunsName) || !stored.damaged.empty() || stored.runs.empty())) {
    written = write_if_changed(folder / kRunsName, runs_text(stored));
  }
  if (written) written = write_if_changed(folder / kMadeByName, made_by(spec));
  if (written) written = write_if_changed(folder / kTimingsName, *timings_text);
  if (!written) return written.error();
  auto runs = AppendFile::open(folder / kRunsName, kSyncEvery);
  if (!runs) return runs.error();
  auto timings = AppendFile::open(folder / kTimingsName, std::chrono::hours(1));
  if (!timings) return timings.error();
  return ResultsFolder(Parts{folder, std::move(stored), std::move(lock).value(),
                             std::move(runs).value(), std::move(timings).value()});
}

Result<void> ResultsFolder::append(const RunPlace& place, FinishedRun run, unsigned threads) {
  if (auto done = parts_.runs.append(to_line(run)); !done) return done;
  const RunTiming timing{run.record.seconds, run.record.evaluation_seconds, threads};
  const std::string timing_line = to_line(run, timing);
  parts_.stored.runs.insert_or_assign(place, std::move(run));
  parts_.stored.timings.insert_or_assign(place, timing);
  return parts_.timings.append(timing_line);
}

Result<void> ResultsFolder::finish() {
  if (auto done = parts_.runs.sync(); !done) return done;
  if (parts_.stored.runs.size() < run_count(parts_.stored.spec)) return {};
  return write_if_changed(parts_.folder / kRunsName, runs_text(parts_.stored));
}

}  // namespace plackett
