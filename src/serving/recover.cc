#include "serving/recover.h"

#include <fmt/format.h>

#include <algorithm>

namespace plackett::serving {
namespace {

constexpr std::uint32_t kEntriesAtOnce = 4096;

// Applies every entry after the trainer's last, and calls `each` after each.
Result<void> follow(Trainer& trainer, std::int64_t model, StoreReader& store,
                    const std::function<void()>& each) {
  for (;;) {
    auto entries = store.log(model, trainer.last_log(), kEntriesAtOnce);
    if (!entries) return entries.error();
    for (const LogEntry& entry : *entries) {
      if (auto applied = trainer.apply(entry, store); !applied) return applied.error();
      each();
    }
    if (entries->size() < kEntriesAtOnce) return {};
  }
}

// Whether the model was in this state; imported ones come from elsewhere.
bool is_a_state(const SnapshotRow& snapshot) { return snapshot.kind != SnapshotKind::kImported; }

// In the log's order.
Result<std::vector<SnapshotRow>> states_of(std::int64_t model, StoreReader& store) {
  auto listed = store.snapshots(model);
  if (!listed) return listed.error();
  std::vector<SnapshotRow> states;
  std::copy_if(listed->begin(), listed->end(), std::back_inserter(states), is_a_state);
  std::sort(states.begin(), states.end(), [](const auto& left, const auto& right) {
    return left.log != right.log ? left.log < right.log : left.id < right.id;
  });
  return states;
}

Result<void> restore(Trainer& trainer, std::int64_t id, StoreReader& store) {
  auto snapshot = store.snapshot(id);
  if (!snapshot) return snapshot.error();
  if (!*snapshot) return Error{fmt::format("snapshot {} is missing", id)};
  return trainer.restore(**snapshot);
}

}  // namespace

Result<Trainer> recover(const ModelSpec& spec, const ModelRow& model, StoreReader& store) {
  auto trainer = Trainer::start(spec);
  if (!trainer) return trainer;
  auto states = states_of(model.id, store);
  if (!states) return states.error();
  // The newest; an older one if that can't be read; the start, if the log has it.
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

Result<Trainer> replay(const ModelSpec& spec, const ModelRow& model, StoreReader& store,
                       ReplayReport& report) {
  auto trainer = Trainer::start(spec);
  if (!trainer) return trainer;
  auto listed = states_of(model.id, store);
  if (!listed) return listed.error();
  const std::vector<SnapshotRow>& states = *listed;
  auto next = states.begin();
  if (model.dropped_log > 0) {
    next = std::find_if(states.begin(), states.end(), [&model](const auto& snapshot) {
      return snapshot.log >= model.dropped_log;
    });
    if (next == states.end()) {
      return Error{
          fmt::format("model {}: the log starts after entry {} and there is no snapshot "
                      "of that",
                      model.name, model.dropped_log)};
    }
    if (auto restored = restore(*trainer, next->id, store); !restored) return restored.error();
    report.from_snapshot = true;
    ++next;
  }
  const auto compare = [&] {
    for (; next != states.end() && next->log <= trainer->last_log(); ++next) {
      if (next->log < trainer->last_log()) continue;  // that part of the log was dropped
      auto snapshot = store.snapshot(next->id);
      if (!snapshot || !*snapshot) {
        report.missing.push_back(fmt::format("snapshot {} can't be read", next->id));
        continue;
      }
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
  report.missing.insert(report.missing.end(), trainer->missing().begin(), trainer->missing().end());
  return trainer;
}

}  // namespace plackett::serving
