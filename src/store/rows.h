// Rows of the store's tables, as every database gives them: Row has integer(), count(), real(),
// text() and blob() of a column.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "serving/store.h"

namespace plackett::store {

inline std::vector<std::byte> copy(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

inline std::int64_t id_of(std::int64_t model, std::uint64_t number) {
  return serving::ImpressionKey{model, number}.id();
}

template <typename Row>
std::int64_t first_column(const Row& row) {
  return row.integer(0);
}

// Columns id, name, created_at, spec, next_number, expired, dropped_log.
template <typename Row>
serving::ModelRow model_row(const Row& row) {
  return {row.integer(0), std::string(row.text(1)),
          row.integer(2), std::string(row.text(3)),
          row.count(4),   row.count(5),
          row.integer(6)};
}

// Columns id, features.
template <typename Row>
serving::ItemVersion item_version_row(const Row& row) {
  return {std::string(row.text(0)), copy(row.blob(1))};
}

#define PLACKETT_IMPRESSION_COLUMNS                                                          \
  "id, shown_at, version, given, unit, mode, keep, kept, shown, context, data, experiment, " \
  "arm, teams"

template <typename Row>
serving::ImpressionRow impression_row(const Row& row) {
  return {.id = row.integer(0),
          .shown_at = row.integer(1),
          .version = row.count(2),
          .given = std::string(row.text(3)),
          .unit = std::string(row.text(4)),
          .mode = static_cast<serving::Mode>(row.integer(5)),
          .keep = row.real(6),
          .kept = row.integer(7) != 0,
          .shown = std::string(row.text(8)),
          .context = std::string(row.text(9)),
          .data = copy(row.blob(10)),
          .in = {row.integer(11), std::string(row.text(12)), std::string(row.text(13))}};
}

// Columns id, shown_at.
template <typename Row>
serving::StoreReader::Shown shown(const Row& row) {
  return {serving::ImpressionKey::of(row.integer(0)).number, row.integer(1)};
}

// Columns clicked, viewed, closed.
template <typename Row>
serving::ResponseRow response_row(const Row& row) {
  return {copy(row.blob(0)), copy(row.blob(1)), static_cast<serving::Closed>(row.integer(2))};
}

// Columns rank, name.
template <typename Row>
serving::StoreReader::NamedEvent named_event(const Row& row) {
  return {static_cast<std::uint32_t>(row.integer(0)), std::string(row.text(1))};
}

// Columns seq, model, kind, argument.
template <typename Row>
serving::LogEntry log_entry(const Row& row) {
  return {row.integer(0), row.integer(1), static_cast<serving::LogKind>(row.integer(2)),
          row.integer(3)};
}

#define PLACKETT_SNAPSHOT_COLUMNS                                                 \
  "id, model, log, created_at, kind, note, version, updates, learned, learning, " \
  "frozen_because, serves"

template <typename Row>
serving::SnapshotRow snapshot_row(const Row& row) {
  return {.id = row.integer(0),
          .model = row.integer(1),
          .log = row.integer(2),
          .created_at = row.integer(3),
          .kind = static_cast<serving::SnapshotKind>(row.integer(4)),
          .note = std::string(row.text(5)),
          .version = row.count(6),
          .updates = row.count(7),
          .learned = row.count(8),
          .learning = row.integer(9) != 0,
          .frozen_because = std::string(row.text(10)),
          .serves = static_cast<serving::Mode>(std::clamp<std::int64_t>(row.integer(11), 0, 2))};
}

// With the column `file` behind the others.
template <typename Row>
serving::SnapshotRow snapshot_with_file(const Row& row) {
  serving::SnapshotRow snapshot = snapshot_row(row);
  snapshot.file = copy(row.blob(12));
  return snapshot;
}

// Columns at, impressions, clicked, clicks, reciprocal_ranks, entropies, updates, update_norms.
template <typename Row>
serving::SeriesRow series_row(const Row& row) {
  return {row.integer(0), row.count(1), row.count(2), row.count(3),
          row.real(4),    row.real(5),  row.count(6), row.real(7)};
}

// Columns id, model, name, spec, state, started_at, ended_at.
template <typename Row>
serving::ExperimentRow experiment_row(const Row& row) {
  return {row.integer(0),
          row.integer(1),
          std::string(row.text(2)),
          std::string(row.text(3)),
          std::string(row.text(4)),
          row.integer(5),
          row.integer(6)};
}

// Columns x, y.
template <typename Row>
UnitTotals unit_totals_row(const Row& row) {
  return {row.real(0), row.real(1)};
}

#define PLACKETT_ARM_SUMS "impressions, clicks, units, x_units, y_units, x, y, xx, xy, yy, v, vv"

// From the column `first` on.
template <typename Row>
serving::ArmSums arm_sums_of(const Row& row, int first) {
  return {.impressions = row.count(first),
          .clicks = row.count(first + 1),
          .units = {.units = row.real(first + 2),
                    .x_units = row.real(first + 3),
                    .y_units = row.real(first + 4),
                    .x = row.real(first + 5),
                    .y = row.real(first + 6),
                    .xx = row.real(first + 7),
                    .xy = row.real(first + 8),
                    .yy = row.real(first + 9),
                    .v = row.real(first + 10),
                    .vv = row.real(first + 11)}};
}

// Columns arm and PLACKETT_ARM_SUMS.
template <typename Row>
void put_arm(std::vector<serving::ArmSums>& arms, const Row& row, int first = 0) {
  const std::uint64_t arm = row.count(first);
  if (arms.size() <= arm) arms.resize(arm + 1);
  arms[arm] = arm_sums_of(row, first + 1);
}

// Columns at, arm and PLACKETT_ARM_SUMS, by `at`.
template <typename Row>
void put_point(std::vector<serving::ArmsPoint>& points, const Row& row) {
  if (points.empty() || points.back().at != row.integer(0)) {
    points.push_back({.at = row.integer(0)});
  }
  put_arm(points.back().arms, row, 1);
}

}  // namespace plackett::store
