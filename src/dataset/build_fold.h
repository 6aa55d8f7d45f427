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
  const RawSplit* validation = nullptr;  // null: none
  const RawSplit* test = nullptr;
};

// `source_feature_count` is the largest id of the dataset, as far as it is known; it matters only
// if constant features are kept. constant_feature_ids goes up to the larger of it and the files'
// own largest id.
Result<Fold> build_fold(const RawFold& raw, const LoadOptions& options,
                        std::uint32_t source_feature_count);

// Requires: the split has documents.
std::uint32_t largest_label(const Split& split);

}  // namespace plackett
