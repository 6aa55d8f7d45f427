// A learning-to-rank dataset in memory: folds of train, validation and test queries, each
// query a block of feature rows and as many labels.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plackett/export.h"
#include "plackett/feature_view.h"
#include "plackett/index.h"
#include "plackett/judgments.h"
#include "plackett/result.h"
#include "plackett/scaling.h"

namespace plackett {

// One file's queries. Immutable; copies share the memory, which may be a mapped cache. Safe to
// read from any number of threads.
class Split {
 public:
  // The memory behind a split: heap, mapping, or someone else's. Rows of all documents lie one
  // after another; query q's documents are [query_begin[q], query_begin[q + 1]).
  struct Storage {
    std::uint32_t feature_count = 0;             // a row
    std::uint32_t query_count = 0;               // in all
    const float* rows = nullptr;                 // the first document's features
    const std::uint8_t* labels = nullptr;        // a document
    const std::uint64_t* query_begin = nullptr;  // query_count + 1 of them
    std::shared_ptr<const void> owner = {};      // keeps all of the above alive
    // How many floats after one row the next begins. 0: rows are the engine's own, that is
    // padded_width(feature_count) floats each, 64-byte aligned, with zeros after the features.
    std::size_t foreign_stride = 0;
  };

  Split() = default;
  // Over what `storage` says, unchecked: wrap_split checks.
  explicit Split(Storage storage) : storage_(std::move(storage)) {}

  // The memory it reads. Valid as long as the split.
  [[nodiscard]] const Storage& storage() const { return storage_; }

  // Queries in the split; 0 for one made by default.
  [[nodiscard]] std::uint32_t query_count() const { return storage_.query_count; }
  // Documents of all queries together.
  [[nodiscard]] std::uint64_t doc_count() const {
    return storage_.query_count == 0 ? 0 : storage_.query_begin[storage_.query_count];
  }
  // Features a document, the same for all.
  [[nodiscard]] std::uint32_t feature_count() const { return storage_.feature_count; }

  // Floats from one document's features to the next one's.
  [[nodiscard]] std::size_t row_stride() const {
    return storage_.foreign_stride == 0 ? padded_width(storage_.feature_count)
                                        : storage_.foreign_stride;
  }

  // One query's candidates, borrowed: valid as long as the split or a copy of it. O(1).
  // Requires: query < query_count().
  [[nodiscard]] FeatureView features(Query query) const {
    const std::uint64_t begin = storage_.query_begin[index(query)];
    const float* rows = storage_.rows + begin * row_stride();
    return storage_.foreign_stride == 0
               ? FeatureView(rows, docs_of(query), storage_.feature_count)
               : FeatureView::of(rows, docs_of(query), storage_.feature_count, row_stride());
  }
  // Their labels, likewise.
  [[nodiscard]] Judgments judgments(Query query) const {
    return Judgments({storage_.labels + storage_.query_begin[index(query)], docs_of(query)});
  }

 private:
  [[nodiscard]] std::uint32_t docs_of(Query query) const {
    const std::uint64_t* begin = storage_.query_begin + index(query);
    return static_cast<std::uint32_t>(begin[1] - begin[0]);
  }

  Storage storage_;
};

// One way of dividing a dataset: what is learned from, and what it is tested on.
struct Fold {
  std::string name = {};  // "Fold1"; the folder's name where the dataset is a single folder
  Split train = {};       // what simulated users search in
  std::optional<Split> validation = {};  // where the source has one; no run reads it
  Split test = {};                       // what offline performance is measured on
  // For each kept feature, in order, its id in the source file (from 1).
  std::vector<std::uint32_t> feature_ids = {};
  // The source's ids, ascending, that are constant over the raw training file (absent counts
  // as 0), whether they were kept or not.
  std::vector<std::uint32_t> constant_feature_ids = {};
  // How the rows came to be what they are, for a saved model: it ranks none but rows made so.
  Scaling scaling = Scaling::kNone;
};

// Folds under one name. Copies share the memory of the splits. Safe to read from many threads.
struct PLACKETT_EXPORT Dataset {
  std::string name = {};         // in tables and errors
  std::string origin = {};       // what it was made from, for a person; says so where it is made up
  std::vector<Fold> folds = {};  // never empty
  std::uint32_t max_label = 0;   // in any of its splits
  std::uint32_t source_feature_count = 0;  // the largest feature id in any of its files

  // 2, 3 or 5 where the labels fit one of the usual scales, else max_label + 1.
  [[nodiscard]] std::uint32_t grade_count() const;
};

// The largest feature id that a file may hold, of nine digits: docs/formats/letor.md.
inline constexpr std::uint32_t kLargestFeatureId = 999'999'999;

// How load_dataset loads.
struct LoadOptions {
  Scaling scaling = Scaling::kQueryMinMax;  // of the features
  bool drop_constant_features = true;       // those constant over the whole training file
  // Where given, keeps exactly these source feature ids, in this order, instead of dropping
  // the constant ones; ids that the files lack count as 0 everywhere. For a saved model.
  std::optional<std::vector<std::uint32_t>> keep_feature_ids = std::nullopt;
  // A larger id is taken for a mistake: rows are dense, so it would cost this many floats a
  // document.
  std::uint32_t max_feature_id = 20'000;
  unsigned threads = 1;  // that parse; the result does not depend on it
  // Whether a cache's feature data is checked against its checksums, which reads all of it. Its
  // index (sizes, labels, ids) always is.
  bool verify_cache = true;
};

// Loads `where`: the name "synthetic" or "synthetic:PRESET" (the embedded data), a cache file,
// a folder with Fold*/ in it, or a folder that itself holds train and test. On failure the
// message has the form "path:line: what; rule".
PLACKETT_EXPORT Result<Dataset> load_dataset(const std::string& where, const LoadOptions& options);

}  // namespace plackett
