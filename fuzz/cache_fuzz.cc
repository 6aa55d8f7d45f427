// Caches with any checksums: what is accepted can be read to its last byte, and what was
// verified holds what a dataset promises.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "base/aligned.h"
#include "dataset/build_fold.h"
#include "dataset/cache_format.h"

namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20;

void require(bool holds) {
  if (!holds) std::abort();
}

// Reads every label, every id and every float of every row, padding included.
void read_all(const plackett::Split& split, std::uint32_t max_label, bool verified) {
  require(split.query_count() > 0);
  std::uint64_t docs = 0;
  std::uint32_t sum = 0;
  for (std::uint32_t query = 0; query < split.query_count(); ++query) {
    const auto features = split.features(plackett::Query{query});
    const auto judgments = split.judgments(plackett::Query{query});
    require(features.doc_count() > 0 && features.doc_count() == judgments.doc_count());
    docs += features.doc_count();
    sum += static_cast<std::uint32_t>(split.query_id(plackett::Query{query}).value_or(0));
    for (std::uint32_t doc = 0; doc < features.doc_count(); ++doc) {
      require(judgments.label(plackett::Doc{doc}) <= max_label);
      const std::string_view id = split.doc_id(plackett::Query{query}, plackett::Doc{doc});
      require(std::all_of(id.begin(), id.end(), plackett::is_doc_id_byte));
      const auto row = features.row(plackett::Doc{doc});
      for (std::uint32_t column = 0; column < row.size(); ++column) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, &row[column], sizeof bits);
        sum += bits;
        if (!verified) continue;
        require(column < features.feature_count() ? std::isfinite(row[column]) : bits == 0);
      }
    }
  }
  require(docs == split.doc_count());
  volatile std::uint32_t seen = sum;
  (void)seen;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > kMostBytes) return 0;
  // Exactly as large as the input, so that a sanitizer sees a read past its end.
  plackett::AlignedVector<std::byte> bytes(size);
  if (size > 0) std::memcpy(bytes.data(), data, size);
  for (const bool verify : {false, true}) {
    plackett::ParseCacheOptions options;
    options.check = false;
    options.cache.verify_features = verify;
    const auto cached = plackett::parse_cache(bytes, options);
    if (!cached) {
      require(!cached.error().message.empty());
      return 0;
    }
    require(!cached->dataset.folds.empty());
    for (const plackett::Fold& fold : cached->dataset.folds) {
      require(fold.feature_ids.size() == fold.train.feature_count());
      read_all(fold.train, cached->dataset.max_label, verify);
      read_all(fold.test, cached->dataset.max_label, verify);
      if (fold.validation) read_all(*fold.validation, cached->dataset.max_label, verify);
    }
  }
  return 0;
}
