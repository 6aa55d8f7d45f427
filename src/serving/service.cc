#include "serving/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <map>
#include <system_error>
#include <utility>

#include "base/declare_option.h"
#include "serving/model_spec.h"
#include "serving/node_name.h"
#include "serving/recover.h"
#include "serving/service_parts.h"

namespace plackett::serving {
namespace {

// A node that is further behind the others is not ready.
constexpr double kMostLagSeconds = 5;

// Says when the open impressions were shown, by samples of the times in the store. The clock may
// have stepped since: no impression counts as shown after now, nor after one with a higher number.
void mark_shown(Model& model, StoreReader& store, std::int64_t now, std::int64_t elapsed) {
  constexpr std::uint64_t kSamples = 64;
  const std::uint64_t end = model.gap_begin;
  if (end <= model.expired) return;
  std::vector<StoreReader::Shown> samples;
  const std::uint64_t step = (end - model.expired) / kSamples + 1;
  for (std::uint64_t number = model.expired; number < end;
       number = std::max(samples.back().first + 1, std::min(number + step, end - 1))) {
    const auto shown = take(store.shown_from(model.id, number));
    if (!shown) break;
    samples.push_back(*shown);
  }
  for (std::size_t at = samples.size(); at-- > 0;) {
    std::int64_t& time = samples[at].second;
    time = std::min(time, at + 1 < samples.size() ? samples[at + 1].second : now);
  }
  for (const auto& [number, time] : samples) {
    model.shown_marks.add(number + 1, elapsed - (now - time));
  }
  model.update_due(elapsed);
}

// Which numbers the next lists get.
void find_numbers(Model& model, StoreReader& store) {
  const auto newest = take(store.recent(model.id, 1, false));
  if (!newest.empty()) model.gap_begin = ImpressionKey::of(newest.front()).number + 1;
  model.next_number = std::max(model.next_number.load(), model.gap_begin);
  model.gap_end = model.next_number;
}

// Reads counts and items.
void fill(Model& model, StoreReader& store, std::int64_t now) {
  constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  model.shown = take(store.series_total(model.id, 0, kEnd)).impressions;
  if (!model.shared) {  // nobody knows how many are open otherwise
    const std::uint64_t closed =
        take(store.closed_count(model.id, model.expired, model.next_number));
    // Those that were shown recently enough to be open, to within one span of the series.
    const std::int64_t since = span_start(now - std::int64_t{model.spec.open_seconds} * 1000);
    const std::uint64_t late = take(store.series_total(model.id, since, kEnd)).impressions;
    model.open = late - std::min(late, closed);
  }
  model.has_references = model.has_references || take(store.has_candidates(model.id));
  std::vector<std::string> ids;
  std::vector<std::int64_t> versions;
  AlignedVector<float> rows;
  const std::size_t bytes = model.spec.ranker.feature_count * sizeof(float);
  take(store.items(model.id, [&](std::string_view id, std::int64_t version,
                                 std::span<const std::byte> features) {
    if (features.size() != bytes) {
      return Result<void>(Error{fmt::format("item \"{}\" in the store is damaged", id)});
    }
    ids.emplace_back(id);
    versions.push_back(version);
    rows.resize(ids.size() * model.items.stride());
    std::memcpy(rows.data() + (ids.size() - 1) * model.items.stride(), features.data(), bytes);
    return Result<void>();
  }));
  model.items.put(ids, versions, rows);
}

// What another node has published last.
Result<std::optional<Trainer>> published_one(const ModelSpec& spec, std::int64_t model,
                                             SharedStore& shared) {
  return attempt([&]() -> std::optional<Trainer> {
    const auto state = take(shared.published(model, 0));
    if (!state) return std::nullopt;
    Trainer trainer = take(Trainer::start(spec));
    take(trainer.restore(*state));
    return trainer;
  });
}

void recover_model(ServiceParts& parts, const ModelRow& row, SharedStore* shared,
                   std::uint64_t revision) {
  LoadedModel loaded = load_stored(parts, row, *parts.reader, shared);
  const ModelHandle& model = loaded.model;
  const auto version = loaded.trainer.version();
  if (version->has_fault()) parts.log_fault(*model, *version);
  if (shared != nullptr) {
    parts.cluster->follow(model, std::move(loaded.trainer), revision);
  } else {
    parts.learner->adopt(model, std::move(loaded.trainer));
  }
  parts.models.emplace(row.name, model);
}

// Reserves a block of numbers for every model.
void reserve_numbers(ServiceParts& parts) {
  take(parts.store->begin());
  for (const auto& [name, model] : parts.models) {
    model->reserved_in_store = model->next_number + parts.options.number_block;
    model->reserved = model->reserved_in_store;
    take(parts.store->set_model_marks(model->marks()));
    // No list is on its way now.
    if (model->has_references) {
      take(parts.store->limit_references(model->id, model->next_number));
    }
  }
  take(parts.store->commit());
}

// What a clean stop leaves in the store.
void write_last(ServiceParts& parts, std::int64_t now) {
  Store& store = *parts.store;
  take(store.begin());
  for (SnapshotRow& snapshot : parts.learner->last_snapshots()) {
    const auto models = parts.all_models();
    const auto model = std::find_if(models.begin(), models.end(), [&](const ModelHandle& one) {
      return one->id == snapshot.model;
    });
    if (model == models.end() || (*model)->lead == 0) continue;
    take(store.fence(snapshot.model, (*model)->lead));
    snapshot.kind = SnapshotKind::kAutomatic;
    snapshot.created_at = now;
    take(store.insert_snapshot(snapshot));
  }
  // Numbers that were not used are free again.
  for (const ModelHandle& model : parts.all_models()) {
    if (model->shared) continue;
    model->reserved_in_store = model->next_number;
    take(store.set_model_marks(model->marks()));
  }
  for (auto& [model, sums] : parts.learned) {
    sums.at = span_start(now);
    take(store.add_to_series(model, sums));
  }
  take(store.commit());
}

// Recovers the models and starts the threads.
void start(ServiceParts& parts) {
  const ServiceOptions& options = parts.options;
  SharedStore* shared = parts.store->shared();
  auto learner_reader =
      take(shared != nullptr ? shared->open_quick_reader() : parts.store->open_reader());
  parts.reader = take(parts.store->open_reader());
  if (shared != nullptr) {
    parts.cluster = std::make_unique<Cluster>(parts, *shared, take(shared->open_quick_reader()));
    take(parts.cluster->look());
    parts.options.clock = [&parts] { return parts.cluster->now(); };
  }

  LearningHooks hooks;
  hooks.updated = [&parts](Model& model, double norm) {
    model.update_norm.store(norm, std::memory_order_relaxed);
    const std::lock_guard guard(parts.learned_mutex);
    SeriesRow& sums = parts.learned[model.id];
    ++sums.updates;
    sums.update_norms += norm;
  };
  hooks.frozen = [&parts](const Model& model, const Version& version) {
    parts.log_fault(model, version);
  };
  hooks.snapshot = [&parts](const ModelHandle& model, SnapshotRow snapshot) {
    submit_automatic_snapshot(parts, model, std::move(snapshot));
  };
  hooks.published = [&parts](const ModelHandle& model) {
    parts.waiters.published(*model);
    if (parts.cluster != nullptr) parts.cluster->learned(model);
  };
  if (parts.cluster != nullptr) {
    // Whoever leads the model next reads its log again.
    hooks.stalled = [&parts](const ModelHandle& model) {
      parts.cluster->doubt({model});
      return true;
    };
  }
  parts.learner = std::make_unique<LearningThread>(std::move(learner_reader),
                                                   options.snapshot_every, std::move(hooks));
  parts.upkeep = std::make_unique<Upkeep>(parts);
  parts.rules = std::make_unique<ExperimentRules>(parts);
  std::map<std::int64_t, std::uint64_t> revisions;
  if (shared != nullptr) {
    for (const ModelMark& mark : parts.cluster->view().models) {
      revisions[mark.model] = mark.revision;
    }
  }
  for (const ModelRow& row : take(parts.reader->models())) {
    recover_model(parts, row, shared, revisions[row.id]);
  }
  recover_experiments(parts);
  if (shared == nullptr) reserve_numbers(parts);
  for (const std::int64_t id : take(parts.reader->deleted_models())) parts.upkeep->add_removed(id);

  WriterThread::Options writing;
  writing.queue_limit = options.queue_limit;
  writing.clock = options.clock;
  writing.steady = options.steady;
  writing.log = options.log;
  writing.upkeep = [&parts] { return parts.upkeep->run(); };
  if (parts.cluster != nullptr) {
    writing.await = [&parts](std::vector<QueuedEntry> entries, std::function<void(bool)> answer) {
      parts.cluster->await(std::move(entries), std::move(answer));
    };
    writing.tell = [&parts](std::vector<ClusterNote> notes) {
      parts.cluster->tell(std::move(notes));
    };
    writing.doubt = [&parts](const std::vector<ModelHandle>& models) {
      parts.cluster->doubt(models);
    };
    writing.removed = [&parts](const ModelHandle& model) {
      parts.cluster->forget(model);
      drop_served(parts, model);
    };
  }
  parts.writer = std::make_unique<WriterThread>(*parts.store, *parts.learner, writing);
  if (parts.cluster != nullptr) take(parts.cluster->join());
  parts.writer->start();
  if (parts.cluster != nullptr) parts.cluster->start();
  parts.what_if = std::make_unique<WhatIfThread>([&parts] { return parts.store->open_reader(); },
                                                 options.clock);
  // The start may take long to read; requests may not.
  if (shared != nullptr) parts.reader = take(shared->open_request_reader());
  parts.reads = std::make_unique<ReadThread>();
}

}  // namespace

LoadedModel load_stored(const ServiceParts& parts, const ModelRow& row, StoreReader& store,
                        SharedStore* shared) {
  auto loaded = attempt([&] {
    ModelSpec spec = take(parse_spec(row.spec));
    std::optional<Trainer> trainer;
    if (shared != nullptr) trainer = take(published_one(spec, row.id, *shared));
    if (!trainer) trainer = take(recover(spec, row, store));
    auto model = std::make_shared<Model>(std::move(spec), row);
    const std::int64_t now = parts.options.clock();
    if (shared != nullptr) {
      model->shared = true;
      model->lead = 0;
      model->next_number = model->reserved = model->reserved_in_store = 0;
      model->due = 0;
    } else {
      find_numbers(*model, store);
    }
    fill(*model, store, now);
    if (shared == nullptr) mark_shown(*model, store, now, parts.options.steady());
    return LoadedModel{std::move(model), *std::move(trainer)};
  });
  if (!loaded) throw Failed{loaded.error().in("model " + row.name)};
  return *std::move(loaded);
}

std::span<const Option<ServiceOptions>> service_options() {
  constexpr std::uint64_t kMost = 1'000'000'000;
  using Options = ServiceOptions;
  static const std::array options{
      option<&Options::queue_limit>("queue", "most requests waiting for the store", {1, kMost}),
      option<&Options::snapshot_every>("snapshot-every", "log entries between automatic snapshots",
                                       {1, kMost}),
      option<&Options::keep_days>(
          "keep-days", "drop impressions older than this many days; 0: keep all", {0, 36'500}),
      option<&Options::keep_bytes>("keep-bytes",
                                   "drop the oldest impressions above this many bytes (500M, 20G), "
                                   "stored items not counted; "
                                   "0: keep all"),
      named_option<parse_node_name, &Options::node_name>(
          "node-name",
          "what this process is called among others that serve the same PostgreSQL, 1 to 64 "
          "printable characters; empty: the machine's name")};
  return options;
}

Result<std::unique_ptr<Service>> Service::open(std::unique_ptr<Store> store,
                                               const ServiceOptions& options) {
  auto parts = std::make_unique<ServiceParts>();
  parts->options = options;
  parts->store = std::move(store);
  try {
    if (auto started = attempt([&] { start(*parts); }); !started) return started.error();
  } catch (const std::system_error& error) {
    return Error{ErrorCode::kUnavailable, fmt::format("can't start a thread: {}", error.what())};
  }
  return std::unique_ptr<Service>(new Service(std::move(parts)));
}

Service::Service(std::unique_ptr<ServiceParts> parts) : parts_(std::move(parts)) {}

Service::~Service() { stop(); }

void Service::stop() {
  if (parts_->stopped.exchange(true)) return;
  parts_->what_if->stop();
  parts_->reads->stop();
  // Each finishes what it has, and may still feed the next.
  parts_->writer->stop();
  if (parts_->cluster != nullptr) parts_->cluster->stop();
  parts_->learner->stop();
  // The threads have ended: this one writes. If that fails, the next start recovers from the log.
  const std::int64_t now = parts_->options.clock();
  if (!attempt([&] { write_last(*parts_, now); })) parts_->store->roll_back();
  if (SharedStore* shared = parts_->store->shared()) shared->leave();
  // Models may hold each other.
  for (const ModelHandle& model : parts_->all_models()) {
    model->experiment.set(nullptr);
    model->clear_arm_models();
  }
  parts_->running.clear();
  parts_->reader.reset();
  parts_->store->close();
}

std::string Service::beyond_repair() const {
  const std::string of_writer = parts_->writer->beyond_repair();
  return of_writer.empty() && parts_->cluster != nullptr ? parts_->cluster->beyond_repair()
                                                         : of_writer;
}

std::string Service::not_ready() const {
  if (parts_->stopped) return "the service is stopping";
  if (std::string why = beyond_repair(); !why.empty()) return why;
  if (parts_->cluster != nullptr && parts_->cluster->lag_seconds() > kMostLagSeconds) {
    return fmt::format("this node is {:.1f} s behind the others", parts_->cluster->lag_seconds());
  }
  if (parts_->cluster != nullptr && parts_->writer->lag_seconds() > kMostLagSeconds) {
    return fmt::format("the store has not answered for {:.1f} s", parts_->writer->lag_seconds());
  }
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

bool Service::is_shared() const { return parts_->cluster != nullptr; }

void Service::refresh(Done<void> done) {
  if (parts_->cluster == nullptr) return done({});
  parts_->cluster->refresh(std::move(done));
}

void Service::refresh_items(const ModelHandle& model, Done<void> done) {
  if (parts_->cluster == nullptr) return done({});
  parts_->cluster->refresh_items(model, std::move(done));
}

std::vector<ModelInfo> Service::models() const {
  std::vector<ModelInfo> infos;
  for (const ModelHandle& model : parts_->all_models()) infos.push_back(info(*model));
  return infos;
}

}  // namespace plackett::serving
