// Data that is already in memory, used where it lies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "plackett/dataset.h"
#include "plackett/export.h"
#include "plackett/result.h"

namespace plackett {

// Queries as arrays: document d's features are rows[d * stride .. d * stride + feature_count), its
// label is labels[d], and query q's documents are [query_begin[q], query_begin[q + 1]).
struct SplitArrays {
  const float* rows = nullptr;                      // the first document's features
  std::size_t stride = 0;                           // floats from one row to the next
  std::uint32_t feature_count = 0;                  // of a document
  std::span<const std::uint8_t> labels = {};        // one per document, 0 to kMaxLabel
  std::span<const std::uint64_t> query_begin = {};  // one more than there are queries
  std::span<const std::uint64_t> query_ids = {};    // one per query; empty: they have none
  // Document d's id is doc_ids from byte doc_id_begin[d] to doc_id_begin[d + 1], without blanks.
  std::span<const std::uint64_t> doc_id_begin = {};  // one more than labels; empty: no ids
  std::string_view doc_ids = {};                     // one after another
  // Keeps the arrays alive as long as the split or a copy of it; null if the caller does.
  std::shared_ptr<const void> owner = {};
};

// A split over these arrays. Copies and writes nothing; reads everything once. Fails if a feature
// is not finite, a label is above kMaxLabel, a query has no document, a document's id has a blank
// in it, or the sizes don't match.
PLACKETT_EXPORT Result<Split> wrap_split(SplitArrays arrays);

// What a dataset of one fold is made of.
struct DatasetParts {
  std::string name = {};                           // in tables and errors
  Split train = {};                                // what simulated users search in
  Split test = {};                                 // what offline performance is measured on
  std::optional<Split> validation = std::nullopt;  // no run reads it
};

// A dataset of one fold. Features are numbered from 1; none is dropped or scaled (if you scaled
// them as load_dataset does, set Fold::scaling). Fails if the splits have different numbers of
// features.
PLACKETT_EXPORT Result<Dataset> wrap_dataset(DatasetParts parts);

}  // namespace plackett
