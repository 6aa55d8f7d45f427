// A learning-to-rank dataset in memory: folds of train, validation and test queries, each
// query a block of feature rows and their labels.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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
    std::uint32_t feature_count = 0;             // per row
    std::uint32_t query_count = 0;               // in all
    const float* rows = nullptr;                 // the first document's features
    const std::uint8_t* labels = nullptr;        // one per document
    const std::uint64_t* query_begin = nullptr;  // query_count + 1 of them
    std::shared_ptr<const void> owner = {};      // keeps all of these alive
    // Floats from the start of one row to the next. 0: rows are the engine's own, that is
    // padded_width(feature_count) floats each, 64-byte aligned, with zeros after the features.
    std::size_t foreign_stride = 0;
    const std::uint64_t* query_ids = nullptr;  // the source's, one per query; null: it has none
    // The source's ids of documents, one after another: document d's are the bytes from
    // doc_id_begin[d] to doc_id_begin[d + 1], of which there are doc_count + 1. Null: it has none.
    const std::uint64_t* doc_id_begin = nullptr;
    const char* doc_ids = nullptr;  // may be null if all ids are empty
  };

  Split() = default;
  // Over `storage`, unchecked: wrap_split checks.
  explicit Split(Storage storage) : storage_(std::move(storage)) {}

  // The memory it reads. Valid as long as the split.
  [[nodiscard]] const Storage& storage() const { return storage_; }

  // Queries in the split; 0 for one made by default.
  [[nodiscard]] std::uint32_t query_count() const { return storage_.query_count; }
  // Documents of all queries together.
  [[nodiscard]] std::uint64_t doc_count() const {
    return storage_.query_count == 0 ? 0 : storage_.query_begin[storage_.query_count];
  }
  // Features per document, the same for all.
  [[nodiscard]] std::uint32_t feature_count() const { return storage_.feature_count; }

  // Floats from the start of one row to the next.
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

  // A query's id in the source; absent if the source has none.
  [[nodiscard]] std::optional<std::uint64_t> query_id(Query query) const {
    if (storage_.query_ids == nullptr) return std::nullopt;
    return storage_.query_ids[index(query)];
  }
  // A document's id in the source, without blanks, borrowed as features are; empty if there is
  // none. Requires: doc is one of the query's.
  [[nodiscard]] std::string_view doc_id(Query query, Doc doc) const {
    if (storage_.doc_id_begin == nullptr) return {};
    const std::uint64_t* begin =
        storage_.doc_id_begin + storage_.query_begin[index(query)] + index(doc);
    return {storage_.doc_ids + begin[0], static_cast<std::size_t>(begin[1] - begin[0])};
  }

 private:
  [[nodiscard]] std::uint32_t docs_of(Query query) const {
    const std::uint64_t* begin = storage_.query_begin + index(query);
    return static_cast<std::uint32_t>(begin[1] - begin[0]);
  }

  Storage storage_;
};

// What becomes of values that a float can't hold, such as Istella's 1.797e308 for "missing".
enum class OutOfRange : std::uint8_t {
  kRefuse,   // loading fails
  kClamp,    // the largest float, or the smallest
  kMissing,  // 0, as if the document lacked the feature
};
// "refuse", "clamp" or "missing", as users write it; the error names all.
PLACKETT_EXPORT Result<OutOfRange> parse_out_of_range(std::string_view name);
// The name that parse_out_of_range reads. Static storage.
PLACKETT_EXPORT std::string_view name_of(OutOfRange treatment);

// What becomes of documents with label -1, which LETOR's semi-supervised data gives to those that
// nobody judged.
enum class Unlabelled : std::uint8_t {
  kRefuse,  // loading fails
  kSkip,    // they are left out, and queries that have no others
};
// "refuse" or "skip", as users write it; the error names both.
PLACKETT_EXPORT Result<Unlabelled> parse_unlabelled(std::string_view name);
// The name that parse_unlabelled reads. Static storage.
PLACKETT_EXPORT std::string_view name_of(Unlabelled treatment);

