// Raw documents -> a fold: features chosen by the training file, values scaled.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dataset/raw_split.h"
#include "plackett/dataset.h"
#include "plackett/result.h"

namespace plackett {

struct RawFold {
  std::string name;
  std::string place;  // named in errors: the training file
  const RawSplit* train = nullptr;
  const RawSplit* validation = nullptr;  // null: there is none
  const RawSplit* test = nullptr;
};

// `source_feature_count` is the largest id of the dataset, as far as it is known; it matters
// only where constant features stay. constant_feature_ids is filled up to the larger of it and
// the training file's own largest id.
Result<Fold> build_fold(const RawFold& raw, const LoadOptions& options,
                        std::uint32_t source_feature_count);

}  // namespace plackett
