#include "store/open.h"

#include "store/postgres/connection.h"
#include "store/postgres/postgres_store.h"
#include "store/sqlite/sqlite_store.h"

namespace plackett::store {

bool is_postgres(std::string_view db) {
  return db.starts_with("postgresql://") || db.starts_with("postgres://");
}

std::string shown_name(std::string_view db) {
  return is_postgres(db) ? postgres::without_password(db) : std::string(db);
}

Result<std::unique_ptr<serving::Store>> open_store(const std::string& db) {
  if (is_postgres(db)) return open_postgres({.url = db, .alone = false, .shared = true});
  return open_sqlite({.path = db});
}

Result<std::unique_ptr<serving::StoreReader>> read_store(const std::string& db) {
  return is_postgres(db) ? read_postgres(db) : read_sqlite(db);
}

}  // namespace plackett::store
