// What the store holds, as plain data. docs/formats/store.md says where it lies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace plackett::store {

// An impression's key: which model, and its number in it, from 0.
struct ImpressionKey {
  std::int64_t model = 0;
  std::uint64_t number = 0;

  static constexpr int kNumberBits = 40;
  static constexpr std::uint64_t kNumbers = std::uint64_t{1} << kNumberBits;

  [[nodiscard]] std::int64_t id() const {
    return (model << kNumberBits) | static_cast<std::int64_t>(number);
  }
  static ImpressionKey of(std::int64_t id) {
    return {id >> kNumberBits, static_cast<std::uint64_t>(id) & (kNumbers - 1)};
  }
};

struct ModelRow {
  std::int64_t id = 0;
  std::string name;
  std::int64_t created_at = 0;    // ms since 1970, like all times
  std::string spec;               // serving's to read
  std::uint64_t next_number = 0;  // no impression of this number or above was ever shown
  std::uint64_t expired = 0;      // impressions of smaller numbers take no feedback any more
  std::int64_t dropped_log = 0;   // log entries up to this one are no longer kept
};

// What the log says happened to a model. The values are part of the format: never renumber.
enum class LogKind : std::uint8_t {
  kLearn = 1,     // argument: the impression's id, closed by its user
  kExpire = 2,    // argument: the impression's id, closed because its time was up
  kRollback = 3,  // argument: the snapshot's id
  kFreeze = 4,
  kResume = 5,
};

struct LogEntry {
  std::int64_t seq = 0;  // over all models, growing
  std::int64_t model = 0;
  LogKind kind = LogKind::kLearn;
  std::int64_t argument = 0;
};

enum class SnapshotKind : std::uint8_t { kAsked = 0, kAutomatic = 1, kImported = 2 };

struct SnapshotRow {
  std::int64_t id = 0;
  std::int64_t model = 0;
  std::int64_t log = 0;  // the last log entry that it knows of
  std::int64_t created_at = 0;
  SnapshotKind kind = SnapshotKind::kAsked;
  std::string note;
  std::uint64_t version = 0;
  std::uint64_t updates = 0;
  std::uint64_t learned = 0;
  bool learning = true;
  std::string frozen_because;
  std::vector<std::byte> file{};  // a model file; left out of lists
};

// Whether an impression takes feedback, and what became of it. Part of the format.
enum class Closed : std::uint8_t {
  kNo = 0,
  kLearned = 1,    // closed by its user
  kExpired = 2,    // its time was up
  kUnlearned = 3,  // closed by its user, and not learned from
};

// What users did with an impression so far. clicked[rank] and viewed[rank] over all shown.
struct ResponseRow {
  std::vector<std::byte> clicked;
  std::vector<std::byte> viewed;
  Closed closed = Closed::kNo;
};

enum class EventKind : std::uint8_t { kClick = 0, kView = 1, kClose = 2 };

// A span of time's sums.
struct SeriesRow {
  std::int64_t at = 0;  // ms, where the span starts
  std::uint64_t impressions = 0;
  std::uint64_t clicked = 0;
  std::uint64_t clicks = 0;
  double reciprocal_ranks = 0;
  double entropies = 0;
  std::uint64_t updates = 0;
  double update_norms = 0;

  void add(const SeriesRow& other) {
    impressions += other.impressions;
    clicked += other.clicked;
    clicks += other.clicks;
    reciprocal_ranks += other.reciprocal_ranks;
    entropies += other.entropies;
    updates += other.updates;
    update_norms += other.update_norms;
  }
};

}  // namespace plackett::store
