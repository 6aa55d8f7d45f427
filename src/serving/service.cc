#include "serving/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "serving/impression_to_keep.h"
#include "serving/recover.h"
#include "serving/service_parts.h"
#include "serving/spec_text.h"

namespace plackett::serving {
namespace {

constexpr std::size_t kMostModels = 10'000;

Refused gone() { return {Refusal::kUnknown, "the model was removed"}; }
Refused invalid(const Error& error) { return {Refusal::kInvalid, error.message}; }

// What the store knows of a model that is not in its row.
Result<void> fill(Model& model, store::Reader& store) {
  auto end = store.numbers_end(model.id);
  if (!end) return end.error();
  model.next_number = std::max(model.next_number.load(), *end);
  auto total = store.series_total(model.id, 0, std::numeric_limits<std::int64_t>::max());
  if (!total) return total.error();
  model.shown = total->impressions;
  auto closed = store.closed_within(model.id, model.expired, model.next_number);
  if (!closed) return closed.error();
  model.closed_in_window = *closed;
  if (auto counted = count_open(model, store); !counted) return counted;

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
  auto trainer = recover(*spec, row.id, store);
  if (!trainer) return Error{fmt::format("model {}: {}", row.name, trainer.error().message)};
  auto model = std::make_shared<Model>(std::move(spec).value(), row);
  if (auto filled = fill(*model, store); !filled) return filled;
  parts.learner->adopt(model, std::move(trainer).value());
  parts.models.emplace(row.name, model);
  return {};
}

// A block of numbers for every model, before any is used.
Result<void> reserve_numbers(ServiceParts& parts) {
  if (auto begun = parts.store->begin(); !begun) return begun;
  for (const auto& [name, model] : parts.models) {
    model->reserved_in_store = model->next_number + Model::kBlock;
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
  auto checkpointer = store::Checkpointer::start(options.db, options.vfs);
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
    all.writer->submit(snapshot_job(model, std::move(snapshot),
                                    all.options.automatic_snapshots_kept,
                                    [](const Answer<SnapshotInfo>&) {}));
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
  writing.upkeep = [&all] { all.upkeep->run(); };
  parts->writer =
      std::make_unique<WriterThread>(*parts->store, *parts->syncer, *parts->learner, writing);
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
  std::vector<store::SnapshotRow> last;
  parts_->learner->for_each(
      [&last](const ModelHandle& model, const Trainer& trainer, std::int64_t snapshot_log) {
        if (trainer.last_log() == snapshot_log) return;
        store::SnapshotRow snapshot = trainer.snapshot();
        snapshot.model = model->id;
        snapshot.kind = store::SnapshotKind::kAutomatic;
        snapshot.created_at = now_ms();
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
  const std::int64_t bucket = now_ms() / (kSeriesSeconds * 1000) * (kSeriesSeconds * 1000);
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

namespace {

// Makes a model in a job's two halves.
struct Creation {
  ModelSpec spec;
  ModelHandle model;
  std::optional<Trainer> trainer;
  bool is_new = false;
  std::optional<Refused> refused;

  Result<void> apply(const ServiceParts& parts, Group& group) {
    model = parts.find(spec.name);
    if (model == nullptr) {
      // Made earlier in this group: the writer learns of it after the commit.
      auto rows = group.store.read().models();
      if (!rows) return rows.error();
      for (const store::ModelRow& row : *rows) {
        if (row.name == spec.name) {
          refused = Refused{Refusal::kConflict, "the model is being made by another request"};
          return {};
        }
      }
      if (rows->size() >= kMostModels) {
        refused = Refused{Refusal::kTooLarge,
                          fmt::format("there are {} models; no more fit", rows->size())};
        return {};
      }
      auto started = Trainer::start(spec);
      if (!started) {
        refused = invalid(started.error());
        return {};
      }
      store::ModelRow row;
      row.next_number = Model::kBlock;
      row.name = spec.name;
      row.created_at = group.now;
      row.spec = to_text(spec);
      auto id = group.store.insert_model(row);
      if (!id) return id.error();
      row.id = *id;
      model = std::make_shared<Model>(spec, row);
      model->next_number = 0;
      trainer = std::move(started).value();
      is_new = true;
      return {};
    }
    if (!(model->spec == spec)) {
      refused = Refused{
          Refusal::kConflict,
          fmt::format("model \"{}\" is there with another spec; delete it first", spec.name)};
    }
    return {};
  }

  void committed(ServiceParts& parts) {
    if (!is_new) return;
    parts.learner->adopt(model, std::move(*trainer));
    const std::unique_lock lock(parts.models_mutex);
    parts.models.emplace(spec.name, model);
  }
};

}  // namespace

void Service::create(ModelSpec spec, Done<Created> done) {
  auto checked = check(std::move(spec));
  if (!checked) {
    done(invalid(checked.error()));
    return;
  }
  auto creation = std::make_shared<Creation>();
  creation->spec = std::move(checked).value();
  ServiceParts& parts = *parts_;
  Job job;
  job.apply = [creation, &parts](Group& group) { return creation->apply(parts, group); };
  job.committed = [creation, &parts] { creation->committed(parts); };
  job.settled = [this, creation, done = std::move(done)](const Answer<Nothing>& settled) {
    if (!settled) {
      done(settled.refused());
    } else if (creation->refused) {
      done(*creation->refused);
    } else {
      done(Created{info(*creation->model), creation->is_new});
    }
  };
  parts.writer->submit(std::move(job));
}

void Service::remove(const ModelHandle& model, Done<Nothing> done) {
  ServiceParts& parts = *parts_;
  auto was_there = std::make_shared<bool>(false);
  Job job;
  job.apply = [model, was_there](Group& group) -> Result<void> {
    if (model->removed) return {};
    *was_there = true;
    return group.store.delete_model(model->id);
  };
  job.committed = [model, was_there, &parts] {
    if (!*was_there || model->removed.exchange(true)) return;
    parts.learner->forget(model);
    parts.upkeep->add_removed(model->id);
    const std::unique_lock lock(parts.models_mutex);
    const auto found = parts.models.find(model->spec.name);
    if (found != parts.models.end() && found->second == model) parts.models.erase(found);
  };
  job.settled = [was_there, done = std::move(done)](const Answer<Nothing>& settled) {
    done(settled && !*was_there ? Answer<Nothing>(gone()) : settled);
  };
  parts.writer->submit(std::move(job));
}

void Service::put_items(const ModelHandle& model, std::vector<std::string> ids,
                        AlignedVector<float> rows, Done<std::uint64_t> done) {
  struct State {
    std::vector<std::string> ids;
    AlignedVector<float> rows;
  };
  auto state = std::make_shared<State>(State{std::move(ids), std::move(rows)});
  Job job;
  job.apply = [model, state](Group& group) -> Result<void> {
    if (model->removed) return {};
    const std::size_t bytes = model->spec.ranker.feature_count * sizeof(float);
    for (std::size_t at = 0; at < state->ids.size(); ++at) {
      const float* row = state->rows.data() + at * model->items.stride();
      if (auto put = group.store.put_item(model->id, state->ids[at],
                                          {reinterpret_cast<const std::byte*>(row), bytes});
          !put) {
        return put;
      }
    }
    return {};
  };
  job.committed = [model, state] {
    if (!model->removed) model->items.put(state->ids, state->rows);
  };
  job.settled = [model, done = std::move(done)](const Answer<Nothing>& settled) {
    if (!settled) {
      done(settled.refused());
    } else if (model->removed) {
      done(gone());
    } else {
      done(model->items.count());
    }
  };
  parts_->writer->submit(std::move(job));
}

void Service::remove_item(const ModelHandle& model, const std::string& id, Done<Nothing> done) {
  auto found = std::make_shared<bool>(false);
  Job job;
  job.apply = [model, id, found](Group& group) -> Result<void> {
    auto removed = group.store.delete_item(model->id, id);
    if (!removed) return removed.error();
    *found = *removed;
    return {};
  };
  job.committed = [model, id] { model->items.remove(id); };
  job.settled = [id, found, done = std::move(done)](const Answer<Nothing>& settled) {
    if (settled && !*found) {
      done(Refused{Refusal::kUnknown, fmt::format("item \"{}\" is not stored", id)});
    } else {
      done(settled);
    }
  };
  parts_->writer->submit(std::move(job));
}

void Service::keep(const ModelHandle& model, std::shared_ptr<ImpressionToKeep> record,
                   Done<Nothing> done) {
  auto refused = std::make_shared<std::optional<Refused>>();
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
        *refused = Refused{
            Refusal::kConflict,
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
  job.settled = [refused, done = std::move(done)](const Answer<Nothing>& settled) {
    done(settled && *refused ? Answer<Nothing>(**refused) : settled);
  };
  parts_->writer->submit(std::move(job));
}

void Service::feedback(const ModelHandle& model, std::vector<FeedbackEvent> events,
                       Done<std::vector<FeedbackStatus>> done) {
  if (parts_->learner->queued() >= parts_->options.queue_limit) {
    done(Refused{Refusal::kBusy, "too much waits to be learned from; try again later"});
    return;
  }
  parts_->writer->submit(feedback_job(model, std::move(events), std::move(done)));
}

void Service::take_snapshot(const ModelHandle& model, std::string note, Done<SnapshotInfo> done) {
  ServiceParts& parts = *parts_;
  LearningThread::Item item;
  item.model = model;
  auto asked = std::make_shared<bool>(false);
  auto shared_done = std::make_shared<Done<SnapshotInfo>>(std::move(done));
  item.ask = [&parts, model, note = std::move(note), asked, shared_done](const Trainer& trainer) {
    *asked = true;
    store::SnapshotRow snapshot = trainer.snapshot();
    snapshot.note = note;
    parts.writer->submit(snapshot_job(model, std::move(snapshot),
                                      parts.options.automatic_snapshots_kept, *shared_done));
  };
  item.pending = std::make_shared<Pending>(1, [asked, shared_done](const Answer<Nothing>&) {
    if (!*asked) (*shared_done)(gone());
  });
  std::vector<LearningThread::Item> items;
  items.push_back(std::move(item));
  parts.learner->submit(std::move(items));
}

namespace {

// A job that logs one entry; done with the model as it stands when that has been applied.
Job logging_job(const Service& service, const ModelHandle& model,
                std::function<Result<std::optional<Refused>>(Group&)> apply, Done<ModelInfo> done) {
  auto refused = std::make_shared<std::optional<Refused>>();
  Job job;
  job.apply = [model, refused, apply = std::move(apply)](Group& group) -> Result<void> {
    if (model->removed) {
      *refused = gone();
      return {};
    }
    auto applied = apply(group);
    if (!applied) return applied.error();
    *refused = *applied;
    return {};
  };
  job.settled = [&service, model, refused, done = std::move(done)](const Answer<Nothing>& settled) {
    if (!settled) {
      done(settled.refused());
    } else if (*refused) {
      done(**refused);
    } else {
      done(service.info(*model));
    }
  };
  return job;
}

using Applied = Result<std::optional<Refused>>;

Applied log_only(Group& group, const ModelHandle& model, store::LogKind kind,
                 std::int64_t argument) {
  if (auto logged = group.log(model, kind, argument); !logged) return logged.error();
  return std::optional<Refused>();
}

}  // namespace

void Service::roll_back(const ModelHandle& model, std::int64_t snapshot, Done<ModelInfo> done) {
  const auto apply = [model, snapshot](Group& group) -> Applied {
    auto found = group.store.read().snapshot(snapshot);
    if (!found) return found.error();
    if (!*found || (*found)->model != model->id) {
      return std::optional(Refused{Refusal::kUnknown,
                                   fmt::format("snapshot {} is not there", snapshot), "snapshot"});
    }
    return log_only(group, model, store::LogKind::kRollback, snapshot);
  };
  parts_->writer->submit(logging_job(*this, model, apply, std::move(done)));
}

void Service::set_learning(const ModelHandle& model, bool on, Done<ModelInfo> done) {
  const auto kind = on ? store::LogKind::kResume : store::LogKind::kFreeze;
  const auto apply = [model, kind](Group& group) { return log_only(group, model, kind, 0); };
  parts_->writer->submit(logging_job(*this, model, apply, std::move(done)));
}

void Service::import_file(std::string name, std::vector<std::byte> file, Done<ModelInfo> done) {
  auto parsed = parse_model(file, {.name = "model file"});
  if (!parsed) {
    done(invalid(parsed.error()));
    return;
  }
  const ModelHandle model = find(name);
  if (model == nullptr) {
    // A model of the file's shape, and then the file into it.
    ModelSpec spec;
    spec.name = std::move(name);
    spec.ranker = parsed->ranker;
    spec.feature_ids = parsed->feature_ids;
    spec.scaling = parsed->scaling;
    spec.learner = parsed->learner.method;
    spec.settings = {
        {std::string(kLearningRate), fmt::format("{}", parsed->learner.learning_rate)}};
    if (!parsed->learner.memory.empty() && spec.learner == "pdgd") {
      spec.settings.push_back({"steps", "adagrad"});
    }
    create(std::move(spec), [this, file = std::move(file),
                             done = std::move(done)](const Answer<Created>& created) mutable {
      if (!created) {
        done(created.refused());
      } else {
        import_file(created->info.spec.name, std::move(file), std::move(done));
      }
    });
    return;
  }
  if (auto fits = fitting_model(model->spec, file); !fits) {
    done(Refused{Refusal::kConflict, fits.error().message});
    return;
  }
  auto row = std::make_shared<store::SnapshotRow>();
  row->kind = store::SnapshotKind::kImported;
  row->updates = parsed->learner.updates;
  row->learned = parsed->learner.impressions;
  row->file = std::move(file);
  const auto apply = [model, row](Group& group) -> Applied {
    row->model = model->id;
    row->created_at = group.now;
    auto id = group.store.insert_snapshot(*row);
    if (!id) return id.error();
    return log_only(group, model, store::LogKind::kRollback, *id);
  };
  parts_->writer->submit(logging_job(*this, model, apply, std::move(done)));
}

}  // namespace plackett::serving
