// A comparison in a results folder (docs/formats/results.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plackett/comparison_spec.h"
#include "plackett/export.h"
#include "plackett/record.h"
#include "plackett/result.h"
#include "plackett/simulate.h"
#include "plackett/simulation.h"

namespace plackett {

// One finished run. A function of spec and data, except its times.
struct FinishedRun {
  std::uint64_t cell = 0;        // identity of its cell
  std::string dataset = {};      // dataset, method and click model as in the spec
  std::string method = {};       // "pdgd:neural"
  std::string click_model = {};  // a name or a file
  std::string user = {};         // the click model's name in tables
  std::uint64_t data = 0;        // the dataset's fingerprint
  std::string published = {};    // as CellSummary::published_data
  std::uint64_t user_file = 0;   // checksum of the click model's file; 0 if it is built in
  // Checksums of the click-model files that drift changes users to, by their paths.
  std::map<std::string, std::uint64_t> drift_files = {};
  RunRecord record = {};  // its curve
};

// The wall time of a run.
struct RunTiming {
  double seconds = 0;             // the whole run
  double evaluation_seconds = 0;  // of which offline evaluation
  unsigned threads = 1;           // how many runs were done at a time
};

// A cell with its finished runs.
struct StoredCell {
  ComparedDataset dataset = {};                     // what it is on
  SimulationSpec simulation = {};                   // simulation.runs were asked for
  std::string name = {};                            // as in ComparedCell, like what follows
  std::vector<std::string> sweeps = {};             // by their names
  std::string family = {};                          // by what differs in the folder
  std::vector<SweptValue> swept = {};               // likewise
  std::vector<SweptValue> surroundings = {};        // likewise
  std::map<std::uint32_t, FinishedRun> runs = {};   // by number; may be more than were asked for
  std::map<std::uint32_t, RunTiming> timings = {};  // of some of the runs

  // Whether the run is there with all metrics, and validation, that are asked for.
  [[nodiscard]] bool has(std::uint32_t run) const;
};

// What a folder holds.
struct StoredResults {
  ComparisonSpec spec = {};               // of the newest command; says how all is reported
  std::vector<std::string> specs = {};    // spec files, oldest first: "experiment.toml"
  std::string plackett = {};              // the version that made the runs
  std::vector<StoredCell> cells = {};     // of all specs, in the order in which they were asked for
  std::vector<std::string> damaged = {};  // "FILE:LINE" of invalid lines

  // Whether there is no run, not even one without some of the metrics that are asked for.
  [[nodiscard]] bool empty() const;
  // Runs that are there with all that is asked for.
  [[nodiscard]] std::uint64_t finished() const;
  // Runs that were asked for, finished or not.
  [[nodiscard]] std::uint64_t asked() const;
};

// Reads a folder, finished or not, without changing or locking it; processes may be adding runs.
// Nothing if it holds no run or does not exist.
PLACKETT_EXPORT Result<std::optional<StoredResults>> read_results(
    const std::filesystem::path& folder);

// All that several folders hold, as if it were in one; the last one's spec says how it is reported,
// and spec files are named with their folders. Fails if one has no results, or two differ in the
// kind of curve, in a dataset of the same name, in a click-model file, or in the same run.
PLACKETT_EXPORT Result<StoredResults> read_results(std::span<const std::filesystem::path> folders);

// Names the cells by what differs among them, and makes those baselines that spec.baselines names,
// unless it is empty: by their labels, by their methods with all settings, or, if there is none,
// with some of them. Fails on a name that fits no cell. read_results() does it.
PLACKETT_EXPORT Result<void> name_cells(StoredResults& stored);

// Cells without a finished run are left out. A function of spec and runs alone: times are 0,
// threads 1.
PLACKETT_EXPORT Comparison assemble(const StoredResults& stored);
// The same with the known times.
PLACKETT_EXPORT Comparison assemble_with_times(const StoredResults& stored);
// The same with every run: what compare() gives.
PLACKETT_EXPORT Compared compared(const StoredResults& stored);

// Runs and the impressions in them.
struct WorkCount {
  std::uint64_t runs = 0;         // in all
  std::uint64_t impressions = 0;  // in all
};

// Told of a comparison in a folder, in addition to RunOptions::watch: one call at a time, from any
// thread. Any member may be empty.
struct FolderWatch {
  // The folder is open, with what it holds. Of `all` that the spec asks of this shard, `left` will
  // be done.
  std::function<void(const StoredResults& stored, WorkCount all, WorkCount left)> opened = {};
  // A dataset is about to be loaded, or again if there was no memory for it beside others. Until
  // `loaded`, only runs on others ask watch.stop.
  std::function<void(const ComparedDataset& dataset)> loading = {};
  // It is loaded, and its runs start.
  std::function<void()> loaded = {};
  // A run of a cell is stored.
  std::function<void(std::size_t cell, const RunRecord& record)> stored = {};
  // No more runs on a dataset are done.
  std::function<void(const ComparedDataset& dataset)> done = {};
};

// Does the runs of the spec that the folder lacks, or those of them in options.shard, dataset by
// dataset, and stores each as it finishes. Where a GPU alone does the runs, those on one dataset go
// on while the next are loaded and run; if one fails, those under way on others are still done. A
// folder that does not exist is created; one that holds other cells keeps them. Returns what the
// folder then holds; runs are missing if watch.stop asked to stop or other shards are not done.
// Several processes may work in one folder, each on a shard of its own. Fails, and leaves what is
// there, if the spec can't run, has users of its own, or the folder holds runs of another version
// or build of plackett, of other data or with another kind of curve (unless options.fresh), a spec
// that plackett did not write, or another process is working on the same shard; for one of several
// shards also if options.fresh is set or the file system has no locks.
PLACKETT_EXPORT Result<StoredResults> run_in_folder(const ComparisonSpec& spec,
                                                    const std::filesystem::path& folder,
                                                    const RunOptions& options = {},
                                                    const FolderWatch& watch = {});

// What a comparison would still do.
struct Plan {
  // One cell with runs left.
  struct Cell {
    std::string label = {};         // of its method
    std::string click_model = {};   // its name
    std::uint64_t impressions = 0;  // of a run
    std::uint32_t runs = 0;         // that are left
    double run_seconds = 0;         // one run on one thread, measured
    std::string refusal = {};       // under Device::kGpu: why its runs would fail
  };
  // One dataset; without cells if all its runs are finished.
  struct Dataset {
    double load_seconds = 0;       // measured
    std::vector<Cell> cells = {};  // in the spec's order
  };
  std::uint64_t cells = 0;             // of the spec
  std::uint64_t runs = 0;              // of the spec, or of the shard
  std::uint64_t finished_runs = 0;     // of these, in the folder
  std::vector<Dataset> datasets = {};  // as many as in the spec
  double seconds = 0;                  // in all, over all threads
  std::string missing_gpu = {};        // under Device::kGpu: why there is none
};

// Measures each cell with runs left for a fraction of a second. Loads the datasets that it needs;
// writes nothing. Fails as run_in_folder does.
PLACKETT_EXPORT Result<Plan> plan_comparison(const ComparisonSpec& spec,
                                             const std::filesystem::path& folder,
                                             const RunOptions& options = {});

}  // namespace plackett
