#pragma once

#include <libdeflate.h>

#include <memory>
#include <string>
#include <string_view>

namespace plackett::testing {

// One gzip member.
inline std::string pack_gzip(std::string_view text) {
  const std::unique_ptr<libdeflate_compressor, void (*)(libdeflate_compressor*)> packer(
      libdeflate_alloc_compressor(6), libdeflate_free_compressor);
  std::string packed(libdeflate_gzip_compress_bound(packer.get(), text.size()), '\0');
  packed.resize(libdeflate_gzip_compress(packer.get(), text.data(), text.size(), packed.data(),
                                         packed.size()));
  return packed;
}

}  // namespace plackett::testing
