#include "serving/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "serving/impression_to_keep.h"
#include "serving/recover.h"
#include "serving/refusals.h"
#include "serving/service_parts.h"
#include "serving/spec_text.h"

namespace plackett::serving {
namespace {

// What the store knows of a model that is not in its row.
Result<void> fill(Model& model, store::Reader& store, std::int64_t now) {
  auto end = store.numbers_end(model.id);
  if (!end) return end.error();
  model.next_number = std::max(model.next_number.load(), *end);
  model.gap_begin = *end;
  model.gap_end = model.next_number;
  auto total = store.series_total(model.id, 0, std::numeric_limits<std::int64_t>::max());
  if (!total) return total.error();
  model.shown = total->impressions;
  auto closed = store.closed_within(model.id, model.expired, model.next_number);
  if (!closed) return closed.error();
  // Those shown so late that they may be open, as the series knows them: to within a span of it.
  constexpr std::int64_t kSpanMs = std::int64_t{kSeriesSeconds} * 1000;
  const std::int64_t open_ms = std::int64_t{model.spec.open_seconds} * 1000;
  const std::int64_t since = (now - open_ms) / kSpanMs * kSpanMs;
  auto late = store.series_total(model.id, since, std::numeric_limits<std::int64_t>::max());
  if (!late) return late.error();
  model.open = late->impressions - std::min(late->impressions, *closed);

  std::vector<std::string> ids;
  AlignedVector<float> rows;
  const std::size_t bytes = model.spec.ranker.feature_count * sizeof(float);
  auto read = store.items(model.id, [&](std::string_view id, std::span<const std::byte> features) {
    if (features.size() != bytes) {
      return Result<void>(Error{fmt::format("item \"{}\" in the store is damaged", id)});
    }
    ids.emplace_back(id);
    rows.resize(ids.size() * model.items.stride());
    std::memcpy(rows.data() + (ids.size() - 1) * model.items.stride(), features.data(), bytes);
    return Result<void>();
  });
  if (!read) return read;
  model.items.put(ids, rows);
  return {};
}

// The model of a row, and its trainer, into the parts.
Result<void> bring_back(ServiceParts& parts, const store::ModelRow& row, store::Reader& store) {
  auto spec = parse_spec_text(row.spec);
  if (!spec) return Error{fmt::format("model {}: {}", row.name, spec.error().message)};
  auto trainer = recover(*spec, row, store);
  if (!trainer) return Error{fmt::format("model {}: {}", row.name, trainer.error().message)};
  auto model = std::make_shared<Model>(std::move(spec).value(), row);
  if (auto filled = fill(*model, store, parts.options.clock()); !filled) return filled;
  parts.learner->adopt(model, std::move(trainer).value());
  parts.models.emplace(row.name, model);
  return {};
}

// A block of numbers for every model, before any is used.
Result<void> reserve_numbers(ServiceParts& parts) {
  if (auto begun = parts.store->begin(); !begun) return begun;
  for (const auto& [name, model] : parts.models) {
    model->reserved_in_store = model->next_number + parts.options.number_block;
    model->reserved = model->reserved_in_store;
    if (auto set = parts.store->set_model_marks(model->row()); !set) return set;
  }
  if (auto committed = parts.store->commit(); !committed) return committed;
  return parts.store->sync();
}

}  // namespace

Result<std::unique_ptr<Service>> Service::open(const ServiceOptions& options) {
  auto parts = std::make_unique<ServiceParts>();
  parts->options = options;
  const std::string lock_file = options.db.string() + ".lock";
  auto lock = FileLock::take(
      lock_file, fmt::format("{}: another plackett serves this store", options.db.string()));
  if (!lock) return lock.error();
  parts->file_lock = std::move(lock).value();
  auto store = store::Writer::open(options.db, options.vfs);
  if (!store) return store.error();
  parts->store = std::move(store).value();
  auto checkpointer = store::Checkpointer::start(*parts->store, options.db, options.vfs);
  if (!checkpointer) return checkpointer.error();
  parts->checkpointer = std::move(checkpointer).value();
  auto learner_reader = store::Reader::open(options.db, options.vfs);
  if (!learner_reader) return learner_reader.error();
  auto reader = store::Reader::open(options.db, options.vfs);
  if (!reader) return reader.error();
  parts->reader = std::move(reader).value();

  ServiceParts& all = *parts;
  LearningHooks hooks;
  hooks.updated = [&all](Model& model, double norm) {
    model.update_norm.store(norm, std::memory_order_relaxed);
    const std::lock_guard guard(all.learned_mutex);
    store::SeriesRow& sums = all.learned[model.id];
    ++sums.updates;
    sums.update_norms += norm;
  };
  hooks.snapshot = [&all](const ModelHandle& model, store::SnapshotRow snapshot) {
    snapshot.kind = store::SnapshotKind::kAutomatic;
    Job job = snapshot_job(model, std::move(snapshot), all.options.automatic_snapshots_kept,
                           [model](const Result<SnapshotInfo>& kept) {
                             if (!kept) model->snapshot_lost = true;
                           });
    job.own = true;
    all.writer->submit(std::move(job));
  };
  parts->syncer = std::make_unique<SyncThread>(*parts->store);
  parts->learner = std::make_unique<LearningThread>(std::move(learner_reader).value(),
                                                    options.snapshot_every, std::move(hooks));
  parts->upkeep = std::make_unique<Upkeep>(all);
  auto rows = parts->reader->models();
  if (!rows) return rows.error();
  for (const store::ModelRow& row : *rows) {
    if (auto back = bring_back(all, row, *parts->reader); !back) return back.error();
  }
  if (auto reserved = reserve_numbers(all); !reserved) return reserved.error();
  auto removed = parts->reader->removed_models();
  if (!removed) return removed.error();
  for (const std::int64_t id : *removed) parts->upkeep->add_removed(id);

  WriterThread::Options writing;
  writing.queue_limit = options.queue_limit;
  writing.clock = options.clock;
  writing.upkeep = [&all] { all.upkeep->run(); };
  writing.after_group = [&all] { all.upkeep->after_group(); };
  parts->writer =
      std::make_unique<WriterThread>(*parts->store, *parts->syncer, *parts->learner, writing);
  parts->writer->start();
  return std::unique_ptr<Service>(new Service(std::move(parts)));
}

Service::Service(std::unique_ptr<ServiceParts> parts) : parts_(std::move(parts)) {}

Service::~Service() { stop(); }

void Service::stop() {
  if (parts_->stopped.exchange(true)) return;
  // Each finishes what it has and may still feed the next.
  parts_->writer->stop();
  parts_->learner->stop();
  parts_->syncer->stop();
  parts_->checkpointer.reset();
  // The threads are gone: this one writes.
  store::Writer& store = *parts_->store;
  const std::int64_t now = parts_->options.clock();
  std::vector<store::SnapshotRow> last;
  parts_->learner->for_each(
      [&last, now](const ModelHandle& model, const Trainer& trainer, std::int64_t snapshot_log) {
        if (trainer.last_log() == snapshot_log) return;
        store::SnapshotRow snapshot = trainer.snapshot();
        snapshot.model = model->id;
        snapshot.kind = store::SnapshotKind::kAutomatic;
        snapshot.created_at = now;
        last.push_back(std::move(snapshot));
      });
  auto written = store.begin();
  for (const store::SnapshotRow& snapshot : last) {
    if (!written) break;
    if (auto id = store.insert_snapshot(snapshot); !id) written = id.error();
  }
  // All numbers that were not used are free again.
  for (const ModelHandle& model : parts_->all_models()) {
    if (!written) break;
    model->reserved_in_store = model->next_number;
    written = store.set_model_marks(model->row());
  }
  const std::int64_t bucket = now / (kSeriesSeconds * 1000) * (kSeriesSeconds * 1000);
  for (auto& [model, sums] : parts_->learned) {
    if (!written) break;
    sums.at = bucket;
    written = store.add_to_series(model, sums);
  }
  if (written) written = store.commit();
  if (!written) store.roll_back();
  // What fails here is made good by the next start, from the log.
  [[maybe_unused]] const auto synced = store.sync();
  parts_->reader.reset();
  [[maybe_unused]] const auto moved = store.checkpoint(true);
}

std::string Service::not_ready() const {
  if (parts_->stopped) return "the service is stopping";
  return parts_->writer->failure();
}

ModelHandle Service::find(std::string_view name) const { return parts_->find(name); }

std::vector<ModelInfo> Service::models() const {
  std::vector<ModelInfo> infos;
  for (const ModelHandle& model : parts_->all_models()) infos.push_back(info(*model));
  return infos;
}

void Service::keep(const ModelHandle& model, std::shared_ptr<ImpressionToKeep> record,
                   Done<void> done) {
  auto refused = std::make_shared<std::optional<Error>>();
  Job job;
  job.sync = false;
  job.apply = [model, record, refused](Group& group) -> Result<void> {
    if (model->removed) {
      *refused = gone();
      return {};
    }
    if (!record->given.empty()) {
      auto known = group.store.read().given_id(model->id, record->given);
      if (!known) return known.error();
      if (*known) {
        *refused = Error{
            ErrorCode::kConflict,
            fmt::format("impression \"{}\" is there already; ids are used once", record->given),
            "id"};
        return {};
      }
    }
    store::SeriesRow& series = group.series(model);
    ++series.impressions;
    series.entropies += record->entropy;
    return group.store.keep({.key = {model->id, record->number},
                             .shown_at = group.now,
                             .version = record->version,
                             .given = record->given,
                             .data = record->data});
  };
  job.committed = [model, refused] {
    if (*refused) return;
    ++model->shown;
    ++model->open;
  };
  job.settled = [refused, done = std::move(done)](const Result<void>& settled) {
    done(settled && *refused ? Result<void>(**refused) : settled);
  };
  parts_->writer->submit(std::move(job));
}

void Service::feedback(const ModelHandle& model, std::vector<FeedbackEvent> events,
                       Done<std::vector<FeedbackStatus>> done) {
  if (parts_->learner->queued() >= parts_->options.queue_limit) {
    done(Error{ErrorCode::kBusy, "too much waits to be learned from; try again later"});
    return;
  }
  parts_->writer->submit(feedback_job(model, std::move(events), std::move(done)));
}

}  // namespace plackett::serving
