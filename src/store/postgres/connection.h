// PostgreSQL through libpq: an owner for a connection, prepared statements, pipelines, and errors
// as results.
#pragma once

#include <libpq-fe.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/attempt.h"
#include "plackett/result.h"
#include "store/postgres/hosts.h"

namespace plackett::store::postgres {

// NULL for an empty text.
struct NullIfEmpty {
  std::string_view text;
};

// NULL in a column of integers, and in one of doubles.
struct NullInteger {};
struct NullReal {};

// A value of a statement, in PostgreSQL's binary format. Texts and blobs are not copied.
class Value {
 public:
  // NOLINTBEGIN(google-explicit-constructor): values are given as they are.
  Value(std::int64_t value);
  Value(double value);
  Value(std::string_view text);
  Value(std::span<const std::byte> blob);
  Value(NullIfEmpty value);
  Value(NullInteger value);
  Value(NullReal value);
  Value(std::optional<std::uint32_t> value);
  Value(const std::string& text) : Value(std::string_view(text)) {}
  Value(const std::vector<std::byte>& blob) : Value(std::span(blob)) {}
  template <typename T>
  requires std::is_integral_v<T> || std::is_enum_v<T> Value(T value)
      : Value(static_cast<std::int64_t>(value)) {}
  // NOLINTEND(google-explicit-constructor)

  [[nodiscard]] Oid type() const { return type_; }
  // Null: NULL. Valid as long as the value is, and what it was made of.
  [[nodiscard]] const char* data() const {
    return held_ ? reinterpret_cast<const char*>(bits_.data()) : data_;
  }
  [[nodiscard]] int size() const { return size_; }

 private:
  void hold(std::uint64_t bits);

  Oid type_ = 0;
  bool held_ = false;
  std::array<std::byte, 8> bits_{};
  const char* data_ = nullptr;
  int size_ = 0;
};

// A row of a result. Columns from 0. Texts and blobs are valid as long as the result is; NULL is 0
// or empty.
class Row {
 public:
  Row(const PGresult* result, int row) : result_(result), row_(row) {}

  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] std::uint64_t count(int column) const {
    return static_cast<std::uint64_t>(integer(column));
  }
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string_view text(int column) const;
  [[nodiscard]] std::span<const std::byte> blob(int column) const;
  [[nodiscard]] bool is_null(int column) const;

 private:
  const PGresult* result_;
  int row_;
};

struct ConnectionOptions {
  std::string url{};
  std::string name = "plackett";  // application_name, unless the URL gives one
  bool name_is_fixed = false;     // not even the URL gives another
  bool read_only = false;
  // A server that sends nothing for this long while it is asked is given up; 0: never. So is a host
  // that does not take the connection within `connect_seconds`.
  std::chrono::milliseconds patience{0};
  int connect_seconds = 5;
  bool asks_once = false;  // what got no answer in time is not asked again on a new connection
  // What else is set on every connection: statements, each with a semicolon before it.
  std::string settings{};
  // Tried before the URL's hosts when it is opened; empty: none.
  Hosts first{};
};

// The URL without its passwords, for messages.
std::string without_password(std::string_view url);

// A connection. One thread at a time.
//
// Statements travel in pipelines: send() queues one and does not wait; calls that return rows or
// counts, and commit(), send what is queued and wait for all of it, in one round trip. The first
// error in a transaction is what that wait returns, and every later call until roll_back().
//
// A connection that is lost stays so until the transaction has ended; then begin() and the reading
// calls open a new one. Outside of a transaction, a statement that meets a lost connection is run
// again on a new one, so it must be one that may run twice.
class Connection {
 public:
  // Called on each new connection, before anything else; throws Failed if it can't be used.
  using Attach = std::function<void(Connection&)>;

  // Fails with ErrorCode::kUnavailable if there is no server, and kInvalid if the URL is wrong.
  static Result<std::shared_ptr<Connection>> open(ConnectionOptions options, Attach attach = {});

  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() = default;

  // Whether the server is gone, or has ended this connection.
  [[nodiscard]] bool lost() const { return lost_; }
  // SQLSTATE of the last error; empty if libpq made it.
  [[nodiscard]] const std::string& state() const { return state_; }
  // Whether the last error is of a kind where the same transaction may succeed if it is tried
  // again.
  [[nodiscard]] bool may_try_again() const;
  // Whether the last commit() failed because the connection was lost: the transaction may have been
  // committed or not. So it is if somebody has ended the server's wait for a standby: then it is
  // committed, but a failover may lose it, and the connection is given up.
  [[nodiscard]] bool in_doubt() const { return in_doubt_; }
  [[nodiscard]] bool in_transaction() const { return in_transaction_; }
  [[nodiscard]] bool read_only() const { return options_.read_only; }
  // The server that it is to. Requires: not lost.
  [[nodiscard]] Hosts host() const {
    return {PQhost(handle_.get()), PQhostaddr(handle_.get()), PQport(handle_.get())};
  }

  // Waits for notifications (LISTEN), until `wake` can be read, or the time is up; gives their
  // texts. Outside of transactions.
  Result<std::vector<std::string>> wait_for_notes(int wake, std::chrono::milliseconds most);

  // Opens a new connection if this one is lost. Fails in a transaction.
  Result<void> reopen();

  // Queues BEGIN; opens a new connection first if this one is known to be lost.
  Result<void> begin();
  // In a transaction; after a failure, call roll_back().
  Result<void> commit();
  // Does nothing outside of a transaction.
  void roll_back();

