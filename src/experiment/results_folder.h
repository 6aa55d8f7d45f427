// A results folder while runs are added to it. Whatever ends a process, the next one continues with
// the runs that are missing (docs/formats/results.md).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "base/append_file.h"
#include "base/file_lock.h"
#include "plackett/comparison_spec.h"
#include "plackett/result.h"
#include "plackett/results.h"

namespace plackett {

// How errors with Hint::kOtherFolderOrFresh end.
inline constexpr std::string_view kStartOver = "use another folder, or start over in this one";

// Fails, with what differs, if `stored` is not of this spec and version.
Result<void> require_same(const StoredResults& stored, const ComparisonSpec& spec,
                          const std::string& version, const std::filesystem::path& folder);

// One thread at a time.
class ResultsFolder {
 public:
  struct Options {
    std::string version;  // of plackett
    bool fresh = false;   // discard the runs that are there
  };
  // Creates the folder or continues with what is there, and locks it. Damaged records are dropped:
  // their runs are done again. Fails as run_in_folder does; "another build" includes one whose
  // arithmetic rounds differently (without fused multiply-add).
  static Result<ResultsFolder> open(const std::filesystem::path& folder, const ComparisonSpec& spec,
                                    const Options& options);

  [[nodiscard]] const StoredResults& stored() const { return parts_.stored; }

  // Stores a run. On failure the runs before it stay.
  Result<void> append(const RunPlace& place, FinishedRun run, unsigned threads);

  // Makes the finished runs durable and, if all are there, writes them in the order of the spec, so
  // that the file does not depend on the order in which they finished.
  Result<void> finish();

 private:
  struct Parts {
    std::filesystem::path folder;
    StoredResults stored;
    FileLock lock;
    AppendFile runs;
    AppendFile timings;
  };
  explicit ResultsFolder(Parts parts) : parts_(std::move(parts)) {}
  Parts parts_;
};

}  // namespace plackett
