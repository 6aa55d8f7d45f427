#include "serving/recover.h"

#include <fmt/format.h>

#include <algorithm>

namespace plackett::serving {
namespace {

constexpr std::uint32_t kEntriesAtOnce = 4096;

// Applies every entry after the trainer's last; `each` is called after each.
Result<void> follow(Trainer& trainer, std::int64_t model, store::Reader& store,
                    const std::function<void()>& each) {
  for (;;) {
    auto entries = store.log(model, trainer.last_log(), kEntriesAtOnce);
    if (!entries) return entries.error();
    for (const store::LogEntry& entry : *entries) {
      if (auto applied = trainer.apply(entry, store); !applied) return applied.error();
      each();
    }
    if (entries->size() < kEntriesAtOnce) return {};
  }
}

// Where the model stood, not what was brought from elsewhere.
bool is_a_state(const store::SnapshotRow& snapshot) {
  return snapshot.kind != store::SnapshotKind::kImported;
}

// Those of a model, in the log's order.
Result<std::vector<store::SnapshotRow>> states_of(std::int64_t model, store::Reader& store) {
  auto listed = store.snapshots(model);
  if (!listed) return listed.error();
  std::vector<store::SnapshotRow> states;
  std::copy_if(listed->begin(), listed->end(), std::back_inserter(states), is_a_state);
  std::sort(states.begin(), states.end(), [](const auto& left, const auto& right) {
    return left.log != right.log ? left.log < right.log : left.id < right.id;
  });
  return states;
}

Result<void> restore(Trainer& trainer, std::int64_t id, store::Reader& store) {
  auto snapshot = store.snapshot(id);
  if (!snapshot) return snapshot.error();
  if (!*snapshot) return Error{fmt::format("snapshot {} is gone", id)};
  return trainer.restore(**snapshot);
}

}  // namespace

Result<Trainer> recover(const ModelSpec& spec, const store::ModelRow& model, store::Reader& store) {
  auto trainer = Trainer::start(spec);
  if (!trainer) return trainer;
  auto states = states_of(model.id, store);
  if (!states) return states.error();
  // The newest; an older one where it can't be read; the beginning, where the log has it.
  bool found = model.dropped_log == 0;
  std::string why = fmt::format("no snapshot after log entry {}", model.dropped_log);
  for (auto snapshot = states->rbegin(); snapshot != states->rend(); ++snapshot) {
    if (snapshot->log < model.dropped_log) break;
    if (auto restored = restore(*trainer, snapshot->id, store); restored) {
      found = true;
      break;
    } else {
      why = restored.error().message;
    }
  }
  if (!found) return Error{why};
  if (auto followed = follow(*trainer, model.id, store, [] {}); !followed) return followed.error();
  return trainer;
}

Result<Trainer> replay(const ModelSpec& spec, const store::ModelRow& model, store::Reader& store,
                       ReplayReport& report) {
  auto trainer = Trainer::start(spec);
  if (!trainer) return trainer;
  auto listed = states_of(model.id, store);
  if (!listed) return listed.error();
  const std::vector<store::SnapshotRow>& states = *listed;
  auto next = states.begin();
  if (model.dropped_log > 0) {
    next = std::find_if(states.begin(), states.end(), [&model](const auto& snapshot) {
      return snapshot.log >= model.dropped_log;
    });
    if (next == states.end()) {
      return Error{
          fmt::format("model {}: the log begins after entry {} and no snapshot stands "
                      "there",
                      model.name, model.dropped_log)};
    }
    if (auto restored = restore(*trainer, next->id, store); !restored) return restored.error();
    report.from_snapshot = true;
    ++next;
  }
  const auto compare = [&] {
    for (; next != states.end() && next->log <= trainer->last_log(); ++next) {
      if (next->log < trainer->last_log()) continue;  // it stands where the log is no longer kept
      auto snapshot = store.snapshot(next->id);
      if (!snapshot || !*snapshot) continue;
      ++report.compared;
      if (serialise_model(trainer->saved()) != (*snapshot)->file) ++report.different;
    }
  };
  compare();
  const auto followed = follow(*trainer, model.id, store, [&] {
    ++report.entries;
    compare();
  });
  if (!followed) return followed.error();
  return trainer;
}

}  // namespace plackett::serving
