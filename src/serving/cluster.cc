#include "serving/cluster.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <exception>
#include <limits>
#include <set>

#include "base/hash.h"
#include "serving/recover.h"
#include "serving/service_parts.h"
#include "serving/stored_experiment.h"

namespace plackett::serving {
namespace {

using namespace std::chrono_literals;

constexpr auto kBeat = 500ms;
// A node that was not seen for this long is ended: its connections are closed.
constexpr std::int64_t kSilentMs = 3000;
// How long a model is left to the node that is to lead it, before any other does.
constexpr auto kPatience = 1500ms;
// How long this node leaves a model alone that it could not take over.
constexpr auto kAfterFailure = 3s;
// Between two versions that are published of a model.
constexpr auto kBetweenVersions = 20ms;
// How long feedback waits for the version that has learned from it.
constexpr auto kAwait = 2s;
// The longest part of a beat in which it takes over models; the rest comes with the next one.
constexpr auto kTakeOver = 300ms;
// How long a request waits for the lead, and the model stays then.
constexpr auto kWantLead = 5s;
constexpr auto kKeepLead = 30s;

std::string machine_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

Error unreachable() { return {ErrorCode::kUnavailable, "the database can't be reached"}; }

}  // namespace

std::int64_t preferred_node(const std::vector<NodeRow>& nodes, std::int64_t model) {
  std::int64_t preferred = 0;
  std::uint64_t highest = 0;
  for (const NodeRow& node : nodes) {
    const std::uint64_t weight = checksum(fmt::format("node {} model {}", node.id, model));
    if (preferred != 0 && weight <= highest) continue;
    preferred = node.id;
    highest = weight;
  }
  return preferred;
}

Cluster::Cluster(ServiceParts& parts, SharedStore& store, std::unique_ptr<StoreReader> reader)
    : parts_(parts),
      store_(store),
      reader_(std::move(reader)),
      name_(parts.options.node_name.empty() ? machine_name() : parts.options.node_name) {}

Result<void> Cluster::look() { return take_first(store_.look()); }

Result<void> Cluster::join() {
  auto joined = take_first(store_.beat(name_, {}));
  node_ = store_.node();
  return joined;
}

Result<void> Cluster::take_first(Result<ClusterView> view) {
  if (!view) return view.error();
  offset_ = view->now - parts_.options.steady();
  beat_ok_at_ = parts_.options.steady();
  connected_ = true;
  connections_ = view->connections;
  const std::lock_guard lock(mutex_);
  view_ = *std::move(view);
  return {};
}

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

void Cluster::start() {
  thread_ = std::thread([this] { run(); });
}

void Cluster::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    stopping_ = true;
  }
  store_.wake();
  if (thread_.joinable()) thread_.join();
  // Who waits for an answer has it.
  std::vector<std::function<void()>> tasks;
  {
    const std::lock_guard lock(mutex_);
    tasks.swap(tasks_);
    stopped_ = true;
  }
  for (const auto& task : tasks) task();
  for (auto& [model, all] : std::exchange(awaiting_, {})) {
    for (Awaiting& one : all) one.answer(false);
  }
  for (auto& [model, all] : wanted_) {
    for (Asked& one : all) one.done(Error{ErrorCode::kUnavailable, "the service is stopping"});
  }
  wanted_.clear();
  for (Asked& one : refreshing_) {
    one.done(Error{ErrorCode::kUnavailable, "the service is stopping"});
  }
  refreshing_.clear();
  for (auto& [model, all] : reading_items_) {
    for (Asked& one : all) one.done(Error{ErrorCode::kUnavailable, "the service is stopping"});
  }
  reading_items_.clear();
  members_.clear();
}

bool Cluster::post(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return false;
    tasks_.push_back(std::move(task));
    if (tasks_.size() > 1) return true;
  }
  store_.wake();
  return true;
}

