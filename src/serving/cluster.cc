// The thread of a node: its beats, and what it does between them.
#include "serving/cluster.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <exception>
#include <map>

#include "serving/service_parts.h"

namespace plackett::serving {
namespace {

using namespace std::chrono_literals;

constexpr auto kBeat = 500ms;
// A node that was not seen for this long is ended: its connections are closed.
constexpr std::int64_t kSilentMs = 3000;

std::string machine_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace

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

}  // namespace plackett::serving
