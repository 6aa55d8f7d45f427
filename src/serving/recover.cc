#include "serving/recover.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "base/attempt.h"

namespace plackett::serving {
namespace {

constexpr std::uint32_t kEntriesAtOnce = 4096;

// Applies every entry after the trainer's last, and calls `each` after each.
void follow(Trainer& trainer, std::int64_t model, StoreReader& store, const AfterEntry& each) {
  for (;;) {
    const auto entries = take(store.log(model, trainer.last_log(), kEntriesAtOnce));
    std::size_t ahead = 0;
    for (std::size_t at = 0; at < entries.size(); ++at) {
      if (at == ahead) ahead += read_ahead(store, std::span(entries).subspan(at));
      take(trainer.apply(entries[at], store));
      each();
    }
    take(store.read_ahead({}));
    if (entries.size() < kEntriesAtOnce) return;
  }
}

// The states that the model was in, in the log's order; imported ones come from elsewhere.
std::vector<SnapshotRow> states_of(std::int64_t model, StoreReader& store) {
  auto states = take(store.snapshots(model));
  std::erase_if(states, [](const auto& one) { return one.kind == SnapshotKind::kImported; });
  std::sort(states.begin(), states.end(), [](const auto& left, const auto& right) {
    return std::pair(left.log, left.id) < std::pair(right.log, right.id);
  });
  return states;
}

void restore(Trainer& trainer, std::int64_t id, StoreReader& store) {
  const auto snapshot = take(store.snapshot(id));
  if (!snapshot) throw Failed{Error{fmt::format("snapshot {} is missing", id)}};
  take(trainer.restore(*snapshot));
}

}  // namespace

Result<void> follow_log(Trainer& trainer, std::int64_t model, StoreReader& store,
                        const AfterEntry& each) {
  return attempt([&] { follow(trainer, model, store, each); });
}

Result<Trainer> recover(const ModelSpec& spec, const ModelRow& model, StoreReader& store,
                        const AfterEntry& each) {
  return attempt([&] {
    Trainer trainer = take(Trainer::start(spec));
    // The newest; an older one if that can't be read; the start, if the log has it.
    const auto states = states_of(model.id, store);
    Result<void> found = Error{fmt::format("no snapshot after log entry {}", model.dropped_log)};
    for (auto snapshot = states.rbegin(); snapshot != states.rend() && !found; ++snapshot) {
      if (snapshot->log < model.dropped_log) break;
      found = attempt([&] { restore(trainer, snapshot->id, store); });
    }
    if (model.dropped_log > 0) take(std::move(found));
    follow(trainer, model.id, store, each);
    return trainer;
  });
}

Result<Trainer> replay(const ModelSpec& spec, const ModelRow& model, StoreReader& store,
                       ReplayReport& report) {
  return attempt([&] {
    Trainer trainer = take(Trainer::start(spec));
    const auto states = states_of(model.id, store);
    auto next = states.begin();
    if (model.dropped_log > 0) {
      next = std::find_if(states.begin(), states.end(),
                          [&](const auto& snapshot) { return snapshot.log >= model.dropped_log; });
      if (next == states.end()) {
        throw Failed{Error{
            fmt::format("model {}: the log starts after entry {} and there is no snapshot of that",
                        model.name, model.dropped_log)}};
      }
      restore(trainer, next->id, store);
      report.from_snapshot = true;
      ++next;
    }
    const auto compare = [&] {
      for (; next != states.end() && next->log <= trainer.last_log(); ++next) {
        if (next->log < trainer.last_log()) continue;  // that part of the log was dropped
        const auto snapshot = store.snapshot(next->id);
        if (!snapshot || !*snapshot) {
          report.missing.push_back(fmt::format("snapshot {} can't be read", next->id));
          continue;
        }
        ++report.compared;
        SavedModel here = trainer.saved();
        // Snapshots of older versions have no settings.
        const auto kept = parse_model((*snapshot)->file, {});
        if (kept && kept->settings.empty()) here.settings.clear();
        if (serialise_model(here) != (*snapshot)->file) ++report.different;
      }
    };
    compare();
    follow(trainer, model.id, store, [&] {
      ++report.entries;
      compare();
    });
    report.missing.insert(report.missing.end(), trainer.missing().begin(), trainer.missing().end());
    return trainer;
  });
}

}  // namespace plackett::serving
