// A comparison in a results folder (docs/formats/results.md).
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plackett/comparison_spec.h"
#include "plackett/export.h"
#include "plackett/record.h"
#include "plackett/result.h"
#include "plackett/simulation.h"

namespace plackett {

// A run's place in a spec, by index. Ordered as a finished results file is.
struct RunPlace {
  std::size_t dataset = 0;      // in ComparisonSpec::datasets
  std::uint32_t run = 0;        // from 0
  std::size_t click_model = 0;  // in ComparisonSpec::click_models
  std::size_t method = 0;       // in ComparisonSpec::methods

  auto operator<=>(const RunPlace&) const = default;
};

// One finished run. A function of spec and data, except its times.
struct FinishedRun {
  std::string dataset = {};      // dataset, method and click model as in the spec
  std::string method = {};       // "pdgd:neural"
  std::string click_model = {};  // a name or a file
  std::string user = {};         // the click model's name in tables
  std::uint64_t data = 0;        // the dataset's fingerprint
  std::uint64_t user_file = 0;   // checksum of the click model's file; 0 if it is built in
  RunRecord record = {};         // its curve
};

// The wall time of a run.
struct RunTiming {
  double seconds = 0;             // the whole run
  double evaluation_seconds = 0;  // of which offline evaluation
  unsigned threads = 1;           // how many runs were done at a time
};

// All that a folder holds.
struct StoredResults {
  ComparisonSpec spec = {};                    // what was asked for
  std::string plackett = {};                   // the version that made the runs
  std::map<RunPlace, FinishedRun> runs = {};   // that are finished
  std::map<RunPlace, RunTiming> timings = {};  // of some of the runs
  std::vector<std::size_t> damaged = {};       // invalid lines of runs.jsonl, from 1
};

// Reads a folder, finished or not, without changing or locking it. Nothing if it holds no
// experiment or does not exist.
PLACKETT_EXPORT Result<std::optional<StoredResults>> read_results(
    const std::filesystem::path& folder);

// The cells in the spec's order: by dataset, click model, method. Cells without a finished run are
// left out. A function of spec and runs alone: times are 0, threads 1.
PLACKETT_EXPORT Comparison assemble(const StoredResults& stored);
// The same with the known times.
PLACKETT_EXPORT Comparison assemble_with_times(const StoredResults& stored);

// Told of a comparison in a folder, in addition to RunOptions::watch. Any member may be empty.
struct FolderWatch {
  // The folder is open, with what it holds.
  std::function<void(const StoredResults& stored)> opened = {};
  // A dataset is about to be loaded; until `loaded`, watch.stop is not asked.
  std::function<void(std::size_t dataset)> loading = {};
  // It is loaded, and its runs start.
  std::function<void(std::size_t dataset)> loaded = {};
  // A run is stored. One call at a time.
  std::function<void(const RunPlace& place, const RunRecord& record)> stored = {};
};

// Does the runs that the folder lacks, dataset by dataset, and stores each as it finishes. A folder
// that does not exist is created. Returns what the folder then holds: fewer than run_count() runs
// if watch.stop asked to stop. Fails, and leaves what is there, if the spec can't run, has users of
// its own, or the folder holds another experiment, runs of another version or build of plackett or
// of other data (unless options.fresh), a spec that plackett did not write, or is in use by another
// process.
PLACKETT_EXPORT Result<StoredResults> run_in_folder(const ComparisonSpec& spec,
                                                    const std::filesystem::path& folder,
                                                    const RunOptions& options = {},
                                                    const FolderWatch& watch = {});

// What a comparison would still do.
struct Plan {
  // One cell with runs left.
  struct Cell {
    std::string label = {};        // of its method
    std::string click_model = {};  // its name
    std::uint32_t runs = 0;        // that are left
    double run_seconds = 0;        // one run on one thread, measured
  };
  // One dataset; without cells if all its runs are finished.
  struct Dataset {
    double load_seconds = 0;       // measured
    std::vector<Cell> cells = {};  // in the spec's order
  };
  std::uint64_t finished_runs = 0;     // in the folder
  std::vector<Dataset> datasets = {};  // as many as in the spec
  double seconds = 0;                  // in all, over all threads
};

// Measures each cell with runs left for a fraction of a second. Loads the datasets that it needs;
// writes nothing. Fails if the folder holds another experiment.
PLACKETT_EXPORT Result<Plan> plan_comparison(const ComparisonSpec& spec,
                                             const std::filesystem::path& folder,
                                             const RunOptions& options = {});

}  // namespace plackett
