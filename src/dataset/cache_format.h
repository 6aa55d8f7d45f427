// What the writer and the reader of caches agree on; docs/formats/cache.md is the specification.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "plackett/dataset.h"

namespace plackett::cache {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

inline constexpr std::string_view kMagic = "PLKCACHE";
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::uint64_t kPage = 4096;  // feature data starts at a multiple of it
inline constexpr std::uint64_t kChunkBytes = std::uint64_t{4} << 20;  // of features, a checksum
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

// The bytes of a split's rows, and a part of them.
std::span<const std::byte> data_of(const Split& split);
std::uint64_t chunk_count(std::uint64_t data_bytes);
std::span<const std::byte> chunk_of(std::span<const std::byte> data, std::uint64_t chunk);

// Why there can't be such a dataset, or nothing; looks at all but the features.
// Requires: labels and query_begin readable as far as query_begin's last says.
std::string dataset_complaint(const Dataset& dataset);

// Why the rows that start in a chunk can't be, or nothing: all features are finite, padding is 0.
std::string chunk_complaint(const Split& split, std::uint64_t chunk);

}  // namespace plackett::cache
