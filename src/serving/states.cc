// Changes of a model's state that its owner asks for: snapshots, rollback, freezing.
#include <fmt/format.h>

#include <utility>

#include "serving/service_parts.h"

namespace plackett::serving {
namespace {

// Deletes automatic snapshots but the newest few, those that a rollback in the log needs, and the
// one that the kept log starts from.
void prune(const Model& model, std::uint32_t kept, Store& store) {
  const auto base = take(store.read().base_snapshot(model.id, model.dropped_log));
  std::uint32_t automatic = 0;
  for (const SnapshotRow& snapshot : take(store.read().snapshots(model.id))) {
    if (snapshot.kind != SnapshotKind::kAutomatic || ++automatic <= kept) continue;
    if (snapshot.log == base || take(store.read().is_loaded(snapshot.id))) continue;
    take(store.delete_snapshot(snapshot.id));
  }
}

}  // namespace

Job logging_job(const Service& service, const ModelHandle& model,
                std::function<void(Transaction&)> apply, Done<ModelInfo> done) {
  return {.apply =
              [model, apply = std::move(apply)](Transaction& transaction) {
                if (model->removed) throw Failed{model_removed()};
                transaction.lead(model);
                apply(transaction);
              },
          .answer =
              [&service, model, done = std::move(done)](const Result<void>& settled) {
                done(settled ? Result<ModelInfo>(service.info(*model)) : settled.error());
              }};
}

Job snapshot_job(const ModelHandle& model, SnapshotRow snapshot, std::uint32_t automatic_kept,
                 Done<SnapshotRow> done) {
  auto row = std::make_shared<SnapshotRow>(std::move(snapshot));
  return job<SnapshotRow>(
      [model, row, automatic_kept](Transaction& transaction) {
        if (model->removed) throw Failed{model_removed()};
        row->model = model->id;
        row->created_at = transaction.now;
        // Of a model that another node leads, this is what that one has published.
        if (model->lead != 0) transaction.lead(model);
        row->id = take(transaction.store.insert_snapshot(*row));
        if (model->lead != 0) prune(*model, automatic_kept, transaction.store);
        SnapshotRow kept = *row;
        kept.file.clear();
        return kept;
      },
      std::move(done));
}

void submit_automatic_snapshot(ServiceParts& parts, const ModelHandle& model,
                               SnapshotRow snapshot) {
  snapshot.kind = SnapshotKind::kAutomatic;
  Job job = snapshot_job(model, std::move(snapshot), parts.options.automatic_snapshots_kept,
                         [model](const Result<SnapshotRow>& kept) {
                           if (!kept) model->snapshot_lost = true;
                         });
  job.own = true;
  parts.writer->submit(std::move(job));
}

void Service::take_snapshot(const ModelHandle& model, std::string note, Done<SnapshotRow> done) {
  ServiceParts& parts = *parts_;
  if (model->lead == 0) {
    auto state = parts.cluster->state_of(*model);
    if (!state) return done(not_learned_here(*model));
    state->note = std::move(note);
    state->kind = SnapshotKind::kAsked;
    state->id = 0;
    return parts.writer->submit(snapshot_job(
        model, *std::move(state), parts.options.automatic_snapshots_kept, std::move(done)));
  }
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
       .answer =
           [model, asked, done] {
             if (!*asked) done(not_learned_here(*model));
           }});
}

void Service::roll_back(const ModelHandle& model, std::int64_t snapshot, Done<ModelInfo> done) {
  const auto apply = [model, snapshot](Transaction& transaction) {
    const auto found = take(transaction.store.read().snapshot(snapshot));
    if (!found || found->model != model->id) {
      throw Failed{{ErrorCode::kNotFound, fmt::format("no snapshot {}", snapshot), "snapshot"}};
    }
    take(transaction.log(model, LogKind::kRollback, snapshot));
  };
  with_lead(*parts_, model, done, [this, model, apply, done] {
    parts_->writer->submit(logging_job(*this, model, apply, done));
  });
}

void Service::set_learning(const ModelHandle& model, bool on, Done<ModelInfo> done) {
  const auto apply = [model, on](Transaction& transaction) {
    take(transaction.log(model, on ? LogKind::kResume : LogKind::kFreeze, 0));
  };
  with_lead(*parts_, model, done, [this, model, apply, done] {
    parts_->writer->submit(logging_job(*this, model, apply, done));
  });
}

}  // namespace plackett::serving
