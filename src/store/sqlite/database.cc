#include "store/sqlite/database.h"

#include <fmt/format.h>

namespace plackett::store {
namespace {

Error error_of(sqlite3* handle) {
  return {ErrorCode::kUnavailable, fmt::format("the store fails: {}", sqlite3_errmsg(handle))};
}

}  // namespace

void Statement::bind(std::string_view text) {
  // A null pointer would bind NULL.
  const char* data = text.data() == nullptr ? "" : text.data();
  note(sqlite3_bind_text64(handle_.get(), ++bound_, data, text.size(), SQLITE_STATIC, SQLITE_UTF8));
}
void Statement::bind(std::span<const std::byte> blob) {
  if (blob.empty()) {
    note(sqlite3_bind_zeroblob(handle_.get(), ++bound_, 0));
  } else {
    note(sqlite3_bind_blob64(handle_.get(), ++bound_, blob.data(), blob.size(), SQLITE_STATIC));
  }
}
void Statement::bind(NullIfEmpty value) {
  if (!value.text.empty()) return bind(value.text);
  note(sqlite3_bind_null(handle_.get(), ++bound_));
}
void Statement::bind(std::optional<std::uint32_t> value) {
  if (value) return bind(*value);
  note(sqlite3_bind_null(handle_.get(), ++bound_));
}

Result<bool> Statement::step() {
  if (bind_code_ != SQLITE_OK) {
    return Error{ErrorCode::kUnavailable,
                 fmt::format("the store can't take a value: {}", sqlite3_errstr(bind_code_))};
  }
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW || code == SQLITE_DONE) return code == SQLITE_ROW;
  return error_of(sqlite3_db_handle(handle_.get()));
}

void Statement::reset() {
  sqlite3_reset(handle_.get());
  bound_ = 0;
  bind_code_ = SQLITE_OK;
}

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

Result<Database> Database::open(const std::filesystem::path& path, Access access,
                                const std::string& vfs) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    return Error{"not a regular file"};  // SQLite would wait for a pipe
  }
  const int flags = (access == Access::kWrite ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                              : SQLITE_OPEN_READONLY) |
                    SQLITE_OPEN_NOMUTEX;
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &handle, flags, vfs.empty() ? nullptr : vfs.c_str());
  Database database;
  database.handle_.reset(handle);
  if (code != SQLITE_OK) {
    return Error{fmt::format("can't open: {}", sqlite3_errmsg(handle))};
  }
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, kBusyMs);
  return database;
}

Error Database::error() const { return error_of(handle()); }

Result<void> Database::script(const std::string& sql) {
  if (sqlite3_exec(handle(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return error();
  return {};
}

Statement& Database::prepare(std::string_view sql) {
  const auto found = statements_.find(sql);
  if (found != statements_.end()) return found->second;
  sqlite3_stmt* made = nullptr;
  if (sqlite3_prepare_v3(handle(), sql.data(), static_cast<int>(sql.size()),
                         SQLITE_PREPARE_PERSISTENT, &made, nullptr) != SQLITE_OK) {
    throw Failed{error()};
  }
  Statement& statement = statements_[sql];
  statement.handle_.reset(made);
  return statement;
}

}  // namespace plackett::store
