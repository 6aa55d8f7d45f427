// The cache format, as specified in docs/formats/cache.md.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plackett/cache.h"
#include "plackett/dataset.h"

namespace plackett {

// Opens a cache for load_dataset. Fails if it was written with other options.
Result<Dataset> load_cache(const std::filesystem::path& path, const LoadOptions& asked);

struct ParseCacheOptions {
  std::string name = "cache";  // comes first in errors
  bool check = true;           // off: checksums are not compared, for fuzzing
  CacheOptions cache = {};
  std::shared_ptr<const void> owner = nullptr;  // of the bytes; the splits keep it alive
};

// Requires: bytes at a 64-byte boundary, and alive as long as the splits.
Result<CachedDataset> parse_cache(std::span<const std::byte> bytes,
                                  const ParseCacheOptions& options);

}  // namespace plackett

namespace plackett::cache {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

inline constexpr std::string_view kMagic = "PLKCACHE";
inline constexpr std::uint32_t kVersion = 2;
inline constexpr std::uint32_t kVersionWithoutIds = 1;  // is read, too
inline constexpr std::uint64_t kPage = 4096;            // feature data starts at a multiple of it
inline constexpr std::uint64_t kChunkBytes = std::uint64_t{4} << 20;  // of features, per checksum
inline constexpr std::uint32_t kMostFeatures = 1U << 24;

struct Header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t zero;
  std::uint64_t checksum;  // of everything from index_bytes up to the feature data
  std::uint64_t index_bytes;
  std::uint64_t data_bytes;
  std::uint64_t zeros[3];
};
static_assert(sizeof(Header) == 64);
inline constexpr std::size_t kChecksummedFrom = offsetof(Header, index_bytes);

// How the features of a fold were chosen.
enum class Selection : std::uint32_t { kVarying = 0, kAll = 1, kGiven = 2 };

// The index starts with these; name, origin and the folds follow.
struct DatasetFields {
  std::uint32_t scaling, selection, max_label, source_feature_count, fold_count, zero;
};

// Follows them from version 2 on.
struct LoadFields {
  std::uint32_t out_of_range, unlabelled;
};

// What was changed when a fold was loaded, from version 2 on, after its constant feature ids. Then
// each feature that had values out of range: its id, how many, and where the first was.
struct ChangeFields {
  std::uint64_t unlabelled_documents, unlabelled_queries, feature_count;
};

// Which ids a split has, from version 2 on, after its labels.
struct IdFields {
  std::uint32_t has_query_ids, has_doc_ids;
};

// Of each fold, between its name and its feature ids.
struct FoldFields {
  std::uint32_t feature_count, constant_count, has_validation, zero;
};

constexpr std::uint64_t round_up(std::uint64_t size, std::uint64_t multiple) {
  return (size + multiple - 1) / multiple * multiple;
}

// Requires: index_bytes at most the size of a file.
constexpr std::uint64_t data_offset(std::uint64_t index_bytes) {
  return round_up(sizeof(Header) + index_bytes, kPage);
}

constexpr std::uint64_t row_bytes(std::uint32_t feature_count) {
  return std::uint64_t{padded_width(feature_count)} * sizeof(float);
}

constexpr std::uint64_t chunk_count(std::uint64_t data_bytes) {
  return data_bytes / kChunkBytes + (data_bytes % kChunkBytes != 0 ? 1 : 0);
}

// The bytes of a split's rows.
std::span<const std::byte> data_of(const Split& split);

// A split's documents' ids, all together. Requires: there are some.
std::string_view doc_ids_of(const Split& split);

// Why a dataset is invalid, or an empty string. Does not look at the features.
// Requires: labels, query_begin and ids readable as far as the last elements of query_begin and
// doc_id_begin say.
std::string dataset_complaint(const Dataset& dataset);

// The checksums of the chunks of a split's rows. Fails at the first chunk whose checksum is not the
// expected one, unless `expected` is empty, or which has an invalid row: features are finite,
// padding is 0.
Result<std::vector<std::uint64_t>> chunk_checksums(const Split& split,
                                                   std::span<const std::uint64_t> expected,
                                                   unsigned threads);

}  // namespace plackett::cache
