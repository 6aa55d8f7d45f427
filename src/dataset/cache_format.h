// The cache's layout; the words are in docs/formats/cache.md.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace plackett::cache_format {

static_assert(std::endian::native == std::endian::little,
              "the cache is used in place and little-endian");

inline constexpr std::array<char, 8> kMagic = {'P', 'L', 'K', 'C', 'A', 'C', 'H', 'E'};
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::size_t kChunkBytes = std::size_t{4} << 20;
inline constexpr std::size_t kDataAlign = 4096;
inline constexpr std::size_t kArrayAlign = 8;
inline constexpr std::uint32_t kLongestName = 4096;

struct Header {
  std::array<char, 8> magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint32_t reserved = 0;
  std::uint64_t index_checksum = 0;  // of the bytes from kChecksumFrom to data_begin
  std::uint64_t file_bytes = 0;
  std::uint64_t data_begin = 0;  // feature rows, a multiple of kDataAlign
  std::uint32_t fold_count = 0;
  std::uint32_t max_label = 0;
  std::uint32_t source_feature_count = 0;
  std::uint8_t scaling = 0;
  std::uint8_t drop_constant_features = 0;
  std::uint8_t kept_given_ids = 0;
  std::uint8_t reserved_byte = 0;
};
static_assert(sizeof(Header) == 56 && offsetof(Header, index_checksum) == 16 &&
              offsetof(Header, data_begin) == 32 && offsetof(Header, scaling) == 52);
inline constexpr std::size_t kChecksumFrom = offsetof(Header, file_bytes);

constexpr std::size_t aligned(std::size_t bytes, std::size_t to) {
  return (bytes + to - 1) / to * to;
}
constexpr std::size_t chunk_count(std::size_t bytes) {
  return (bytes + kChunkBytes - 1) / kChunkBytes;
}

}  // namespace plackett::cache_format
