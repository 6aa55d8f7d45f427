// A copy of a store that is being served.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "plackett/result.h"

namespace plackett::store {

struct BackupOptions {
  std::filesystem::path from{};
  std::filesystem::path to{};
  bool replace = false;  // an existing file at `to`
  // Polled often, from the calling thread; true ends the work with ErrorCode::kStopped.
  std::function<bool()> stop_requested{};
};

struct Backup {
  std::uint64_t bytes = 0;
  std::uint64_t models = 0;
  std::uint64_t impressions = 0;
};

// Writes the store as it is at one moment to a new file: compact, without anything that was
// deleted, rows of deleted models included. Its models leave out so many numbers that lists which
// the store shows later keep theirs, should the copy take its place. The file appears under its
// name only when it is complete and synced; a process that is killed leaves at most a file whose
// name holds kTemporaryMark. The server goes on meanwhile; its write-ahead log grows until the copy
// is made. Fails if `to` exists and is not to be replaced, is the store itself under any name, is
// being served, or has the files of another store's journal beside it.
Result<Backup> back_up_sqlite(const BackupOptions& options);

}  // namespace plackett::store