void Cluster::add_new(const ModelHandle& model) {
  post([this, model] {
    // A beat may have seen it in the store, and loaded it, before this node knew of its own commit.
    Member& member = members_[model->id];
    member = {};
    member.model = model;
    member.epoch = model->lead;
    member.dirty = true;
    beat_at_ = {};
  });
}

void Cluster::forget(const ModelHandle& model) {
  post([this, id = model->id] {
    erase(id);
    [[maybe_unused]] const auto released = store_.release(id);
  });
}

void Cluster::learned(const ModelHandle& model) {
  post([this, model] {
    Member* member = find(model->id);
    if (member == nullptr || model->lead == 0) return;
    member->dirty = true;
    answer_learned(model->id, model->publication.latest()->log);
  });
}

void Cluster::await(std::vector<QueuedEntry> entries, std::function<void(bool)> answer) {
  const auto begin = [this, entries = std::move(entries), answer] {
    // Of several models one after the other: most requests close lists of one.
    const ModelHandle& model = entries.front().model;
    Awaiting waiting{.until = Clock::now() + kAwait};
    std::vector<QueuedEntry> others;
    std::int64_t before = 0;
    for (const QueuedEntry& entry : entries) {
      if (entry.model != model) {
        others.push_back(entry);
      } else if (entry.impression == 0) {
        waiting.log = std::max(waiting.log, entry.entry);
      } else {
        if (waiting.impressions.empty()) before = entry.before;
        waiting.impressions.push_back(entry.impression);
      }
    }
    waiting.answer = answer;
    if (!others.empty()) {
      waiting.answer = [this, others, answer](bool in_time) {
        if (!in_time) return answer(false);
        await(others, answer);
      };
    }
    // It may be here already.
    const std::int64_t log = model->publication.latest()->log;
    if (!waiting.impressions.empty() && log > before) note_learned({&waiting, 1}, log);
    if (waiting.is_learned(log)) return waiting.answer(true);
    if (find(model->id) == nullptr) return waiting.answer(false);  // it was removed
    awaiting_[model->id].push_back(std::move(waiting));
  };
  if (!post(begin)) answer(false);
}

void Cluster::tell(std::vector<ClusterNote> notes) {
  post([this, notes = std::move(notes)] {
    notes_.insert(notes_.end(), notes.begin(), notes.end());
  });
}

void Cluster::doubt(const std::vector<ModelHandle>& models) {
  // At once: the next transaction must not go on as if nothing had happened.
  for (const ModelHandle& model : models) model->lead = 0;
  post([this, models] {
    for (const ModelHandle& model : models) {
      Member* member = find(model->id);
      if (member == nullptr || member->trainer) continue;
      give_up(*member);
    }
    beat_at_ = {};
  });
}

void Cluster::lead(const ModelHandle& model, Done<void> done) {
  if (model->lead != 0) return done({});
  post([this, model, done = std::move(done)] {
    if (model->lead != 0) return done({});
    Member* member = find(model->id);
    if (member == nullptr) return done(model_removed());
    wanted_[model->id].push_back({done, Clock::now() + kWantLead});
    member->keep_until = Clock::now() + kKeepLead;
    beat_at_ = {};  // asks for it
  });
}

void Cluster::refresh(Done<void> done) {
  post([this, done = std::move(done), asked = Clock::now()] {
    if (beat_at_ < asked) beat();  // one serves all who asked before it
    refreshing_.push_back({done, Clock::now() + kAwait});
  });
}

void Cluster::refresh(const ModelHandle& model, Done<void> done) {
  const auto begin = [this, id = model->id, done] {
    const Member* member = find(id);
    if (member == nullptr) return done(model_removed());
    if (!connected_) return done(unreachable());
    const auto revision = store_.revision(id);
    if (!revision) {
      lose_all();
      return done(revision.error());
    }
    if (*revision == member->revision) return done({});
    refresh(done);
  };
  if (!post(begin)) done(Error{ErrorCode::kUnavailable, "the service is stopping"});
}

