// The files of a results folder.
#pragma once

#include <string_view>

namespace plackett {

inline constexpr std::string_view kSpecName = "experiment.toml";
inline constexpr std::string_view kRunsName = "runs.jsonl";
inline constexpr std::string_view kTimingsName = "timings.jsonl";

}  // namespace plackett
