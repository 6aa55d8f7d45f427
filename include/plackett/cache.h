// A dataset as one file that is mapped into memory: it opens in milliseconds, and processes that
// open the same file share its pages. The format is specified in docs/formats/cache.md.
#pragma once

#include <filesystem>

#include "plackett/dataset.h"
#include "plackett/export.h"
#include "plackett/result.h"

namespace plackett {

// Whether `path` is a regular file that starts as a cache does. Reads 8 bytes.
PLACKETT_EXPORT bool is_cache(const std::filesystem::path& path);

// Writes `dataset`, which load_dataset returned for `loaded_with`; records the scaling and which
// features were kept. On failure `path` stays as it was. Costs 4 bytes per padded feature, a label
// and at most 16 bytes per document, and 8 bytes per document and its id where documents have ids.
PLACKETT_EXPORT Result<void> write_cache(const Dataset& dataset, const LoadOptions& loaded_with,
                                         const std::filesystem::path& path);

// What a cache holds.
struct CachedDataset {
  Dataset dataset = {};  // its splits point into the mapped file and keep it mapped
  // scaling, drop_constant_features, keep_feature_ids, out_of_range and unlabelled, as recorded
  LoadOptions loaded_with = {};
};

// How open_cache opens.
struct CacheOptions {
  bool verify_features = true;  // reads the whole file; without, only the index
  unsigned threads = 1;         // that verify
};

// The file may be renamed, removed or replaced meanwhile, but not truncated.
PLACKETT_EXPORT Result<CachedDataset> open_cache(const std::filesystem::path& path,
                                                 const CacheOptions& options);

}  // namespace plackett
