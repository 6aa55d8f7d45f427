// The files of a results folder.
#pragma once

#include <string_view>

namespace plackett {

inline constexpr std::string_view kSpecName = "experiment.toml";
inline constexpr std::string_view kRunsName = "runs.jsonl";
inline constexpr std::string_view kTimingsName = "timings.jsonl";
inline constexpr std::string_view kMadeByName = "made_by";

// The first line of a folder's spec: what has it may be written over.
inline constexpr std::string_view kSpecMark =
    "# Written by plackett compare: what the runs beside it are of.\n";

}  // namespace plackett
