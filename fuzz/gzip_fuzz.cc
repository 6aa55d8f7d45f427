// gzip: any bytes unpack or fail, and what was packed unpacks to itself.
#include <libdeflate.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "base/gzip.h"

namespace {

constexpr std::size_t kMostBytes = 4096;  // unpack to at most 4 MB

void require(bool holds) {
  if (!holds) std::abort();
}

std::vector<std::byte> pack(std::string_view text) {
  const std::unique_ptr<libdeflate_compressor, void (*)(libdeflate_compressor*)> packer(
      libdeflate_alloc_compressor(1), libdeflate_free_compressor);
  std::vector<std::byte> packed(libdeflate_gzip_compress_bound(packer.get(), text.size()));
  packed.resize(libdeflate_gzip_compress(packer.get(), text.data(), text.size(), packed.data(),
                                         packed.size()));
  return packed;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > kMostBytes) return 0;
  const std::span input(reinterpret_cast<const std::byte*>(data), size);
  (void)plackett::unpack_gzip(input, "input");

  // As one member, then as two members followed by zeros.
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<std::byte> packed = pack(text);
  const auto once = plackett::unpack_gzip(packed, "input");
  require(once.ok() && *once == text);
  const std::vector<std::byte> member = packed;
  packed.insert(packed.end(), member.begin(), member.end());
  packed.resize(packed.size() + size % 9);
  const auto twice = plackett::unpack_gzip(packed, "input");
  require(twice.ok() && *twice == std::string(text) + std::string(text));
  return 0;
}