void Cluster::refresh_items(const ModelHandle& model, Done<void> done) {
  const auto begin = [this, id = model->id, done, asked = Clock::now()] {
    Member* member = find(id);
    if (member == nullptr) return done({});  // it was removed
    if (!connected_) return done(unreachable());
    if (member->items_checked_at < asked) {  // one serves all who asked before it
      const auto now = Clock::now();
      const auto revision = store_.revision(id);
      if (!revision) {
        lose_all();  // who asks next is not to wait for the connection
        return done(revision.error());
      }
      member->items_checked_at = now;
      if (*revision > member->items_revision) member->wanted = std::max(member->wanted, *revision);
    }
    if (member->wanted == 0) return done({});
    reading_items_[id].push_back({done, Clock::now() + kAwait});
  };
  if (!post(begin)) done(Error{ErrorCode::kUnavailable, "the service is stopping"});
}

std::optional<SnapshotRow> Cluster::state_of(const Model& model) const {
  const std::lock_guard lock(mutex_);
  const auto found = states_.find(model.id);
  if (found == states_.end()) return std::nullopt;
  return *found->second;
}

ClusterView Cluster::view() const {
  const std::lock_guard lock(mutex_);
  return view_;
}

double Cluster::lag_seconds() const {
  const std::int64_t now = parts_.options.steady();
  const std::int64_t behind = behind_since_;
  const std::int64_t since_beat = now - beat_ok_at_;
  const std::int64_t failing = failing_since_;
  const std::int64_t lag =
      std::max(behind == 0 ? 0 : now - behind, failing == 0 ? 0 : now - failing);
  const std::int64_t late_beat = std::max<std::int64_t>(0, since_beat - 2 * kBeat / 1ms);
  return static_cast<double>(std::max(lag, late_beat)) / 1000;
}

std::string Cluster::beyond_repair() const {
  const std::lock_guard lock(mutex_);
  return beyond_repair_;
}

std::int64_t Cluster::now() const { return offset_ + parts_.options.steady(); }

bool Cluster::has_news(const Member& member) {
  return member.dirty && !member.asked && !member.leaving && member.model->lead != 0;
}

bool Cluster::is_kept(const Member& member, std::int64_t next, Clock::time_point now) {
  // It may still be unable to lead.
  const bool is_passed_over = next == member.passed_over && now - member.passed_over_at < kKeepLead;
  return now < member.keep_until || is_passed_over;
}

Cluster::Member* Cluster::find(std::int64_t model) {
  const auto found = members_.find(model);
  return found == members_.end() ? nullptr : &found->second;
}

void Cluster::run() {
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
    }
    try {
      step();
    } catch (const std::exception&) {
      // Out of memory: it is tried again.
    }
  }
}

void Cluster::step() {
  auto until = std::min(beat_at_ + kBeat, Clock::now() + kBeat);
  if (next_changed() != nullptr) until = Clock::now();
  until = std::min(until, parts_.waiters.next_expiry());
  for (const auto& [id, all] : awaiting_) {
    for (const Awaiting& one : all) until = std::min(until, one.until);
  }
  for (const auto& [id, member] : members_) {
    if (has_news(member)) until = std::min(until, member.published_at + kBetweenVersions);
  }
  const auto most = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
  const auto notes = store_.wait(std::max(most, connected_ ? 0ms : 50ms));
  if (!notes && connected_) lose_all();
  std::vector<std::function<void()>> tasks;
  {
    const std::lock_guard lock(mutex_);
    tasks.swap(tasks_);
  }
  for (const auto& task : tasks) {
    task();
    if (connected_ && !attempt([this] { stay_seen(); })) lose_all();
  }
  if (!notes_.empty()) {
    // If it fails, the others find out with their next beat.
    [[maybe_unused]] const auto told = store_.tell(std::exchange(notes_, {}));
  }
  if (notes) {
    const auto stayed = attempt([&] {
      for (const ClusterNote& note : *notes) {
        stay();
        handle(note);
      }
    });
    if (!stayed) beat_at_ = {};
  }
  if (Clock::now() >= beat_at_ + kBeat) beat();
  read_changes();
  publish_due();
  answer_late();
}

