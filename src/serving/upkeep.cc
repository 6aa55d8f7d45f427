#include "serving/upkeep.h"

#include <algorithm>
#include <cmath>

#include "serving/service_parts.h"

namespace plackett::serving {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kExpiredAtOnce = 2000;
constexpr std::uint32_t kDroppedAtOnce = 2000;
constexpr std::uint32_t kPagesAtOnce = 2000;
constexpr std::int64_t kFineSeriesMs = std::int64_t{24} * 3600 * 1000;
constexpr std::int64_t kCoarseSeriesMs = std::int64_t{10} * 60 * 1000;

Job quiet(std::function<Result<void>(Group&)> apply, std::function<void()> committed = {}) {
  Job job;
  job.apply = std::move(apply);
  job.committed = std::move(committed);
  job.settled = [](const Result<void>&) {};
  job.sync = false;
  return job;
}

// The number after the last impression that was shown at `time` or before. Times grow with
// numbers, so it is searched for by halves.
Result<std::uint64_t> end_of(store::Reader& store, const Model& model, std::int64_t time) {
  std::uint64_t low = 0;
  std::uint64_t high = model.next_number;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    auto shown = store.shown_from(model.id, middle);
    if (!shown) return shown.error();
    if (!*shown || (*shown)->second > time) {
      high = middle;
    } else {
      low = (*shown)->first + 1;
    }
  }
  return low;
}

}  // namespace

void Upkeep::run() {
  after_group();  // what upkeep itself writes is moved, too, though nobody asks for anything
  // Who sees that the service is not ready sends it nothing, so it must find out by itself.
  if (!parts_.writer->failure().empty()) {
    [[maybe_unused]] const auto done = parts_.writer->run_now(
        {quiet([](Group& group) -> Result<void> { return group.store.probe(); })});
  }
  for (const ModelHandle& model : parts_.all_models()) {
    expire(model);
    reserve(model);
  }
  flush_learned();
  drop_removed();
  const auto now = Clock::now();
  if (parts_.options.keep_seconds > 0 || parts_.options.keep_bytes > 0) {
    const ServiceOptions& options = parts_.options;
    const std::int64_t since =
        options.keep_seconds == 0
            ? 0
            : parts_.options.clock() - static_cast<std::int64_t>(options.keep_seconds) * 1000;
    double excess = 0;
    if (options.keep_bytes > 0) {
      const auto used = parts_.store->used_bytes();
      if (used && *used > options.keep_bytes) {
        excess = static_cast<double>(*used - options.keep_bytes) / static_cast<double>(*used);
      }
    }
    if (since > 0 || excess > 0) {
      for (const ModelHandle& model : parts_.all_models()) retain(model, since, excess);
    }
  }
  if (now - coarsened_ > std::chrono::minutes(10)) {
    coarsened_ = now;
    for (const ModelHandle& model : parts_.all_models()) {
      [[maybe_unused]] const auto done =
          parts_.writer->run_now({quiet([&model](Group& group) -> Result<void> {
            return group.store.coarsen_series(model->id, group.now - kFineSeriesMs,
                                              kCoarseSeriesMs);
          })});
    }
  }
  if (parts_.checkpointer->failed()) parts_.store->keep_log();
  if (parts_.store->log_marks().end() > parts_.options.log_pages && !parts_.store->in_doubt()) {
    parts_.checkpointer->begin();
  }
}

void Upkeep::after_group() {
  if (!parts_.checkpointer->take_end()) return;
  if (parts_.checkpointer->failed()) parts_.store->keep_log();
  if (parts_.store->in_doubt()) return;
  [[maybe_unused]] const auto moved = parts_.store->checkpoint();
}

void Upkeep::expire(const ModelHandle& model) {
  const std::int64_t now = parts_.options.clock();
  if (now < model->expires_at) return;
  // What expires is learned from; feedback that comes now must not wait behind it.
  if (parts_.learner->queued() > parts_.options.queue_limit / 2) return;
  store::Reader& read = parts_.store->read();
  const std::int64_t open_ms = std::int64_t{model->spec.open_seconds} * 1000;
  auto oldest = read.shown_from(model->id, model->expired);
  if (!oldest) return;
  if (!*oldest) model->open = 0;
  // One that is shown from now on is open for as long.
  model->expires_at = (*oldest ? (*oldest)->second : now) + open_ms;
  if (now < model->expires_at) return;
  auto end = end_of(read, *model, now - open_ms);
  if (!end || *end <= model->expired) return;
  auto waiting = read.waiting(model->id, *end, kExpiredAtOnce);
  if (!waiting) return;
  std::uint64_t expired = *end;
  if (waiting->size() == kExpiredAtOnce) {
    expired = store::ImpressionKey::of(waiting->back()).number + 1;
  }
  auto closed = read.closed_within(model->id, model->expired, expired);
  if (!closed) return;
  const std::uint64_t passed = model->numbers_used(model->expired, expired);
  const std::uint64_t ended = passed - std::min(passed, *closed);
  const auto apply = [&](Group& group) -> Result<void> {
    for (const std::int64_t id : *waiting) {
      auto response = group.store.read().response(id);
      if (!response) return response.error();
      auto kept = group.store.read().impression(id, store::Rows::kSkip);
      if (!kept) return kept.error();
      if (!*response) continue;
      (*response)->closed = store::Closed::kExpired;
      if (auto set = group.store.set_response(id, **response); !set) return set;
      if (!*kept || !(*kept)->impression.learnable) continue;
      if (auto logged = group.log(model, store::LogKind::kExpire, id); !logged) return logged;
    }
    store::ModelRow row = model->row();
    row.expired = expired;
    return group.store.set_model_marks(row);
  };
  [[maybe_unused]] const auto done = parts_.writer->run_now({quiet(apply, [&] {
    model->expired = expired;
    model->open -= std::min(ended, model->open.load());
  })});
}

