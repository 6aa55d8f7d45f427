#include "serving/upkeep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "serving/impression.h"
#include "serving/service_parts.h"

namespace plackett::serving {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kExpiredAtOnce = 2000;
constexpr std::uint32_t kDroppedAtOnce = 2000;
constexpr std::chrono::seconds kBetweenAsking{10};
// A list that was made from items that are replaced now takes its number within microseconds: fewer
// than this many later numbers are taken meanwhile.
constexpr std::uint64_t kOnTheirWay = 1024;
constexpr std::int64_t kFineSeriesMs = std::int64_t{24} * 3600 * 1000;
constexpr std::int64_t kCoarseSeriesMs = std::int64_t{10} * 60 * 1000;

// The number after the last impression that was shown at `time` or before, by samples from `first`
// on at distances that double. Numbers grow with time, but a clock that was wrong gave wrong times
// in between: the end is where most samples before it are old and most after it are not. Repeated
// from where it ended, it finds all.
std::uint64_t end_of(StoreReader& store, const Model& model, std::uint64_t first,
                     std::uint64_t newest, std::int64_t time) {
  std::uint64_t end = first;
  int score = 0;  // old samples so far, less the others
  int best = 0;
  for (std::uint64_t distance = 0; first + distance <= newest; distance = 2 * distance + 1) {
    const auto shown = take(store.shown_from(model.id, first + distance));
    if (!shown) break;
    score += shown->second <= time ? 1 : -1;
    if (score <= best) continue;
    best = score;
    end = shown->first + 1;
  }
  return end;
}

}  // namespace

Upkeep::Upkeep(ServiceParts& parts)
    : parts_(parts), started_(parts.options.clock() - parts.options.steady()) {}

Result<void> Upkeep::run() {
  return attempt([&] { run_all(); });
}

void Upkeep::run_all() {
  const auto start = Clock::now();
  // What fails is tried again at a later run. While a database does not answer, requests must not
  // wait for all of it.
  const auto try_to = [start](const auto& work) {
    const Result<void> done = attempt(work);
    if (!done && done.error().code == ErrorCode::kUnavailable &&
        Clock::now() - start > kLongFailure) {
      throw Failed{done.error()};
    }
  };
  parts_.waiters.expire(start);
  // A client that sees that the service is not ready sends nothing, so it must find out by itself:
  // after a failure the writer probes the store with every transaction.
  if (!parts_.writer->failure().empty()) {
    try_to([&] { change([](Transaction&) {}); });
  }
  const auto models = parts_.all_models();
  for (const ModelHandle& model : models) {
    if (model->shared) {
      try_to([&] { reserve_shared(model); });
      if (model->lead == 0) continue;
      try_to([&] { expire_shared(model); });
    } else {
      try_to([&] { expire(model); });
      try_to([&] { reserve(model); });
      try_to([&] { limit_references(model); });
    }
    try_to([&] { trim_log(model); });
  }
  try_to([&] { parts_.rules->apply(); });
  try_to([&] { flush_learned(); });
  try_to([&] { drop_removed(); });
  const auto [since, excess] = retention();
  for (const ModelHandle& model : models) {
    if (model->lead == 0 || (since == 0 && excess == 0)) continue;
    try_to([&] { retain(model, since, excess); });
  }
  if (Clock::now() - coarsened_ < std::chrono::minutes(10)) return;
  coarsened_ = Clock::now();
  for (const ModelHandle& model : models) {
    if (model->lead == 0) continue;
    try_to([&] {
      change([&](Transaction& transaction) {
        transaction.lead(model);
        take(transaction.store.coarsen_series(model->id, transaction.now - kFineSeriesMs,
                                              kCoarseSeriesMs));
      });
    });
  }
}

void Upkeep::change(std::function<void(Transaction&)> apply, std::function<void()> committed) {
  take(parts_.writer->run_now(std::move(apply), std::move(committed)));
}

