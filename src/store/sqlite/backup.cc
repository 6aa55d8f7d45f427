#include "store/sqlite/backup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "base/file.h"
#include "base/file_lock.h"
#include "store/sqlite/database.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/sqlite_store.h"

namespace plackett::store {
namespace {

namespace fs = std::filesystem;

constexpr int kStepsBetweenPolls = 1000;  // of SQLite's virtual machine
constexpr std::uint32_t kRowsAtOnce = 10'000;
constexpr const char* kBeside[] = {"-wal", "-shm", "-journal"};

[[noreturn]] void refuse(const fs::path& path, std::string_view why) {
  throw Failed{Error{fmt::format("{}: {}", path.string(), why)}};
}

// A file beside the target that goes, with what SQLite puts beside it, unless it is kept.
class Temporary {
 public:
  explicit Temporary(const fs::path& target)
      : name_(target.string() + std::string(kTemporaryMark) + "XXXXXX") {
    Descriptor made(::mkstemp(name_.data()));
    if (!made.valid()) throw Failed{system_error(target, "can't create", errno)};
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    if (name_.empty()) return;
    ::unlink(name_.c_str());
    for (const char* ending : kBeside) ::unlink((name_ + ending).c_str());
  }
  [[nodiscard]] const std::string& name() const { return name_; }
  void keep() { name_.clear(); }

 private:
  std::string name_;
};

// Where the copy goes; throws Failed if it may not.
fs::path checked_target(const BackupOptions& options) {
  std::error_code ignored;
  if (options.to.empty()) throw Failed{Error{"an empty file name"}};
  fs::path target = written_path(options.to);
  const FileId store = FileId::of(options.from);
  for (const char* ending : {"", "-wal", "-shm"}) {
    if (FileId::of(target) != FileId{} &&
        FileId::of(target) == FileId::of(options.from.string() + ending)) {
      refuse(options.to, "is the store itself; give another name");
    }
  }
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  const fs::path from = fs::canonical(options.from, ignored);
  if (store != FileId{} && fs::equivalent(folder, from.parent_path(), ignored)) {
    for (const char* ending : kBeside) {
      if (target.filename() == from.filename().string() + ending) {
        refuse(options.to, "is the name of the store's own journal; give another name");
      }
    }
  }
  const auto status = fs::status(target, ignored);
  if (fs::exists(status)) {
    if (!fs::is_regular_file(status)) refuse(options.to, "not a regular file");
    if (!options.replace) refuse(options.to, "exists; --force replaces it");
    const auto lock =
        FileLock::take(target, fmt::format("{}: is being served", options.to.string()));
    if (!lock) throw Failed{lock.error()};
  }
  for (const char* ending : kBeside) {
    if (fs::exists(target.string() + ending, ignored)) {
      refuse(target.string() + ending,
             "belongs to another file of that name, and would be read into the copy; remove it");
    }
  }
  return target;
}

// Ends the statement of a connection when that is asked for.
int poll_stop(void* options) {
  const auto& stop = static_cast<const BackupOptions*>(options)->stop_requested;
  return stop && stop() ? 1 : 0;
}

void copy_into(const BackupOptions& options, const std::string& name) {
  Database source = take(Database::open(options.from, Database::Access::kRead));
  take(ready_to_read(source));
  sqlite3_progress_handler(source.handle(), kStepsBetweenPolls, poll_stop,
                           const_cast<BackupOptions*>(&options));
  const auto copied = source.run("VACUUM INTO ?", name);
  if ((sqlite3_errcode(source.handle()) & 0xff) == SQLITE_INTERRUPT ||
      (options.stop_requested && options.stop_requested())) {
    throw Failed{Error{ErrorCode::kStopped, "stopped; there is no copy"}};
  }
  take(copied);
}

// The server removes the rows of a deleted model bit by bit, so the copy may still have some.
void finish_deletions(const std::string& name) {
  const auto deleted = take(take(read_sqlite(name))->deleted_models());
  if (deleted.empty()) return;
  {
    const auto store = take(open_sqlite({.path = name}));
    for (const std::int64_t model : deleted) {
      for (bool done = false; !done;) {
        take(store->begin());
        done = take(store->drop_rows(model, kRowsAtOnce));
        take(store->commit());
        store->tidy();
      }
    }
    store->close();
  }
  Database copy = take(Database::open(name, Database::Access::kWrite));
  take(copy.script("PRAGMA journal_mode=DELETE; VACUUM;"));
}

// The store may show more lists after the copy. If the copy takes its place, it must not use their
// numbers again: callers still have them, in feedback that comes late and as places to go on from.
void skip_numbers(const std::string& name) {
  // More than are used between two copies. Copies of restored copies skip so long as there are
  // enough numbers.
  constexpr std::uint64_t kSkipped = std::uint64_t{1} << 32;
  constexpr std::uint64_t kMost = serving::ImpressionKey::kNumbers / 2;
  Database copy = take(Database::open(name, Database::Access::kWrite));
  take(copy.run("UPDATE models SET next_number = next_number + ? WHERE next_number < ?", kSkipped,
                kMost));
}

Backup describe(const std::string& name) {
  Database copy = take(Database::open(name, Database::Access::kRead));
  take(ready_to_read(copy));
  return {.bytes = fs::file_size(name),
          .models = take(copy.integer<std::uint64_t>("SELECT count(*) FROM models")),
          .impressions = take(copy.integer<std::uint64_t>("SELECT count(*) FROM impressions"))};
}

void put_in_place(const BackupOptions& options, const Temporary& copy, const fs::path& target) {
  struct stat status {};
  const Descriptor file(::open(copy.name().c_str(), O_RDWR | O_CLOEXEC));
  const bool has_mode = ::stat(options.from.c_str(), &status) == 0;
  // Those who may read the store may read its copy.
  if (!file.valid() || !has_mode || ::fchmod(file.get(), status.st_mode & 0777) != 0 ||
      ::fsync(file.get()) != 0) {
    throw Failed{system_error(options.to, "can't sync", errno)};
  }
  int renamed = ::renameat2(AT_FDCWD, copy.name().c_str(), AT_FDCWD, target.c_str(),
                            options.replace ? 0 : RENAME_NOREPLACE);
  if (renamed != 0 && errno == EINVAL && !options.replace) {
    // The file system can't; a link never replaces a file either.
    renamed = ::link(copy.name().c_str(), target.c_str());
    if (renamed == 0) ::unlink(copy.name().c_str());
  }
  if (renamed != 0) throw Failed{system_error(options.to, "can't rename into place", errno)};
  const auto folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.valid()) ::fsync(opened.get());
}

}  // namespace

Result<Backup> back_up_sqlite(const BackupOptions& options) {
  // Before the target is touched.
  if (const auto store = read_sqlite(options.from); !store) return store.error();
  return attempt([&] {
    const fs::path target = checked_target(options);
    Temporary copy(target);
    const auto made = attempt([&] {
      copy_into(options, copy.name());
      finish_deletions(copy.name());
      skip_numbers(copy.name());
      return describe(copy.name());
    });
    if (!made) {
      Error error = made.error();
      if (error.code != ErrorCode::kStopped) error = error.in(options.to.string());
      throw Failed{error};
    }
    put_in_place(options, copy, target);
    copy.keep();
    return *made;
  });
}

}  // namespace plackett::store
