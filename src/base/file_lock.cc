#include "base/file_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <thread>

namespace plackett {

Result<FileLock> FileLock::take_folder(const std::filesystem::path& folder,
                                       std::chrono::milliseconds patience) {
  // Many processes may wait, on a file system that asks a server each time.
  constexpr std::chrono::milliseconds kLongestStep(1000);
  std::chrono::milliseconds step(10);
  for (std::chrono::milliseconds waited(0);; waited += step) {
    step = std::min(step * 2, kLongestStep);
    auto lock = take(folder / ".lock", fmt::format("{}: another plackett is working in this folder",
                                                   folder.string()));
    if (lock || lock.error().code != ErrorCode::kConflict || waited >= patience) return lock;
    std::this_thread::sleep_for(step);
  }
}

Result<FileLock> FileLock::take(const std::filesystem::path& path, const std::string& busy) {
  FileLock lock;
  lock.descriptor_ = Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_NONBLOCK | O_CLOEXEC,
                                       S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH));
  if (!lock.descriptor_.valid()) return system_error(path, "can't open", errno);
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    return Error{fmt::format("{}: not a regular file", path.string())};
  }
  if (::flock(lock.descriptor_.get(), LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno == EWOULDBLOCK) return Error{ErrorCode::kConflict, busy};
  const bool no_locks = errno == ENOSYS || errno == EOPNOTSUPP || errno == ENOLCK;
  if (!no_locks) return system_error(path, "can't lock", errno);
  lock.excludes_others_ = false;
  return lock;
}

FileId FileId::of(const std::filesystem::path& file) {
  struct stat status {};
  return ::stat(file.c_str(), &status) == 0 ? FileId{status.st_dev, status.st_ino} : FileId{};
}

FileId FileId::of(const Descriptor& file) {
  struct stat status {};
  return ::fstat(file.get(), &status) == 0 ? FileId{status.st_dev, status.st_ino} : FileId{};
}

}  // namespace plackett
