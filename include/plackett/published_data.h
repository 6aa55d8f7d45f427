// What is published of the usual learning-to-rank datasets: how much they hold, and the checksums
// of their files. Only what a named source says is here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plackett/dataset.h"
#include "plackett/export.h"
#include "plackett/result.h"

namespace plackett {

// What a file holds; 0: not published.
struct PublishedSplit {
  std::uint32_t queries = 0;    // in all
  std::uint64_t documents = 0;  // in all
};

// The files of a fold.
struct PublishedFold {
  PublishedSplit train = {};       // what is learned from
  PublishedSplit validation = {};  // nothing if the dataset has none
  PublishedSplit test = {};        // what is tested on
};

// A file of the dataset.
struct PublishedFile {
  std::string_view path = {};    // in the folder: "Fold1/train.txt"; or the archive's name
  std::string_view sha256 = {};  // 64 digits
  std::uint64_t bytes = 0;       // 0: not published
};

// One dataset. Static storage throughout.
struct PublishedData {
  std::string_view name = {};                   // "MSLR-WEB10K"
  std::string_view counts_source = {};          // who says what is below
  std::uint32_t fold_count = 1;                 // 5, or 1 without folds
  bool has_validation = true;                   // in each fold
  std::uint32_t features = 0;                   // the largest feature id in its files
  std::optional<std::uint32_t> max_label = {};  // absent: not published
  std::uint32_t queries = 0;                    // each counted once; 0: not published
  std::uint64_t documents = 0;                  // likewise
  std::span<const PublishedFold> folds = {};    // none, or all in order
  std::string_view checksums_source = {};       // empty: no list of checksums is published
  PublishedFile archive = {};                   // as it is downloaded
  std::span<const PublishedFile> files = {};    // of the unpacked archive
};

// All that are known.
PLACKETT_EXPORT std::span<const PublishedData> published_data();

// The one of that name, upper or lower case; the error lists the known ones.
PLACKETT_EXPORT Result<const PublishedData*> find_published(std::string_view name);

// One fact, as it is published and as it is.
struct PublishedFact {
  std::string what = {};        // "Fold1 train queries"
  std::uint64_t published = 0;  // what the source says
  std::uint64_t found = 0;      // what the dataset holds
};

// Every number that is published of the dataset, beside that of `dataset`. Cost: none of the data
// is read.
PLACKETT_EXPORT std::vector<PublishedFact> compare_with(const PublishedData& published,
                                                        const Dataset& dataset);

// The name of the dataset whose published numbers are all those of `dataset`, whatever `dataset` is
// called; nothing if there is none.
PLACKETT_EXPORT std::optional<std::string_view> recognise(const Dataset& dataset);

}  // namespace plackett
