// Opens the store that a user names: a file, or the URL of a PostgreSQL database.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "plackett/result.h"
#include "serving/store.h"

namespace plackett::store {

// Whether `db` is postgresql://... or postgres://..., in small letters or not.
bool is_postgres(std::string_view db);

// `db` as messages may show it: without a password, whether it is a URL or is refused.
std::string shown_name(std::string_view db);

// Fails if `db` is neither a file nor a URL of PostgreSQL but looks like a database elsewhere:
// "mysql://...", "host=... dbname=...". A file of such a name can be given as ./NAME.
Result<void> check_name(std::string_view db);

// As open_sqlite() and open_postgres(), for names that check_name() allows.
Result<std::unique_ptr<serving::Store>> open_store(const std::string& db);

// As read_sqlite() and read_postgres().
Result<std::unique_ptr<serving::StoreReader>> read_store(const std::string& db);

}  // namespace plackett::store
