#include "store/postgres/connection.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace plackett::store::postgres {
namespace {

// Of pg_type.h, which belongs to the server.
constexpr Oid kBytes = 17;
constexpr Oid kInteger = 20;
constexpr Oid kText = 25;
constexpr Oid kReal = 701;
constexpr int kBinary = 1;

// libpq keeps what the socket does not take, so long pipelines are flushed on the way.
constexpr std::size_t kQueuedBytes = std::size_t{256} << 10;
constexpr std::size_t kStatementBytes = 64;  // besides its values, about

// The server, too, is to notice within half a minute that its client is gone: that holds locks.
#define SETTINGS                                                      \
  "SET client_min_messages = warning; SET tcp_keepalives_idle = 10; " \
  "SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3; "   \
  "SET tcp_user_timeout = 20000"
constexpr const char* kSettings = SETTINGS;
constexpr const char* kReaderSettings = SETTINGS "; SET default_transaction_read_only = on";

std::uint64_t to_network(std::uint64_t bits) {
  return std::endian::native == std::endian::little ? __builtin_bswap64(bits) : bits;
}

// Without line breaks, and with one space for any other white space.
std::string one_line(std::string_view text) {
  std::string line;
  for (const char letter : text) {
    if (letter == '\n' || letter == '\r') {
      while (line.ends_with(' ')) line.pop_back();
      if (!line.empty()) line += line.ends_with(';') ? " " : "; ";
    } else if (letter != ' ' && std::iscntrl(static_cast<unsigned char>(letter)) == 0) {
      line += letter;
    } else if (!line.empty() && !line.ends_with(' ')) {
      line += ' ';
    }
  }
  if (line.ends_with("; ")) line.resize(line.size() - 2);
  return line;
}

// The parts of a URL as libpq cuts it: user and password end at the first '@' before any '/'.
struct Url {
  std::string_view scheme;  // with "://"
  std::string_view user;
  std::string_view password;
  bool has_user = false;
  bool has_password = false;
  std::string_view place;  // hosts and database
  std::string_view query;  // with '?'
};

Url parts_of(std::string_view url) {
  Url parts;
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return parts;
  parts.scheme = url.substr(0, scheme + 3);
  std::string_view rest = url.substr(scheme + 3);
  const std::size_t end = rest.find_first_of("@/");
  if (end != std::string_view::npos && rest[end] == '@') {
    parts.has_user = true;
    parts.user = rest.substr(0, end);
    const std::size_t colon = parts.user.find(':');
    if (colon != std::string_view::npos) {
      parts.has_password = true;
      parts.password = parts.user.substr(colon + 1);
      parts.user = parts.user.substr(0, colon);
    }
    rest = rest.substr(end + 1);
  }
  const std::size_t query = std::min(rest.find('?'), rest.size());
  parts.place = rest.substr(0, query);
  parts.query = rest.substr(query);
  return parts;
}

// Whether a part of a password may have been taken for host, port or database, because of a '@' or
// '/' in it, or for want of a '@' behind it.
bool is_cut_wrongly(const Url& parts) {
  if (parts.scheme.empty() || parts.place.find('@') != std::string_view::npos) return true;
  std::string_view hosts = parts.place.substr(0, parts.place.find('/'));
  while (!hosts.empty()) {
    const std::size_t end = std::min(hosts.find(','), hosts.size());
    const std::string_view host = hosts.substr(0, end);
    const std::size_t address = host.starts_with('[') ? std::min(host.find(']'), host.size()) : 0;
    const std::size_t port = std::min(host.find(':', address), host.size());
    if (host.find_first_not_of("0123456789", std::min(port + 1, host.size())) !=
        std::string_view::npos) {
      return true;
    }
    hosts.remove_prefix(std::min(end + 1, hosts.size()));
  }
  return false;
}

// Options whose values may be shown.
bool is_public(std::string_view option) {
  constexpr std::string_view kPublic[] = {"user",    "host",    "hostaddr",
                                          "port",    "dbname",  "application_name",
                                          "options", "sslmode", "target_session_attrs"};
  return std::find(std::begin(kPublic), std::end(kPublic), option) != std::end(kPublic);
}

void check(const std::string& url) {
  char* reason = nullptr;
  PQconninfoOption* options = PQconninfoParse(url.c_str(), &reason);
  PQfreemem(reason);  // quotes the URL, password and all
  const bool is_valid = options != nullptr;
  PQconninfoFree(options);
  if (is_valid && !is_cut_wrongly(parts_of(url))) return;
  throw Failed{
      Error{"not a URL of PostgreSQL; expected postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with "
            "%40 for @, %2F for / and %25 for % in names and passwords"}};
}

// Whether the server ends the connection with this error.
bool is_end_of_connection(const PGresult& result) {
  const char* severity = PQresultErrorField(&result, PG_DIAG_SEVERITY_NONLOCALIZED);
  return severity != nullptr && std::string_view(severity) != "ERROR";
}

}  // namespace