std::optional<std::uint64_t> Upkeep::item_bytes() {
  // The whole catalogue is read for it while requests wait, so that is a small part of the time.
  constexpr int kPauses = 20;
  std::uint64_t count = 0;
  for (const ModelHandle& model : parts_.all_models()) count += model->items.count();
  const auto start = Clock::now();
  const auto age = start - item_bytes_.at;
  const bool is_recent = count == item_bytes_.count && age < std::chrono::minutes(10);
  if (item_bytes_.bytes && is_recent) return item_bytes_.bytes;
  if (age < kPauses * item_bytes_.took) return std::nullopt;
  const auto measured = parts_.store->item_bytes();
  if (!measured && !item_bytes_.failed) {
    parts_.log(
        fmt::format("no list is dropped for keep-bytes while the items can't be measured: {}",
                    measured.error().message));
  }
  item_bytes_ = {.bytes = measured ? std::optional(*measured) : std::nullopt,
                 .count = count,
                 .at = Clock::now(),
                 .took = Clock::now() - start,
                 .failed = !measured};
  return item_bytes_.bytes;
}

std::pair<std::int64_t, double> Upkeep::retention() {
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
      // Stored items are not the log's: a large catalogue must not push all lists out. Nothing is
      // dropped while it is not known how large it is.
      const std::uint64_t lists = *used - std::min(*used, item_bytes().value_or(*used));
      if (lists > options.keep_bytes) {
        excess = static_cast<double>(lists - options.keep_bytes) / static_cast<double>(lists);
      }
    }
  }
  return {since, excess};
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
  const auto waiting = take(read.waiting(model->id, end, kExpiredAtOnce));
  std::uint64_t expired = end;
  if (waiting.size() == kExpiredAtOnce) expired = ImpressionKey::of(waiting.back()).number + 1;
  const std::uint64_t closed =
      take(read.closed_count(model->id, model->expired, expired)) + model->dropped_before(expired);
  const std::uint64_t passed = model->numbers_used(model->expired, expired);
  const std::uint64_t ended = passed - std::min(passed, closed);
  const auto apply = [&](Transaction& transaction) {
    for (const std::int64_t id : waiting) {
      auto response = take(read.response(id));
      const auto kept = take(read_impression(read, id, Rows::kSkip));
      if (!response) continue;
      response->closed = Closed::kExpired;
      take(transaction.store.set_response(id, *response));
      if (kept && kept->impression.learnable) take(transaction.log(model, LogKind::kExpire, id));
    }
    ModelRow row = model->marks();
    row.expired = expired;
    take(transaction.store.set_model_marks(row));
  };
  change(apply, [&] {
    model->expired = expired;
    model->dropped_early.erase(model->dropped_early.begin(),
                               model->dropped_early.lower_bound(expired));
    model->open -= std::min(ended, model->open.load());
  });
}

void Upkeep::expire_shared(const ModelHandle& model) {
  constexpr std::int64_t kBetweenMs = 1000;
  const std::int64_t elapsed = parts_.options.steady();
  if (elapsed - model->expired_at < kBetweenMs) return;
  model->expired_at = elapsed;
  const std::int64_t end = parts_.options.clock() - model->open_ms();
  if (parts_.learner->queued() > parts_.options.queue_limit / 2) return;
  StoreReader& read = parts_.store->read();
  const auto waiting = take(read.waiting_since(model->id, end, kExpiredAtOnce));
  if (waiting.empty()) return;
  change([&](Transaction& transaction) {
    transaction.lead(model);
    take(transaction.store.lock({.impressions = waiting}));
    for (const std::int64_t id : waiting) {
      auto response = take(read.response(id));
      if (!response || response->closed != Closed::kNo) continue;  // another node was faster
      const auto kept = take(read_impression(read, id, Rows::kSkip));
      response->closed = Closed::kExpired;
      take(transaction.store.set_response(id, *response));
      if (kept && kept->impression.learnable) take(transaction.log(model, LogKind::kExpire, id));
    }
  });
}

