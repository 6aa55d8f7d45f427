// The job that keeps a snapshot.
#include "serving/service_parts.h"

namespace plackett::serving {
namespace {

// Automatic snapshots beyond the newest few go; but those that a rollback of the log needs stay,
// and the one that the kept log begins with.
Result<void> prune(const Model& model, std::uint32_t kept, Group& group) {
  auto snapshots = group.store.read().snapshots(model.id);
  if (!snapshots) return snapshots.error();
  auto base = group.store.read().base_snapshot(model.id, model.dropped_log);
  if (!base) return base.error();
  std::uint32_t automatic = 0;
  for (const store::SnapshotRow& snapshot : *snapshots) {
    if (snapshot.kind != store::SnapshotKind::kAutomatic || ++automatic <= kept) continue;
    if (*base && snapshot.log == **base) continue;
    auto needed = group.store.read().is_rolled_back_to(snapshot.id);
    if (!needed) return needed.error();
    if (*needed) continue;
    if (auto done = group.store.delete_snapshot(snapshot.id); !done) return done;
  }
  return {};
}

}  // namespace

Job snapshot_job(const ModelHandle& model, store::SnapshotRow snapshot,
                 std::uint32_t automatic_kept, Done<SnapshotInfo> done) {
  auto row = std::make_shared<store::SnapshotRow>(std::move(snapshot));
  Job job;
  job.apply = [model, row, automatic_kept](Group& group) -> Result<void> {
    if (model->removed) return {};
    row->model = model->id;
    row->created_at = group.now;
    auto id = group.store.insert_snapshot(*row);
    if (!id) return id.error();
    row->id = *id;
    return prune(*model, automatic_kept, group);
  };
  job.settled = [row, done = std::move(done)](const Result<void>& settled) {
    if (!settled) {
      done(settled.error());
    } else if (row->id == 0) {
      done(Error{ErrorCode::kNotFound, "the model was removed"});
    } else {
      done(info_of(*row));
    }
  };
  return job;
}

}  // namespace plackett::serving
