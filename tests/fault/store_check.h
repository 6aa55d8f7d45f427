// Opens a store after a fault and counts broken promises.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "traffic.h"

namespace plackett::testing {

struct Findings {
  std::uint64_t lost_feedback = 0;  // acknowledged requests that are missing or incomplete
  std::uint64_t lost_ranks = 0;     // answered and missing
  std::uint64_t lost_snapshots = 0;
  std::uint64_t lost_models = 0;
  std::uint64_t half = 0;       // things stored in part
  std::uint64_t different = 0;  // models and snapshots that differ from a replay of the log
  std::uint64_t refused_but_there = 0;
  std::uint64_t remembered = 0;     // units that were forgotten
  std::uint64_t experiments = 0;    // not as was answered, or with other sums than their lists
  std::vector<std::string> said{};  // one line each; "it does not open" is only here

  [[nodiscard]] bool none() const { return said.empty(); }
  [[nodiscard]] std::string text() const;
};

struct CheckOptions {
  std::filesystem::path db;
  std::string vfs{};
  bool ranks_survive = false;     // only the process died
  bool refused_are_none = false;  // what was refused must not be stored
  bool drops = false;             // units were dropped with their impressions
};

// Changes the store only by opening a service, and if something was lost.
Findings check_store(const CheckOptions& options, const Story& story);

}  // namespace plackett::testing
