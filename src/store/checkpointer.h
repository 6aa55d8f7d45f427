// Moves the log of writes into the file beside the writer, which then has little left to move.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/result.h"
#include "store/sqlite.h"

namespace plackett::store {

// A thread with a connection of its own. While the writer goes on, a checkpoint never reaches the
// log's end, and only one that does lets the log begin anew: so this one moves the bulk, with its
// syncs, and the writer's own, right after it, the rest.
class Checkpointer {
 public:
  static Result<std::unique_ptr<Checkpointer>> start(const std::filesystem::path& path,
                                                     const std::string& vfs = "");
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;
  ~Checkpointer();

  // Begins a checkpoint where none is under way; true, once, when the one begun has ended.
  bool poll();

 private:
  enum class State : std::uint8_t { kIdle, kAsked, kEnded, kStopping };

  explicit Checkpointer(Database database);
  void run();

  Database database_;
  std::mutex mutex_;
  std::condition_variable wake_;
  State state_ = State::kIdle;
  std::thread thread_;
};

}  // namespace plackett::store