Value::Value(std::int64_t value) : type_(kInteger) { hold(static_cast<std::uint64_t>(value)); }
Value::Value(double value) : type_(kReal) { hold(std::bit_cast<std::uint64_t>(value)); }
Value::Value(std::string_view text)
    : type_(kText),
      data_(text.data() == nullptr ? "" : text.data()),
      size_(static_cast<int>(text.size())) {}
Value::Value(std::span<const std::byte> blob)
    : type_(kBytes),
      data_(blob.data() == nullptr ? "" : reinterpret_cast<const char*>(blob.data())),
      size_(static_cast<int>(blob.size())) {}
Value::Value(NullIfEmpty value) : Value(value.text) {
  if (value.text.empty()) data_ = nullptr;
}
Value::Value(NullInteger /*value*/) : type_(kInteger) {}
Value::Value(NullReal /*value*/) : type_(kReal) {}
Value::Value(std::optional<std::uint32_t> value) : type_(kInteger) {
  if (value) hold(*value);
}
void Value::hold(std::uint64_t bits) {
  const std::uint64_t sent = to_network(bits);
  std::memcpy(bits_.data(), &sent, sizeof sent);
  held_ = true;
  size_ = sizeof sent;
}

std::int64_t Row::integer(int column) const {
  const auto bytes = blob(column);
  const bool is_negative = !bytes.empty() && (bytes[0] & std::byte{0x80}) != std::byte{0};
  std::int64_t value = is_negative ? -1 : 0;
  for (const std::byte byte : bytes) {
    value = static_cast<std::int64_t>((static_cast<std::uint64_t>(value) << 8U) |
                                      static_cast<std::uint64_t>(byte));
  }
  return value;
}
double Row::real(int column) const { return std::bit_cast<double>(count(column)); }
std::string_view Row::text(int column) const {
  return {PQgetvalue(result_, row_, column),
          static_cast<std::size_t>(PQgetlength(result_, row_, column))};
}
std::span<const std::byte> Row::blob(int column) const {
  const std::string_view bytes = text(column);
  return {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()};
}

bool Row::is_null(int column) const { return PQgetisnull(result_, row_, column) == 1; }

std::string without_password(std::string_view url) {
  const Url parts = parts_of(url);
  if (is_cut_wrongly(parts)) return std::string(parts.scheme) + "***";
  std::string shown(parts.scheme);
  if (parts.has_user) {
    shown += fmt::format("{}{}@", parts.user, parts.has_password ? ":***" : "");
  }
  shown += parts.place;
  for (std::string_view rest = parts.query; !rest.empty();) {
    const std::size_t end = std::min(rest.find('&', 1), rest.size());
    const std::size_t value = std::min(rest.find('='), end);
    const std::string_view option = rest.substr(0, value);  // with '?' or '&'
    shown += option;
    if (value < end)
      shown += is_public(option.substr(1)) ? rest.substr(value, end - value) : "=***";
    rest = rest.substr(end);
  }
  return shown;
}

