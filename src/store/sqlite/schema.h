// The tables of the store: docs/formats/store.md.
#pragma once

#include "plackett/result.h"
#include "store/sqlite/database.h"

namespace plackett::store {

// Creates the tables in a new file; otherwise checks that they have this version.
Result<void> make_schema(Database& database);

// Fails if the file is not a plackett store of this version.
Result<void> check_schema(Database& database);

// Writes the version again: a change without effect.
Result<void> write_version(Database& database);

}  // namespace plackett::store
