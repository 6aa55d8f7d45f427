// The tables of the store: docs/formats/store.md.
#pragma once

#include "plackett/result.h"
#include "store/sqlite/database.h"

namespace plackett::store {

// Creates the tables in a new file, and brings those of an older version up to date, in one
// transaction. Fails if the file is no plackett store, or of a newer version.
Result<void> make_schema(Database& database);

// For a connection that can't write: makes tables of an older version look like those of this one.
// Fails as make_schema() does.
Result<void> ready_to_read(Database& database);

// Writes the version again: a change without effect.
Result<void> write_version(Database& database);

}  // namespace plackett::store
