// Opens a store after a fault and counts what is not as it was promised.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "traffic.h"

namespace plackett::testing {

struct Findings {
  std::uint64_t lost_feedback = 0;  // acknowledged requests of which something is not there
  std::uint64_t lost_ranks = 0;     // answered and not there
  std::uint64_t lost_snapshots = 0;
  std::uint64_t lost_models = 0;
  std::uint64_t half = 0;       // things of which a part is there
  std::uint64_t different = 0;  // models and snapshots that a replay of the log makes otherwise
  std::uint64_t refused_but_there = 0;
  std::vector<std::string> said{};  // a line each; "it does not open" is only here

  [[nodiscard]] bool none() const { return said.empty(); }
  [[nodiscard]] std::string text() const;
};

struct CheckOptions {
  std::filesystem::path db;
  std::string vfs{};
  bool ranks_survive = false;     // the process alone died
  bool refused_are_none = false;  // what was refused must not be there
};

// Changes nothing in the store but what opening a service does, and where something is lost.
Findings check_store(const CheckOptions& options, const Story& story);

}  // namespace plackett::testing
