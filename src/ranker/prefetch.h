// Rows on their way into the caches before they are needed.
#pragma once

#include <cstddef>

#include "plackett/feature_view.h"

namespace plackett {

// Asks for one of `parts` equal parts of rows that will be read soon. A core has few places for
// memory on its way: asked for all at once it waits for it, asked in parts it works meanwhile.
// Requires: part < parts.
inline void prefetch(const FeatureView& docs, std::size_t part, std::size_t parts) {
  const std::size_t end = docs.doc_count() * (part + 1) / parts;
  for (std::size_t doc = docs.doc_count() * part / parts; doc < end; ++doc) {
    const float* row = docs.data() + doc * docs.stride();
    for (std::uint32_t at = 0; at < docs.readable_width(); at += kRowAlign) {
      __builtin_prefetch(row + at, 0, 2);
    }
  }
}

}  // namespace plackett
