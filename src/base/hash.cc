#include "base/hash.h"

#include <xxhash.h>

namespace plackett {

std::uint64_t checksum(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

}  // namespace plackett
