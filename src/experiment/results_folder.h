// A results folder while runs are added to it, by one process or several. Whatever ends a process,
// the next one continues with the runs that are missing (docs/formats/results.md).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/append_file.h"
#include "base/file_lock.h"
#include "experiment/made_by.h"
#include "plackett/comparison_spec.h"
#include "plackett/result.h"
#include "plackett/results.h"

namespace plackett {

// Which of a spec's runs are in a shard. Runs are dealt out one by one, cell by cell, so that every
// shard gets about as many of each cell.
bool in_shard(const Shard& shard, std::size_t cell, std::uint32_t run, std::uint32_t runs);

// One thread at a time.
class ResultsFolder {
 public:
  struct Options {
    std::string version;  // of plackett
    bool fresh = false;   // discard what is there
    Shard shard = {};     // that this process works on
  };
  // Creates the folder or adds to what is there, and locks the shard. Damaged records are dropped:
  // their runs are done again. Fails as run_in_folder does; "another build" includes one whose
  // arithmetic rounds differently (without fused multiply-add).
  static Result<ResultsFolder> open(const std::filesystem::path& folder, const ComparisonSpec& spec,
                                    const Options& options);

  // What the folder held when it was opened, and what was appended since.
  [[nodiscard]] const StoredResults& stored() const { return parts_.stored; }

  // Writes the spec. To be called before runs from these inputs are appended. Fails with kConflict,
  // and leaves the folder's specs, if its runs, finished or not, are made from others.
  Result<void> claim_inputs(const MadeBy& inputs);

  // Stores a run of a cell, by its index. On failure the runs before it stay. Fails if the run is
  // there with another result, or if another process, which the locks did not keep out, has removed
  // this one's file.
  Result<void> append(std::size_t cell, FinishedRun run, unsigned threads);

  // Makes the finished runs durable and gives up the shard. If no other process is at work, all
  // runs are then in one file in the order of the cells, so that it does not depend on the order in
  // which they finished, nor on the shards. Nothing may be appended after it.
  Result<void> finish();

 private:
  // The files of this process.
  struct Output {
    std::filesystem::path part;
    FileLock lock;
    AppendFile runs;
    AppendFile timings;
  };
  struct Parts {
    std::filesystem::path folder;
    StoredResults stored;
    bool has_written_spec = false;
    std::optional<Output> output;
  };
  explicit ResultsFolder(Parts parts) : parts_(std::move(parts)) {}
  [[nodiscard]] Result<void> require_own_part() const;
  Result<void> write_own_spec();
  Parts parts_;
};

}  // namespace plackett
