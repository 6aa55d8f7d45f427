// A folder that holds an experiment: its spec, its finished runs and their times. Whatever ends a
// process, the next one goes on from the runs that were finished (docs/formats/results.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/append_file.h"
#include "base/file_lock.h"
#include "experiment/runs_file.h"
#include "experiment/spec_parts.h"
#include "plackett/comparison_spec.h"
#include "plackett/result.h"

namespace plackett {

// How errors end that another folder mends ...
inline constexpr std::string_view kGiveAnotherFolder = "give another folder";
// ... and those that beginning anew in the same one mends too (ResultsFolder::Options::fresh).
inline constexpr std::string_view kOrBeginAnew = "give another folder, or begin anew in this one";

using FinishedRuns = std::map<RunPlace, FinishedRun>;

// What a run took, of wall time. No part of the results: no two processes agree on it.
struct RunTiming {
  double seconds = 0;
  double evaluation_seconds = 0;
  unsigned threads = 1;  // that runs were spread over
};
using Timings = std::map<RunPlace, RunTiming>;

struct StoredResults {
  ComparisonSpec spec;
  std::string plackett;  // the version that made the runs
  FinishedRuns runs;
  Timings timings;                   // of some of the runs, perhaps of none
  std::vector<std::size_t> damaged;  // lines of runs.jsonl that are no record, from 1
};

// Reads a folder, finished or not, without changing or locking it. Nothing where it holds no
// experiment at all (it may not even be there).
Result<std::optional<StoredResults>> read_results(const std::filesystem::path& folder);

// Fails, with what differs, where `stored` is not of this spec and version.
Result<void> require_same(const StoredResults& stored, const ComparisonSpec& spec,
                          const std::string& version, const std::filesystem::path& folder);

// A folder being worked in. One thread at a time.
class ResultsFolder {
 public:
  // Makes the folder or takes up what is there, and locks it. Fails, and leaves what is there as
  // it is, where it holds another experiment, one of another version of plackett, or another
  // process. Damaged records are dropped: their runs are to be done again.
  //
  // "Another version" is also another build, or one whose arithmetic rounds otherwise (without
  // fused multiply-add). With `fresh` it begins anew, whatever runs are there. A spec file that
  // plackett did not write is never written over.
  struct Options {
    std::string version;
    bool fresh = false;
  };
  static Result<ResultsFolder> open(const std::filesystem::path& folder, const ComparisonSpec& spec,
                                    const Options& options);

  [[nodiscard]] const StoredResults& stored() const { return stored_; }
  [[nodiscard]] bool has(const RunPlace& place) const { return stored_.runs.contains(place); }

  // Keeps a run for good. On failure the runs before it stay.
  Result<void> append(const RunPlace& place, FinishedRun run, unsigned threads);

  // Makes the finished runs durable and, where all are there, puts them in the order of the spec,
  // so that the file is the same however the runs were come by.
  Result<void> finish();

 private:
  ResultsFolder(std::filesystem::path folder, StoredResults stored, FileLock lock, AppendFile runs,
                AppendFile timings);

  std::filesystem::path folder_;
  StoredResults stored_;
  FileLock lock_;
  AppendFile runs_;
  AppendFile timings_;
};

}  // namespace plackett
