// The tables of the store in PostgreSQL: those of docs/formats/store.md, with what several
// processes that write at the same time need besides.
#pragma once

#include "plackett/result.h"
#include "store/postgres/connection.h"

namespace plackett::store::postgres {

// The first number of every advisory lock that plackett takes: "PLKS".
inline constexpr int kLockSpace = 0x504C4B53;

// What one value of the sequences item_version_blocks and log_blocks stands for.
inline constexpr int kNumbersInBlock = 1000;

// Creates the tables, in one transaction, in the first schema of the connection's search_path,
// unless they are there. Several processes may do so at once. Fails if they are of another version.
Result<void> make_schema(Connection& connection);

// Fails if there are no tables, or of another version.
Result<void> check_schema(Connection& connection);

}  // namespace plackett::store::postgres
