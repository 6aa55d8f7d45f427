#include "base/gzip.h"

#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>
#include <memory>

namespace plackett {
namespace {

// Deflate compresses at most 1032 bytes into one.
constexpr std::size_t kMostUnpacked = 1032;
constexpr std::size_t kSmallestMember = 18;

}  // namespace

Result<std::string> unpack_gzip(std::span<const std::byte> packed, const std::string& path) {
  const std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> unpacker(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  if (!unpacker) return Error{ErrorCode::kUnavailable, fmt::format("{}: out of memory", path)};

  std::string text;
  std::size_t used = 0;     // of packed
  std::size_t written = 0;  // of text
  text.resize(std::max<std::size_t>(packed.size() * 8, 4096));
  while (used < packed.size() || used == 0) {
    const auto rest = packed.subspan(used);
    const bool padding =
        std::all_of(rest.begin(), rest.end(), [](std::byte byte) { return byte == std::byte{0}; });
    if (used > 0 && padding) break;
    std::size_t took = 0;
    std::size_t gave = 0;
    const libdeflate_result result =
        libdeflate_gzip_decompress_ex(unpacker.get(), rest.data(), rest.size(),
                                      text.data() + written, text.size() - written, &took, &gave);
    const bool may_grow = text.size() - written <= rest.size() * kMostUnpacked;
    if (result == LIBDEFLATE_INSUFFICIENT_SPACE && may_grow) {
      text.resize(text.size() * 2);
      continue;
    }
    if (result != LIBDEFLATE_SUCCESS || took < kSmallestMember) {
      return Error{fmt::format(
          "{}: truncated or corrupt gzip data; the member at byte {} of {} does not unpack", path,
          used, packed.size())};
    }
    used += took;
    written += gave;
  }
  text.resize(written);
  return text;
}

}  // namespace plackett
