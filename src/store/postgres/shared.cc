#include "store/postgres/shared.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <charconv>
#include <utility>

#include "store/postgres/reader.h"
#include "store/rows.h"

namespace plackett::store::postgres {

using namespace serving;  // whose interface this implements

namespace {

// Notes as they travel: a letter and the model.
constexpr std::pair<ClusterNote::Kind, char> kLetters[] = {
    {ClusterNote::Kind::kPublished, 'p'},
    {ClusterNote::Kind::kQueued, 'q'},
    {ClusterNote::Kind::kChanged, 'c'},
    {ClusterNote::Kind::kFreed, 'f'},
};

std::string text_of(const ClusterNote& note) {
  for (const auto& [kind, letter] : kLetters) {
    if (kind == note.kind) return fmt::format("{} {}", letter, note.model);
  }
  return "";
}

std::optional<ClusterNote> parse_note(std::string_view text) {
  if (text.size() < 3 || text[1] != ' ') return std::nullopt;
  ClusterNote note;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + 2, end, note.model);
  if (error != std::errc() || stop != end) return std::nullopt;
  for (const auto& [kind, letter] : kLetters) {
    if (letter != text[0]) continue;
    note.kind = kind;
    return note;
  }
  return std::nullopt;
}

}  // namespace

Shared::Shared(std::string url, std::string tag)
    : url_(std::move(url)), tag_(std::move(tag)), wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

Shared::~Shared() {
  if (wake_ >= 0) ::close(wake_);
}

Result<void> Shared::open() {
  // Shorter than the time after which the others end this node.
  auto opened = Connection::open({.url = url_,
                                  .name = tag_,
                                  .name_is_fixed = true,
                                  .patience = std::chrono::milliseconds(2500),
                                  .connect_seconds = 2,
                                  .settings = "; SET idle_in_transaction_session_timeout = 3000"},
                                 [this](Connection& connection) { attach(connection); });
  if (!opened) return opened.error();
  connection_ = *std::move(opened);
  return {};
}

void Shared::attach(Connection& connection) {
  held_.clear();  // the locks went with the connection before
  ++connections_;
  {
    const std::lock_guard lock(host_mutex_);
    host_ = connection.host();
  }
  // The session before may live on at a server that does not know that this process has left it,
  // and hold the locks.
  take(connection.run(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND application_name "
      "= $2 AND pid <> pg_backend_pid()",
      session_, tag_));
  session_ = take(connection.integer("SELECT pg_backend_pid()::bigint"));
  take(connection.run("LISTEN plackett"));
  space_ = take(connection.integer(
      "SELECT ((SELECT oid FROM pg_namespace WHERE nspname = current_schema())::bigint & "
      "1073741823)::bigint"));
}

bool Shared::beat_row(const NodeMeters& meters) {
  return node_ != 0 &&
         take(connection_->change(
             "UPDATE nodes SET seen_at = (extract(epoch FROM clock_timestamp()) * 1000)::bigint, "
             "ranked = $2, events = $3, lag_seconds = $4 WHERE id = $1",
             node_.load(), meters.ranked, meters.events, meters.lag_seconds)) > 0;
}

void Shared::join(const std::string& name) {
  node_ = take(connection_->integer(
      // An answer that was lost leaves a row that nobody beats for: the others would end it, and
      // this process with it.
      "WITH gone AS (DELETE FROM nodes WHERE tag = $2) INSERT INTO nodes(id, name, tag, "
      "started_at, seen_at) SELECT nextval('node_ids'), $1, $2, "
      "now_ms, now_ms FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS "
      "now_ms) AS clock RETURNING id",
      name, tag_));
}

Result<ClusterView> Shared::beat(const std::string& name, const NodeMeters& meters) {
  return attempt([&] {
    if (!beat_row(meters)) {
      // What the others took from this node is not its any more.
      for (const std::int64_t model : std::set<std::int64_t>(held_)) take(release(model));
      join(name);
    }
    // After a crash of the database, nodes have other ids, and nobody ends the old ones.
    for (const std::int64_t gone : take(connection_->all(
             "SELECT DISTINCT node FROM number_blocks AS b WHERE NOT EXISTS(SELECT 1 FROM nodes "
             "WHERE id = b.node)",
             first_column<Row>))) {
      take_numbers(gone);
    }
    return take(look());
  });
}

