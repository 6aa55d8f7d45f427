#include "store/open.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "store/postgres/connection.h"
#include "store/postgres/postgres_store.h"
#include "store/sqlite/sqlite_store.h"

namespace plackett::store {
namespace {

std::string lower(std::string_view text) {
  std::string made(text);
  std::transform(made.begin(), made.end(), made.begin(), [](char byte) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(byte)));
  });
  return made;
}

// "mysql" of "mysql://...", in small letters; of PostgreSQL's also without the slashes. Empty if
// there is none.
std::string scheme_of(std::string_view db) {
  for (const std::string_view ours : {"postgresql", "postgres"}) {
    if (lower(db.substr(0, ours.size() + 1)) == std::string(ours) + ":") return std::string(ours);
  }
  const std::size_t end = db.find("://");
  if (end == std::string_view::npos || end == 0) return "";
  const std::string scheme = lower(db.substr(0, end));
  const bool is_one =
      scheme.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789+-.:") == std::string::npos;
  return is_one ? scheme : "";
}

// Whether it is "host=... dbname=...", as libpq takes it besides URLs.
bool is_list_of_settings(std::string_view db) {
  constexpr std::string_view kKeys[] = {"host", "hostaddr", "port",     "dbname",
                                        "user", "password", "passfile", "service"};
  for (std::size_t at = db.find('='); at != std::string_view::npos; at = db.find('=', at + 1)) {
    std::string_view before = db.substr(0, at);
    before = before.substr(0, before.find_last_not_of(" \t\r\n") + 1);
    const std::size_t space = before.find_last_of(" \t\r\n");
    const std::string key =
        lower(space == std::string_view::npos ? before : before.substr(space + 1));
    if (std::find(std::begin(kKeys), std::end(kKeys), key) != std::end(kKeys)) return true;
  }
  return false;
}

}  // namespace

bool is_postgres(std::string_view db) {
  const std::string scheme = scheme_of(db);
  return (scheme == "postgresql" || scheme == "postgres") &&
         db.substr(scheme.size()).starts_with("://");
}

std::string shown_name(std::string_view db) {
  if (is_postgres(db)) return postgres::without_password(db);
  const std::string scheme = scheme_of(db);
  if (!scheme.empty()) return scheme + ":***";
  return is_list_of_settings(db) ? "***" : std::string(db);
}

Result<void> check_name(std::string_view db) {
  constexpr const char* kRule = "expected a file, or postgresql://USER@HOST:PORT/DATABASE";
  if (db.empty()) return Error{fmt::format("an empty name of a store; {}", kRule)};
  if (is_postgres(db)) return {};
  if (const std::string scheme = scheme_of(db); !scheme.empty()) {
    return Error{fmt::format("a store \"{}:...\"; {}", scheme, kRule)};
  }
  if (is_list_of_settings(db)) {
    return Error{
        fmt::format("a store \"host=... dbname=...\", settings of a connection; {}", kRule)};
  }
  return {};
}

Result<std::unique_ptr<serving::Store>> open_store(const std::string& db) {
  if (auto sound = check_name(db); !sound) return sound.error();
  if (is_postgres(db)) return open_postgres({.url = db, .alone = false, .shared = true});
  return open_sqlite({.path = db});
}

Result<std::unique_ptr<serving::StoreReader>> read_store(const std::string& db) {
  if (auto sound = check_name(db); !sound) return sound.error();
  return is_postgres(db) ? read_postgres(db) : read_sqlite(db);
}

}  // namespace plackett::store
