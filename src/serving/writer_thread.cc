#include "serving/writer_thread.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <iterator>

#include "serving/model.h"

namespace plackett::serving {
namespace {

using Clock = std::chrono::steady_clock;

// How often a transaction is made again if other nodes are in its way.
constexpr int kTries = 5;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

bool ByModelId::operator()(const ModelHandle& one, const ModelHandle& other) const {
  return one->id < other->id;
}

Result<void> Transaction::log(const ModelHandle& model, LogKind kind, std::int64_t argument) {
  // What led when the transaction began to write as the leader goes on so: the commit fails if that
  // is over. A change without its log entry would be kept otherwise.
  const auto leading = fences_.find(model);
  const std::int64_t epoch = leading != fences_.end() ? leading->second : model->lead.load();
  if (epoch == 0) {
    if (kind != LogKind::kLearn) return another_leads();
    auto queued = store.queue_log({.model = model->id, .kind = kind, .argument = argument}, now);
    if (!queued) return queued;
    queued_.push_back(
        {.model = model, .impression = argument, .before = model->publication.latest()->log});
    notes_.emplace(static_cast<int>(ClusterNote::Kind::kQueued), model->id);
    return {};
  }
  fences_.emplace(model, epoch);
  auto entry = store.append_log({.model = model->id, .kind = kind, .argument = argument}, now);
  if (!entry) return entry.error();
  entries_.push_back({.model = model, .entry = *entry});
  return {};
}

void Transaction::lead(const ModelHandle& model) {
  const std::int64_t epoch = model->lead;
  if (epoch == 0) throw Failed{another_leads()};
  fences_.emplace(model, epoch);
}

void Transaction::change(const ModelHandle& model) {
  if (auto changed = store.change_model(model->id); !changed) {
    if (changed.error().code == ErrorCode::kNotFound) throw Failed{model_removed()};
    throw Failed{changed.error()};
  }
  notes_.emplace(static_cast<int>(ClusterNote::Kind::kChanged), model->id);
}

void Transaction::remove(const ModelHandle& model) {
  take(store.delete_model(model->id));
  removed_.insert(model);
}

void Transaction::use(const ModelHandle& model) {
  if (removed_.contains(model)) throw Failed{model_removed()};
  used_.insert(model);
}

void Transaction::take_queued(const ModelHandle& model) {
  constexpr std::uint32_t kAtOnce = 2000;
  lead(model);
  for (std::size_t count = kAtOnce; count == kAtOnce;) {
    const auto queued = take(store.take_queued(model->id, kAtOnce));
    count = queued.size();
    for (const LogEntry& entry : queued) take(log(model, entry.kind, entry.argument));
  }
}

Result<void> Transaction::write_arms() {
  for (const auto& [unit, change] : std::exchange(units_, {})) {
    const auto [experiment, key] = unit;
    auto before = store.read().unit_totals(experiment, key);
    if (!before) return before.error();
    if (*before == UnitTotals{}) *before = change.start;
    const UnitTotals after{before->x + change.more.x, before->y + change.more.y};
    arms_[{experiment, change.arm}].units.change(*before, after);
    if (auto set = store.set_unit_totals(experiment, key, after); !set) return set;
  }
  for (const auto& [arm, sums] : std::exchange(arms_, {})) {
    if (auto added = store.add_to_arm(arm.first, arm.second, sums); !added) return added;
  }
  return {};
}

WriterThread::WriterThread(Store& store, LearningThread& learner, Options options)
    : store_(store), learner_(learner), options_(std::move(options)) {}

void WriterThread::start() {
  thread_ = std::thread([this] { run(); });
}

void WriterThread::submit(Job job) {
  Error refused;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) {
      refused = {ErrorCode::kUnavailable, "the service is stopping"};
    } else if (queue_.size() >= options_.queue_limit && !job.own) {
      refused = {ErrorCode::kBusy, "too many requests wait for the store; try again later"};
    } else {
      if (queue_.empty()) oldest_ = Clock::now();
      queue_.push_back(std::move(job));
      if (queue_.size() == 1) wake_.notify_one();
      return;
    }
  }
  job.answer(std::move(refused));
}

void WriterThread::vacuum(std::function<void(const Result<void>&)> done) {
  {
    const std::lock_guard lock(mutex_);
    if (!stopping_) {
      vacuums_.push_back(std::move(done));
      wake_.notify_one();
      return;
    }
  }
  done(Error{ErrorCode::kUnavailable, "the service is stopping"});
}

void WriterThread::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

std::string WriterThread::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

std::string WriterThread::beyond_repair() const {
  const std::lock_guard lock(mutex_);
  return beyond_repair_;
}

