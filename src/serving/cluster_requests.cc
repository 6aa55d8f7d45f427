// What other threads ask of the node's own, and who waits for an answer.
#include <algorithm>
#include <set>

#include "serving/cluster.h"
#include "serving/service_parts.h"

namespace plackett::serving {
namespace {

using namespace std::chrono_literals;

// How long feedback waits for the version that has learned from it.
constexpr auto kAwait = 2s;
// How long a request waits for the lead.
constexpr auto kWantLead = 5s;

}  // namespace

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
