#include "store/checkpointer.h"

#include <utility>

namespace plackett::store {

Result<std::unique_ptr<Checkpointer>> Checkpointer::start(Writer& writer,
                                                          const std::filesystem::path& path,
                                                          const std::string& vfs) {
  auto database = Database::open(path, Database::Access::kWrite, vfs);
  if (!database) return database.error();
  // The read makes the connection know of the log.
  if (auto set = database->run("PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=0; "
                               "SELECT count(*) FROM models;");
      !set) {
    return set.error();
  }
  return std::unique_ptr<Checkpointer>(
      new Checkpointer(writer.log_marks(), std::move(database).value()));
}

Checkpointer::Checkpointer(LogMarks& log_marks, Database database)
    : log_marks_(log_marks), database_(std::move(database)), thread_([this] { run(); }) {}

Checkpointer::~Checkpointer() {
  {
    const std::lock_guard lock(mutex_);
    state_ = State::kStopping;
  }
  wake_.notify_one();
  thread_.join();
}

bool Checkpointer::begin() {
  const std::lock_guard lock(mutex_);
  if (state_ != State::kIdle || ended_ || failed_ || !log_marks_.has_unmoved()) return false;
  state_ = State::kAsked;
  wake_.notify_one();
  return true;
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
  for (int pass = 0; pass < kPasses && log_marks_.has_unmoved(); ++pass) {
    const std::uint64_t beginnings = log_marks_.beginnings();
    int log = 0;
    int moved = 0;
    // What it can't move, the writer's own will try to, and will say why not.
    if (sqlite3_wal_checkpoint_v2(database_.handle(), nullptr, SQLITE_CHECKPOINT_PASSIVE, &log,
                                  &moved) == SQLITE_OK) {
      log_marks_.moved(beginnings, static_cast<std::uint64_t>(moved));
    }
    if (file->pMethods->xSync(file, SQLITE_SYNC_NORMAL) != SQLITE_OK) failed_ = true;
  }
}

}  // namespace plackett::store