std::uint64_t WriterThread::queued() const {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

double WriterThread::lag_seconds() const {
  const std::lock_guard lock(mutex_);
  return queue_.empty() ? 0 : seconds_since(oldest_);
}

void WriterThread::run() {
  std::vector<Job> jobs;
  decltype(vacuums_) vacuums;
  auto upkeep_at = Clock::now() + options_.upkeep_every;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait_until(lock, upkeep_at,
                       [this] { return stopping_ || !queue_.empty() || !vacuums_.empty(); });
      if (stopping_ && queue_.empty() && vacuums_.empty()) return;
      jobs.swap(queue_);
      vacuums.swap(vacuums_);
    }
    if (!jobs.empty()) {
      const auto start = Clock::now();
      const auto done = run_now(std::exchange(jobs, {}));
      // Who came while it failed has waited long enough.
      if (!done && Clock::now() - start > kLongFailure) refuse_waiting(done.error());
    }
    if (!vacuums.empty()) {
      const auto done = attempt([&] { take(store_.vacuum()); });
      for (const auto& answer : std::exchange(vacuums, {})) answer(done);
    }
    if (Clock::now() >= upkeep_at) {
      const auto start = Clock::now();
      try {
        const Result<void> kept = options_.upkeep ? options_.upkeep() : Result<void>();
        if (!kept && Clock::now() - start > kLongFailure) refuse_waiting(kept.error());
      } catch (const std::exception&) {
        // Out of memory: it is tried again.
      }
      upkeep_at = Clock::now() + options_.upkeep_every;
    }
  }
}

void WriterThread::refuse_waiting(const Error& why) {
  std::vector<Job> refused;
  {
    const std::lock_guard lock(mutex_);
    const auto own =
        std::stable_partition(queue_.begin(), queue_.end(), [](const Job& job) { return job.own; });
    refused.assign(std::make_move_iterator(own), std::make_move_iterator(queue_.end()));
    queue_.erase(own, queue_.end());
  }
  for (Job& job : refused) job.answer(Error{ErrorCode::kUnavailable, why.message});
}

Result<void> WriterThread::run_now(std::function<void(Transaction&)> apply,
                                   std::function<void()> committed) {
  return run_now({{std::move(apply), std::move(committed), [](const Result<void>&) {}}});
}

Result<void> WriterThread::run_now(std::vector<Job> jobs) {
  const auto start = Clock::now();
  Outcome outcome;
  Result<void> written;
  for (int tries = 1;; ++tries) {
    outcome = {};
    try {
      written = write(jobs, outcome);
    } catch (const std::exception& error) {  // out of memory
      written = Error{ErrorCode::kUnavailable,
                      fmt::format("a change of the store failed: {}", error.what())};
    }
    const Obstacle obstacle = written ? Obstacle::kNone : store_.obstacle();
    if (obstacle == Obstacle::kNone || tries == kTries) break;
    if (obstacle == Obstacle::kFenced) doubt(outcome);
    store_.roll_back();
    if (obstacle == Obstacle::kNoModel) remove_lost(outcome.used);
    // What they lock together, another node may lock in another order again.
    if (obstacle == Obstacle::kDeadlock && jobs.size() > 1) return run_each(std::move(jobs));
  }
  // A transaction that changed nothing succeeds on a full disk, too.
  const Result<void> writable = written && !this->failure().empty() ? probe() : written;
  const std::string failure = writable ? "" : writable.error().message;
  bool changed = false;
  {
    const std::lock_guard lock(mutex_);
    changed = failure.empty() != failure_.empty();
    failure_ = failure;
    if (!written) beyond_repair_ = store_.beyond_repair();
  }
  if (changed && options_.log) {
    options_.log(failure.empty() ? "the store takes changes again"
                                 : "no change is taken until this is over: " + failure);
  }
  if (written) {
    ++commits_;
    commit_seconds_ = commit_seconds_ + seconds_since(start);
    settle(jobs, outcome);
  } else {
    ++failures_;
    store_.roll_back();
    doubt(outcome);
    for (Job& job : jobs) job.answer(Error{ErrorCode::kUnavailable, written.error().message});
  }
  store_.tidy();
  return written;
}

Result<void> WriterThread::run_each(std::vector<Job> jobs) {
  const auto start = Clock::now();
  Result<void> all;
  for (Job& job : jobs) {
    if (!all && Clock::now() - start > kLongFailure) {
      job.answer(Error{ErrorCode::kUnavailable, all.error().message});
      continue;
    }
    std::vector<Job> one;
    one.push_back(std::move(job));
    if (auto done = run_now(std::move(one)); !done) all = std::move(done);
  }
  return all;
}

void WriterThread::doubt(const Outcome& outcome) {
  if (!options_.doubt || outcome.fences.empty()) return;
  std::vector<ModelHandle> models;
  for (const auto& [model, epoch] : outcome.fences) models.push_back(model);
  options_.doubt(std::move(models));
}

void WriterThread::remove_lost(const std::set<ModelHandle>& models) {
  if (!options_.removed) return;
  for (const ModelHandle& model : models) {
    const auto row = store_.read().model(model->id);
    if (row && !*row) options_.removed(model);
  }
}