Result<std::shared_ptr<Connection>> Connection::open(ConnectionOptions options, Attach attach) {
  return attempt([&] {
    // libpq knows the scheme in small letters only.
    const std::size_t scheme = std::min(options.url.find("://"), options.url.size());
    std::transform(options.url.begin(), options.url.begin() + static_cast<std::ptrdiff_t>(scheme),
                   options.url.begin(), [](char byte) {
                     return static_cast<char>(std::tolower(static_cast<unsigned char>(byte)));
                   });
    check(options.url);
    std::shared_ptr<Connection> made(new Connection(std::move(options), std::move(attach)));
    made->connect();
    return made;
  });
}

void Connection::connect() {
  handle_.reset();
  statements_.clear();
  pending_.clear();
  queued_bytes_ = 0;
  failed_.reset();
  state_.clear();
  is_silent_ = false;
  lost_ = true;  // until all is done
  std::string failures;
  std::string last;
  const auto is_connected = [this](const Hosts& hosts) {
    handle_.reset(connect_to(hosts));
    return handle_ != nullptr && PQstatus(handle_.get()) == CONNECTION_OK;
  };
  const Hosts first = std::exchange(options_.first, {});
  std::optional<Hosts> hosts;
  if (first.names.empty() || !is_connected(first)) hosts = Hosts{};  // the URL's
  while (hosts && !is_connected(*hosts)) {
    const std::string failure = one_line(PQerrorMessage(handle_.get()));
    // That of a wrong option is the same for all hosts.
    if (failure != last) failures += (failures.empty() ? "" : "; ") + failure;
    last = failure;
    hosts = hosts_left(handle_.get());
    if (!hosts) {
      throw Failed{{ErrorCode::kUnavailable, fmt::format("can't connect: {}", failures)}};
    }
  }
  // libpq would print notices. One of them may be that the server ends the connection: the end
  // itself comes a moment later.
  is_ended_ = false;
  PQsetNoticeReceiver(
      handle_.get(),
      [](void* self, const PGresult* notice) {
        static_cast<Connection*>(self)->note_notice(*notice);
      },
      this);
  if (std::string_view(PQparameterStatus(handle_.get(), "server_encoding")) != "UTF8") {
    throw Failed{Error{"the database's encoding must be UTF8"}};
  }
  set_up(((options_.read_only ? kReaderSettings : kSettings) + options_.settings).c_str());
  lost_ = false;
  if (!attach_) return;
  attaching_ = true;
  const auto attached = attempt([&] { attach_(*this); });
  attaching_ = false;
  if (attached) return;
  roll_back();
  lost_ = true;  // so that it is tried again
  throw Failed{attached.error()};
}

PGconn* Connection::connect_to(const Hosts& hosts) const {
  // What is before dbname yields to the URL; what is after it does not, unless it is empty. A
  // server that does not answer is given up after about 20 s.
  const std::string seconds = std::to_string(options_.connect_seconds);
  const std::pair<const char*, const char*> given[] = {
      {"application_name", options_.name.c_str()},
      {"connect_timeout", seconds.c_str()},
      {"keepalives_idle", "5"},
      {"keepalives_interval", "5"},
      {"keepalives_count", "3"},
      {"tcp_user_timeout", "20000"},
      {"dbname", options_.url.c_str()},
      {"client_encoding", "UTF8"},
      {"host", hosts.names.c_str()},
      {"hostaddr", hosts.addresses.c_str()},
      {"port", hosts.ports.c_str()},
      {"application_name", options_.name_is_fixed ? options_.name.c_str() : ""},
      {nullptr, nullptr}};
  // libpq goes by the last one that is given.
  std::vector<const char*> names;
  std::vector<const char*> values;
  for (const auto& [name, value] : given) {
    names.push_back(name);
    values.push_back(value);
  }
  return PQconnectdbParams(names.data(), values.data(), /*expand_dbname=*/1);
}

