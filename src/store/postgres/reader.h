// The reading half of the PostgreSQL store.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "serving/store.h"
#include "store/postgres/connection.h"

namespace plackett::store::postgres {

// What was read in advance. The writer's is as it is after its transaction's changes.
struct ReadAhead {
  std::unordered_map<std::int64_t, std::optional<serving::ImpressionRow>> impressions{};
  std::unordered_map<std::int64_t, std::optional<serving::ResponseRow>> responses{};
  // By model and name: the list that has this id of its caller's, and whether an event was seen.
  std::map<std::pair<std::int64_t, std::string>, std::optional<std::int64_t>> given{};
  std::map<std::pair<std::int64_t, std::string>, bool> event_ids{};

  void clear() { *this = {}; }
};

// Reads impressions and responses that are not in `ahead` yet; with locks, those of impressions are
// taken in the order of ids, and responses are read after they are had. `ahead` is empty if it
// fails.
enum class Locks : std::uint8_t { kNone, kUpdate };
Result<void> read_rows(Connection& connection, std::span<const std::int64_t> impressions,
                       Locks locks, ReadAhead& ahead);

// Adds a text to what becomes an array of PostgreSQL's with "}" behind it, as in $1::text[].
void append_to_array(std::string& array, std::string_view text);

// Over a connection of its own, or over the writer's: then it sees uncommitted changes, and looks
// into the writer's `ahead` first.
std::unique_ptr<serving::StoreReader> make_reader(std::shared_ptr<Connection> connection,
                                                  const ReadAhead* ahead = nullptr);

}  // namespace plackett::store::postgres
