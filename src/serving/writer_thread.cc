#include "serving/writer_thread.h"

#include <fmt/format.h>

#include <exception>
#include <iterator>

#include "serving/model.h"

namespace plackett::serving {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

Result<void> Transaction::log(const ModelHandle& model, LogKind kind, std::int64_t argument) {
  auto entry = store.append_log({.model = model->id, .kind = kind, .argument = argument}, now);
  if (!entry) return entry.error();
  entries_.push_back({.model = model, .entry = *entry});
  return {};
}

Result<void> Transaction::write_arms() {
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
    if (!jobs.empty()) [[maybe_unused]]
      const auto done = run_now(std::exchange(jobs, {}));
    if (!vacuums.empty()) {
      const auto done = attempt([&] { take(store_.vacuum()); });
      for (const auto& answer : std::exchange(vacuums, {})) answer(done);
    }
    if (Clock::now() >= upkeep_at) {
      try {
        if (options_.upkeep) options_.upkeep();
      } catch (const std::exception&) {
        // Out of memory: it is tried again.
      }
      upkeep_at = Clock::now() + options_.upkeep_every;
    }
  }
}

Result<void> WriterThread::run_now(std::function<void(Transaction&)> apply,
                                   std::function<void()> committed) {
  return run_now({{std::move(apply), std::move(committed), [](const Result<void>&) {}}});
}

Result<void> WriterThread::run_now(std::vector<Job> jobs) {
  const auto start = Clock::now();
  std::vector<Applied> applied(jobs.size());
  Result<void> written;
  try {
    written = write(jobs, applied);
  } catch (const std::exception& error) {  // out of memory
    written = Error{ErrorCode::kUnavailable,
                    fmt::format("a change of the store failed: {}", error.what())};
  }
  // A transaction that changed nothing succeeds on a full disk, too.
  const Result<void> writable = written && !this->failure().empty() ? probe() : written;
  const std::string failure = writable ? "" : writable.error().message;
  {
    const std::lock_guard lock(mutex_);
    if (options_.log && failure.empty() != failure_.empty()) {
      options_.log(failure.empty() ? "the store takes changes again"
                                   : "no change is taken until this is over: " + failure);
    }
    failure_ = failure;
  }
  if (written) {
    ++commits_;
    commit_seconds_ = commit_seconds_ + seconds_since(start);
    settle(jobs, applied);
  } else {
    ++failures_;
    store_.roll_back();
    for (Job& job : jobs) job.answer(Error{ErrorCode::kUnavailable, written.error().message});
  }
  store_.tidy();
  return written;
}

Result<void> WriterThread::probe() {
  auto writable = store_.begin();
  if (writable) writable = store_.probe();
  if (writable) writable = store_.commit();
  if (!writable) store_.roll_back();
  return writable;
}

Result<void> WriterThread::write(std::vector<Job>& jobs, std::vector<Applied>& applied) {
  Transaction transaction(store_, options_.clock(), options_.steady());
  if (auto begun = store_.begin(); !begun) return begun;
  for (std::size_t at = 0; at < jobs.size(); ++at) {
    applied[at].outcome = attempt([&] { jobs[at].apply(transaction); });
    const Result<void>& outcome = applied[at].outcome;
    if (!outcome && outcome.error().code == ErrorCode::kUnavailable) return outcome;
    applied[at].entries = std::exchange(transaction.entries_, {});
  }
  for (auto& [model, sums] : transaction.series_) {
    sums.at = span_start(transaction.now);
    if (auto added = store_.add_to_series(model, sums); !added) return added;
  }
  if (auto added = transaction.write_arms(); !added) return added;
  const auto start = Clock::now();
  auto committed = store_.commit();
  sync_seconds_ = sync_seconds_ + seconds_since(start);
  return committed;
}

// What is committed must reach the learner: if memory fails here, the next start follows the log.
void WriterThread::settle(std::vector<Job>& jobs, std::vector<Applied>& applied) noexcept {
  for (std::size_t at = 0; at < jobs.size(); ++at) {
    if (applied[at].outcome && jobs[at].committed) jobs[at].committed();
  }
  // Jobs that logged something are answered by the learner, all others here and now.
  std::vector<LearningThread::Item> learns;
  for (std::size_t at = 0; at < jobs.size(); ++at) {
    auto& entries = applied[at].entries;
    if (entries.empty()) continue;
    entries.back().answer = [settled = std::exchange(jobs[at].answer, {})] { settled({}); };
    learns.insert(learns.end(), std::make_move_iterator(entries.begin()),
                  std::make_move_iterator(entries.end()));
  }
  if (!learns.empty()) learner_.submit(std::move(learns));
  for (std::size_t at = 0; at < jobs.size(); ++at) {
    if (jobs[at].answer) jobs[at].answer(applied[at].outcome);
  }
}

}  // namespace plackett::serving
