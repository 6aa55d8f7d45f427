// The text of results files: one JSON object per line (docs/formats/results.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plackett/result.h"
#include "plackett/results.h"

namespace plackett {

// A fingerprint, checksum or identity as files write it.
std::string hex(std::uint64_t value);

// The first line.
struct RunsHeader {
  std::string plackett;  // the version that made the runs

  bool operator==(const RunsHeader&) const = default;
};

// All end in a line break. A run's times are not in its line. Requires: all numbers finite.
std::string to_line(const RunsHeader& header);
std::string to_line(const FinishedRun& run);
std::string to_line(const FinishedRun& run, const RunTiming& timing);

struct RunsFile {
  RunsHeader header;
  std::vector<FinishedRun> runs;          // in the order of the file
  std::vector<std::size_t> damaged;       // invalid lines, from 1
  std::vector<std::size_t> line_of_runs;  // the line of each run
};

struct ParseRunsOptions {
  std::string name = "runs.jsonl";  // comes first in errors
  bool check = true;                // off: checksums are not compared, for fuzzing
};

// Fails if the first line is not a valid header. Any other line that is not exactly what to_line
// gives for some run counts as damaged.
Result<RunsFile> parse_runs(std::string_view text, const ParseRunsOptions& options);

// A run by its cell's identity and its number.
using RunKey = std::pair<std::uint64_t, std::uint32_t>;
// The last timing of each run. Other lines are ignored.
std::map<RunKey, RunTiming> parse_timings(std::string_view text);

}  // namespace plackett
