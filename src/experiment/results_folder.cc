#include "experiment/results_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <system_error>
#include <utility>

#include "base/build_id.h"
#include "base/file.h"
#include "base/kernels.h"
#include "experiment/identity.h"
#include "experiment/results_names.h"
#include "experiment/spec_file.h"
#include "experiment/timings_file.h"
#include "plackett/method.h"

namespace plackett {
namespace {

namespace fs = std::filesystem;

// Syncing costs milliseconds and runs may be as short: at most this much work is lost with the
// machine, nothing with the process.
constexpr std::chrono::milliseconds kSyncEvery(1000);

// The spec's runs in the order of a finished file.
std::string runs_text(const StoredResults& stored) {
  std::string text = to_line(RunsHeader{stored.plackett, identity(stored.spec)});
  for (const auto& [place, run] : stored.runs) text += to_line(run);
  return text;
}

// What a process that was killed while it wrote left behind.
void remove_temporaries(const fs::path& folder) {
  constexpr std::size_t kChanceCharacters = 6;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const std::size_t mark = name.rfind(kTemporaryMark);
    if (mark == std::string::npos || mark == 0 ||
        name.size() != mark + kTemporaryMark.size() + kChanceCharacters) {
      continue;
    }
    std::error_code ignored;
    if (entry.is_regular_file(ignored)) fs::remove(entry.path(), ignored);
  }
}

Result<void> write_if_changed(const fs::path& path, const std::string& text) {
  std::error_code error;
  if (fs::exists(path, error)) {
    if (const auto there = read_file(path); there && *there == text) return {};
  }
  return write_file(path, text);
}

// Somewhere in the program or shared library that holds what is called.
const void* code_of(const decltype(Method::make)& make) {
  using Plain = std::unique_ptr<Learner> (*)(std::unique_ptr<Ranker>, const MethodRules&,
                                             const SettingValues&);
  if (const auto* plain = make.target<Plain>()) return reinterpret_cast<const void*>(*plain);
  return &make.target_type();  // a class of the caller's own, so its description lies there too
}

// What a run's bits depend on besides spec and data. All sets with fused multiply-add agree. A
// method that a program added is as its own build has it.
std::string made_by(const ComparisonSpec& spec) {
  const std::string_view kernels_name = kernels().name;
  const bool fused = kernels_name == "avx2" || kernels_name == "avx512";
  const std::string own = build_id();
  std::string text = fmt::format("build {}\narithmetic {}\n", own, fused ? "fused" : kernels_name);
  for (const ComparedMethod& method : spec.methods) {
    const auto found = find_method(method.entry.method);
    if (!found) continue;
    const std::string build = build_id_of(code_of(found.value()->make));
    if (build != own) text += fmt::format("method {} {}\n", method.entry.method, build);
  }
  return text;
}

Result<void> require_same_build(const fs::path& folder, const ComparisonSpec& spec) {
  const auto there = read_file(folder / kMadeByName);
  if (!there || *there == made_by(spec)) return {};
  return Error{
      fmt::format("{}: its runs were made by another build of plackett or on another kind of "
                  "processor, and may not be what this one gives; {}",
                  folder.string(), kOrBeginAnew),
      Hint::kOtherFolderOrFresh};
}

Result<void> require_own_spec(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return {};
  const auto text = read_file(path);
  if (!text) return text.error();
  if (text->starts_with(kSpecMark)) return {};
  return Error{fmt::format("{}: was not written by plackett, which would write over it; {}",
                           path.string(), kGiveAnotherFolder),
               Hint::kOtherFolder};
}

// The spec of a folder that has lost it, where its runs are of this one.
Result<void> restore_spec(const fs::path& folder, const ComparisonSpec& spec,
                          const std::string& spec_text) {
  std::error_code error;
  if (fs::exists(folder / kSpecName, error) || !fs::exists(folder / kRunsName, error)) return {};
  const auto text = read_file(folder / kRunsName);
  if (!text) return text.error();
  const auto file = parse_runs(*text, {.name = (folder / kRunsName).string()});
  if (!file) return file.error();
  if (file->header.experiment != identity(spec)) {
    return Error{fmt::format("{}: holds runs of another experiment, and no {} to say which; {}",
                             folder.string(), kSpecName, kOrBeginAnew),
                 Hint::kOtherFolderOrFresh};
  }
  return write_file(folder / kSpecName, spec_text);
}

}  // namespace

