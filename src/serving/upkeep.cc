#include "serving/upkeep.h"

#include <algorithm>
#include <cmath>

#include "serving/impression.h"
#include "serving/service_parts.h"

namespace plackett::serving {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kExpiredAtOnce = 2000;
constexpr std::uint32_t kDroppedAtOnce = 2000;
constexpr std::int64_t kFineSeriesMs = std::int64_t{24} * 3600 * 1000;
constexpr std::int64_t kCoarseSeriesMs = std::int64_t{10} * 60 * 1000;

// The number after the last impression that was shown at `time` or before, among samples from
// `first` on at distances that double. Those before it were shown earlier, whatever the clock said
// then. Repeated from where it ended, it finds all.
Result<std::uint64_t> end_of(StoreReader& store, const Model& model, std::uint64_t first,
                             std::int64_t time) {
  std::uint64_t end = first;
  for (std::uint64_t distance = 0; first + distance < model.next_number;
       distance = 2 * distance + 1) {
    auto shown = store.shown_from(model.id, first + distance);
    if (!shown) return shown.error();
    if (!*shown) break;
    if ((*shown)->second <= time) end = (*shown)->first + 1;
  }
  return end;
}

}  // namespace

Upkeep::Upkeep(ServiceParts& parts)
    : parts_(parts), started_(parts.options.clock() - parts.options.steady()) {}

void Upkeep::run() {
  // A client that sees that the service is not ready sends nothing, so it must find out by itself.
  if (!parts_.writer->failure().empty()) {
    [[maybe_unused]] const auto probed =
        parts_.writer->run_now([](Transaction& transaction) { return transaction.store.probe(); });
  }
  for (const ModelHandle& model : parts_.all_models()) {
    expire(model);
    reserve(model);
  }
  flush_learned();
  drop_removed();
  apply_retention();
  const auto now = Clock::now();
  if (now - coarsened_ < std::chrono::minutes(10)) return;
  coarsened_ = now;
  for (const ModelHandle& model : parts_.all_models()) {
    [[maybe_unused]] const auto done = parts_.writer->run_now([&model](Transaction& transaction) {
      return transaction.store.coarsen_series(model->id, transaction.now - kFineSeriesMs,
                                              kCoarseSeriesMs);
    });
  }
}

void Upkeep::apply_retention() {
  const ServiceOptions& options = parts_.options;
  std::int64_t since = 0;
  if (options.keep_days > 0) {
    constexpr std::int64_t kDayMs = 24 * 3600 * 1000;
    // A clock that was set forward must not drop what is young.
    const std::int64_t now = std::min(options.clock(), started_ + options.steady());
    since = now - static_cast<std::int64_t>(options.keep_days) * kDayMs;
  }
  double excess = 0;
  if (options.keep_bytes > 0) {
    const auto used = parts_.store->used_bytes();
    if (used && *used > options.keep_bytes) {
      excess = static_cast<double>(*used - options.keep_bytes) / static_cast<double>(*used);
    }
  }
  if (since <= 0 && excess <= 0) return;
  for (const ModelHandle& model : parts_.all_models()) retain(model, since, excess);
}

void Upkeep::expire(const ModelHandle& model) {
  const std::uint64_t end = model->update_due(parts_.options.steady());
  if (end <= model->expired) {
    if (model->shown_marks.empty()) model->open = 0;
    return;
  }
  // What expires is learned from; new feedback must not wait behind too much of it.
  if (parts_.learner->queued() > parts_.options.queue_limit / 2) return;
  StoreReader& read = parts_.store->read();
  auto waiting = read.waiting(model->id, end, kExpiredAtOnce);
  if (!waiting) return;
  std::uint64_t expired = end;
  if (waiting->size() == kExpiredAtOnce) {
    expired = ImpressionKey::of(waiting->back()).number + 1;
  }
  auto closed = read.closed_count(model->id, model->expired, expired);
  if (!closed) return;
  const std::uint64_t passed = model->numbers_used(model->expired, expired);
  const std::uint64_t ended = passed - std::min(passed, *closed);
  const auto apply = [&](Transaction& transaction) -> Result<void> {
    for (const std::int64_t id : *waiting) {
      auto response = transaction.store.read().response(id);
      if (!response) return response.error();
      auto kept = read_impression(transaction.store.read(), id, Rows::kSkip);
      if (!kept) return kept.error();
      if (!*response) continue;
      (*response)->closed = Closed::kExpired;
      if (auto set = transaction.store.set_response(id, **response); !set) return set;
      if (!*kept || !(*kept)->impression.learnable) continue;
      if (auto logged = transaction.log(model, LogKind::kExpire, id); !logged) return logged;
    }
    ModelRow row = model->marks();
    row.expired = expired;
    return transaction.store.set_model_marks(row);
  };
  [[maybe_unused]] const auto done = parts_.writer->run_now(apply, [&] {
    model->expired = expired;
    model->open -= std::min(ended, model->open.load());
  });
}

