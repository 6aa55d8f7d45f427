// The files of a results folder, and what they hold (docs/formats/results.md).
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/stored_cells.h"
#include "plackett/result.h"
#include "plackett/results.h"
#include "plackett/simulation.h"

namespace plackett {

inline constexpr std::string_view kRunsName = "runs.jsonl";
inline constexpr std::string_view kTimingsName = "timings.jsonl";
inline constexpr std::string_view kMadeByName = "made_by";
inline constexpr std::string_view kPartsName = "parts";

// The specs of a folder by their numbers: experiment.toml is 1, experiment-2.toml 2.
std::filesystem::path spec_path(const std::filesystem::path& folder, unsigned number);
std::map<unsigned, std::filesystem::path> spec_paths(const std::filesystem::path& folder);

// The files of one shard: runs and their timings.
std::filesystem::path part_path(const std::filesystem::path& folder, const Shard& shard);
std::filesystem::path timings_path(const std::filesystem::path& part);
// The runs of all shards.
std::set<std::filesystem::path> part_paths(const std::filesystem::path& folder);

// Empty if there is no such file.
Result<std::string> read_if_there(const std::filesystem::path& path);
Result<void> write_if_changed(const std::filesystem::path& path, const std::string& text);

// What runs were made from, and where that was first said.
class InputsSeen {
 public:
  // Fails if the run was made from other data of the same name than one before it, or from another
  // content of a click-model file.
  Result<void> add(const FinishedRun& run, const std::string& place);

 private:
  struct Input {
    std::string value;
    std::string place;
  };
  std::map<std::string, Input> inputs_;  // by their keys in MadeBy
};

// Reads runs from files into the results' cells, which must be there. Two records of the same run
// become one with what either measured. Fails if they differ, or as InputsSeen does.
class RunsReader {
 public:
  // Both must outlive it.
  RunsReader(StoredResults& stored, const CellIndex& cells) : stored_(stored), cells_(cells) {}

  // A file that is not there has no runs. An incomplete last line of a part is one that is being
  // written.
  Result<void> read(const std::filesystem::path& path, bool is_part);

 private:
  Result<void> add(const FinishedRun& run, const std::string& place);

  StoredResults& stored_;
  const CellIndex& cells_;
  InputsSeen inputs_;
};

// The cells of a folder's specs without runs, then those of `asked`, and the newest spec.
Result<StoredResults> read_specs(const std::filesystem::path& folder,
                                 std::vector<StoredCell> asked);

// What a folder holds, with the cells of `asked` after its own.
Result<StoredResults> read_folder(const std::filesystem::path& folder,
                                  std::vector<StoredCell> asked);

}  // namespace plackett
