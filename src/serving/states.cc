// Where a model stands, changed by its owner: snapshots, rollback, freezing, import.
#include <fmt/format.h>

#include <optional>
#include <utility>

#include "serving/creation.h"
#include "serving/refusals.h"
#include "serving/service_parts.h"

namespace plackett::serving {

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
  item.pending = std::make_shared<Pending>(1, [asked, shared_done](const Result<void>&) {
    if (!*asked) (*shared_done)(gone());
  });
  std::vector<LearningThread::Item> items;
  items.push_back(std::move(item));
  parts.learner->submit(std::move(items));
}

namespace {

// A job that logs one entry; done with the model as it stands when that has been applied.
Job logging_job(const Service& service, const ModelHandle& model,
                std::function<Result<std::optional<Error>>(Group&)> apply, Done<ModelInfo> done) {
  auto refused = std::make_shared<std::optional<Error>>();
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
  job.settled = [&service, model, refused, done = std::move(done)](const Result<void>& settled) {
    if (!settled) {
      done(settled.error());
    } else if (*refused) {
      done(**refused);
    } else {
      done(service.info(*model));
    }
  };
  return job;
}

using Applied = Result<std::optional<Error>>;

Applied log_only(Group& group, const ModelHandle& model, store::LogKind kind,
                 std::int64_t argument) {
  if (auto logged = group.log(model, kind, argument); !logged) return logged.error();
  return std::optional<Error>();
}

}  // namespace

void Service::roll_back(const ModelHandle& model, std::int64_t snapshot, Done<ModelInfo> done) {
  const auto apply = [model, snapshot](Group& group) -> Applied {
    auto found = group.store.read().snapshot(snapshot);
    if (!found) return found.error();
    if (!*found || (*found)->model != model->id) {
      return std::optional(Error{ErrorCode::kNotFound,
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

namespace {

// The spec of a model that is made for a file.
ModelSpec spec_for(std::string name, const SavedModel& file) {
  ModelSpec spec;
  spec.name = std::move(name);
  spec.ranker = file.ranker;
  spec.feature_ids = file.feature_ids;
  spec.scaling = file.scaling;
  spec.learner = file.learner.method;
  spec.settings = {{std::string(kLearningRate), fmt::format("{}", file.learner.learning_rate)}};
  if (!file.learner.memory.empty() && spec.learner == "pdgd") {
    spec.settings.push_back({"steps", "adagrad"});
  }
  return spec;
}

}  // namespace

void Service::import_file(std::string name, std::vector<std::byte> file, Done<ModelInfo> done) {
  auto parsed = parse_model(file, {.name = "model file"});
  if (!parsed) return done(invalid(parsed.error()));
  ServiceParts& parts = *parts_;
  const ModelHandle there = find(name);
  auto spec =
      there != nullptr ? Result<ModelSpec>(there->spec) : check(spec_for(std::move(name), *parsed));
  if (!spec) return done(invalid(spec.error()));
  if (auto fits = fitting_model(*spec, file); !fits) {
    return done(Error{ErrorCode::kConflict, fits.error().message});
  }
  auto prepared = Creation::prepare(parts, std::move(spec).value());
  if (!prepared) return done(prepared.error());
  auto row = std::make_shared<store::SnapshotRow>();
  row->kind = store::SnapshotKind::kImported;
  row->updates = parsed->learner.updates;
  row->learned = parsed->learner.impressions;
  row->file = std::move(file);
  const auto take_in = [row](Group& group, const ModelHandle& model) -> Result<void> {
    row->model = model->id;
    row->created_at = group.now;
    auto id = group.store.insert_snapshot(*row);
    if (!id) return id.error();
    return group.log(model, store::LogKind::kRollback, *id);
  };
  parts.writer->submit(creation_job(
      parts, *std::move(prepared), take_in,
      [this, done](const Creation& made) { done(info(*made.model())); },
      [done](const Result<void>& settled) { done(settled.error()); }));
}

}  // namespace plackett::serving