void Cluster::handle(const ClusterNote& note) {
  Member* member = find(note.model);
  switch (note.kind) {
    case ClusterNote::Kind::kPublished:
      if (member != nullptr && member->trainer) read_published(*member);
      return;
    case ClusterNote::Kind::kQueued:
      if (member != nullptr) take_queued(*member);
      return;
    case ClusterNote::Kind::kChanged:
    case ClusterNote::Kind::kFreed:
      beat_at_ = {};
      return;
  }
}

void Cluster::beat() {
  beat_at_ = Clock::now();
  if (!beyond_repair().empty()) return;  // the process ends
  // What waits for the learner here is missing on all nodes.
  NodeMeters meters{.ranked = parts_.ranked,
                    .events = parts_.events,
                    .lag_seconds = std::max(lag_seconds(), parts_.learner->lag_seconds())};
  const std::int64_t before = parts_.options.steady();
  auto view = store_.beat(name_, meters);
  if (!view) return lose_all();
  const std::int64_t after = parts_.options.steady();
  connected_ = true;
  // If the database was away, or this node, the others had no chance to be seen, perhaps.
  const bool is_witness = after - beat_ok_at_ < kSilentMs / 2;
  beat_ok_at_ = after;
  offset_ = view->now - (before + (after - before) / 2);
  if (view->node != node_) {
    // Others had taken this one for dead, or the database has crashed.
    lose_all();
    connected_ = true;
    parts_.log(fmt::format(
        "the database does not know node {} any more, since the others have ended it, or the "
        "database crashed; it goes on as node {}",
        node_.load(), view->node));
    node_ = view->node;
  }
  // A new connection may be to an older copy. If that can't be seen now, the next beat looks again.
  const bool is_new = view->connections != connections_;
  if (is_new) {
    if (const auto renewed = renew_readers(); !renewed) return give_beat_up(renewed.error());
  }
  const auto back = went_back(*view, is_new);
  if (!back) return give_beat_up(back.error());
  connections_ = view->connections;
  if (*back) {
    lose_all();
    const std::lock_guard lock(mutex_);
    beyond_repair_ =
        "the database lacks what this node has from it: it was restored or replaced, or a standby "
        "that was behind was promoted; restart the service";
    return;
  }
  // Those that are silent hold locks, perhaps.
  for (const NodeRow& node : view->nodes) {
    if (!is_witness || node.id == node_ || view->now - node.seen_at < kSilentMs) continue;
    parts_.log(fmt::format("node {} ({}) was not seen for {} ms: ended", node.id, node.name,
                           view->now - node.seen_at));
    [[maybe_unused]] const auto ended = store_.end_node(node.id);
  }
  std::erase_if(view->nodes, [&](const NodeRow& node) {
    return node.id != node_ && view->now - node.seen_at >= kSilentMs;
  });
  const auto followed = attempt([&] { follow_models(*view); });
  if (!followed) return give_beat_up(followed.error());
  spread_leads(*view);
  count_lists();
  trouble_.clear();
  failing_since_ = 0;
  const std::lock_guard lock(mutex_);
  view_ = *std::move(view);
}

void Cluster::stay() {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) throw Failed{{ErrorCode::kUnavailable, "the service is stopping"}};
  }
  stay_seen();
}

void Cluster::stay_seen() {
  const std::int64_t now = parts_.options.steady();
  if (now - beat_ok_at_ < 2 * kBeat / 1ms) return;
  take(store_.stay());
  beat_ok_at_ = now;
}

void Cluster::lose_all() {
  connected_ = false;
  // What fails may be anything but the connection, such as a full disk: then the leads are held.
  for (auto& [id, member] : members_) {
    if (!member.trainer) give_up(member);
  }
}

void Cluster::give_beat_up(const Error& why) {
  const bool stopping = [this] {
    const std::lock_guard lock(mutex_);
    return stopping_;
  }();
  if (!stopping && why.message != trouble_) {
    parts_.log(fmt::format("other nodes can't be followed: {}", why.message));
  }
  trouble_ = why.message;
  if (failing_since_ == 0) failing_since_ = parts_.options.steady();
  lose_all();
}

