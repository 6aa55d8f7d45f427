#include "serving/writer_thread.h"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "serving/model.h"

namespace plackett::serving {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

std::int64_t id_of(const Model& model) { return model.id; }

Result<void> Group::log(const ModelHandle& model, store::LogKind kind, std::int64_t argument) {
  auto entry = store.append_log({.model = model->id, .kind = kind, .argument = argument}, now);
  if (!entry) return entry.error();
  LearningThread::Item item;
  item.model = model;
  item.entry = *entry;
  entries_.push_back(std::move(item));
  return {};
}

WriterThread::WriterThread(store::Writer& store, SyncThread& syncer, LearningThread& learner,
                           Options options)
    : store_(store), syncer_(syncer), learner_(learner), options_(std::move(options)) {}

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
  job.settled(std::move(refused));
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
  if (queue_.empty()) return 0;
  return std::chrono::duration<double>(Clock::now() - oldest_).count();
}

void WriterThread::run() {
  std::vector<Job> jobs;
  auto upkeep_at = Clock::now() + options_.upkeep_every;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait_until(lock, upkeep_at, [this] { return stopping_ || !queue_.empty(); });
      if (stopping_ && queue_.empty()) return;
      jobs.swap(queue_);
    }
    if (!jobs.empty()) {
      [[maybe_unused]] const auto done = run_now(std::exchange(jobs, {}));
      if (options_.after_group) options_.after_group();
    }
    if (Clock::now() >= upkeep_at) {
      if (options_.upkeep) options_.upkeep();
      upkeep_at = Clock::now() + options_.upkeep_every;
    }
  }
}

Result<void> WriterThread::run_now(std::vector<Job> jobs) {
  const auto start = Clock::now();
  Group group(store_, options_.clock());
  std::vector<std::vector<LearningThread::Item>> entries(jobs.size());
  auto written = write(jobs, group, entries);
  const std::chrono::duration<double> took = Clock::now() - start;
  {
    const std::lock_guard lock(mutex_);
    failure_ = written ? "" : written.error().message;
  }
  if (!written) {
    ++failures_;
    store_.roll_back();
    for (Job& job : jobs) job.settled(Error{ErrorCode::kUnavailable, written.error().message});
    return written;
  }
  ++commits_;
  commit_seconds_ = commit_seconds_ + took.count();
  settle(jobs, entries);
  return {};
}

Result<void> WriterThread::write(std::vector<Job>& jobs, Group& group,
                                 std::vector<std::vector<LearningThread::Item>>& entries) {
  if (auto begun = store_.begin(); !begun) return begun;
  for (std::size_t at = 0; at < jobs.size(); ++at) {
    try {
      if (auto applied = jobs[at].apply(group); !applied) return applied;
    } catch (const std::exception& error) {  // out of memory, that is
      return Error{fmt::format("a change of the store failed: {}", error.what())};
    }
    entries[at] = std::exchange(group.entries_, {});
  }
  constexpr std::int64_t kBucketMs = kSeriesSeconds * 1000;
  for (auto& [model, sums] : group.series_) {
    sums.at = group.now / kBucketMs * kBucketMs;
    if (auto added = store_.add_to_series(model, sums); !added) return added;
  }
  return store_.commit();
}

void WriterThread::settle(std::vector<Job>& jobs,
                          std::vector<std::vector<LearningThread::Item>>& entries) {
  for (Job& job : jobs) {
    if (job.committed) job.committed();
  }
  std::vector<PendingHandle> syncs;
  std::vector<LearningThread::Item> learns;
  std::vector<Done<void>> settled;
  for (std::size_t at = 0; at < jobs.size(); ++at) {
    Job& job = jobs[at];
    const bool learn = !entries[at].empty();
    if (!job.sync && !learn) {
      settled.push_back(std::move(job.settled));
      continue;
    }
    auto pending =
        std::make_shared<Pending>((job.sync ? 1 : 0) + (learn ? 1 : 0), std::move(job.settled));
    if (learn) {
      // The last of its entries carries it.
      entries[at].back().pending = pending;
      learns.insert(learns.end(), std::make_move_iterator(entries[at].begin()),
                    std::make_move_iterator(entries[at].end()));
    }
    if (job.sync) syncs.push_back(std::move(pending));
  }
  if (!syncs.empty()) syncer_.submit(std::move(syncs));
  if (!learns.empty()) learner_.submit(std::move(learns));
  for (Done<void>& done : settled) done({});
}

}  // namespace plackett::serving
