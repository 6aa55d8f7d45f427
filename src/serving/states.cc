// Changes of a model's state that its owner asks for: snapshots, rollback, freezing, import.
#include <fmt/format.h>

#include <utility>

#include "plackett/method.h"
#include "serving/service_parts.h"

namespace plackett::serving {
namespace {

// Deletes automatic snapshots but the newest few, those that a rollback in the log needs, and the
// one that the kept log starts from.
Result<void> prune(const Model& model, std::uint32_t kept, Transaction& transaction) {
  auto snapshots = transaction.store.read().snapshots(model.id);
  if (!snapshots) return snapshots.error();
  auto base = transaction.store.read().base_snapshot(model.id, model.dropped_log);
  if (!base) return base.error();
  std::uint32_t automatic = 0;
  for (const SnapshotRow& snapshot : *snapshots) {
    if (snapshot.kind != SnapshotKind::kAutomatic || ++automatic <= kept) continue;
    if (*base && snapshot.log == **base) continue;
    auto needed = transaction.store.read().is_rolled_back_to(snapshot.id);
    if (!needed) return needed.error();
    if (*needed) continue;
    if (auto done = transaction.store.delete_snapshot(snapshot.id); !done) return done;
  }
  return {};
}

// A job that logs what `apply` does; answers with the model after the learner has applied it.
Job logging_job(const Service& service, const ModelHandle& model,
                std::function<Result<void>(Transaction&)> apply, Done<ModelInfo> done) {
  return job(
      [model, apply = std::move(apply)](Transaction& transaction) -> Result<void> {
        if (model->removed) return model_removed();
        return apply(transaction);
      },
      [&service, model, done = std::move(done)](const Result<void>& settled) {
        done(settled ? Result<ModelInfo>(service.info(*model)) : settled.error());
      });
}

}  // namespace

Job snapshot_job(const ModelHandle& model, SnapshotRow snapshot, std::uint32_t automatic_kept,
                 Done<SnapshotInfo> done) {
  auto row = std::make_shared<SnapshotRow>(std::move(snapshot));
  return job<SnapshotInfo>(
      [model, row, automatic_kept](Transaction& transaction) -> Result<SnapshotInfo> {
        if (model->removed) return model_removed();
        row->model = model->id;
        row->created_at = transaction.now;
        auto id = transaction.store.insert_snapshot(*row);
        if (!id) return id.error();
        row->id = *id;
        if (auto pruned = prune(*model, automatic_kept, transaction); !pruned) {
          return pruned.error();
        }
        return info_of(*row);
      },
      std::move(done));
}

void submit_automatic_snapshot(ServiceParts& parts, const ModelHandle& model,
                               SnapshotRow snapshot) {
  snapshot.kind = SnapshotKind::kAutomatic;
  Job job = snapshot_job(model, std::move(snapshot), parts.options.automatic_snapshots_kept,
                         [model](const Result<SnapshotInfo>& kept) {
                           if (!kept) model->snapshot_lost = true;
                         });
  job.own = true;
  parts.writer->submit(std::move(job));
}

void Service::take_snapshot(const ModelHandle& model, std::string note, Done<SnapshotInfo> done) {
  ServiceParts& parts = *parts_;
  auto asked = std::make_shared<bool>(false);
  parts.learner->submit(
      {.model = model,
       .ask =
           [&parts, model, note = std::move(note), asked, done](const Trainer& trainer) {
             *asked = true;
             SnapshotRow snapshot = trainer.snapshot();
             snapshot.note = note;
             parts.writer->submit(snapshot_job(model, std::move(snapshot),
                                               parts.options.automatic_snapshots_kept, done));
           },
       .published =
           [asked, done] {
             if (!*asked) done(model_removed());
           }});
}

void Service::roll_back(const ModelHandle& model, std::int64_t snapshot, Done<ModelInfo> done) {
  const auto apply = [model, snapshot](Transaction& transaction) -> Result<void> {
    auto found = transaction.store.read().snapshot(snapshot);
    if (!found) return found.error();
    if (!*found || (*found)->model != model->id) {
      return Error{ErrorCode::kNotFound, fmt::format("no snapshot {}", snapshot), "snapshot"};
    }
    return transaction.log(model, LogKind::kRollback, snapshot);
  };
  parts_->writer->submit(logging_job(*this, model, apply, std::move(done)));
}

void Service::set_learning(const ModelHandle& model, bool on, Done<ModelInfo> done) {
  const auto apply = [model, on](Transaction& transaction) {
    return transaction.log(model, on ? LogKind::kResume : LogKind::kFreeze, 0);
  };
  parts_->writer->submit(logging_job(*this, model, apply, std::move(done)));
}

void Service::import_file(std::string name, std::vector<std::byte> file, Done<ModelInfo> done) {
  auto parsed = parse_model(file, {.name = "model file"});
  if (!parsed) return done(parsed.error());
  ModelSpec spec;
  if (const ModelHandle existing = find(name)) {
    spec = existing->spec;
  } else {
    spec.name = std::move(name);
    spec.ranker = parsed->ranker;
    spec.feature_ids = parsed->feature_ids;
    spec.scaling = parsed->scaling;
    spec.learner = parsed->learner.method;
    spec.settings = settings_of(parsed->learner);
    auto checked = check(std::move(spec));
    if (!checked) return done(checked.error());
    spec = *std::move(checked);
  }
  if (auto fits = fitting_model(spec, file); !fits) {
    return done(Error{ErrorCode::kConflict, fits.error().message});
  }
  auto row = std::make_shared<SnapshotRow>();
  row->kind = SnapshotKind::kImported;
  row->updates = parsed->learner.updates;
  row->learned = parsed->learner.impressions;
  row->file = std::move(file);
  const auto load = [row](Transaction& transaction, const ModelHandle& model) -> Result<void> {
    row->model = model->id;
    row->created_at = transaction.now;
    auto id = transaction.store.insert_snapshot(*row);
    if (!id) return id.error();
    return transaction.log(model, LogKind::kRollback, *id);
  };
  auto job = creation_job(*parts_, std::move(spec), load,
                          [this, done](const Result<CreatedModel>& created) {
                            if (!created) return done(created.error());
                            done(info(*created->model));
                          });
  if (!job) return done(job.error());
  parts_->writer->submit(*std::move(job));
}

}  // namespace plackett::serving
