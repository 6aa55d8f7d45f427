// Opens the store that a user names: a file, or the URL of a PostgreSQL database.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "plackett/result.h"
#include "serving/store.h"

namespace plackett::store {

// Whether `db` is postgresql://... or postgres://...; otherwise it is a file.
bool is_postgres(std::string_view db);

// `db` as messages may show it: without the URL's password.
std::string shown_name(std::string_view db);

// As open_sqlite() and open_postgres().
Result<std::unique_ptr<serving::Store>> open_store(const std::string& db);

// As read_sqlite() and read_postgres().
Result<std::unique_ptr<serving::StoreReader>> read_store(const std::string& db);

}  // namespace plackett::store
