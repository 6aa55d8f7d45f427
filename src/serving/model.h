// A served model as the threads share it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "plackett/scaling.h"
#include "serving/item_table.h"
#include "serving/model_spec.h"
#include "serving/service.h"
#include "serving/version.h"
#include "store/rows.h"

namespace plackett::serving {

class Model {
 public:
  // Requires: a checked spec, whose text is the row's.
  Model(ModelSpec spec, const store::ModelRow& row);

  const ModelSpec spec;
  const Scaling scaling;
  const std::int64_t id;
  const std::int64_t created_at;

  ItemTable items;
  Publication publication;
  std::atomic<std::uint64_t> next_number;
  // Numbers from this on may not be used yet: it is in the store, on the disk, before they are, so
  // that none is used again after a loss of power took the impressions that had it.
  std::atomic<std::uint64_t> reserved;
  std::atomic<bool> removed{false};
  std::atomic<bool> reserving{false};      // more numbers are on their way
  std::atomic<bool> snapshot_lost{false};  // an automatic one did not get into the store

  // The writer's alone.
  std::uint64_t reserved_in_store;  // synced or not
  // Numbers in [gap_begin, gap_end) were reserved before the last start, and never used.
  std::uint64_t gap_begin = 0;
  std::uint64_t gap_end = 0;
  std::uint64_t expired;
  std::int64_t dropped_log;

  // Counts of what is in the store.
  std::atomic<std::uint64_t> shown{0};
  // Exact but for what a start has to estimate, and then again when none is left.
  std::atomic<std::uint64_t> open{0};
  std::int64_t expires_at = 0;  // nothing does before; ms; the writer's alone
  // Since the start of the process.
  std::array<std::atomic<std::uint64_t>, kFeedbackStatuses> events{};
  std::array<std::atomic<std::uint64_t>, kFeedbackStatuses> clicks{};
  std::atomic<double> entropy{0};
  std::atomic<double> update_norm{0};

  [[nodiscard]] store::ModelRow row() const;
  // How many numbers in [from, to) were used, as far as the last gap is concerned.
  [[nodiscard]] std::uint64_t numbers_used(std::uint64_t from, std::uint64_t to) const;
};

// The id as callers know it, "i-41", and back: none where it has another form.
std::string impression_name(std::uint64_t number);
std::optional<std::uint64_t> impression_number(std::string_view name);

}  // namespace plackett::serving
