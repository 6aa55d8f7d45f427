// The text of a results file: one JSON object a line, each with a checksum of its own
// (docs/formats/results.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plackett/record.h"
#include "plackett/result.h"

namespace plackett {

// The first line.
struct RunsHeader {
  std::string plackett;          // the version that made the runs
  std::uint64_t experiment = 0;  // hash of what was asked for

  bool operator==(const RunsHeader&) const = default;
};

// One finished run. Its times are kept elsewhere: these lines are a function of spec and data.
struct FinishedRun {
  std::string dataset;          // name, method and click model as the spec has them
  std::string method;           // "pdgd:neural"
  std::string click_model;      // a name or a file
  std::string user;             // what tables call the click model
  std::uint64_t data = 0;       // the dataset's fingerprint
  std::uint64_t user_file = 0;  // checksum of the click model's file; 0 where it is built in
  RunRecord record;             // seconds and evaluation_seconds are not written
};

// Both end in a line break. Requires: all numbers finite.
std::string to_line(const RunsHeader& header);
std::string to_line(const FinishedRun& run);

struct RunsFile {
  RunsHeader header;
  std::vector<FinishedRun> runs;          // in the order of the file
  std::vector<std::size_t> damaged;       // lines, from 1, that are no record
  std::vector<std::size_t> line_of_runs;  // where each run stood
};

struct ParseRunsOptions {
  std::string name = "runs.jsonl";  // stands first in errors
  bool check = true;                // off: checksums are not compared, for fuzzing
};

// Fails where the first line is no sound header; any other line that is not exactly what to_line
// gives for some record counts as damaged, be it cut, changed or garbage.
Result<RunsFile> parse_runs(std::string_view text, const ParseRunsOptions& options);

}  // namespace plackett
