#include "store/sqlite.h"

#include <fmt/format.h>

#include <cassert>

namespace plackett::store {
namespace {

// Another process may hold the file for a moment (a reader that recovers the log, say).
constexpr int kBusyMs = 5000;

}  // namespace

Error sqlite_error(sqlite3* handle) {
  const char* file = sqlite3_db_filename(handle, "main");
  return Error{fmt::format("{}: {}", file == nullptr ? "store" : file, sqlite3_errmsg(handle))};
}

Statement& Statement::bind(std::int64_t value) {
  note(sqlite3_bind_int64(handle_.get(), ++bound_, value));
  return *this;
}
Statement& Statement::bind(double value) {
  note(sqlite3_bind_double(handle_.get(), ++bound_, value));
  return *this;
}
Statement& Statement::bind(std::string_view text) {
  // A null pointer would bind NULL.
  const char* data = text.data() == nullptr ? "" : text.data();
  note(sqlite3_bind_text64(handle_.get(), ++bound_, data, text.size(), SQLITE_STATIC, SQLITE_UTF8));
  return *this;
}
Statement& Statement::bind(std::span<const std::byte> blob) {
  if (blob.empty()) {
    note(sqlite3_bind_zeroblob(handle_.get(), ++bound_, 0));
  } else {
    note(sqlite3_bind_blob64(handle_.get(), ++bound_, blob.data(), blob.size(), SQLITE_STATIC));
  }
  return *this;
}
Statement& Statement::bind_null() {
  note(sqlite3_bind_null(handle_.get(), ++bound_));
  return *this;
}

Result<bool> Statement::step() {
  if (bind_code_ != SQLITE_OK) {
    const Error error{fmt::format("a value for the store: {}", sqlite3_errstr(bind_code_))};
    reset();
    return error;
  }
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) {
    reset();
    return false;
  }
  Error error = sqlite_error(sqlite3_db_handle(handle_.get()));
  reset();
  return error;
}

Result<void> Statement::run() {
  auto row = step();
  if (!row) return row.error();
  assert(!*row);
  return {};
}

void Statement::reset() {
  sqlite3_reset(handle_.get());
  bound_ = 0;
  bind_code_ = SQLITE_OK;
}

std::int64_t Statement::whole(int column) const {
  return sqlite3_column_int64(handle_.get(), column);
}
double Statement::real(int column) const { return sqlite3_column_double(handle_.get(), column); }
std::string_view Statement::text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column))};
}
std::span<const std::byte> Statement::blob(int column) const {
  const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(handle_.get(), column));
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column))};
}
bool Statement::is_null(int column) const {
  return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL;
}

Result<Database> Database::open(const std::filesystem::path& path, Access access,
                                const std::string& vfs) {
  const int flags = (access == Access::kWrite ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                              : SQLITE_OPEN_READONLY) |
                    SQLITE_OPEN_NOMUTEX;
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &handle, flags, vfs.empty() ? nullptr : vfs.c_str());
  Database database;
  database.handle_.reset(handle);
  if (code != SQLITE_OK) {
    return Error{fmt::format("{}: can't open: {}", path.string(), sqlite3_errmsg(handle))};
  }
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, kBusyMs);
  return database;
}

Result<void> Database::run(const std::string& sql) {
  if (sqlite3_exec(handle(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return sqlite_error(handle());
  }
  return {};
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* made = nullptr;
  if (sqlite3_prepare_v3(handle(), sql.data(), static_cast<int>(sql.size()),
                         SQLITE_PREPARE_PERSISTENT, &made, nullptr) != SQLITE_OK) {
    return sqlite_error(handle());
  }
  Statement statement;
  statement.handle_.reset(made);
  return statement;
}

}  // namespace plackett::store
