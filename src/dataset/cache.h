// A whole dataset in one binary file, scaled and selected, that is mapped and used in place:
// what text takes seconds to parse opens in milliseconds, and processes that open the same file
// share its pages. The format is specified in docs/formats/cache.md.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "plackett/dataset.h"
#include "plackett/result.h"

namespace plackett {

// Whether `path` is a regular file that starts as a cache does. Reads 8 bytes.
bool is_cache(const std::filesystem::path& path);

// Writes `dataset`, which load_dataset gave for `loaded_with`; of the options, scaling and which
// features were kept are recorded. All or nothing: on failure what stood at `path` stays.
// Costs 4 bytes a padded feature, and a label and at most 8 bytes a document.
Result<void> write_cache(const Dataset& dataset, const LoadOptions& loaded_with,
                         const std::filesystem::path& path);

struct CachedDataset {
  Dataset dataset;
  // What the cache recorded: scaling, drop_constant_features and keep_feature_ids. The rest
  // stands at its default.
  LoadOptions loaded_with;
};

struct CacheOptions {
  bool verify_features = true;  // reads all of the file; off, opening costs a read of the index
  unsigned threads = 1;         // that verify the features
};

// The dataset's splits point into the mapped file and keep it mapped. The file may be renamed,
// removed or replaced meanwhile, but not cut.
Result<CachedDataset> open_cache(const std::filesystem::path& path, const CacheOptions& options);

// Opens a cache for someone who asked for a dataset with these options. Fails where it was
// written with others.
Result<Dataset> load_cache(const std::filesystem::path& path, const LoadOptions& asked);

// `check` off skips the comparison of checksums, so that a fuzzer gets past them; everything
// else is checked all the same. `name` stands first in the errors.
struct ParseCacheOptions {
  std::string name = "cache";
  bool check = true;
  CacheOptions cache = {};
  std::shared_ptr<const void> owner = nullptr;  // of the bytes; the splits keep it alive
};

// Requires: bytes at a 64-byte boundary, and alive as long as the splits.
Result<CachedDataset> parse_cache(std::span<const std::byte> bytes,
                                  const ParseCacheOptions& options);

}  // namespace plackett