ResultsFolder::ResultsFolder(fs::path folder, StoredResults stored, FileLock lock, AppendFile runs,
                             AppendFile timings)
    : folder_(std::move(folder)),
      stored_(std::move(stored)),
      lock_(std::move(lock)),
      runs_(std::move(runs)),
      timings_(std::move(timings)) {}

Result<void> require_same(const StoredResults& stored, const ComparisonSpec& spec,
                          const std::string& version, const fs::path& folder) {
  if (const auto differ = differences(stored.spec, spec); !differ.empty()) {
    return Error{fmt::format("{}: holds another experiment ({}); {}", folder.string(),
                             fmt::join(differ, "; "), kOrBeginAnew),
                 Hint::kOtherFolderOrFresh};
  }
  if (stored.plackett != version) {
    return Error{fmt::format("{}: its runs were made by plackett {}, this is {}; {}",
                             folder.string(), stored.plackett, version, kOrBeginAnew),
                 Hint::kOtherFolderOrFresh};
  }
  return {};
}

Result<ResultsFolder> ResultsFolder::open(const fs::path& folder, const ComparisonSpec& spec,
                                          const Options& options) {
  const std::string& version = options.version;
  if (!spec.users.empty()) {
    return Error{
        fmt::format("click model \"{}\" is a user of this program's own, which a folder can't tell "
                    "from another of that name; compare in memory, or describe it in a .toml file",
                    spec.users.front()->name())};
  }
  const std::string spec_text = to_toml(spec);
  if (auto read = parse_spec(spec_text, std::string(kSpecName)); !read) return read.error();
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return Error{fmt::format("{}: can't create: {}", folder.string(), error.message())};
  auto lock = FileLock::take_folder(folder);
  if (!lock) return lock.error();
  if (auto ours = require_own_spec(folder / kSpecName); !ours) return ours.error();
  if (options.fresh) {
    for (const std::string_view name : {kRunsName, kTimingsName, kMadeByName}) {
      fs::remove(folder / name, error);
      if (error) {
        return Error{
            fmt::format("{}: can't remove: {}", (folder / name).string(), error.message())};
      }
    }
  }
  if (auto done = restore_spec(folder, spec, spec_text); !done) return done.error();
  auto read = read_results(folder);
  if (!read) return read.error();
  StoredResults stored;
  if (*read) {
    stored = std::move(**read);
    if (auto same = require_same(stored, spec, version, folder); !same) return same.error();
    if (auto same = require_same_build(folder, spec); !same) return same.error();
  }
  remove_temporaries(folder);
  stored.spec = spec;
  stored.plackett = version;
  // The spec comes first: runs without a spec would be of nobody knows what.
  if (auto done = write_if_changed(folder / kSpecName, spec_text); !done) return done.error();
  if (!fs::exists(folder / kRunsName, error) || !stored.damaged.empty() || stored.runs.empty()) {
    if (auto done = write_if_changed(folder / kRunsName, runs_text(stored)); !done) {
      return done.error();
    }
  }
  if (auto done = write_if_changed(folder / kMadeByName, made_by(spec)); !done) return done.error();
  if (auto done = prepare_timings(folder / kTimingsName); !done) return done.error();
  auto runs = AppendFile::open(folder / kRunsName, kSyncEvery);
  if (!runs) return runs.error();
  auto timings = AppendFile::open(folder / kTimingsName, std::chrono::hours(1));
  if (!timings) return timings.error();
  return ResultsFolder(folder, std::move(stored), std::move(lock).value(), std::move(runs).value(),
                       std::move(timings).value());
}

Result<void> ResultsFolder::append(const RunPlace& place, FinishedRun run, unsigned threads) {
  if (auto done = runs_.append(to_line(run)); !done) return done;
  const RunTiming timing{run.record.seconds, run.record.evaluation_seconds, threads};
  const std::string timing_line = to_line(run, timing);
  stored_.runs.insert_or_assign(place, std::move(run));
  stored_.timings.insert_or_assign(place, timing);
  return timings_.append(timing_line);
}

Result<void> ResultsFolder::finish() {
  if (auto done = runs_.sync(); !done) return done;
  if (stored_.runs.size() < run_count(stored_.spec)) return {};
  return write_if_changed(folder_ / kRunsName, runs_text(stored_));
}

}  // namespace plackett