Result<void> Shared::stay() {
  return attempt([&] {
    const auto seen = take(connection_->change(
        "UPDATE nodes SET seen_at = (extract(epoch FROM clock_timestamp()) * 1000)::bigint WHERE "
        "id = $1",
        node_.load()));
    if (seen == 0) {
      throw Failed{{ErrorCode::kUnavailable, "the other nodes have ended this one"}};
    }
  });
}

Result<ClusterView> Shared::look() {
  return attempt([&] {
    ClusterView view;
    view.node = node_;
    view.connections = connections_;
    view.now =
        take(connection_->integer("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint"));
    view.nodes = take(connection_->all(
        "SELECT id, name, started_at, seen_at, ranked, events, lag_seconds FROM nodes ORDER BY id",
        [](const Row& row) {
          return NodeRow{row.integer(0),
                         std::string(row.text(1)),
                         row.integer(2),
                         row.integer(3),
                         {row.count(4), row.count(5), row.real(6)}};
        }));
    view.models = take(connection_->all(
        "SELECT m.id, m.revision, coalesce(p.version, 0), coalesce(l.node, 0), "
        "coalesce(l.epoch, 0), coalesce(l.wanted, 0), (k.objid IS NOT NULL)::int::bigint, "
        "EXISTS(SELECT 1 FROM queued_log AS q WHERE q.model = m.id)::int::bigint "
        "FROM models AS m LEFT JOIN published AS p ON p.model = m.id "
        "LEFT JOIN leads AS l ON l.model = m.id LEFT JOIN (SELECT objid::bigint AS objid FROM "
        "pg_locks WHERE locktype = 'advisory' AND classid::bigint = $1 AND objsubid = 2 AND "
        "granted AND database = (SELECT oid FROM pg_database WHERE datname = "
        "current_database())) AS k ON k.objid = m.id ORDER BY m.id",
        [](const Row& row) {
          return ModelMark{.model = row.integer(0),
                           .revision = row.count(1),
                           .published = row.count(2),
                           .leader = row.integer(3),
                           .epoch = row.integer(4),
                           .led = row.integer(6) != 0,
                           .wanted = row.integer(5),
                           .queued = row.integer(7) != 0};
        },
        space_));
    for (ModelMark& mark : view.models) mark.held = held_.contains(mark.model);
    return view;
  });
}

Result<void> Shared::end_node(std::int64_t node) {
  return in_transaction([&] {
    // Only one of the others does it.
    const auto tag = take(connection_->first(
        "DELETE FROM nodes WHERE id = $1 RETURNING tag",
        [](const Row& row) { return std::string(row.text(0)); }, node));
    if (!tag) return;
    take(connection_->run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND "
        "datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()",
        *tag));
    send_taking_numbers(node);
  });
}

void Shared::take_numbers(std::int64_t node) {
  take(in_transaction([&] { send_taking_numbers(node); }));
}

// Waits for a transaction of it that is about to be committed, not for ever if that hangs.
void Shared::send_taking_numbers(std::int64_t node) {
  take(connection_->send("SELECT set_config('lock_timeout', '2s', true)"));
  take(connection_->send("UPDATE store_nodes SET ended = 1 WHERE node = $1", node));
  take(connection_->send("DELETE FROM number_blocks WHERE node = $1", node));
}

Result<void> Shared::in_transaction(const std::function<void()>& work) {
  auto done = attempt([&] {
    take(connection_->begin());
    // Not for a standby that is away: what it would lose is done again.
    take(connection_->send("SELECT set_config('synchronous_commit', 'local', true)"));
    work();
    take(connection_->commit());
  });
  if (!done) connection_->roll_back();
  return done;
}

