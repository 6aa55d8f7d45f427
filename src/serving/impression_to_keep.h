// A ranking on its way to the store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace plackett::serving {

struct ImpressionToKeep {
  std::uint64_t number = 0;
  std::uint64_t version = 0;
  std::string given;  // the caller's own id; empty: none
  double entropy = 0;
  std::vector<std::byte> data;  // the impression, packed
};

}  // namespace plackett::serving
