// Files: whole reads, shared mappings, and atomic writes.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plackett/result.h"

namespace plackett {

// A file mapped read-only and shared: two processes that map it share its pages. Movable, not
// copyable; the bytes live as long as it does. The file must not be truncated while it is mapped.
class MappedFile {
 public:
  static Result<MappedFile> open(const std::filesystem::path& path);

  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

Result<std::string> read_file(const std::filesystem::path& path);

// In the names of temporary files, between the final name and six random characters. A process that
// was killed may leave one behind.
inline constexpr std::string_view kTemporaryMark = ".tmp-";

// A file that appears under its name only when finished: written to a temporary beside it,
// synced, renamed over `path`, and the folder synced. Destroyed before finish(), it leaves
// nothing behind, and `path` stays as it was.
class AtomicFile {
 public:
  static Result<AtomicFile> create(const std::filesystem::path& path);

  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  Result<void> append(std::span<const std::byte> bytes);
  Result<void> append(std::string_view text);
  // Overwrites bytes that were appended before, such as a header whose content is known last.
  Result<void> write_at(std::size_t offset, std::span<const std::byte> bytes);
  Result<void> finish();

 private:
  AtomicFile() = default;
  void discard();

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
  std::vector<std::byte> buffer_;

  Result<void> flush();
};

// Replaces the content of `path` by `text`, atomically.
Result<void> write_file(const std::filesystem::path& path, std::string_view text);

}  // namespace plackett