void Upkeep::reserve(const ModelHandle& model) {
  const std::uint64_t block = parts_.options.number_block;
  if (model->next_number + block / 2 < model->reserved) return;
  const std::uint64_t more = model->reserved_in_store + block;
  const auto apply = [&](Transaction& transaction) {
    ModelRow row = model->marks();
    row.next_number = more;
    return transaction.store.set_model_marks(row);
  };
  [[maybe_unused]] const auto done = parts_.writer->run_now(apply, [&] {
    model->reserved_in_store = more;
    model->reserved.store(more, std::memory_order_release);
  });
}

void Upkeep::retain(const ModelHandle& model, std::int64_t kept_since, double excess) {
  StoreReader& read = parts_.store->read();
  auto first = read.shown_from(model->id, 0);
  if (!first || !*first) return;
  std::uint64_t end = 0;
  if (kept_since > 0) {
    auto old = end_of(read, *model, (*first)->first, kept_since);
    if (!old) return;
    end = *old;
  }
  if (excess > 0) {
    const auto kept = static_cast<double>(model->next_number - (*first)->first);
    end = std::max(end, (*first)->first + static_cast<std::uint64_t>(std::ceil(kept * excess)));
  }
  // Those that may still be learned from are kept.
  end = std::min(end, (*first)->first + kDroppedAtOnce);
  if (end > model->expired) {
    auto open = read.first_open(model->id, model->expired, end);
    if (!open) return;
    end = open->value_or(end);
  }
  if (end <= (*first)->first) return;
  const std::uint64_t expired = std::max(end, model->expired);

  // A snapshot must include what is dropped: then the model is that snapshot and the log since.
  auto needed = read.last_log_of(model->id, (*first)->first, end);
  if (!needed) return;
  auto base = read.base_snapshot(model->id, std::max(*needed, model->dropped_log));
  if (!base) return;
  if (*needed > 0 && !*base) {
    parts_.learner->submit({.model = model, .ask = [this, model](const Trainer& trainer) {
                              submit_automatic_snapshot(parts_, model, trainer.snapshot());
                            }});
    return;  // next time
  }
  const std::int64_t up_to = *base ? **base : 0;
  const auto apply = [&](Transaction& transaction) -> Result<void> {
    ModelRow row = model->marks();
    row.dropped_log = std::max(row.dropped_log, up_to);
    row.expired = expired;
    if (auto set = transaction.store.set_model_marks(row); !set) return set;
    if (up_to > 0) {
      if (auto dropped = transaction.store.drop_log(model->id, up_to, 4 * kDroppedAtOnce);
          !dropped) {
        return dropped.error();
      }
    }
    return transaction.store.drop_impressions(model->id, end);
  };
  auto done = parts_.writer->run_now(apply, [&] {
    model->dropped_log = std::max(model->dropped_log, up_to);
    model->expired = expired;
  });
  if (done) [[maybe_unused]]
    const auto shrunk = parts_.store->shrink();
}

void Upkeep::drop_removed() {
  if (removed_.empty()) return;
  bool all = false;
  auto done = parts_.writer->run_now([&](Transaction& transaction) -> Result<void> {
    auto dropped = transaction.store.drop_rows(removed_.back(), kDroppedAtOnce);
    if (!dropped) return dropped.error();
    all = *dropped;
    return {};
  });
  if (done && all) removed_.pop_back();
}

void Upkeep::flush_learned() {
  std::unordered_map<std::int64_t, SeriesRow> learned;
  {
    const std::lock_guard lock(parts_.learned_mutex);
    learned.swap(parts_.learned);
  }
  if (learned.empty()) return;
  const auto apply = [&](Transaction& transaction) -> Result<void> {
    for (const ModelHandle& model : parts_.all_models()) {
      const auto found = learned.find(model->id);
      if (found != learned.end()) transaction.series(*model).add(found->second);
    }
    return {};
  };
  if (auto done = parts_.writer->run_now(apply); !done) {
    const std::lock_guard lock(parts_.learned_mutex);
    for (const auto& [id, sums] : learned) parts_.learned[id].add(sums);
  }
}

}  // namespace plackett::serving
