// Files: whole reads, shared mappings, and writes that happen completely or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plackett/result.h"

namespace plackett {

// "path: can't open: No such file or directory". kNotFound if the path does not exist, else
// kUnavailable. `number` is an errno.
Error system_error(const std::filesystem::path& path, std::string_view doing, int number);

// A file descriptor that is closed on destruction; -1: none.
class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Descriptor();

  [[nodiscard]] int get() const { return value_; }
  [[nodiscard]] bool valid() const { return value_ >= 0; }
  // The caller closes it from now on.
  int release() { return std::exchange(value_, -1); }

 private:
  int value_;
};

// A file mapped read-only and shared: two processes that map it share its pages. The bytes live as
// long as it does. The file must not be truncated while it is mapped.
class MappedFile {
 public:
  static Result<MappedFile> open(const std::filesystem::path& path);

  [[nodiscard]] std::span<const std::byte> bytes() const {
    return {data_.get(), data_ ? data_.get_deleter().size : 0};
  }

 private:
  struct Unmap {
    std::size_t size;
    void operator()(const std::byte* data) const;
  };
  std::unique_ptr<const std::byte[], Unmap> data_;
};

Result<std::string> read_file(const std::filesystem::path& path);

// In the names of temporary files, between the final name and six random characters. A process that
// was killed may leave one behind.
inline constexpr std::string_view kTemporaryMark = ".tmp-";

// A file that appears under its name only when finished: written to a temporary file beside it,
// synced, renamed to `path`, and the folder synced. If it is destroyed before finish(), nothing is
// left behind and `path` stays as it was. A symbolic link stays, and the file that it points to is
// replaced. What is not a regular file, such as a pipe or a device, and what is open as standard
// output or error are never replaced: the bytes are written there as they come.
class AtomicFile {
 public:
  static Result<AtomicFile> create(const std::filesystem::path& path);

  AtomicFile(AtomicFile&& other) noexcept = default;
  ~AtomicFile();

  Result<void> append(std::span<const std::byte> bytes);
  Result<void> append(std::string_view text);
  Result<void> finish();

 private:
  AtomicFile() = default;
  Result<void> flush();

  std::filesystem::path path_;       // of the file itself, not of a link to it
  std::filesystem::path temporary_;  // empty: none, the bytes go to path_ directly
  Descriptor descriptor_;
  std::vector<std::byte> buffer_;
};

// Where AtomicFile puts a file: `path`, or what it points to if it is a symbolic link.
std::filesystem::path written_path(const std::filesystem::path& path);

// Whether AtomicFile writes into what is at `path`, and replaces no file.
bool written_directly(const std::filesystem::path& path);

// Why AtomicFile can't write at `path`, as far as that can be told before.
Result<void> check_writable(const std::filesystem::path& path);

// Replaces the content of `path` with `text` as AtomicFile does.
Result<void> write_file(const std::filesystem::path& path, std::string_view text);

}  // namespace plackett
