// The service's store in one SQLite file: docs/formats/store.md, docs/decisions/0006-store.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "plackett/result.h"
#include "serving/store.h"

namespace plackett::store {

struct SqliteOptions {
  std::filesystem::path path{};
  std::string vfs{};  // a registered VFS, for tests; empty: the system's
  // A write-ahead log of this many pages is checkpointed. Small, so that no checkpoint takes long.
  int checkpoint_pages = 1000;
};

// Opens the store, or creates it if there is no file. Fails if the file is not a plackett store, or
// if another process serves it.
Result<std::unique_ptr<serving::Store>> open_sqlite(const SqliteOptions& options);

// Reads a store, while another process may be serving it. Fails if there is none.
Result<std::unique_ptr<serving::StoreReader>> read_sqlite(const std::filesystem::path& path,
                                                          const std::string& vfs = "");

}  // namespace plackett::store