void Connection::set_up(const char* sql) {
  lost_ = false;
  bool is_done = PQsetnonblocking(handle_.get(), 1) == 0 && PQsendQuery(handle_.get(), sql) == 1;
  if (is_done) flush();
  while (is_done && !lost_) {
    const Rows result = next_result();
    if (result == nullptr) break;
    is_done = PQresultStatus(result.get()) == PGRES_COMMAND_OK;
  }
  is_done = is_done && !lost_ && PQenterPipelineMode(handle_.get()) == 1;
  lost_ = true;
  if (is_done) return;
  const auto failed = std::exchange(failed_, std::nullopt);
  throw Failed{{ErrorCode::kUnavailable,
                fmt::format("can't connect: {}",
                            failed ? failed->message : one_line(PQerrorMessage(handle_.get())))}};
}

bool Connection::may_try_again() const {
  return state_ == "40001" || state_ == "40P01" || state_ == "23505";
}

bool Connection::is_dead() {
  pollfd socket{.fd = PQsocket(handle_.get()), .events = POLLIN, .revents = 0};
  if (::poll(&socket, 1, 0) == 0) return false;
  // There may be a notice, or word of the connection's end.
  while (PQconsumeInput(handle_.get()) == 1) {
    const bool more = PQisBusy(handle_.get()) == 0 && ::poll(&socket, 1, 0) > 0;
    if (!more) return is_ended_ || PQstatus(handle_.get()) != CONNECTION_OK;
  }
  return true;
}

Result<std::vector<std::string>> Connection::wait_for_notes(int wake,
                                                            std::chrono::milliseconds most) {
  std::vector<std::string> notes;
  const auto take_notes = [&] {
    while (PGnotify* note = PQnotifies(handle_.get())) {
      notes.emplace_back(note->extra);
      PQfreemem(note);
    }
  };
  take_notes();  // that came with other answers
  if (notes.empty()) {
    pollfd sockets[] = {{.fd = PQsocket(handle_.get()), .events = POLLIN, .revents = 0},
                        {.fd = wake, .events = POLLIN, .revents = 0}};
    ::poll(sockets, 2, static_cast<int>(most.count()));
    if (sockets[0].revents != 0) {
      if (PQconsumeInput(handle_.get()) != 1 || PQstatus(handle_.get()) != CONNECTION_OK) {
        lost_ = true;
        return Error{ErrorCode::kUnavailable,
                     fmt::format("the store fails: {}", one_line(PQerrorMessage(handle_.get())))};
      }
      take_notes();
    }
  }
  return notes;
}

Result<void> Connection::reopen() {
  if (in_transaction_) return Error{ErrorCode::kUnavailable, "a transaction is open"};
  if (!lost_ && !is_dead()) return {};
  return attempt([&] {
    if (attaching_) throw Failed{{ErrorCode::kUnavailable, "the connection was lost"}};
    connect();
  });
}

Result<void> Connection::begin() {
  if (auto opened = reopen(); !opened) return opened;
  failed_.reset();
  in_doubt_ = false;
  in_transaction_ = true;
  return send(options_.read_only ? "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY"
                                 : "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE");
}

Result<void> Connection::commit() {
  if (failed_) return *failed_;
  queue("COMMIT", {});
  sync();
  receive();
  // The server warns if it has committed without a standby that it should have waited for.
  if (!failed_ && !warning_.empty()) {
    failed_ = Error{ErrorCode::kUnavailable, fmt::format("the store fails: {}", warning_)};
    state_.clear();
    lost_ = true;
  }
  in_doubt_ = failed_ && lost_;
  if (failed_) return *failed_;
  in_transaction_ = false;
  return {};
}

