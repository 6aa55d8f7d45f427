#include "base/folder_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace plackett {

Result<FolderLock> FolderLock::take(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / ".lock";
  FolderLock lock;
  lock.descriptor_ =
      ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH);
  if (lock.descriptor_ < 0) {
    return Error{fmt::format("{}: can't create: {}", path.string(), std::strerror(errno))};
  }
  if (::flock(lock.descriptor_, LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno == EWOULDBLOCK) {
    return Error{fmt::format("{}: another plackett is working in this folder", folder.string())};
  }
  const bool no_locks = errno == ENOSYS || errno == EOPNOTSUPP || errno == ENOLCK;
  if (no_locks) return lock;
  return Error{fmt::format("{}: can't lock: {}", path.string(), std::strerror(errno))};
}

FolderLock::FolderLock(FolderLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace plackett
