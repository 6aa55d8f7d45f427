// The reading half of the SQLite store.
#pragma once

#include <memory>

#include "serving/store.h"
#include "store/sqlite/database.h"

namespace plackett::store {

// Over a connection of its own, or over the writer's: then it sees uncommitted changes.
std::unique_ptr<serving::StoreReader> make_reader(std::shared_ptr<Database> database);

}  // namespace plackett::store