// One feature's values that a float can't hold.
struct OutOfRangeValues {
  std::uint32_t feature_id = 0;  // in the source
  std::uint64_t count = 0;       // in all files of the fold
  std::string first = {};        // where the first one is: "train.txt:812"
};

// What loading changed in a fold's files, as LoadOptions allowed.
struct LoadChanges {
  std::vector<OutOfRangeValues> out_of_range = {};  // by feature id
  std::uint64_t unlabelled_documents = 0;           // left out
  std::uint64_t unlabelled_queries = 0;             // left out, since they had no others
};

// One way to divide a dataset: what is learned from, and what it is tested on.
struct Fold {
  std::string name = {};                 // "Fold1"; the folder's name if the dataset has no folds
  Split train = {};                      // what simulated users search in
  std::optional<Split> validation = {};  // if the source has one; no run reads it
  Split test = {};                       // what offline performance is measured on
  // For each kept feature, in order, its id in the source file (from 1).
  std::vector<std::uint32_t> feature_ids = {};
  // The source's ids, ascending, that are constant over the raw training file (a missing value
  // counts as 0), whether they were kept or not.
  std::vector<std::uint32_t> constant_feature_ids = {};
  // How the rows were scaled; a saved model ranks only rows that were scaled the same way.
  Scaling scaling = Scaling::kNone;
  LoadChanges changes = {};  // nothing, unless LoadOptions allowed it
};

// Folds under one name. Copies share the memory of the splits. Safe to read from many threads.
struct PLACKETT_EXPORT Dataset {
  std::string name = {};                   // in tables and errors
  std::string origin = {};                 // what it was made from, for a person
  std::vector<Fold> folds = {};            // never empty
  std::uint32_t max_label = 0;             // in any of its splits
  std::uint32_t source_feature_count = 0;  // the largest feature id in any of its files

  // 2, 3 or 5 if the labels fit one of the usual scales, otherwise max_label + 1.
  [[nodiscard]] std::uint32_t grade_count() const;
};

// The largest feature id that a file may hold: docs/formats/letor.md.
inline constexpr std::uint32_t kLargestFeatureId = 999'999'999;

// How load_dataset loads.
struct LoadOptions {
  Scaling scaling = Scaling::kQueryMinMax;  // of the features
  bool drop_constant_features = true;       // those constant over the whole training file
  // If set, keeps exactly these source feature ids, in this order, instead of dropping the
  // constant ones; ids that the files lack count as 0 everywhere. For a saved model.
  std::optional<std::vector<std::uint32_t>> keep_feature_ids = std::nullopt;
  // Larger ids are refused as mistakes: rows are dense, so one would cost this many floats per
  // document.
  std::uint32_t max_feature_id = 20'000;
  OutOfRange out_of_range = OutOfRange::kRefuse;  // values that a float can't hold
  Unlabelled unlabelled = Unlabelled::kRefuse;    // documents with label -1
  unsigned threads = 1;                           // that parse; the result does not depend on it
  // Whether a cache's feature data is checked against its checksums, which reads all of it. The
  // index (sizes, labels, ids) is always checked.
  bool verify_cache = true;
};

// Loads `where`: "synthetic" or "synthetic:PRESET" (generated data), a cache file, or a folder of
// LETOR text as datasets are published (docs/formats/letor.md). On failure the message has the form
// "path:line: value; rule".
PLACKETT_EXPORT Result<Dataset> load_dataset(const std::string& where, const LoadOptions& options);

// What a split holds, in a few numbers.
struct SplitInfo {
  std::uint32_t queries = 0;                     // in all
  std::uint64_t documents = 0;                   // in all
  std::uint32_t min_docs = 0;                    // documents per query
  double median_docs = 0;                        // documents per query
  std::uint32_t max_docs = 0;                    // documents per query
  std::uint32_t queries_without_relevant = 0;    // whose labels are all 0
  std::vector<std::uint64_t> label_counts = {};  // of label 0, 1, ..., at least up to max_label
};

// Cost: one pass over the labels.
PLACKETT_EXPORT SplitInfo describe(const Split& split, std::uint32_t max_label);

}  // namespace plackett