void Connection::roll_back() {
  if (!std::exchange(in_transaction_, false)) return;
  if (!lost_) {
    sync();  // if a statement has failed, the server goes on behind it
    queue("ROLLBACK", {});
    sync();
    receive();
  }
  failed_.reset();
}

Result<void> Connection::script(const std::string& sql) {
  return attempt([&] {
    take(reopen());
    if (PQexitPipelineMode(handle_.get()) != 1) throw Failed{{ErrorCode::kUnavailable, "busy"}};
    const Rows done(PQexec(handle_.get(), sql.c_str()));
    const ExecStatusType status = PQresultStatus(done.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
      if (done != nullptr) note_error(*done);
      if (PQstatus(handle_.get()) != CONNECTION_OK) note_loss();
    }
    if (!lost_ && PQenterPipelineMode(handle_.get()) != 1) note_loss();
    if (failed_) throw Failed{*std::exchange(failed_, std::nullopt)};
  });
}

void Connection::queue(std::string_view sql, std::span<const Value> values) {
  const int count = static_cast<int>(values.size());
  Prepared& statement = statements_[sql];
  if (!statement.sent) {
    if (statement.name.empty()) statement.name = fmt::format("s{}", statements_.size());
    std::vector<Oid> types;
    for (const Value& value : values) types.push_back(value.type());
    if (PQsendPrepare(handle_.get(), statement.name.c_str(), std::string(sql).c_str(), count,
                      types.data()) != 1) {
      return note_loss();
    }
    statement.sent = true;
    pending_.push_back({Pending::Kind::kPrepare, &statement});
  }
  std::vector<const char*> data;
  std::vector<int> sizes;
  const std::vector<int> formats(values.size(), kBinary);
  queued_bytes_ += kStatementBytes;
  for (const Value& value : values) {
    data.push_back(value.data());
    sizes.push_back(value.size());
    queued_bytes_ += static_cast<std::size_t>(value.size());
  }
  if (PQsendQueryPrepared(handle_.get(), statement.name.c_str(), count, data.data(), sizes.data(),
                          formats.data(), kBinary) != 1) {
    return note_loss();
  }
  pending_.push_back({Pending::Kind::kRun, &statement});
  if (queued_bytes_ > kQueuedBytes) flush();
}

void Connection::sync() {
  if (lost_) return;
  if (PQpipelineSync(handle_.get()) != 1) return note_loss();
  pending_.push_back({Pending::Kind::kSync, nullptr});
}

void Connection::wait(bool write) {
  pollfd socket{.fd = PQsocket(handle_.get()),
                .events = static_cast<short>(write ? POLLIN | POLLOUT : POLLIN),
                .revents = 0};
  const auto most =
      options_.patience.count() > 0 ? static_cast<int>(options_.patience.count()) : -1;
  const int ready = ::poll(&socket, 1, most);
  if (ready < 0 && errno != EINTR) return note_loss();
  if (ready == 0) {
    if (!failed_) {
      failed_ =
          Error{ErrorCode::kUnavailable, fmt::format("the store fails: no answer for {} ms", most)};
      state_.clear();
    }
    is_silent_ = true;
    return note_loss();
  }
  // Results are read while statements are sent: a server that waits to send would not read.
  if ((socket.revents & ~POLLOUT) != 0 && PQconsumeInput(handle_.get()) != 1) note_loss();
}

void Connection::flush() {
  while (!lost_) {
    const int left = PQflush(handle_.get());
    if (left == 0) break;
    if (left < 0) return note_loss();
    wait(/*write=*/true);
  }
  queued_bytes_ = 0;
}

Connection::Rows Connection::next_result() {
  while (!lost_ && PQisBusy(handle_.get()) == 1) {
    const int left = PQflush(handle_.get());
    if (left < 0) {
      note_loss();
      break;
    }
    wait(left > 0);
  }
  if (lost_) return nullptr;  // it would wait for more
  return Rows(PQgetResult(handle_.get()));
}

