#include "base/append_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace plackett {

Result<AppendFile> AppendFile::open(const std::filesystem::path& path,
                                    std::chrono::milliseconds sync_every) {
  AppendFile file;
  file.path_ = path;
  file.sync_every_ = sync_every;
  file.synced_ = std::chrono::steady_clock::now();
  file.descriptor_ = Descriptor(::open(path.c_str(), O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC));
  if (!file.descriptor_.valid()) return system_error(path, "can't open", errno);
  return file;
}

Result<void> AppendFile::append(std::string_view record) {
  const int descriptor = descriptor_.get();
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return system_error(path_, "can't read its size", errno);
  while (!record.empty()) {
    const ssize_t written = ::write(descriptor, record.data(), record.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const int number = written < 0 ? errno : EIO;
      // If truncating fails too, a torn record stays, which readers drop.
      [[maybe_unused]] const int cut = ::ftruncate(descriptor, status.st_size);
      return system_error(path_, "can't write", number);
    }
    record.remove_prefix(static_cast<std::size_t>(written));
  }
  if (std::chrono::steady_clock::now() - synced_ < sync_every_) return {};
  return sync();
}

Result<void> AppendFile::sync() {
  if (::fdatasync(descriptor_.get()) != 0) return system_error(path_, "can't sync", errno);
  synced_ = std::chrono::steady_clock::now();
  return {};
}

}  // namespace plackett
