// Moves the log of writes into the file beside the writer, which then has little left to move.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "plackett/result.h"
#include "store/sqlite.h"
#include "store/writer.h"

namespace plackett::store {

// A thread with a connection of its own. While the writer goes on, a checkpoint never reaches the
// log's end; only one that does syncs the file and lets the log begin anew. So this one moves and
// syncs the bulk, then what came meanwhile, which is less, and again; the writer's own checkpoint,
// right after it, has little left.
class Checkpointer {
 public:
  // Requires: the writer outlives it.
  static Result<std::unique_ptr<Checkpointer>> start(Writer& writer,
                                                     const std::filesystem::path& path,
                                                     const std::string& vfs = "");
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;
  ~Checkpointer();

  // Begins where none is under way and there is something to move; whether it did.
  bool begin();
  // True, once, when the one begun has ended. Costs next to nothing.
  bool take_end() { return ended_.load(std::memory_order_relaxed) && ended_.exchange(false); }
  // The file could not be synced: what was moved may be lost, so the log must be kept whole until
  // the next start moves it anew.
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  enum class State : std::uint8_t { kIdle, kAsked, kStopping };

  Checkpointer(LogMarks& log_marks, Database database);
  void run();
  void move();

  LogMarks& log_marks_;
  Database database_;
  std::mutex mutex_;
  std::condition_variable wake_;
  State state_ = State::kIdle;
  std::atomic<bool> ended_{false};
  std::atomic<bool> failed_{false};
  std::thread thread_;
};

}  // namespace plackett::store