bool Connection::receive_one(const Pending& pending, Rows& last) {
  const bool is_sync = pending.kind == Pending::Kind::kSync;
  // What commits at a sync may fail there: an error and a null come before the sync's own result.
  // Were that left for later, every answer would be taken for the next statement's.
  for (int nulls = 0; !lost_ && nulls < (is_sync ? 3 : 1);) {
    Rows result = next_result();
    if (result == nullptr) {
      ++nulls;
      continue;
    }
    const ExecStatusType status = PQresultStatus(result.get());
    if (status == PGRES_PIPELINE_SYNC) {
      if (!is_sync) note_loss();
      return is_sync;
    }
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) {
      last = std::move(result);
      continue;
    }
    if (pending.kind == Pending::Kind::kPrepare) pending.statement->sent = false;
    if (status != PGRES_PIPELINE_ABORTED) note_error(*result);
    if (lost_ || PQstatus(handle_.get()) != CONNECTION_OK) {
      note_loss();
      return false;
    }
  }
  if (is_sync) note_loss();
  return !lost_;
}

Connection::Rows Connection::receive() {
  flush();
  Rows last;
  while (!pending_.empty() && !lost_) {
    const Pending next = pending_.front();
    pending_.pop_front();
    if (next.kind == Pending::Kind::kRun) warning_.clear();
    receive_one(next, last);
  }
  if (lost_) pending_.clear();
  return last;
}

void Connection::note_loss() {
  if (!failed_) {
    state_.clear();
    failed_ = Error{ErrorCode::kUnavailable,
                    fmt::format("the store fails: {}", one_line(PQerrorMessage(handle_.get())))};
  }
  lost_ = true;
}

void Connection::note_error(const PGresult& result) {
  const char* state = PQresultErrorField(&result, PG_DIAG_SQLSTATE);
  if (!failed_) {
    state_ = state == nullptr ? "" : state;
    const char* message = PQresultErrorField(&result, PG_DIAG_MESSAGE_PRIMARY);
    std::string text = one_line(message == nullptr ? PQresultErrorMessage(&result) : message);
    const bool is_standby = state_ == "0A000" && text.find("during recovery") != std::string::npos;
    if (!options_.read_only && (state_ == "25006" || is_standby)) {
      text +=
          "; expected a primary that takes changes: give all hosts in the URL, and "
          "target_session_attrs=read-write";
    }
    failed_ = Error{ErrorCode::kUnavailable, fmt::format("the store fails: {}", text)};
  }
  if (is_end_of_connection(result)) lost_ = true;
}

void Connection::note_notice(const PGresult& notice) {
  const char* given = PQresultErrorField(&notice, PG_DIAG_SEVERITY_NONLOCALIZED);
  const std::string_view severity = given == nullptr ? "" : given;
  if (severity == "FATAL" || severity == "PANIC") is_ended_ = true;
  if (severity != "WARNING") return;
  const char* message = PQresultErrorField(&notice, PG_DIAG_MESSAGE_PRIMARY);
  warning_ = one_line(message == nullptr ? "a warning" : message);
}

Connection::Rows Connection::run_query(std::string_view sql, std::span<const Value> values) {
  for (bool again = false;; again = true) {
    if (!in_transaction_) {
      take(again || lost_ ? reopen() : Result<void>());
      failed_.reset();
    }
    if (failed_) throw Failed{*failed_};
    queue(sql, values);
    sync();
    Rows rows = receive();
    if (!failed_) return rows;
    const Error error = *failed_;
    if (in_transaction_) throw Failed{error};
    failed_.reset();
    if (!lost_ || again || attaching_ || (is_silent_ && options_.asks_once)) {
      throw Failed{error};
    }
  }
}

std::int64_t Connection::changed(PGresult& result) {
  const std::string_view text = PQcmdTuples(&result);
  std::int64_t count = 0;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return count;
}

}  // namespace plackett::store::postgres