void Upkeep::reserve_shared(const ModelHandle& model) {
  // Other nodes go on with higher numbers, and who reads the lists in order waits for these.
  constexpr std::int64_t kIdleMs = 1000;  // they are given up if none was used for this long
  constexpr std::int64_t kOldMs = 1000;   // they are replaced this long after they were reserved
  constexpr std::int64_t kTellMs = 1000;
  constexpr std::uint64_t kLeastReplaced = 8;  // of a node that shows few lists
  const std::int64_t now = parts_.options.steady();
  // Its blocks went with the node that this process was: others take them for unused.
  if (const std::int64_t node = parts_.cluster->node(); node != model->numbers_node) {
    if (model->numbers_node != 0) model->drop_numbers();
    model->numbers_node = node;
  }
  if (model->numbers_taken != model->numbers_seen) {
    model->numbers_seen = model->numbers_taken;
    model->numbers_seen_at = now;
  }
  if (now - model->numbers_seen_at >= kIdleMs && model->numbers_left() > 0) {
    model->drop_numbers();
    model->block = Model::kLeastBlock;
  }
  model->drop_old_numbers(now - kOldMs);
  const std::uint64_t left = model->numbers_left();
  const std::int64_t age = left > 0 ? now - model->numbers_since() : 0;
  const bool few = left > 0 && left <= model->block / 2;
  const bool more = few || age >= kOldMs;
  // So many that they are used up in about a second.
  std::uint64_t size = model->block;
  if (few && age < kOldMs / 2) size = std::min(2 * size, Model::kMostBlock);
  if (!few) size = std::max(size / 2, kLeastReplaced);
  if (model->numbers_are_in_doubt.exchange(false)) model->numbers_told.reset();
  std::uint64_t used = model->in_flight.end_of_stored(model->next_number);
  if (left == 0 && used == model->next_number) used = ImpressionKey::kNumbers;  // all of them
  const bool tell =
      used != model->numbers_told && (more || now - model->numbers_told_at >= kTellMs);
  if (!more && !tell) return;
  NumberBlock block;
  // If it fails, numbers may be reserved all the same.
  if (more) model->numbers_told.reset();
  change(
      [&](Transaction& transaction) {
        take(transaction.store.lock({.models = {model->id}}));
        // First: it may remove all blocks.
        if (tell) take(transaction.store.set_numbers_used(model->id, used));
        if (more) block = take(transaction.store.reserve_numbers(model->id, size));
      },
      [&] {
        if (tell) {
          model->numbers_told = used;
          model->numbers_told_at = now;
        }
        if (!more) return;
        model->block = size;
        model->add_numbers(block, now);
        model->drop_old_numbers(now - kOldMs);
      });
}

void Upkeep::reserve(const ModelHandle& model) {
  const std::uint64_t block = parts_.options.number_block;
  if (model->next_number + block / 2 < model->reserved) return;
  const std::uint64_t more = model->reserved_in_store + block;
  const auto apply = [&](Transaction& transaction) {
    ModelRow row = model->marks();
    row.next_number = more;
    take(transaction.store.set_model_marks(row));
  };
  change(apply, [&] {
    model->reserved_in_store = more;
    model->reserved.store(more, std::memory_order_release);
  });
}

void Upkeep::limit_references(const ModelHandle& model) {
  if (!model->replaced_items) return;
  // All threads see the new items by now.
  const std::uint64_t end = model->next_number + kOnTheirWay;
  change(
      [&](Transaction& transaction) { take(transaction.store.limit_references(model->id, end)); },
      [&] {
        model->replaced_items = false;
        model->has_old_versions = true;
      });
}

void Upkeep::trim_log(const ModelHandle& model) {
  if (model->trimmed_log >= model->dropped_log) return;
  const std::int64_t up_to = model->dropped_log;
  bool all = false;
  if (model->lead == 0) return;
  change(
      [&](Transaction& transaction) {
        transaction.lead(model);
        all = take(transaction.store.drop_log(model->id, up_to, 4 * kDroppedAtOnce));
      },
      [&] {
        if (all) model->trimmed_log = up_to;
      });
}

