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

void Checkpointer::begin() {
  const std::lock_guard lock(mutex_);
  if (state_ != State::kIdle || ended_ || failed_) return;
  state_ = State::kAsked;
  wake_.notify_one();
}

void Checkpointer::run() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return state_ != State::kIdle; });
      if (state_ == State::kStopping) return;
    }
    move();
    const std::lock_guard lock(mutex_);
    if (state_ == State::kAsked) state_ = State::kIdle;
    ended_ = true;
  }
}

void Checkpointer::move() {
  constexpr int kPasses = 3;
  sqlite3_file* file = nullptr;
  sqlite3_file_control(database_.handle(), "main", SQLITE_FCNTL_FILE_POINTER, &file);
  for (int pass = 0; pass < kPasses; ++pass) {
    // What it can't move, the writer's own will try to, and will say why not.
    sqlite3_wal_checkpoint_v2(database_.handle(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr,
                              nullptr);
    if (file->pMethods->xSync(file, SQLITE_SYNC_NORMAL) != SQLITE_OK) failed_ = true;
  }
}

}  // namespace plackett::store