Result<void> Cluster::renew_readers() {
  return attempt([&] {
    stay();
    auto own = take(store_.open_quick_reader());
    stay();
    auto learners = take(store_.open_quick_reader());
    reader_ = std::move(own);
    parts_.learner->use(std::move(learners));
  });
}

Result<bool> Cluster::went_back(const ClusterView& view, bool all) {
  return attempt([&] {
    std::map<std::int64_t, std::int64_t> missing;  // log entries, by model
    for (const ModelMark& mark : view.models) {
      const Member* member = find(mark.model);
      if (member == nullptr) continue;
      if (mark.revision < member->revision) return true;
      const auto latest = member->model->publication.latest();
      const bool is_older =
          member->trainer && mark.published > 0 && mark.published < latest->number;
      if (latest->log == 0 || !(all || is_older)) continue;
      stay();
      const auto entry = take(reader_->log(mark.model, latest->log - 1, 1));
      if (entry.empty() || entry.front().seq != latest->log) missing[mark.model] = latest->log;
    }
    if (missing.empty()) return false;
    // Read later, since what a snapshot has replaced may be dropped at any time.
    for (const ModelRow& row : take(reader_->models())) {
      const auto found = missing.find(row.id);
      if (found != missing.end() && row.dropped_log < found->second) return true;
    }
    return false;
  });
}

void Cluster::give_up(Member& member) {
  lose(member);
  if (store_.release(member.model->id)) {
    notes_.push_back({ClusterNote::Kind::kFreed, member.model->id});
  }
}