void Upkeep::retain(const ModelHandle& model, std::int64_t kept_since, double excess) {
  StoreReader& read = parts_.store->read();
  const auto shown = take(read.shown_from(model->id, 0));
  if (!shown) {
    // Without lists, nothing refers to old versions of items. Other nodes may have some on their
    // way.
    if (model->shared || !model->has_old_versions || !model->has_references ||
        model->in_flight.end_of_stored(model->next_number) != model->next_number) {
      return;
    }
    return change(
        [&](Transaction& transaction) {
          take(transaction.store.drop_impressions(model->id, model->next_number + kOnTheirWay));
        },
        [&] { model->has_old_versions = false; });
  }
  const std::uint64_t first = shown->first;
  const auto last = take(read.recent(model->id, 1, /*clicked_only=*/false));
  const std::uint64_t newest = last.empty() ? first : ImpressionKey::of(last.front()).number;
  std::uint64_t end = kept_since > 0 ? end_of(read, *model, first, newest, kept_since) : 0;
  if (excess > 0) {
    // Numbers have gaps.
    const auto kept = static_cast<double>(std::min(newest + 1 - first, model->shown.load()));
    end = std::max(end, first + static_cast<std::uint64_t>(std::ceil(kept * excess)));
  }
  // Those that may still be learned from are kept.
  end = std::min(end, first + kDroppedAtOnce);
  if (model->shared) {
    // What other nodes store from now on has higher numbers. Numbers don't follow time.
    end = std::min(end, take(read.end_of_stored(model->id)));
    const std::int64_t due = parts_.options.clock() - model->open_ms();
    end = take(read.first_open(model->id, first, end, due)).value_or(end);
    // Feedback is learned from first.
    const auto waiting = take(read.waiting(model->id, end, 1));
    if (!waiting.empty()) end = ImpressionKey::of(waiting.front()).number;
  } else if (end > model->expired) {
    constexpr std::int64_t kAnyTime = std::numeric_limits<std::int64_t>::min();
    end = take(read.first_open(model->id, model->expired, end, kAnyTime)).value_or(end);
  }
  if (end <= first) return;
  const std::uint64_t expired = std::max(end, model->expired);

  // A snapshot must include what is dropped: then the model is that snapshot and the log since.
  const std::int64_t needed = take(read.last_log_of(model->id, first, end));
  const auto base = take(read.base_snapshot(model->id, std::max(needed, model->dropped_log)));
  if (needed > 0 && !base) {
    Asked& asked = asked_[model->id];
    // It did not come: the model may be unable to learn.
    if (needed <= asked.log && Clock::now() - asked.at < kBetweenAsking) return;
    asked = {needed, Clock::now()};
    parts_.learner->submit({.model = model, .ask = [this, model](const Trainer& trainer) {
                              submit_automatic_snapshot(parts_, model, trainer.snapshot());
                            }});
    return;  // next time
  }
  ModelRow row = model->marks();
  row.dropped_log = std::max(row.dropped_log, base.value_or(0));
  row.expired = expired;
  const auto apply = [&](Transaction& transaction) {
    transaction.lead(model);
    take(transaction.store.set_model_marks(row));
    if (base) take(transaction.store.drop_log(model->id, *base, 4 * kDroppedAtOnce));
    take(transaction.store.drop_impressions(model->id, end));
  };
  change(apply, [&] {
    model->dropped_log = row.dropped_log;
    model->expired = expired;
  });
  take(parts_.store->shrink());
}

void Upkeep::add_removed(std::int64_t model) {
  removed_.push_back({.model = model, .again = parts_.cluster != nullptr});
}

void Upkeep::drop_removed() {
  // A node that has not heard of the removal by then was ended.
  constexpr std::chrono::seconds kUntilAllKnow{5};
  constexpr std::chrono::milliseconds kMost{20};  // requests wait meanwhile
  const auto end = Clock::now() + kMost;
  for (auto now = Clock::now(); now < end; now = Clock::now()) {
    const auto next = std::find_if(removed_.begin(), removed_.end(),
                                   [now](const Removed& one) { return one.at <= now; });
    if (next == removed_.end()) return;
    bool all = false;
    change([&](Transaction& transaction) {
      all = take(transaction.store.drop_rows(next->model, kDroppedAtOnce));
    });
    if (!all) continue;
    asked_.erase(next->model);
    if (std::exchange(next->again, false)) {
      next->at = now + kUntilAllKnow;  // what another node added meanwhile
    } else {
      removed_.erase(next);
    }
  }
}

void Upkeep::flush_learned() {
  std::unordered_map<std::int64_t, SeriesRow> learned;
  {
    const std::lock_guard lock(parts_.learned_mutex);
    learned.swap(parts_.learned);
  }
  if (learned.empty()) return;
  const auto apply = [&](Transaction& transaction) {
    for (const ModelHandle& model : parts_.all_models()) {
      const auto found = learned.find(model->id);
      if (found != learned.end()) transaction.series(model->id).add(found->second);
    }
  };
  if (auto done = parts_.writer->run_now(apply); !done) {
    const std::lock_guard lock(parts_.learned_mutex);
    for (const auto& [id, sums] : learned) parts_.learned[id].add(sums);
    throw Failed{done.error()};
  }
}

}  // namespace plackett::serving
