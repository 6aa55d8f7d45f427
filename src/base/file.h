// Files: whole reads, shared mappings, and writes that are all there or not at all.
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

// A file mapped read-only and shared: two processes that map it share its pages. Moves, never
// copies; the bytes live as long as it does. The file must not be cut while it is mapped.
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

// In the names of temporaries, between the name of the file to be and six characters of chance: a
// process that was killed may leave one behind.
inline constexpr std::string_view kTemporaryMark = ".tmp-";

// A file that appears under its name only when finished: written to a temporary beside it,
// synced, renamed over `path`, and the folder synced. Destroyed before finish(), it leaves
// nothing behind, and what stood at `path` stays.
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
  // Overwrites bytes that were appended before (a header whose content is known at the end).
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

// Writes `text` as the whole of `path`, all or nothing.
Result<void> write_file(const std::filesystem::path& path, std::string_view text);

}  // namespace plackett
