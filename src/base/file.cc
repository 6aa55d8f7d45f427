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

namespace fs = std::filesystem;

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

// The descriptor of standard output or error if that is what `status` is of; -1: neither.
int standard_stream(const struct stat& status) {
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat open {};
    if (::fstat(stream, &open) == 0 && open.st_dev == status.st_dev &&
        open.st_ino == status.st_ino) {
      return stream;
    }
  }
  return -1;
}

// Whether a file with this status is written into, never replaced.
bool stays(const struct stat& status) {
  return !S_ISREG(status.st_mode) || standard_stream(status) >= 0;
}

// Opens what is not to be replaced; no valid descriptor: it is to be. A standard stream is used
// through its own descriptor, which has a place in the file that another one would not share.
Result<Descriptor> open_directly(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return Descriptor();
    return system_error(path, "can't create", errno);
  }
  if (!stays(status)) return Descriptor();
  const int stream = standard_stream(status);
  Descriptor opened(stream >= 0 ? ::fcntl(stream, F_DUPFD_CLOEXEC, 0)
                                : ::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!opened.valid()) return system_error(path, "can't open", errno);
  return opened;
}

}  // namespace

Error system_error(const fs::path& path, std::string_view doing, int number) {
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

Result<MappedFile> MappedFile::open(const fs::path& path) {
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

Result<std::string> read_file(const fs::path& path) {
  auto file = MappedFile::open(path);
  if (!file) return file.error();
  const auto bytes = file->bytes();
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

fs::path written_path(const fs::path& path) {
  constexpr int kMostLinks = 40;  // Linux's own limit
  std::error_code error;
  fs::path target = path;
  for (int links = 0; links < kMostLinks && fs::is_symlink(target, error); ++links) {
    target = target.parent_path() / fs::read_symlink(target, error);
  }
  return target;
}

bool written_directly(const fs::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && stays(status);
}

Result<void> check_writable(const fs::path& path) {
  if (path.empty()) return Error{"an empty file name"};
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    return Error{fmt::format("{}: is a folder; give the name of a file", path.string())};
  }
  const bool directly = written_directly(path);
  fs::path written = directly ? path : written_path(path).parent_path();
  if (written.empty()) written = ".";
  if (::access(written.c_str(), W_OK) == 0) return {};
  return system_error(path, directly ? "can't open" : "can't create", errno);
}

Result<AtomicFile> AtomicFile::create(const fs::path& path) {
  AtomicFile file;
  file.buffer_.reserve(kBufferBytes);
  auto opened = open_directly(path);
  if (!opened) return opened.error();
  if (opened->valid()) {
    file.path_ = path;
    file.descriptor_ = std::move(*opened);
    return file;
  }
  file.path_ = written_path(path);
  std::string name = file.path_.string() + std::string(kTemporaryMark) + "XXXXXX";
  file.descriptor_ = Descriptor(::mkstemp(name.data()));
  if (!file.descriptor_.valid()) return system_error(path, "can't create", errno);
  file.temporary_ = name;
  ::fchmod(file.descriptor_.get(), S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH);
  return file;
}

AtomicFile::~AtomicFile() {
  if (descriptor_.valid() && !temporary_.empty()) ::unlink(temporary_.c_str());
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

Result<void> AtomicFile::finish() {
  if (auto flushed = flush(); !flushed) return flushed;
  if (temporary_.empty()) {
    if (::close(descriptor_.release()) != 0) return system_error(path_, "can't close", errno);
    return {};
  }
  if (::fsync(descriptor_.get()) != 0) return system_error(path_, "can't sync", errno);
  const int closed = ::close(descriptor_.release());
  if (closed != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const Error error =
        system_error(path_, closed != 0 ? "can't close" : "can't rename into place", errno);
    ::unlink(temporary_.c_str());
    return error;
  }
  const auto folder = path_.has_parent_path() ? path_.parent_path() : fs::path(".");
  const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.valid()) ::fsync(opened.get());
  return {};
}

Result<void> write_file(const fs::path& path, std::string_view text) {
  auto file = AtomicFile::create(path);
  if (!file) return file.error();
  if (auto appended = file->append(text); !appended) return appended;
  return file->finish();
}

}  // namespace plackett
