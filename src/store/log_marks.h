// How far the log of writes reaches, and how far of it lies in the file too.
#pragma once

#include <cstdint>
#include <mutex>

namespace plackett::store {

// SQLite lets the log begin anew at the first write after all of it was moved. Versions before
// 3.51.3 lose what is written from then on if that happens while another connection begins to move
// the log: having read how far the old log reached, it counts that much of the new one as moved.
// While something of the log is left to move, it can't begin anew. So no one but the writer may
// begin a move unless has_unmoved(); the writer's own moves and writes are one after another.
//
// Calls from any thread. The numbers are pages of the log, which SQLite calls frames.
class LogMarks {
 public:
  // Told by the writer after every commit.
  void reaches(std::uint64_t end) {
    const std::lock_guard lock(mutex_);
    if (end < end_) {  // it began anew
      ++beginnings_;
      moved_ = 0;
    }
    end_ = end;
  }

  // To tell one log from the next.
  [[nodiscard]] std::uint64_t beginnings() const {
    const std::lock_guard lock(mutex_);
    return beginnings_;
  }

  // A move of the log with this number of beginnings is done, and all up to `moved` lies in the
  // file, as SQLite says. Nothing where the log has begun anew since. SQLite looks that up when it
  // has let go of the log: 0 may be of a log that begins anew in a commit that the writer has not
  // told of yet. Then nothing is surely left to move until it does.
  void moved(std::uint64_t beginnings, std::uint64_t moved) {
    const std::lock_guard lock(mutex_);
    if (beginnings == beginnings_) moved_ = moved == 0 ? end_ : moved;
  }

  // Whether something is surely left to move; where false, there may still be.
  [[nodiscard]] bool has_unmoved() const {
    const std::lock_guard lock(mutex_);
    return end_ > moved_;
  }
  [[nodiscard]] std::uint64_t end() const {
    const std::lock_guard lock(mutex_);
    return end_;
  }

 private:
  mutable std::mutex mutex_;
  std::uint64_t beginnings_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t moved_ = 0;
};

}  // namespace plackett::store
