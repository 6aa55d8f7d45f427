// SQLite with owners for its handles, prepared statements and errors as results.
#pragma once

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "base/attempt.h"
#include "plackett/result.h"

namespace plackett::store {

// How long a call waits for a file that another connection holds for a moment, such as a reader
// that recovers the write-ahead log.
inline constexpr int kBusyMs = 5000;

// Binds NULL for an empty text.
struct NullIfEmpty {
  std::string_view text;
};

// A prepared statement. Texts and blobs bound to it must live until it has ended or was reset.
class Statement {
 public:
  void bind(std::int64_t value) { note(sqlite3_bind_int64(handle_.get(), ++bound_, value)); }
  void bind(double value) { note(sqlite3_bind_double(handle_.get(), ++bound_, value)); }
  void bind(std::string_view text);
  void bind(std::span<const std::byte> blob);
  void bind(NullIfEmpty value);
  void bind(std::optional<std::uint32_t> value);
  void bind(std::nullptr_t /*null*/) { note(sqlite3_bind_null(handle_.get(), ++bound_)); }
  void bind(const std::string& text) { bind(std::string_view(text)); }
  void bind(const std::vector<std::byte>& blob) { bind(std::span(blob)); }
  template <typename T>
  requires std::is_integral_v<T> || std::is_enum_v<T>
  void bind(T value) { bind(static_cast<std::int64_t>(value)); }

  // True: there is a row, whose columns can be read. False: the statement has ended.
  Result<bool> step();
  void reset();

  // Columns from 0. Texts and blobs are valid until the next step or reset.
  [[nodiscard]] std::int64_t integer(int column) const {
    return sqlite3_column_int64(handle_.get(), column);
  }
  [[nodiscard]] std::uint64_t count(int column) const {
    return static_cast<std::uint64_t>(integer(column));
  }
  [[nodiscard]] double real(int column) const {
    return sqlite3_column_double(handle_.get(), column);
  }
  [[nodiscard]] std::string_view text(int column) const;
  [[nodiscard]] std::span<const std::byte> blob(int column) const;
  [[nodiscard]] bool is_null(int column) const {
    return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL;
  }

 private:
  friend class Database;
  struct Finalise {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  void note(int code) {
    if (code != SQLITE_OK) bind_code_ = code;
  }

  std::unique_ptr<sqlite3_stmt, Finalise> handle_;
  int bound_ = 0;
  int bind_code_ = SQLITE_OK;  // of the last value that could not be bound
};

// A connection. One thread at a time.
class Database {
 public:
  enum class Access : std::uint8_t { kRead, kWrite };
  // kWrite creates the file if there is none. `vfs` names a registered VFS, for tests; empty: the
  // system's.
  static Result<Database> open(const std::filesystem::path& path, Access access,
                               const std::string& vfs = "");

  // Runs one or more statements without values.
  Result<void> script(const std::string& sql);

  // The calls below prepare each SQL text once and keep it, so texts must be few. `sql` must
  // outlive the database. A statement must not be used again while its rows are being read.

  // Calls row(statement) for every row; it may throw Failed.
  template <typename Row, typename... Values>
  Result<void> each(std::string_view sql, const Row& row, const Values&... values) {
    return attempt([&] {
      Statement& statement = use(sql, values...);
      const Reset reset{statement};
      while (take(statement.step())) row(std::as_const(statement));
    });
  }
  template <typename... Values>
  Result<void> run(std::string_view sql, const Values&... values) {
    return each(
        sql, [](const Statement&) {}, values...);
  }
  // Runs it with the values that bind_all(statement) binds.
  template <typename BindAll>
  Result<void> run_bound(std::string_view sql, const BindAll& bind_all) {
    return attempt([&] {
      Statement& statement = prepare(sql);
      const Reset reset{statement};
      bind_all(statement);
      while (take(statement.step())) {
      }
    });
  }
  // Runs it and gives the id of the last row that was inserted.
  template <typename... Values>
  Result<std::int64_t> insert(std::string_view sql, const Values&... values) {
    if (auto done = run(sql, values...); !done) return done.error();
    return sqlite3_last_insert_rowid(handle());
  }
  // Runs it and gives the number of rows that it changed.
  template <typename... Values>
  Result<std::int64_t> change(std::string_view sql, const Values&... values) {
    if (auto done = run(sql, values...); !done) return done.error();
    return sqlite3_changes64(handle());
  }
  // of(statement) for every row.
  template <typename Of, typename... Values>
  auto all(std::string_view sql, const Of& of, const Values&... values)
      -> Result<std::vector<std::invoke_result_t<Of, const Statement&>>> {
    return attempt([&] {
      std::vector<std::invoke_result_t<Of, const Statement&>> rows;
      take(each(
          sql, [&](const Statement& row) { rows.push_back(of(row)); }, values...));
      return rows;
    });
  }
  // of(statement) for the first row, if there is one.
  template <typename Of, typename... Values>
  auto first(std::string_view sql, const Of& of, const Values&... values)
      -> Result<std::optional<std::invoke_result_t<Of, const Statement&>>> {
    return attempt([&]() -> std::optional<std::invoke_result_t<Of, const Statement&>> {
      Statement& statement = use(sql, values...);
      const Reset reset{statement};
      if (!take(statement.step())) return std::nullopt;
      return of(std::as_const(statement));
    });
  }
  // The first column of the first row; 0 if there is none.
  template <typename T = std::int64_t, typename... Values>
  Result<T> integer(std::string_view sql, const Values&... values) {
    auto found = first(
        sql, [](const Statement& row) { return static_cast<T>(row.integer(0)); }, values...);
    if (!found) return found.error();
    return found->value_or(T{});
  }

  [[nodiscard]] sqlite3* handle() const { return handle_.get(); }
  // Why the last call failed.
  [[nodiscard]] Error error() const;

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };

  struct Reset {
    ~Reset() { statement.reset(); }
    Statement& statement;
  };

  // Throws Failed.
  Statement& prepare(std::string_view sql);
  template <typename... Values>
  Statement& use(std::string_view sql, const Values&... values) {
    Statement& statement = prepare(sql);
    (statement.bind(values), ...);
    return statement;
  }

  std::unique_ptr<sqlite3, Close> handle_;
  std::unordered_map<std::string_view, Statement> statements_;
};

}  // namespace plackett::store