// What it has learned so far is a part of the log: another node, or this one, goes on from there.
void Cluster::lose(Member& member) {
  member.model->lead = 0;
  member.leaving = member.dirty = member.asked = false;
  parts_.learner->forget(member.model);
  auto trainer = Trainer::start(member.model->spec);
  if (trainer && member.state) {
    if (!trainer->restore(*member.state)) trainer = Trainer::start(member.model->spec);
  }
  if (trainer) member.trainer = *std::move(trainer);
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
      const std::int64_t since =
          parts_.options.steady() - (Clock::now() - member->behind_since) / 1ms;
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
  constexpr auto kMost = 20ms;
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

void Cluster::spread_leads(const ClusterView& view) {
  const auto is_alive = [&](std::int64_t node) {
    return std::any_of(view.nodes.begin(), view.nodes.end(),
                       [node](const NodeRow& one) { return one.id == node; });
  };
  const auto end = Clock::now() + kTakeOver;
  for (const ModelMark& mark : view.models) {
    Member* member = find(mark.model);
    if (member == nullptr || member->model->removed || member->leaving) continue;
    const auto now = Clock::now();
    if (now >= end) {
      beat_at_ = {};
      return;
    }
    const bool asked = mark.wanted != 0 && is_alive(mark.wanted);
    const std::int64_t next = asked ? mark.wanted : preferred_node(view.nodes, mark.model);
    if (member->model->lead != 0) {
      if (mark.led && !mark.held) {
        lose(*member);  // another session holds the lock
        continue;
      }
      if (mark.queued) take_queued(*member);
      // What is new here has the lead, and not the lock yet.
      if (!mark.led) {
        take_over(*member);
      } else if (next != node_ && (asked || !is_kept(*member, next, now))) {
        hand_over(*member);
      }
    } else if (mark.led && !mark.held) {
      member->free_since = {};
      if (wanted_.contains(mark.model) && mark.wanted != node_) {
        [[maybe_unused]] const auto told = store_.ask_for_lead(mark.model);
      }
    } else {
      if (member->free_since == Clock::time_point{}) member->free_since = now;
      if (now < member->not_before) continue;
      // The node that has made it takes its lock with its next beat.
      const bool is_new = mark.epoch == 1 && mark.leader != node_ && is_alive(mark.leader);
      const bool is_due = (next == node_ && !is_new) || wanted_.contains(mark.model);
      if (!is_due && now - member->free_since < kPatience) continue;
      if (!is_due) {
        member->passed_over = next;
        member->passed_over_at = now;
      }
      take_over(*member);
    }
  }
}

void Cluster::take_over(Member& member) {
  const ModelHandle& model = member.model;
  const auto epoch = store_.lead(model->id);
  if (!epoch || !*epoch) {
    // Another was first; what is new here is its from now on.
    if (epoch && model->lead != 0) lose(member);
    return;
  }
  // No other node writes the log any more. What this one has learned itself goes on, unless another
  // one led meanwhile, or a transaction of this one is in doubt: then the log has more.
  if (!member.trainer) {
    std::int64_t before = member.epoch;
    if (**epoch == before + 1 && model->lead.compare_exchange_strong(before, **epoch)) {
      member.epoch = **epoch;
      member.leaving = member.asked = false;
      member.dirty = true;
      return;
    }
    lose(member);
  }
  auto trainer = attempt([&] { return catch_up(member); });
  if (!trainer) {
    parts_.log(
        fmt::format("model {} can't be led here: {}", model->spec.name, trainer.error().message));
    lose(member);  // its trainer may have moved on halfway
    [[maybe_unused]] const auto released = store_.release(model->id);
    member.not_before = Clock::now() + kAfterFailure;
    return;
  }
  member.trainer.reset();
  member.epoch = **epoch;
  member.free_since = {};
  member.dirty = true;
  parts_.learner->adopt(model, *std::move(trainer));
  parts_.waiters.published(*model);
  model->lead = **epoch;
  answer_learned(model->id, model->publication.latest()->log);
  const auto wanted = wanted_.find(model->id);
  if (wanted != wanted_.end()) {
    for (Asked& one : wanted->second) one.done({});
    wanted_.erase(wanted);
  }
  take_queued(member);
}

// In the writer's next transaction. What comes after it has looked is told of again.
void Cluster::take_queued(Member& member) {
  const ModelHandle& model = member.model;
  if (model->lead == 0 || model->takes_queued.exchange(true)) return;
  parts_.writer->submit({.apply =
                             [model](Transaction& transaction) {
                               model->takes_queued = false;
                               transaction.take_queued(model);
                             },
                         // If it failed, the next beat finds what is still queued.
                         .answer = [model](const Result<void>&) { model->takes_queued = false; },
                         .own = true});
}

// The model as its whole log gives it. What was published is as good as a snapshot, if the log has
// the entry that it includes last.
Trainer Cluster::catch_up(Member& member) {
  if (auto state = take(store_.published(member.model->id, member.trainer->version_number()))) {
    take(member.trainer->restore(*state));
  }
  const auto row = take(reader_->model(member.model->id));
  if (!row) throw Failed{model_removed()};
  const std::int64_t last = member.trainer->last_log();
  // What the log needs up to `dropped_log` may be gone, though the entries are there.
  if (last > 0 && last >= row->dropped_log) {
    const auto entry = take(reader_->log(row->id, last - 1, 1));
    if (!entry.empty() && entry.front().seq == last) {
      Trainer trainer = *std::move(member.trainer);
      take(follow_log(trainer, row->id, *reader_, [this] { stay(); }));
      return trainer;
    }
  }
  return take(recover(member.model->spec, *row, *reader_, [this] { stay(); }));
}

// Everything that the writer has committed reaches the learner first.
void Cluster::hand_over(Member& member) {
  member.leaving = true;
  member.model->lead = 0;
  const ModelHandle model = member.model;
  const auto ask = [this, model, epoch = member.epoch](const Result<void>&) {
    parts_.learner->submit({.model = model, .ask = [this, model, epoch](const Trainer& trainer) {
                              post([this, id = model->id, epoch, state = trainer.snapshot()] {
                                publish(id, {epoch, state, /*last=*/true});
                              });
                            }});
  };
  parts_.writer->submit({.apply = [](Transaction&) {}, .answer = ask, .own = true});
}

void Cluster::count_lists() {
  constexpr auto kMost = 20ms;
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

void Cluster::publish_due() {
  const auto now = Clock::now();
  for (auto& [id, member] : members_) {
    if (!has_news(member) || now - member.published_at < kBetweenVersions) continue;
    member.dirty = false;
    member.asked = true;
    parts_.learner->submit({.model = member.model,
                            .ask = [this, id = id, epoch = member.epoch](const Trainer& trainer) {
                              post([this, id, epoch, state = trainer.snapshot()] {
                                publish(id, {epoch, state, /*last=*/false});
                              });
                            }});
  }
}

void Cluster::publish(std::int64_t id, Learned learned) {
  Member* member = find(id);
  // It was lost meanwhile, perhaps had again.
  if (member == nullptr || member->trainer || member->epoch != learned.epoch) return;
  SnapshotRow& state = learned.state;
  member->asked = false;
  member->published_at = Clock::now();
  state.model = id;
  state.created_at = now();
  const auto published = store_.publish(state, member->epoch);
  if (!published) return lose_all();
  member->state = std::make_shared<SnapshotRow>(std::move(state));
  {
    const std::lock_guard lock(mutex_);
    states_[id] = member->state;
  }
  if (learned.last || !*published) give_up(*member);
}

void Cluster::note_learned(std::span<Awaiting> waiting, std::int64_t log) {
  if (!connected_) return;  // each try to connect may take seconds
  std::vector<std::int64_t> impressions;
  for (const Awaiting& one : waiting) {
    impressions.insert(impressions.end(), one.impressions.begin(), one.impressions.end());
  }
  if (impressions.empty()) return;
  const auto logged = store_.logged(impressions, log);
  if (!logged || logged->empty()) return;
  const std::set<std::int64_t> learned(logged->begin(), logged->end());
  for (Awaiting& one : waiting) {
    std::erase_if(one.impressions, [&](std::int64_t id) { return learned.contains(id); });
  }
}

void Cluster::answer_learned(std::int64_t model, std::int64_t log) {
  const auto found = awaiting_.find(model);
  if (found == awaiting_.end()) return;
  note_learned(found->second, log);
  // An answer may make another one wait.
  std::vector<Awaiting> done;
  std::erase_if(found->second, [&](Awaiting& one) {
    if (!one.is_learned(log)) return false;
    done.push_back(std::move(one));
    return true;
  });
  if (found->second.empty()) awaiting_.erase(found);
  for (Awaiting& one : done) one.answer(true);
}

void Cluster::answer_late() {
  const auto now = Clock::now();
  std::vector<Awaiting> late;
  for (auto& [model, all] : awaiting_) {
    std::erase_if(all, [&](Awaiting& one) {
      if (now < one.until) return false;
      late.push_back(std::move(one));
      return true;
    });
  }
  std::erase_if(awaiting_, [](const auto& one) { return one.second.empty(); });
  for (Awaiting& one : late) one.answer(false);
  // The writer's upkeep does so, too, but that may wait for the database.
  parts_.waiters.expire(now);
  for (auto& [model, all] : wanted_) {
    std::erase_if(all, [&](Asked& one) {
      if (now < one.until) return false;
      one.done(Error{ErrorCode::kUnavailable,
                     "another node leads the model and has not handed it over; try again"});
      return true;
    });
  }
  std::erase_if(wanted_, [](const auto& one) { return one.second.empty(); });
  const auto refuse_late = [&](std::vector<Asked>& all) {
    std::erase_if(all, [&](Asked& one) {
      if (now < one.until) return false;
      one.done(Error{ErrorCode::kUnavailable,
                     "what other nodes have changed is not here yet; try again"});
      return true;
    });
  };
  refuse_late(refreshing_);
  for (auto& [model, all] : reading_items_) refuse_late(all);
  std::erase_if(reading_items_, [](const auto& one) { return one.second.empty(); });
}

}  // namespace plackett::serving