void Shared::leave() {
  if (connection_ == nullptr || node_ == 0 || connection_->lost()) return;
  [[maybe_unused]] const auto left = attempt([&] {
    take(connection_->run("DELETE FROM number_blocks WHERE node = $1", node_.load()));
    take(connection_->run("DELETE FROM nodes WHERE id = $1", node_.load()));
    take(connection_->run("SELECT pg_advisory_unlock_all()"));
    take(connection_->run("SELECT pg_notify('plackett', 'f 0')"));
  });
  held_.clear();
}

Result<std::unique_ptr<StoreReader>> Shared::open_quick_reader() {
  auto connection = Connection::open({.url = url_,
                                      .name = tag_,
                                      .name_is_fixed = true,
                                      .read_only = true,
                                      .patience = std::chrono::milliseconds(3000),
                                      .connect_seconds = 2,
                                      .first = host()});
  if (!connection) return connection.error();
  return make_reader(*std::move(connection));
}

Result<std::unique_ptr<StoreReader>> Shared::open_request_reader() {
  // The server ends a read before this process gives up the connection.
  auto connection = Connection::open({.url = url_,
                                      .name = tag_,
                                      .name_is_fixed = true,
                                      .read_only = true,
                                      .patience = std::chrono::milliseconds(4000),
                                      .connect_seconds = 2,
                                      .asks_once = true,
                                      .settings = "; SET statement_timeout = 3000",
                                      .first = host()});
  if (!connection) return connection.error();
  return make_reader(*std::move(connection));
}

// Readers go there first: a host before it in the URL that hangs would take seconds of each, in
// which the others end this node.
Hosts Shared::host() const {
  const std::lock_guard lock(host_mutex_);
  return host_;
}

void Shared::drain_wake() {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto read = ::read(wake_, &count, sizeof count);
}

Result<std::vector<ClusterNote>> Shared::wait(std::chrono::milliseconds most) {
  if (connection_->lost()) {
    pollfd wake{.fd = wake_, .events = POLLIN, .revents = 0};
    ::poll(&wake, 1, static_cast<int>(most.count()));
    drain_wake();
    return Error{ErrorCode::kUnavailable, "the database can't be reached"};
  }
  const auto texts = connection_->wait_for_notes(wake_, most);
  drain_wake();
  if (!texts) return texts.error();
  std::vector<ClusterNote> notes;
  std::set<ClusterNote> known;
  for (const std::string& text : *texts) {
    const auto note = parse_note(text);
    if (note && known.insert(*note).second) notes.push_back(*note);
  }
  return notes;
}

void Shared::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_, &one, sizeof one);
}

Result<void> Shared::tell(const std::vector<ClusterNote>& notes) {
  return attempt([&] {
    std::set<std::string> texts;
    for (const ClusterNote& note : notes) texts.insert(text_of(note));
    for (const std::string& text : texts) {
      take(connection_->run("SELECT pg_notify('plackett', $1)", text));
    }
  });
}

Result<std::optional<std::int64_t>> Shared::lead(std::int64_t model) {
  return attempt([&]() -> std::optional<std::int64_t> {
    if (!held_.contains(model)) {
      if (!take(connection_->integer<bool>("SELECT pg_try_advisory_lock($1::int, $2::int)::int",
                                           space_, model))) {
        return std::nullopt;
      }
      held_.insert(model);
    }
    // Waits for transactions of the leader before, which hold a lock on the row; not for ever, if
    // that one hangs.
    auto begun = attempt([&] {
      take(connection_->begin());
      take(connection_->send("SELECT set_config('lock_timeout', '2s', true)"));
      const std::int64_t epoch = take(connection_->integer(
          "INSERT INTO leads AS l(model, epoch, node, wanted) VALUES($1, 1, $2, 0) "
          "ON CONFLICT(model) DO UPDATE SET epoch = l.epoch + 1, node = excluded.node, wanted = 0 "
          "RETURNING epoch",
          model, node_.load()));
      take(connection_->commit());
      return epoch;
    });
    if (begun) {
      led_again_ = true;
      return *begun;
    }
    const bool is_lost = connection_->lost();
    connection_->roll_back();
    if (is_lost) throw Failed{begun.error()};
    take(release(model));
    return std::nullopt;
  });
}

