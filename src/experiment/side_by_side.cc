#include "experiment/side_by_side.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace plackett {
namespace {

// Parts that are loaded at a time, however little memory there is: one and the next.
constexpr std::size_t kAlways = 2;
constexpr std::size_t kMost = 4;

// An error, or what was thrown.
struct Failure {
  std::size_t at = 0;  // of the part
  std::optional<Error> error;
  std::exception_ptr thrown = nullptr;
};

class Working {
 public:
  explicit Working(const WorkInParts& parts) : parts_(parts) { threads_.reserve(parts.count); }

  Result<void> run() {
    try {
      for (next_ = 0; next_ < parts_.count && goes_on(); ++next_) {
        wait_for_place();
        auto work = load();
        if (work && goes_on()) start(std::make_shared<LoadedWork>(std::move(*work)));
      }
    } catch (...) {
      fail({.at = next_, .error = {}, .thrown = std::current_exception()});
    }
    threads_.clear();  // waits for them
    if (!failure_) return {};
    if (failure_->thrown) std::rethrow_exception(failure_->thrown);
    return *failure_->error;
  }

 private:
  // Whether more is loaded.
  [[nodiscard]] bool goes_on() const { return !has_failed_ && !(parts_.stop && parts_.stop()); }

  // Until there may be one part more.
  void wait_for_place() {
    std::unique_lock lock(mutex_);
    work_ended_.wait(lock, [&] {
      return under_way_ < kAlways ||
             (under_way_ < kMost && (!parts_.has_memory || parts_.has_memory()));
    });
  }

  // The next part. Nothing if it failed, or if no more is loaded.
  std::optional<LoadedWork> load() {
    while (goes_on()) {
      std::unique_lock lock(mutex_);
      const bool is_alone = under_way_ == 0;
      const std::uint64_t ended_before = ended_;
      lock.unlock();
      try {
        auto work = parts_.load(next_);
        if (work) return std::move(work).value();
        if (is_alone || work.error().code != ErrorCode::kUnavailable) {
          fail({.at = next_, .error = work.error()});
          return {};
        }
      } catch (const std::bad_alloc&) {
        if (is_alone) throw;
      }
      lock.lock();
      work_ended_.wait(lock, [&] { return ended_ != ended_before; });
    }
    return {};
  }

  void start(const std::shared_ptr<LoadedWork>& work) {
    {
      const std::lock_guard lock(mutex_);
      ++under_way_;
    }
    if (parts_.side_by_side) {
      try {
        threads_.emplace_back([this, at = next_, work] { do_work(at, *work); });
        return;
      } catch (const std::system_error&) {  // no thread
      }
    }
    do_work(next_, *work);
  }

  void do_work(std::size_t at, LoadedWork& work) {
    try {
      if (auto done = work(); !done) fail({.at = at, .error = done.error()});
    } catch (...) {
      fail({.at = at, .error = {}, .thrown = std::current_exception()});
    }
    work = nullptr;  // before others are told that there is memory
    const std::lock_guard lock(mutex_);
    --under_way_;
    ++ended_;
    work_ended_.notify_all();
  }

  void fail(Failure failure) {
    const std::lock_guard lock(mutex_);
    if (!failure_ || failure.at < failure_->at) failure_ = std::move(failure);
    has_failed_ = true;
  }

  const WorkInParts& parts_;
  std::atomic<bool> has_failed_{false};
  std::size_t next_ = 0;
  std::mutex mutex_;  // over the following
  std::condition_variable work_ended_;
  std::size_t under_way_ = 0;
  std::uint64_t ended_ = 0;
  std::optional<Failure> failure_;
  std::vector<std::jthread> threads_;  // last: they use the others
};

}  // namespace

Result<void> do_in_parts(const WorkInParts& parts) { return Working(parts).run(); }

}  // namespace plackett
