// Leading models: which ones a node takes over and hands over, and the versions that it publishes.
#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "serving/cluster.h"
#include "serving/recover.h"
#include "serving/service_parts.h"

namespace plackett::serving {
namespace {

using namespace std::chrono_literals;

// How long a model is left to the node that is to lead it, before any other does.
constexpr auto kPatience = 1500ms;
// How long this node leaves a model alone that it could not take over.
constexpr auto kAfterFailure = 3s;
// The longest part of a beat in which it takes over models; the rest comes with the next one.
constexpr auto kTakeOver = 300ms;

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

bool Cluster::has_news(const Member& member) {
  return member.dirty && !member.asked && !member.leaving && member.model->lead != 0;
}

bool Cluster::is_kept(const Member& member, std::int64_t next, Clock::time_point now) {
  // It may still be unable to lead.
  const bool is_passed_over = next == member.passed_over && now - member.passed_over_at < kKeepLead;
  return now < member.keep_until || is_passed_over;
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

}  // namespace plackett::serving
