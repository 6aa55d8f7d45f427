// Scaling of feature values.
#pragma once

#include <cstdint>
#include <string_view>

#include "plackett/export.h"
#include "plackett/result.h"

namespace plackett {

// The ways to scale.
enum class Scaling : std::uint8_t {
  kQueryMinMax,  // scale_query_minmax on each query's documents
  kNone,         // values as they are
};

// "query-minmax" or "none", as users and model files write it; the error names both.
PLACKETT_EXPORT Result<Scaling> parse_scaling(std::string_view name);
// The name that parse_scaling reads. Static storage.
PLACKETT_EXPORT std::string_view name_of(Scaling scaling);

// Scales each of the first `feature_count` columns of `doc_count` rows to (x - min) / (max - min)
// over these rows, so to [0, 1]; a constant column becomes 0. Right for any finite values, even if
// max - min overflows a float. Padding stays as it is. No allocation.
PLACKETT_EXPORT void scale_query_minmax(float* rows, std::uint32_t doc_count,
                                        std::uint32_t feature_count, std::uint32_t stride);

}  // namespace plackett
