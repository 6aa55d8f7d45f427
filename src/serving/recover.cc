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
      trainer.apply(entry, store);
      each();
    }
    if (entries->size() < kEntriesAtOnce) return {};
  }
}

// Where the model stood, not what was brought from elsewhere.
bool is_a_state(const store::SnapshotRow& snapshot) {
  return snapshot.kind != store::SnapshotKind::kImported;
}

Result<void> restore(Trainer& trainer, std::int64_t id, store::Reader& store) {
  auto snapshot = store.snapshot(id);
  if (!snapshot) return snapshot.error();
  if (!*snapshot) return Error{fmt::format("snapshot {} is gone", id)};
  return trainer.restore(**snapshot);
}

}  // namespace

Result<Trainer> recover(const ModelSpec& spec, std::int64_t model, store::Reader& store) {
  auto trainer = Trainer::start(spec);
  if (!trainer) return trainer;
  auto snapshots = store.snapshots(model);
  if (!snapshots) return snapshots.error();
  const store::SnapshotRow* newest = nullptr;
  for (const store::SnapshotRow& snapshot : *snapshots) {
    if (is_a_state(snapshot) && (newest == nullptr || snapshot.log > newest->log)) {
      newest = &snapshot;
    }
  }
  if (newest != nullptr) {
    if (auto restored = restore(*trainer, newest->id, store); !restored) return restored.error();
  }
  if (auto followed = follow(*trainer, model, store, [] {}); !followed) return followed.error();
  return trainer;
}

Result<Trainer> replay(const ModelSpec& spec, const store::ModelRow& model, store::Reader& store,
                       ReplayReport& report) {
  auto trainer = Trainer::start(spec);
  if (!trainer) return trainer;
  auto listed = store.snapshots(model.id);
  if (!listed) return listed.error();
  std::vector<store::SnapshotRow> states;
  std::copy_if(listed->begin(), listed->end(), std::back_inserter(states), is_a_state);
  std::stable_sort(states.begin(), states.end(), [](const auto& left, const auto& right) {
    return left.log != right.log ? left.log < right.log : left.id < right.id;
  });
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
