#include "base/file_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace plackett {

Result<FileLock> FileLock::take_folder(const std::filesystem::path& folder) {
  return take(folder / ".lock",
              fmt::format("{}: another plackett is working in this folder", folder.string()));
}

Result<FileLock> FileLock::take(const std::filesystem::path& path, const std::string& busy) {
  FileLock lock;
  lock.descriptor_ =
      ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH);
  if (lock.descriptor_ < 0) {
    return Error{fmt::format("{}: can't create: {}", path.string(), std::strerror(errno))};
  }
  if (::flock(lock.descriptor_, LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno == EWOULDBLOCK) return Error{busy};
  const bool no_locks = errno == ENOSYS || errno == EOPNOTSUPP || errno == ENOLCK;
  if (no_locks) return lock;
  return Error{fmt::format("{}: can't lock: {}", path.string(), std::strerror(errno))};
}

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace plackett
