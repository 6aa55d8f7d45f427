#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace plackett {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

Error system_error(const std::filesystem::path& path, std::string_view doing) {
  return {errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kInvalid,
          fmt::format("{}: {}: {}", path.string(), doing, std::strerror(errno))};
}

// write(2) until all is written; false with errno set on failure.
bool write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return system_error(path, "can't open");
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) {
    const Error error = system_error(path, "can't read its size");
    ::close(descriptor);
    return error;
  }
  if (!S_ISREG(status.st_mode)) {
    ::close(descriptor);
    return Error{fmt::format("{}: not a regular file", path.string())};
  }
  MappedFile file;
  file.size_ = static_cast<std::size_t>(status.st_size);
  if (file.size_ > 0) {
    void* address = ::mmap(nullptr, file.size_, PROT_READ, MAP_SHARED, descriptor, 0);
    if (address == MAP_FAILED) {  // NOLINT(performance-no-int-to-ptr)
      const Error error = system_error(path, "can't map");
      file.size_ = 0;
      ::close(descriptor);
      return error;
    }
    file.data_ = static_cast<const std::byte*>(address);
  }
  ::close(descriptor);
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

Result<std::string> read_file(const std::filesystem::path& path) {
  auto file = MappedFile::open(path);
  if (!file) return file.error();
  const auto bytes = file->bytes();
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Result<AtomicFile> AtomicFile::create(const std::filesystem::path& path) {
  AtomicFile file;
  file.path_ = path;
  std::string name = path.string() + std::string(kTemporaryMark) + "XXXXXX";
  file.descriptor_ = ::mkstemp(name.data());
  if (file.descriptor_ < 0) return system_error(path, "can't create");
  file.temporary_ = name;
  ::fchmod(file.descriptor_, S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH);
  file.buffer_.reserve(kBufferBytes);
  return file;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      buffer_(std::move(other.buffer_)) {}

AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept {
  if (this != &other) {
    discard();
    path_ = std::move(other.path_);
    temporary_ = std::move(other.temporary_);
    descriptor_ = std::exchange(other.descriptor_, -1);
    buffer_ = std::move(other.buffer_);
  }
  return *this;
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::discard() {
  if (descriptor_ < 0) return;
  ::close(std::exchange(descriptor_, -1));
  ::unlink(temporary_.c_str());
}

Result<void> AtomicFile::flush() {
  if (!write_all(descriptor_, buffer_)) return system_error(path_, "can't write");
  buffer_.clear();
  return {};
}

Result<void> AtomicFile::append(std::span<const std::byte> bytes) {
  if (buffer_.size() + bytes.size() > kBufferBytes) {
    if (auto flushed = flush(); !flushed) return flushed;
    if (bytes.size() > kBufferBytes) {
      if (!write_all(descriptor_, bytes)) return system_error(path_, "can't write");
      return {};
    }
  }
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  return {};
}

Result<void> AtomicFile::append(std::string_view text) {
  return append(std::as_bytes(std::span(text.data(), text.size())));
}

Result<void> AtomicFile::write_at(std::size_t offset, std::span<const std::byte> bytes) {
  if (auto flushed = flush(); !flushed) return flushed;
  while (!bytes.empty()) {
    const ssize_t written =
        ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0) {
      if (errno == EINTR) continue;
      return system_error(path_, "can't write");
    }
    offset += static_cast<std::size_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> AtomicFile::finish() {
  if (auto flushed = flush(); !flushed) return flushed;
  if (::fsync(descriptor_) != 0) return system_error(path_, "can't sync");
  if (::close(std::exchange(descriptor_, -1)) != 0) {
    const Error error = system_error(path_, "can't close");
    ::unlink(temporary_.c_str());
    return error;
  }
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const Error error = system_error(path_, "can't rename into place");
    ::unlink(temporary_.c_str());
    return error;
  }
  const auto folder = path_.has_parent_path() ? path_.parent_path() : std::filesystem::path(".");
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor >= 0) {
    ::fsync(descriptor);
    ::close(descriptor);
  }
  return {};
}

Result<void> write_file(const std::filesystem::path& path, std::string_view text) {
  auto file = AtomicFile::create(path);
  if (!file) return file.error();
  if (auto appended = file->append(text); !appended) return appended;
  return file->finish();
}

}  // namespace plackett
