// Documents as the kernels read them.
#pragma once

#include "base/kernels.h"
#include "plackett/feature_view.h"

namespace plackett {

// Padded rows are read with their zeros, which needs no tail; the sums are the same.
inline RowsView rows_of(const FeatureView& docs) {
  return {docs.data(), docs.doc_count(), docs.stride(), docs.readable_width()};
}

}  // namespace plackett