void Upkeep::reserve(const ModelHandle& model) {
  const std::uint64_t block = parts_.options.number_block;
  if (model->next_number + block / 2 < model->reserved) return;
  if (model->reserving.exchange(true)) return;
  const std::uint64_t more = model->reserved_in_store + block;
  Job job = quiet([model, more](Group& group) -> Result<void> {
    store::ModelRow row = model->row();
    row.next_number = more;
    return group.store.set_model_marks(row);
  });
  job.sync = true;
  job.committed = [model, more] { model->reserved_in_store = more; };
  job.settled = [model, more](const Result<void>& settled) {
    if (settled) model->reserved.store(more, std::memory_order_release);
    model->reserving = false;
  };
  std::vector<Job> jobs;
  jobs.push_back(std::move(job));
  [[maybe_unused]] const auto done = parts_.writer->run_now(std::move(jobs));
}

void Upkeep::retain(const ModelHandle& model, std::int64_t kept_since, double excess) {
  store::Reader& read = parts_.store->read();
  auto first = read.shown_from(model->id, 0);
  if (!first || !*first) return;
  std::uint64_t end = 0;
  if (kept_since > 0) {
    auto old = end_of(read, *model, kept_since);
    if (!old) return;
    end = *old;
  }
  if (excess > 0) {
    const auto kept = static_cast<double>(model->next_number - (*first)->first);
    end = std::max(end, (*first)->first + static_cast<std::uint64_t>(std::ceil(kept * excess)));
  }
  // Those that may still be learned from stay.
  end = std::min({end, model->expired, (*first)->first + kDroppedAtOnce});
  if (end <= (*first)->first) return;

  // What is dropped must be known to a snapshot: then the model is that and the log since.
  auto needed = read.last_log_of(model->id, (*first)->first, end);
  if (!needed) return;
  auto base = read.base_snapshot(model->id, std::max(*needed, model->dropped_log));
  if (!base) return;
  if (*needed > 0 && !*base) {
    LearningThread::Item item;
    item.model = model;
    item.ask = [this, model](const Trainer& trainer) {
      store::SnapshotRow snapshot = trainer.snapshot();
      snapshot.kind = store::SnapshotKind::kAutomatic;
      Job job = snapshot_job(model, std::move(snapshot), parts_.options.automatic_snapshots_kept,
                             [](const Result<SnapshotInfo>&) {});
      job.own = true;
      parts_.writer->submit(std::move(job));
    };
    std::vector<LearningThread::Item> items;
    items.push_back(std::move(item));
    parts_.learner->submit(std::move(items));
    return;  // next time
  }
  const std::int64_t up_to = *base ? **base : 0;
  const auto apply = [&](Group& group) -> Result<void> {
    store::ModelRow row = model->row();
    row.dropped_log = std::max(row.dropped_log, up_to);
    if (auto set = group.store.set_model_marks(row); !set) return set;
    if (up_to > 0) {
      if (auto dropped = group.store.drop_log(model->id, up_to, 4 * kDroppedAtOnce); !dropped) {
        return dropped.error();
      }
    }
    return group.store.drop_impressions(model->id, end);
  };
  auto done = parts_.writer->run_now(
      {quiet(apply, [&] { model->dropped_log = std::max(model->dropped_log, up_to); })});
  if (done) [[maybe_unused]]
    const auto shrunk = parts_.store->shrink(kPagesAtOnce);
}

void Upkeep::drop_removed() {
  if (removed_.empty()) return;
  bool all = false;
  auto done = parts_.writer->run_now({quiet([&](Group& group) -> Result<void> {
    auto dropped = group.store.drop_rows(removed_.back(), kDroppedAtOnce);
    if (!dropped) return dropped.error();
    all = *dropped;
    return {};
  })});
  if (done && all) removed_.pop_back();
}

void Upkeep::flush_learned() {
  std::unordered_map<std::int64_t, store::SeriesRow> learned;
  {
    const std::lock_guard lock(parts_.learned_mutex);
    learned.swap(parts_.learned);
  }
  if (learned.empty()) return;
  const auto apply = [&](Group& group) -> Result<void> {
    for (const ModelHandle& model : parts_.all_models()) {
      const auto found = learned.find(model->id);
      if (found != learned.end()) group.series(model).add(found->second);
    }
    return {};
  };
  if (auto done = parts_.writer->run_now({quiet(apply)}); !done) {
    const std::lock_guard lock(parts_.learned_mutex);
    for (const auto& [id, sums] : learned) parts_.learned[id].add(sums);
  }
}

}  // namespace plackett::serving
