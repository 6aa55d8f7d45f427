// Following the other nodes: models that they make, change and remove, and versions that they
// publish.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "serving/cluster.h"
#include "serving/service_parts.h"
#include "serving/stored_experiment.h"

namespace plackett::serving {

void Cluster::follow(const ModelHandle& model, Trainer trainer, std::uint64_t revision) {
  model->publication.publish(trainer.version());
  Member& member = members_[model->id];
  member.model = model;
  member.revision = revision;
  member.items = model->items.last_version();
  member.items_revision = revision;
  member.state = std::make_shared<SnapshotRow>(trainer.snapshot());
  member.trainer = std::move(trainer);
  const std::lock_guard lock(mutex_);
  states_[model->id] = member.state;
}

void Cluster::follow_models(const ClusterView& view) {
  for (const ModelMark& mark : view.models) {
    if (find(mark.model) != nullptr) continue;
    load_model(mark.model);
    stay();
  }
  std::int64_t behind = 0;
  for (const ModelMark& mark : view.models) {
    Member* member = find(mark.model);
    if (member == nullptr) continue;
    if (member->revision < mark.revision && !member->reloading) member->wanted = mark.revision;
    if (!member->trainer) continue;
    if (mark.published > member->trainer->version_number()) {
      read_published(*member);
      stay();
    }
    // A table that does not survive crashes may have lost it: then nothing is newer.
    if (mark.published <= member->trainer->version_number()) {
      member->behind_since = {};
    } else if (member->behind_since == Clock::time_point{}) {
      member->behind_since = Clock::now();
    }
    if (member->behind_since != Clock::time_point{}) {
      const std::int64_t since = parts_.options.steady() - (Clock::now() - member->behind_since) /
                                                               std::chrono::milliseconds(1);
      behind = behind == 0 ? since : std::min(behind, since);
    }
  }
  behind_since_ = behind;
  // Those that were removed elsewhere.
  for (auto& [id, member] : members_) {
    const bool there = std::any_of(view.models.begin(), view.models.end(),
                                   [id = id](const ModelMark& mark) { return mark.model == id; });
    if (!there && !member.going) drop(member);
  }
}

void Cluster::load_model(std::int64_t id) {
  auto loaded = attempt([&]() -> std::optional<LoadedModel> {
    const auto row = take(reader_->model(id));
    if (!row) return std::nullopt;  // it was removed meanwhile
    return load_stored(parts_, *row, *reader_, &store_);
  });
  if (!loaded) {
    parts_.log(fmt::format("model {} can't be loaded: {}", id, loaded.error().message));
    return;
  }
  if (!*loaded) return;
  const ModelHandle model = (*loaded)->model;
  follow(model, std::move((*loaded)->trainer), 0);
  parts_.writer->submit({.apply = [](Transaction&) {},
                         .committed =
                             [this, model] {
                               if (const ModelHandle old = parts_.find(model->spec.name)) {
                                 if (old->id == model->id) return;  // made here: see add_new()
                                 drop_served(parts_, old);
                               }
                               const std::unique_lock lock(parts_.models_mutex);
                               parts_.models.emplace(model->spec.name, model);
                             },
                         .answer =
                             [this, id, model](const Result<void>& settled) {
                               if (settled) return;
                               // It is loaded again with the next beat.
                               post([this, id, model] {
                                 Member* member = find(id);
                                 if (member == nullptr || member->model != model) return;
                                 give_up(*member);
                                 members_.erase(id);
                               });
                             },
                         .own = true});
}

void Cluster::drop(Member& member) {
  member.going = true;
  parts_.writer->submit({.apply = [](Transaction&) {},
                         .committed = [this, model = member.model] { drop_served(parts_, model); },
                         .answer =
                             [this, id = member.model->id](const Result<void>& settled) {
                               post([this, id, dropped = settled.ok()] {
                                 Member* gone = find(id);
                                 if (gone == nullptr) return;
                                 gone->going = false;
                                 if (dropped) erase(id);  // else the next beat tries again
                               });
                             },
                         .own = true});
}

void Cluster::erase(std::int64_t id) {
  members_.erase(id);
  {
    const std::lock_guard lock(mutex_);
    states_.erase(id);
  }
  if (const auto awaiting = awaiting_.extract(id)) {
    for (const Awaiting& one : awaiting.mapped()) one.answer(false);
  }
  if (const auto wanted = wanted_.extract(id)) {
    for (const Asked& one : wanted.mapped()) one.done(model_removed());
  }
  if (const auto reading = reading_items_.extract(id)) {
    for (const Asked& one : reading.mapped()) one.done({});
  }
}

void Cluster::read_changes() {
  constexpr std::chrono::milliseconds kMost{20};
  const auto end = Clock::now() + kMost;
  for (Member* member = next_changed(); member != nullptr; member = next_changed()) {
    if (Clock::now() >= end) return;
    next_read_ = member->model->id + 1;
    read_some(*member);
  }
  for (Asked& one : std::exchange(refreshing_, {})) {
    if (!connected_) {
      one.done(unreachable());
      continue;
    }
    // Models and experiments are changed by the writer's thread: after what it has to do now.
    parts_.writer->submit({.apply = [](Transaction&) {}, .answer = one.done, .own = true});
  }
}

Cluster::Member* Cluster::next_changed() {
  const auto is_changed = [](const auto& one) { return one.second.wanted != 0; };
  const auto next = members_.lower_bound(next_read_);
  auto found = std::find_if(next, members_.end(), is_changed);
  if (found == members_.end()) found = std::find_if(members_.begin(), next, is_changed);
  return found != members_.end() && is_changed(*found) ? &found->second : nullptr;
}

void Cluster::read_some(Member& member) {
  constexpr std::uint32_t kAtOnce = 1000;
  const ModelHandle model = member.model;
  const auto changes = store_.item_changes(model->id, member.items, kAtOnce);
  if (changes) {
    model->items.apply(*changes);
    if (!changes->empty()) member.items = changes->back().version;
    if (changes->size() == kAtOnce) return;  // there may be more
  }
  const std::uint64_t revision = std::exchange(member.wanted, 0);
  const Result<void> read = changes ? Result<void>() : changes.error();
  if (const auto asked = reading_items_.extract(model->id)) {
    for (Asked& one : asked.mapped()) one.done(read);
  }
  if (!read) {
    parts_.log(fmt::format("model {}: {}", model->spec.name, read.error().message));
    return;
  }
  member.items_revision = revision;
  reload(member, revision);
}

// Settings and experiments belong to the writer's thread. Until it has them, this node is at its
// old revision, so that what fails is tried again with the next beat.
void Cluster::reload(Member& member, std::uint64_t revision) {
  const ModelHandle model = member.model;
  const auto read = attempt([&] {
    // Before it is read: what this node changes itself meanwhile is newer than what is read.
    const std::uint64_t changes = model->own_changes;
    const auto stored = take(reader_->model(model->id));
    if (!stored) return;
    const LogSettings logging = take(parse_spec(stored->spec)).logging;
    auto rows = take(reader_->experiments());
    std::erase_if(rows, [&](const ExperimentRow& row) { return row.model != model->id; });
    member.reloading = true;
    auto followed = std::make_shared<bool>(false);
    parts_.writer->submit(
        {.apply = [](Transaction&) {},
         .committed =
             [this, model, logging, rows = std::move(rows), followed, changes] {
               if (model->own_changes != changes) return;
               model->set_logging(logging);
               *followed = attempt([&] { follow_experiments(parts_, model, rows); }).ok();
             },
         .answer =
             [this, id = model->id, revision, followed](const Result<void>& settled) {
               post([this, id, revision, done = settled.ok() && *followed] {
                 Member* followed_one = find(id);
                 if (followed_one == nullptr) return;
                 followed_one->reloading = false;
                 if (done) followed_one->revision = std::max(followed_one->revision, revision);
               });
             },
         .own = true});
  });
  if (!read) parts_.log(fmt::format("model {}: {}", model->spec.name, read.error().message));
}

void Cluster::read_published(Member& member) {
  auto state = store_.published(member.model->id, member.trainer->version_number());
  if (!state || !*state) return;
  show(member, **std::move(state));
}

void Cluster::show(Member& member, SnapshotRow state) {
  if (auto restored = member.trainer->restore(state); !restored) {
    parts_.log(fmt::format("model {}: its published version can't be read: {}",
                           member.model->spec.name, restored.error().message));
    return;
  }
  const std::int64_t log = state.log;
  member.state = std::make_shared<SnapshotRow>(std::move(state));
  {
    const std::lock_guard lock(mutex_);
    states_[member.model->id] = member.state;
  }
  member.model->publication.publish(member.trainer->version());
  parts_.waiters.published(*member.model);
  answer_learned(member.model->id, log);
}

void Cluster::count_lists() {
  constexpr std::chrono::milliseconds kMost{20};
  constexpr std::int64_t kSettledMs = 60'000;  // no node adds to spans that are older
  const std::int64_t settled = span_start(now() - kSettledMs);
  const auto end = Clock::now() + kMost;
  auto next = members_.lower_bound(next_counted_);
  for (; next != members_.end() && Clock::now() < end; ++next) {
    Member& member = next->second;
    const auto counted = attempt([&] {
      const auto lists = [&](std::int64_t from, std::int64_t before) {
        return take(reader_->series_total(member.model->id, from, before)).impressions;
      };
      if (settled > member.counted_to) {
        member.counted += lists(member.counted_to, settled);
        member.counted_to = settled;
      }
      const std::uint64_t all =
          member.counted + lists(member.counted_to, std::numeric_limits<std::int64_t>::max());
      member.model->shown = std::max(all, member.model->shown.load());
    });
    if (!counted) return;
  }
  next_counted_ = next == members_.end() ? 0 : next->first;
}

}  // namespace plackett::serving
