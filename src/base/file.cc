#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace plackett {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

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

Error system_error(const std::filesystem::path& path, std::string_view doing, int number) {
  const bool missing = number == ENOENT || number == ENOTDIR;
  return {missing ? ErrorCode::kNotFound : ErrorCode::kUnavailable,
          fmt::format("{}: {}: {}", path.string(), doing, std::strerror(number))};
}

Descriptor::~Descriptor() {
  if (valid()) ::close(value_);
}

void MappedFile::Unmap::operator()(const std::byte* data) const {
  ::munmap(const_cast<std::byte*>(data), size);
}

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  // Without O_NONBLOCK, a pipe that nobody writes to would never open.
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!descriptor.valid()) return system_error(path, "can't open", errno);
  struct stat status {};
  if (::fstat(descriptor.get(), &status) != 0) {
    return system_error(path, "can't read its size", errno);
  }
  if (!S_ISREG(status.st_mode)) {
    return Error{fmt::format("{}: not a regular file", path.string())};
  }
  MappedFile file;
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return file;
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor.get(), 0);
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  if (address == MAP_FAILED) return system_error(path, "can't map", errno);
  file.data_ = {static_cast<const std::byte*>(address), Unmap{size}};
  return file;
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
  file.descriptor_ = Descriptor(::mkstemp(name.data()));
  if (!file.descriptor_.valid()) return system_error(path, "can't create", errno);
  file.temporary_ = name;
  ::fchmod(file.descriptor_.get(), S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH);
  file.buffer_.reserve(kBufferBytes);
  return file;
}

AtomicFile::~AtomicFile() {
  if (descriptor_.valid()) ::unlink(temporary_.c_str());
}

Result<void> AtomicFile::flush() {
  if (!write_all(descriptor_.get(), buffer_)) return system_error(path_, "can't write", errno);
  buffer_.clear();
  return {};
}

Result<void> AtomicFile::append(std::span<const std::byte> bytes) {
  if (buffer_.size() + bytes.size() > kBufferBytes) {
    if (auto flushed = flush(); !flushed) return flushed;
    if (bytes.size() > kBufferBytes) {
      if (!write_all(descriptor_.get(), bytes)) return system_error(path_, "can't write", errno);
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
        ::pwrite(descriptor_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0) {
      if (errno == EINTR) continue;
      return system_error(path_, "can't write", errno);
    }
    offset += static_cast<std::size_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> AtomicFile::finish() {
  if (auto flushed = flush(); !flushed) return flushed;
  if (::fsync(descriptor_.get()) != 0) return system_error(path_, "can't sync", errno);
  const int closed = ::close(descriptor_.release());
  if (closed != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const Error error =
        system_error(path_, closed != 0 ? "can't close" : "can't rename into place", errno);
    ::unlink(temporary_.c_str());
    return error;
  }
  const auto folder = path_.has_parent_path() ? path_.parent_path() : std::filesystem::path(".");
  const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.valid()) ::fsync(opened.get());
  return {};
}

Result<void> write_file(const std::filesystem::path& path, std::string_view text) {
  auto file = AtomicFile::create(path);
  if (!file) return file.error();
  if (auto appended = file->append(text); !appended) return appended;
  return file->finish();
}

}  // namespace plackett
