// A whole dataset in one binary file that is mapped and used in place. The format is specified
// in docs/formats/cache.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "dataset/dataset.h"

namespace plackett {

// An opened cache: the dataset, its rows still in the file, and how they were made.
struct Cache {
  Dataset dataset;
  Scaling scaling = Scaling::kQueryMinMax;
  bool drop_constant_features = true;
  bool kept_given_ids = false;  // LoadOptions::keep_feature_ids was given

  // A split's rows in the file, for verify_rows.
  struct Rows {
    std::string what;  // "Fold1 train"
    std::span<const std::byte> bytes;
    std::size_t file_offset = 0;
    const std::uint64_t* checksums = nullptr;  // one for each started chunk of bytes
  };
  std::vector<Rows> rows;
};

// Writes `dataset`, which `options` gave, as one file: all there or not at all.
Result<void> write_cache(const Dataset& dataset, const LoadOptions& options,
                         const std::filesystem::path& path);

// Maps a cache and checks its index (all but the feature data). Cost: 1 byte a document and 8 a
// query are read; feature data is not touched.
Result<Cache> open_cache(const std::filesystem::path& path);

// Checks the feature data against its checksums; reads all of it.
Result<void> verify_rows(const Cache& cache, const std::filesystem::path& path, unsigned threads);

// Whether the cache was made as `options` asks, so that it can stand in for the source.
Result<void> check_made_as(const Cache& cache, const LoadOptions& options,
                           const std::filesystem::path& path);

// What open_cache does, on bytes in memory. Whatever they are, no read goes outside of them.
// Requires: bytes.data() at a 64-byte boundary; `owner` keeps them alive.
struct CacheBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
  std::string path;               // named in errors
  bool compare_checksums = true;  // off only for fuzzing: nothing else would be reached
};
Result<Cache> parse_cache(const CacheBytes& source);

}  // namespace plackett
