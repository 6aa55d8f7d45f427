#include "store/checkpointer.h"

#include <utility>

namespace plackett::store {

Result<std::unique_ptr<Checkpointer>> Checkpointer::start(const std::filesystem::path& path,
                                                          const std::string& vfs) {
  auto database = Database::open(path, Database::Access::kWrite, vfs);
  if (!database) return database.error();
  // The read makes the connection know of the log.
  if (auto set = database->run("PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=0; "
                               "SELECT count(*) FROM models;");
      !set) {
    return set.error();
  }
  return std::unique_ptr<Checkpointer>(new Checkpointer(std::move(database).value()));
}

Checkpointer::Checkpointer(Database database)
    : database_(std::move(database)), thread_([this] { run(); }) {}

Checkpointer::~Checkpointer() {
  {
    const std::lock_guard lock(mutex_);
    state_ = State::kStopping;
  }
  wake_.notify_one();
  thread_.join();
}

bool Checkpointer::poll() {
  const std::lock_guard lock(mutex_);
  if (state_ == State::kEnded) {
    state_ = State::kIdle;
    return true;
  }
  if (state_ == State::kIdle) {
    state_ = State::kAsked;
    wake_.notify_one();
  }
  return false;
}

void Checkpointer::run() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return state_ == State::kAsked || state_ == State::kStopping; });
      if (state_ == State::kStopping) return;
    }
    // What it can't move, the writer's own will try to, and will say why not.
    sqlite3_wal_checkpoint_v2(database_.handle(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr,
                              nullptr);
    const std::lock_guard lock(mutex_);
    if (state_ == State::kAsked) state_ = State::kEnded;
  }
}

}  // namespace plackett::store
