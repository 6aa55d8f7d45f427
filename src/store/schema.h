// The store's tables: docs/formats/store.md.
#pragma once

#include "plackett/result.h"
#include "store/sqlite.h"

namespace plackett::store {

// Makes the tables in a new file; in one that has them, checks that they are of this version.
Result<void> make_schema(Database& database);

// Writes the version that is there: a change that changes nothing.
Result<void> write_version(Database& database);

// Fails where the file is no plackett store of this version.
Result<void> check_schema(Database& database);

}  // namespace plackett::store
