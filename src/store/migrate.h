// Moves a store from SQLite to PostgreSQL, or back.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "plackett/result.h"

namespace plackett::store {

struct MigrateOptions {
  std::string from{};  // as open_store() takes them: one is a file, the other one is not
  std::string to{};
  // Called now and then: which table is copied, and how many of all rows are.
  std::function<void(std::string_view table, std::uint64_t done, std::uint64_t total)> progress{};
  // Polled often, from the calling thread; true ends the work with ErrorCode::kStopped.
  std::function<bool()> stop_requested{};
};

struct Migrated {
  std::uint64_t models = 0;
  std::uint64_t impressions = 0;
  std::uint64_t rows = 0;  // of all tables
};

// Copies all rows, with their ids, in one transaction of the target; numbers that are given next
// are above those that were ever used. The source stays as it is.
//
// Fails if one of the two is served, and if the target holds any row. Then the target is as before,
// except that an empty store may be in a database that had none. Servers that start meanwhile fail
// (SQLite) or wait (PostgreSQL).
//
// What exists only while nodes serve a database (who leads what, published versions, reserved
// numbers) is not copied; lists that are queued for the log are appended to it.
Result<Migrated> migrate(const MigrateOptions& options);

}  // namespace plackett::store
