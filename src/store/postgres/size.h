// How much the store takes.
#pragma once

#include <cstdint>

#include "plackett/result.h"
#include "store/postgres/connection.h"

namespace plackett::store::postgres {

// Bytes of all tables and their indexes on the server's disk, free and dead space included.
Result<std::uint64_t> disk_bytes(Connection& connection);

// Bytes of what can be read, about: rows, what is stored out of line, and their index entries.
// Neither free space in the tables nor rows that were deleted count, vacuumed or not, so that
// dropping rows lowers it at once. Of tables above 8 MB, a fixed sample of the pages is read: an
// error of a few percent, which changes only as the data does.
Result<std::uint64_t> used_bytes(Connection& connection);

// The part of stored items in it, without replaced and deleted ones.
Result<std::uint64_t> item_bytes(Connection& connection);

}  // namespace plackett::store::postgres