Result<void> WriterThread::probe() {
  auto writable = store_.begin();
  if (writable) writable = store_.probe();
  if (writable) writable = store_.commit();
  if (!writable) store_.roll_back();
  return writable;
}

Result<void> WriterThread::write(std::vector<Job>& jobs, Outcome& outcome) {
  Transaction transaction(store_, options_.clock(), options_.steady());
  std::vector<Applied>& applied = outcome.applied;
  applied.resize(jobs.size());
  if (auto begun = store_.begin(); !begun) return begun;
  if (options_.tell) {
    Touched touched;
    const auto add = [](auto& all, const auto& more) {
      all.insert(all.end(), more.begin(), more.end());
    };
    for (const Job& job : jobs) {
      add(touched.models, job.touched.models);
      add(touched.impressions, job.touched.impressions);
      add(touched.given, job.touched.given);
      add(touched.event_ids, job.touched.event_ids);
    }
    if (auto locked = store_.lock(touched); !locked) return locked;
  }
  for (std::size_t at = 0; at < jobs.size(); ++at) {
    applied[at].outcome = attempt([&] { jobs[at].apply(transaction); });
    const Result<void>& done = applied[at].outcome;
    if (!done && done.error().code == ErrorCode::kUnavailable) return done;
    applied[at].entries = std::exchange(transaction.entries_, {});
    applied[at].queued = std::exchange(transaction.queued_, {});
    outcome.fences = transaction.fences_;
  }
  for (auto& [model, sums] : transaction.series_) {
    sums.at = span_start(transaction.now);
    if (auto added = store_.add_to_series(model, sums); !added) return added;
  }
  if (auto added = transaction.write_arms(); !added) return added;
  outcome.used = std::move(transaction.used_);
  std::vector<std::int64_t> used;
  for (const ModelHandle& model : outcome.used) {
    if (!transaction.removed_.contains(model)) used.push_back(model->id);
  }
  if (auto expected = store_.expect_models(used); !expected) return expected;
  for (const auto& [model, epoch] : transaction.fences_) {
    if (auto fenced = store_.fence(model->id, epoch); !fenced) return fenced;
  }
  outcome.fences = std::move(transaction.fences_);
  outcome.notes = std::move(transaction.notes_);
  const auto start = Clock::now();
  auto committed = store_.commit();
  sync_seconds_ = sync_seconds_ + seconds_since(start);
  return committed;
}

// What is committed must reach the learner: if memory fails here, the next start follows the log.
void WriterThread::settle(std::vector<Job>& jobs, Outcome& outcome) noexcept {
  std::vector<Applied>& applied = outcome.applied;
  for (std::size_t at = 0; at < jobs.size(); ++at) {
    if (applied[at].outcome && jobs[at].committed) jobs[at].committed();
  }
  if (options_.tell && !outcome.notes.empty()) {
    std::vector<ClusterNote> notes;
    for (const auto& [kind, model] : outcome.notes) {
      notes.push_back({static_cast<ClusterNote::Kind>(kind), model});
    }
    options_.tell(std::move(notes));
  }
  // Jobs that logged something are answered by the learner, those that another node learns from
  // once its version is here, and all others here and now.
  std::vector<LearningThread::Item> learns;
  for (std::size_t at = 0; at < jobs.size(); ++at) {
    auto& entries = applied[at].entries;
    auto& queued = applied[at].queued;
    if (entries.empty()) {
      if (queued.empty()) continue;
      await(std::move(queued), std::exchange(jobs[at].answer, {}), jobs[at].learned);
      continue;
    }
    std::vector<QueuedEntry> logged;
    for (const auto& item : entries) {
      if (options_.await) logged.push_back({.model = item.model, .entry = item.entry->seq});
    }
    entries.back().answer = [this, logged = std::move(logged), queued = std::move(queued),
                             answer = std::exchange(jobs[at].answer, {}),
                             learned = std::move(jobs[at].learned)] {
      // This node may have lost the lead before its learner came to them.
      std::vector<QueuedEntry> missing = queued;
      for (const QueuedEntry& one : logged) {
        const bool is_here = one.model->publication.latest()->log >= one.entry;
        if (!is_here && !one.model->removed) missing.push_back(one);
      }
      if (missing.empty()) return answer({});
      await(std::move(missing), answer, learned);
    };
    learns.insert(learns.end(), std::make_move_iterator(entries.begin()),
                  std::make_move_iterator(entries.end()));
  }
  if (!learns.empty()) learner_.submit(std::move(learns));
  for (std::size_t at = 0; at < jobs.size(); ++at) {
    if (jobs[at].answer) jobs[at].answer(applied[at].outcome);
  }
}

void WriterThread::await(std::vector<QueuedEntry> entries,
                         const std::function<void(const Result<void>&)>& answer,
                         const std::shared_ptr<bool>& learned) {
  options_.await(std::move(entries), [answer, learned](bool in_time) {
    if (learned) *learned = in_time;
    answer({});
  });
}

}  // namespace plackett::serving
