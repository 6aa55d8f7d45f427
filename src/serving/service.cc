#include "serving/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <system_error>
#include <utility>

#include "base/declare_option.h"
#include "serving/recover.h"
#include "serving/service_parts.h"
#include "serving/spec_json.h"

namespace plackett::serving {
namespace {

// Says when the open impressions were shown, by samples of the times in the store. The clock may
// have stepped since: no impression counts as shown after now, nor after one with a higher number.
Result<void> mark_shown(Model& model, StoreReader& store, std::int64_t now, std::int64_t elapsed) {
  constexpr std::uint64_t kSamples = 64;
  const std::uint64_t end = model.gap_begin;
  if (end <= model.expired) return {};
  std::vector<StoreReader::Shown> samples;
  const std::uint64_t step = (end - model.expired) / kSamples + 1;
  for (std::uint64_t number = model.expired; number < end;
       number = std::max(samples.back().first + 1, std::min(number + step, end - 1))) {
    auto shown = store.shown_from(model.id, number);
    if (!shown) return shown.error();
    if (!*shown) break;
    samples.push_back(**shown);
  }
  for (std::size_t at = samples.size(); at-- > 0;) {
    std::int64_t& time = samples[at].second;
    time = std::min(time, at + 1 < samples.size() ? samples[at + 1].second : now);
  }
  for (const auto& [number, time] : samples) {
    model.shown_marks.add(number + 1, elapsed - (now - time));
  }
  model.update_due(elapsed);
  return {};
}

// Reads counts and items.
Result<void> fill(Model& model, StoreReader& store, std::int64_t now) {
  auto newest = store.recent(model.id, 1, false);
  if (!newest) return newest.error();
  if (!newest->empty()) model.gap_begin = ImpressionKey::of(newest->front()).number + 1;
  model.next_number = std::max(model.next_number.load(), model.gap_begin);
  model.gap_end = model.next_number;
  auto total = store.series_total(model.id, 0, std::numeric_limits<std::int64_t>::max());
  if (!total) return total.error();
  model.shown = total->impressions;
  auto closed = store.closed_count(model.id, model.expired, model.next_number);
  if (!closed) return closed.error();
  // Those that were shown recently enough to be open, to within one span of the series.
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

Result<void> recover_model(ServiceParts& parts, const ModelRow& row, StoreReader& store) {
  auto spec = parse_spec(row.spec);
  if (!spec) return Error{fmt::format("model {}: {}", row.name, spec.error().message)};
  auto trainer = recover(*spec, row, store);
  if (!trainer) return Error{fmt::format("model {}: {}", row.name, trainer.error().message)};
  auto model = std::make_shared<Model>(std::move(spec).value(), row);
  const std::int64_t now = parts.options.clock();
  if (auto filled = fill(*model, store, now); !filled) return filled;
  if (auto marked = mark_shown(*model, store, now, parts.options.steady()); !marked) return marked;
  const auto version = trainer->version();
  if (version->has_fault()) parts.log_fault(*model, *version);
  parts.learner->adopt(model, std::move(trainer).value());
  parts.models.emplace(row.name, model);
  return {};
}

// Reserves a block of numbers for every model.
Result<void> reserve_numbers(ServiceParts& parts) {
  if (auto begun = parts.store->begin(); !begun) return begun;
  for (const auto& [name, model] : parts.models) {
    model->reserved_in_store = model->next_number + parts.options.number_block;
    model->reserved = model->reserved_in_store;
    if (auto set = parts.store->set_model_marks(model->marks()); !set) return set;
  }
  return parts.store->commit();
}

// What a clean stop leaves in the store.
Result<void> write_last(ServiceParts& parts, std::int64_t now) {
  Store& store = *parts.store;
  for (SnapshotRow& snapshot : parts.learner->last_snapshots()) {
    snapshot.kind = SnapshotKind::kAutomatic;
    snapshot.created_at = now;
    if (auto id = store.insert_snapshot(snapshot); !id) return id.error();
  }
  // Numbers that were not used are free again.
  for (const ModelHandle& model : parts.all_models()) {
    model->reserved_in_store = model->next_number;
    if (auto set = store.set_model_marks(model->marks()); !set) return set;
  }
  constexpr std::int64_t kSpanMs = std::int64_t{kSeriesSeconds} * 1000;
  for (auto& [model, sums] : parts.learned) {
    sums.at = now / kSpanMs * kSpanMs;
    if (auto added = store.add_to_series(model, sums); !added) return added;
  }
  return {};
}

Error no_thread(const std::system_error& error) {
  return {ErrorCode::kUnavailable, fmt::format("can't start a thread: {}", error.what())};
}

}  // namespace

std::span<const Option<ServiceOptions>> service_options() {
  constexpr std::uint64_t kMost = 1'000'000'000;
  using Options = ServiceOptions;
  static const std::array options{
      option<&Options::queue_limit>("queue", "most requests waiting for the store", {1, kMost}),
      option<&Options::snapshot_every>("snapshot-every", "log entries between automatic snapshots",
                                       {1, kMost}),
      option<&Options::keep_days>(
          "keep-days", "drop impressions older than this many days; 0: keep all", {0, 36'500}),
      option<&Options::keep_bytes>(
          "keep-bytes",
          "drop the oldest impressions above this many bytes (500M, 20G); 0: keep all")};
  return options;
}

Result<std::unique_ptr<Service>> Service::open(std::unique_ptr<Store> store,
                                               const ServiceOptions& options) {
  auto parts = std::make_unique<ServiceParts>();
  ServiceParts& all = *parts;
  all.options = options;
  all.store = std::move(store);
  auto learner_reader = all.store->open_reader();
  if (!learner_reader) return learner_reader.error();
  auto reader = all.store->open_reader();
  if (!reader) return reader.error();
  all.reader = *std::move(reader);

  LearningHooks hooks;
  hooks.updated = [&all](Model& model, double norm) {
    model.update_norm.store(norm, std::memory_order_relaxed);
    const std::lock_guard guard(all.learned_mutex);
    SeriesRow& sums = all.learned[model.id];
    ++sums.updates;
    sums.update_norms += norm;
  };
  hooks.frozen = [&all](const Model& model, const Version& version) {
    all.log_fault(model, version);
  };
  hooks.snapshot = [&all](const ModelHandle& model, SnapshotRow snapshot) {
    submit_automatic_snapshot(all, model, std::move(snapshot));
  };
  try {
    all.learner = std::make_unique<LearningThread>(*std::move(learner_reader),
                                                   options.snapshot_every, std::move(hooks));
  } catch (const std::system_error& error) {
    return no_thread(error);
  }
  all.upkeep = std::make_unique<Upkeep>(all);
  auto rows = all.reader->models();
  if (!rows) return rows.error();
  for (const ModelRow& row : *rows) {
    if (auto recovered = recover_model(all, row, *all.reader); !recovered) return recovered.error();
  }
  if (auto reserved = reserve_numbers(all); !reserved) return reserved.error();
  auto deleted = all.reader->deleted_models();
  if (!deleted) return deleted.error();
  for (const std::int64_t id : *deleted) all.upkeep->add_removed(id);

  WriterThread::Options writing;
  writing.queue_limit = options.queue_limit;
  writing.clock = options.clock;
  writing.steady = options.steady;
  writing.log = options.log;
  writing.upkeep = [&all] { all.upkeep->run(); };
  all.writer = std::make_unique<WriterThread>(*all.store, *all.learner, writing);
  try {
    all.writer->start();
  } catch (const std::system_error& error) {
    return no_thread(error);
  }
  return std::unique_ptr<Service>(new Service(std::move(parts)));
}

Service::Service(std::unique_ptr<ServiceParts> parts) : parts_(std::move(parts)) {}

Service::~Service() { stop(); }

void Service::stop() {
  if (parts_->stopped.exchange(true)) return;
  // Each finishes what it has, and may still feed the next.
  parts_->writer->stop();
  parts_->learner->stop();
  // The threads have ended: this one writes. If that fails, the next start recovers from the log.
  const std::int64_t now = parts_->options.clock();
  auto written = parts_->store->begin();
  if (written) written = write_last(*parts_, now);
  if (written) written = parts_->store->commit();
  if (!written) parts_->store->roll_back();
  parts_->reader.reset();
  parts_->store->close();
}

std::string Service::not_ready() const {
  if (parts_->stopped) return "the service is stopping";
  return parts_->writer->failure();
}

std::vector<std::pair<std::string, std::string>> Service::faults() const {
  std::vector<std::pair<std::string, std::string>> faults;
  for (const ModelHandle& model : parts_->all_models()) {
    const auto version = model->publication.latest();
    if (version->has_fault()) faults.emplace_back(model->spec.name, version->frozen_because);
  }
  return faults;
}

ModelHandle Service::find(std::string_view name) const { return parts_->find(name); }

std::vector<ModelInfo> Service::models() const {
  std::vector<ModelInfo> infos;
  for (const ModelHandle& model : parts_->all_models()) infos.push_back(info(*model));
  return infos;
}

void Service::feedback(const ModelHandle& model, std::vector<FeedbackEvent> events,
                       Done<std::vector<FeedbackStatus>> done) {
  if (parts_->learner->queued() >= parts_->options.queue_limit) {
    done(Error{ErrorCode::kBusy, "too many impressions wait to be learned from; try again later"});
    return;
  }
  parts_->writer->submit(feedback_job(model, std::move(events), std::move(done)));
}

}  // namespace plackett::serving
