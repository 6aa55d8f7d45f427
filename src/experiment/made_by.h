// What a run's bits depend on besides its spec: the program, the data, the click-model files. A
// results folder holds what its runs are made by, also of those that are not finished, so that
// processes that work at once agree (docs/formats/results.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plackett/result.h"
#include "plackett/results.h"

namespace plackett {

// How errors with Hint::kOtherFolderOrFresh end.
inline constexpr std::string_view kStartOver = "use another folder, or start over in this one";

// Keys and values.
using MadeBy = std::map<std::string, std::string>;

// Of a click model's file; 0 if it is built in.
Result<std::uint64_t> user_file_checksum(const std::string& click_model);

// Of the click-model files that drifts change users to, by their paths.
Result<std::map<std::string, std::uint64_t>> drift_file_checksums(std::span<const Drift> drifts);

// What this program makes runs of these cells by, apart from the data.
Result<MadeBy> made_by(const std::vector<StoredCell>& cells, const std::string& version);

// What a run was made from: its dataset's fingerprint, and the checksum of its click-model file if
// it has one.
MadeBy inputs_of(const FinishedRun& run);

// What the folder's runs are made by, together with `own`. Fails with kConflict if they differ.
// Without `others_at_work` only what finished runs need counts: what is recorded may have been left
// by a process that finished none.
Result<MadeBy> agreed(const std::filesystem::path& folder, const StoredResults& stored,
                      const MadeBy& own, bool others_at_work);

// Records it in the folder. Requires: the folder is locked.
Result<void> record(const std::filesystem::path& folder, const MadeBy& made);

// Adds to what is recorded. Fails with kConflict if they differ. Requires: the folder is locked.
Result<void> claim(const std::filesystem::path& folder, const MadeBy& own);

}  // namespace plackett