  // Runs one or more statements without values, outside of a transaction. In the last of them,
  // VACUUM is allowed.
  Result<void> script(const std::string& sql);

  // The calls below prepare each SQL text once per connection and keep it, so texts must be few.
  // `sql` must outlive the connection.

  // Queues a statement whose rows don't matter. Requires: in a transaction.
  template <typename... Values>
  Result<void> send(std::string_view sql, const Values&... values) {
    const std::array<Value, sizeof...(Values)> bound{Value(values)...};
    return send_all(sql, bound);
  }
  // The same; the types of the values must be those of the first call with this text.
  Result<void> send_all(std::string_view sql, std::span<const Value> values) {
    if (failed_) return *failed_;
    queue(sql, values);
    return failed_ ? Result<void>(*failed_) : Result<void>();
  }
  // Calls row(Row) for every row, once all of them are here; it may use the connection, and may
  // throw Failed.
  template <typename OfRow, typename... Values>
  Result<void> each(std::string_view sql, const OfRow& row, const Values&... values) {
    return attempt([&] {
      const Rows rows = query(sql, values...);
      for (int at = 0; at < PQntuples(rows.get()); ++at) row(Row(rows.get(), at));
    });
  }
  template <typename... Values>
  Result<void> run(std::string_view sql, const Values&... values) {
    return attempt([&] { query(sql, values...); });
  }
  // Runs it and gives the number of rows that it changed.
  template <typename... Values>
  Result<std::int64_t> change(std::string_view sql, const Values&... values) {
    return attempt([&] { return changed(*query(sql, values...)); });
  }
  // of(row) for every row.
  template <typename Of, typename... Values>
  auto all(std::string_view sql, const Of& of, const Values&... values)
      -> Result<std::vector<std::invoke_result_t<Of, const Row&>>> {
    return attempt([&] {
      std::vector<std::invoke_result_t<Of, const Row&>> rows;
      take(each(
          sql, [&](const Row& row) { rows.push_back(of(row)); }, values...));
      return rows;
    });
  }
  // of(row) for the first row, if there is one.
  template <typename Of, typename... Values>
  auto first(std::string_view sql, const Of& of, const Values&... values)
      -> Result<std::optional<std::invoke_result_t<Of, const Row&>>> {
    return attempt([&]() -> std::optional<std::invoke_result_t<Of, const Row&>> {
      const Rows rows = query(sql, values...);
      if (PQntuples(rows.get()) == 0) return std::nullopt;
      return of(Row(rows.get(), 0));
    });
  }
  // The first column of the first row; 0 if there is none.
  template <typename T = std::int64_t, typename... Values>
  Result<T> integer(std::string_view sql, const Values&... values) {
    auto found = first(
        sql, [](const Row& row) { return static_cast<T>(row.integer(0)); }, values...);
    if (!found) return found.error();
    return found->value_or(T{});
  }

 private:
  struct Finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };
  struct Clear {
    void operator()(PGresult* result) const { PQclear(result); }
  };
  using Rows = std::unique_ptr<PGresult, Clear>;

  struct Prepared {
    std::string name;
    bool sent = false;  // it is there, unless the server says otherwise
  };
  // What a result that is still to come belongs to.
  struct Pending {
    enum class Kind : std::uint8_t { kPrepare, kRun, kSync };
    Kind kind;
    Prepared* statement;
  };

  Connection(ConnectionOptions options, Attach attach)
      : options_(std::move(options)), attach_(std::move(attach)) {}

  void connect();                                              // throws Failed
  [[nodiscard]] PGconn* connect_to(const Hosts& hosts) const;  // to be closed; null without memory
  // Whether the server has ended the connection while nothing was asked of it.
  bool is_dead();

  // The calls below note errors in failed_.
  void queue(std::string_view sql, std::span<const Value> values);
  void sync();
  void flush();
  // Waits until the socket can be read, or written if something is left to send.
  void wait(bool write);
  Rows next_result();
  // Takes the results of all that was sent; the rows of the last statement.
  Rows receive();
  // The results of one statement; false if the connection is lost.
  bool receive_one(const Pending& pending, Rows& last);
  void note_loss();
  // Runs statements without values before the pipeline begins. Throws Failed.
  void set_up(const char* sql);
  void note_error(const PGresult& result);
  // What the server says besides its answers.
  void note_notice(const PGresult& notice);

  // Throws Failed.
  Rows run_query(std::string_view sql, std::span<const Value> values);
  template <typename... Values>
  Rows query(std::string_view sql, const Values&... values) {
    const std::array<Value, sizeof...(Values)> bound{Value(values)...};
    return run_query(sql, bound);
  }
  static std::int64_t changed(PGresult& result);

  ConnectionOptions options_;
  Attach attach_;
  std::unique_ptr<PGconn, Finish> handle_;
  std::unordered_map<std::string_view, Prepared> statements_;
  std::deque<Pending> pending_;
  std::size_t queued_bytes_ = 0;  // about; since the last flush()
  std::optional<Error> failed_;   // the first error of the transaction
  std::string state_;
  bool lost_ = false;
  bool is_silent_ = false;  // it was lost since the server gave no answer in time
  bool is_ended_ = false;   // the server has said so
  std::string warning_;     // of the last statement
  bool in_doubt_ = false;
  bool in_transaction_ = false;
  bool attaching_ = false;
};

}  // namespace plackett::store::postgres
