#include "base/append_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace plackett {
namespace {

Error system_error(const std::filesystem::path& path, std::string_view doing, int number) {
  return Error{fmt::format("{}: {}: {}", path.string(), doing, std::strerror(number))};
}

}  // namespace

Result<AppendFile> AppendFile::open(const std::filesystem::path& path,
                                    std::chrono::milliseconds sync_every) {
  AppendFile file;
  file.path_ = path;
  file.sync_every_ = sync_every;
  file.synced_ = std::chrono::steady_clock::now();
  file.descriptor_ = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file.descriptor_ < 0) return system_error(path, "can't open", errno);
  return file;
}

AppendFile::AppendFile(AppendFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      sync_every_(other.sync_every_),
      synced_(other.synced_) {}

AppendFile& AppendFile::operator=(AppendFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(sync_every_, other.sync_every_);
  std::swap(synced_, other.synced_);
  return *this;
}

AppendFile::~AppendFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<void> AppendFile::append(std::string_view record) {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) return system_error(path_, "can't read its size", errno);
  while (!record.empty()) {
    const ssize_t written = ::write(descriptor_, record.data(), record.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const int number = written < 0 ? errno : EIO;
      // If this fails too, a torn record stays; readers drop it.
      [[maybe_unused]] const int cut = ::ftruncate(descriptor_, status.st_size);
      return system_error(path_, "can't write", number);
    }
    record.remove_prefix(static_cast<std::size_t>(written));
  }
  if (std::chrono::steady_clock::now() - synced_ < sync_every_) return {};
  return sync();
}

Result<void> AppendFile::sync() {
  if (::fdatasync(descriptor_) != 0) return system_error(path_, "can't sync", errno);
  synced_ = std::chrono::steady_clock::now();
  return {};
}

}  // namespace plackett
