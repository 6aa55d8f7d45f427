// SQLite with owners for its handles and errors as results.
#pragma once

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "plackett/result.h"

namespace plackett::store {

// A prepared statement, used again and again: bind, step until false, then it is reset by itself
// or by reset(). Texts and blobs bound must live until the reset. One thread at a time, that of
// its database.
class Statement {
 public:
  Statement() = default;

  Statement& bind(std::int64_t value);
  Statement& bind(double value);
  Statement& bind(std::string_view text);
  Statement& bind(std::span<const std::byte> blob);
  Statement& bind_null();

  // True: there is a row, which the columns are read from. False: it has ended and was reset.
  Result<bool> step();
  // For statements without rows.
  Result<void> run();
  void reset();

  // Columns from 0. Texts and blobs are valid until the next step or reset.
  [[nodiscard]] std::int64_t whole(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string_view text(int column) const;
  [[nodiscard]] std::span<const std::byte> blob(int column) const;
  [[nodiscard]] bool is_null(int column) const;

 private:
  friend class Database;
  struct Finalise {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalise> handle_;
  void note(int code) {
    if (code != SQLITE_OK) bind_code_ = code;
  }

  int bound_ = 0;
  int bind_code_ = SQLITE_OK;  // the first value that could not be bound
};

class Database {
 public:
  enum class Access : std::uint8_t { kRead, kWrite };
  // kWrite creates the file where there is none. `vfs` names one that was registered, for tests;
  // empty: the system's.
  static Result<Database> open(const std::filesystem::path& path, Access access,
                               const std::string& vfs = "");

  Result<void> run(const std::string& sql);
  Result<Statement> prepare(std::string_view sql);
  [[nodiscard]] sqlite3* handle() const { return handle_.get(); }

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  std::unique_ptr<sqlite3, Close> handle_;
};

// What SQLite says of its last failure, with the file.
Error sqlite_error(sqlite3* handle);

}  // namespace plackett::store