Result<void> Shared::release(std::int64_t model) {
  if (held_.erase(model) == 0 || connection_->lost()) return {};
  return connection_->run("SELECT pg_advisory_unlock($1::int, $2::int)", space_, model);
}

Result<void> Shared::ask_for_lead(std::int64_t model) {
  return attempt([&] {
    take(connection_->run("UPDATE leads SET wanted = $2 WHERE model = $1", model, node_.load()));
    take(tell({{ClusterNote::Kind::kChanged, model}}));
  });
}

Result<bool> Shared::publish(const SnapshotRow& state, std::int64_t epoch) {
  const auto told = connection_->first(
      "WITH kept AS (INSERT INTO published AS p(model, log, created_at, version, updates, learned, "
      "learning, frozen_because, serves, file) SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10 "
      "WHERE EXISTS(SELECT 1 FROM leads WHERE model = $1 AND epoch = $11) ON CONFLICT(model) DO "
      "UPDATE SET log = excluded.log, created_at = excluded.created_at, version = "
      "excluded.version, updates = excluded.updates, learned = excluded.learned, learning = "
      "excluded.learning, frozen_because = excluded.frozen_because, serves = excluded.serves, "
      "file = excluded.file WHERE p.log <= excluded.log RETURNING model) SELECT "
      "pg_notify('plackett', 'p ' || model) FROM kept",
      [](const Row&) { return true; }, state.model, state.log, state.created_at, state.version,
      state.updates, state.learned, state.learning, state.frozen_because, state.serves, state.file,
      epoch);
  if (!told) return told.error();
  return told->has_value();
}

Result<std::optional<SnapshotRow>> Shared::published(std::int64_t model, std::uint64_t version) {
  return connection_->first(
      "SELECT log, created_at, version, updates, learned, learning, frozen_because, serves, file "
      "FROM published WHERE model = $1 AND version > $2",
      [model](const Row& row) {
        SnapshotRow state;
        state.model = model;
        state.log = row.integer(0);
        state.created_at = row.integer(1);
        state.version = row.count(2);
        state.updates = row.count(3);
        state.learned = row.count(4);
        state.learning = row.integer(5) != 0;
        state.frozen_because = row.text(6);
        state.serves = static_cast<Mode>(row.integer(7));
        state.file = copy(row.blob(8));
        return state;
      },
      model, version);
}

Result<std::vector<std::int64_t>> Shared::logged(const std::vector<std::int64_t>& impressions,
                                                 std::int64_t log) {
  return connection_->all(
      "SELECT argument FROM log WHERE argument = ANY(string_to_array($1, ',')::bigint[]) AND kind "
      "IN (1, 2) AND seq <= $2",
      first_column<Row>, fmt::format("{}", fmt::join(impressions, ",")), log);
}

Result<std::uint64_t> Shared::revision(std::int64_t model) {
  return connection_->integer<std::uint64_t>("SELECT revision FROM models WHERE id = $1", model);
}

Result<std::vector<Shared::ItemChange>> Shared::item_changes(std::int64_t model, std::int64_t after,
                                                             std::uint32_t limit) {
  return connection_->all(
      "SELECT id, version, features, is_there FROM ((SELECT i.id, i.version, features, 1::bigint "
      "AS is_there FROM items AS i JOIN item_versions AS v ON v.version = i.version WHERE i.model "
      "= $1 AND i.version > $2 ORDER BY i.version LIMIT $3) UNION ALL (SELECT id, version, '', 0 "
      "FROM removed_items WHERE model = $1 AND version > $2 ORDER BY version LIMIT $3)) AS changes "
      "ORDER BY version LIMIT $3",
      [](const Row& row) {
        ItemChange change{.id = std::string(row.text(0)), .version = row.integer(1)};
        if (row.integer(3) != 0) change.features = copy(row.blob(2));
        return change;
      },
      model, after, limit);
}

}  // namespace plackett::store::postgres
