#include <fmt/format.h>

#include <array>
#include <cassert>
#include <cstring>
#include <fstream>
#include <limits>
#include <vector>

#include "base/aligned.h"
#include "base/file.h"
#include "base/hash.h"
#include "dataset/cache_format.h"
#include "plackett/cache.h"
#include "plackett/scaling.h"

namespace plackett {
namespace {

using cache::Header;
using cache::Selection;

// Of an index or of features; the sum of two can't overflow.
constexpr std::uint64_t kMostBytes = std::numeric_limits<std::uint64_t>::max() / 4;

// Returns the fields of the index one after another, arrays in place. After the first failure
// arrays are empty and values 0.
class IndexReader {
 public:
  explicit IndexReader(std::span<const std::byte> bytes = {}) : bytes_(bytes) {}

  template <typename T>
  std::span<const T> array(std::uint64_t count) {
    if (count > bytes_.size() / sizeof(T) ||
        cache::round_up(count * sizeof(T), 8) > bytes_.size()) {
      fail("its parts don't fill it exactly");
    }
    if (failed()) return {};
    const std::span values(reinterpret_cast<const T*>(bytes_.data()), count);
    bytes_ = bytes_.subspan(cache::round_up(count * sizeof(T), 8));
    return values;
  }
  template <typename T>
  T value() {
    const auto found = array<T>(1);
    return found.empty() ? T{} : found.front();
  }
  template <typename Values>  // a string or a vector
  Values copy(std::uint64_t count) {
    const auto found = array<typename Values::value_type>(count);
    return {found.begin(), found.end()};
  }
  std::string text() { return copy<std::string>(value<std::uint64_t>()); }

  // Keeps the first reason; an empty one is none.
  void fail(std::string reason) {
    if (!failed()) reason_ = std::move(reason);
  }
  [[nodiscard]] bool failed() const { return !reason_.empty(); }
  [[nodiscard]] const std::string& reason() const { return reason_; }
  [[nodiscard]] bool at_end() const { return bytes_.empty(); }

 private:
  std::span<const std::byte> bytes_;
  std::string reason_;
};

class CacheParser {
 public:
  CacheParser(std::span<const std::byte> bytes, const ParseCacheOptions& options)
      : bytes_(bytes), options_(options) {}

  Result<CachedDataset> parse() {
    const auto header = read_header();
    if (!header) return header.error();
    version_ = header->version;
    data_ = bytes_.subspan(cache::data_offset(header->index_bytes));
    index_ = IndexReader(bytes_.subspan(sizeof(Header), header->index_bytes));
    CachedDataset cached = read_dataset();
    if (!index_.at_end() || !data_.empty()) index_.fail("its parts don't fill it exactly");
    if (!index_.failed()) index_.fail(cache::dataset_complaint(cached.dataset));
    if (index_.failed()) return wrong(index_.reason());
    if (!options_.cache.verify_features) return cached;
    for (const auto& [split, place, sums] : splits_) {
      const auto expected = options_.check ? sums : std::span<const std::uint64_t>();
      const auto verified = cache::chunk_checksums(split, expected, options_.cache.threads);
      if (!verified) return verified.error().in(place).in(options_.name);
    }
    return cached;
  }

 private:
  [[nodiscard]] Error wrong(std::string what) const {
    return Error{std::move(what)}.in(options_.name);
  }

  // Checks sizes and checksum.
  Result<Header> read_header() {
    if (bytes_.empty()) return wrong("empty file; a plackett cache starts with PLKCACHE");
    if (bytes_.size() < cache::kMagic.size() ||
        std::memcmp(bytes_.data(), cache::kMagic.data(), cache::kMagic.size()) != 0) {
      return wrong("not a plackett cache; one starts with PLKCACHE");
    }
    if (bytes_.size() < sizeof(Header)) {
      return wrong(fmt::format("{} bytes; a cache's header alone has {}: the file was truncated",
                               bytes_.size(), sizeof(Header)));
    }
    Header header;
    std::memcpy(&header, bytes_.data(), sizeof header);
    if (header.version != cache::kVersion && header.version != cache::kVersionWithoutIds) {
      return wrong(fmt::format("cache format version {}; this plackett reads versions {} and {}",
                               header.version, cache::kVersionWithoutIds, cache::kVersion));
    }
    if (header.zero != 0) return wrong("reserved bytes are not 0: the file is damaged");
    if (header.index_bytes > kMostBytes || header.data_bytes > kMostBytes) {
      return wrong("its header announces more than a file can hold: the file is damaged");
    }
    const std::uint64_t announced = cache::data_offset(header.index_bytes) + header.data_bytes;
    if (bytes_.size() != announced) {
      return wrong(
          fmt::format("{} bytes; its header announces {}: the file was truncated or extended",
                      bytes_.size(), announced));
    }
    const auto checked =
        bytes_.first(cache::data_offset(header.index_bytes)).subspan(cache::kChecksummedFrom);
    if (options_.check && checksum(checked) != header.checksum) {
      return wrong("checksum of the index does not match: the file is damaged");
    }
    return header;
  }

  CachedDataset read_dataset() {
    CachedDataset cached;
    Dataset& dataset = cached.dataset;
    const auto fields = index_.value<cache::DatasetFields>();
    if (fields.scaling > static_cast<std::uint32_t>(Scaling::kNone)) {
      index_.fail(fmt::format("scaling {}; known are 0 and 1", fields.scaling));
    }
    if (fields.selection > static_cast<std::uint32_t>(Selection::kGiven)) {
      index_.fail(fmt::format("selection {}; known are 0 to 2", fields.selection));
    }
    cached.loaded_with.scaling = Scaling{static_cast<std::uint8_t>(fields.scaling)};
    if (version_ != cache::kVersionWithoutIds) read_treatments(cached.loaded_with);
    dataset.max_label = fields.max_label;
    dataset.source_feature_count = fields.source_feature_count;
    dataset.name = index_.text();
    dataset.origin = index_.text();
    while (dataset.folds.size() < fields.fold_count && !index_.failed()) {
      dataset.folds.push_back(read_fold());
      dataset.folds.back().scaling = cached.loaded_with.scaling;
    }
    const Selection selection{fields.selection};
    cached.loaded_with.drop_constant_features = selection != Selection::kAll;
    if (selection != Selection::kGiven || dataset.folds.empty()) return cached;
    const Fold& first = dataset.folds.front();
    cached.loaded_with.keep_feature_ids = first.feature_ids;
    for (const Fold& fold : dataset.folds) {
      if (fold.feature_ids == first.feature_ids) continue;
      index_.fail(fmt::format("{} has other features than {}; they were given for all", fold.name,
                              first.name));
    }
    return cached;
  }

  void read_treatments(LoadOptions& loaded_with) {
    const auto fields = index_.value<cache::LoadFields>();
    if (fields.out_of_range > static_cast<std::uint32_t>(OutOfRange::kMissing) ||
        fields.unlabelled > static_cast<std::uint32_t>(Unlabelled::kSkip)) {
      index_.fail(fmt::format("treatments {} and {}; known are 0 to 2 and 0 to 1",
                              fields.out_of_range, fields.unlabelled));
    }
    loaded_with.out_of_range = OutOfRange{static_cast<std::uint8_t>(fields.out_of_range)};
    loaded_with.unlabelled = Unlabelled{static_cast<std::uint8_t>(fields.unlabelled)};
  }

  LoadChanges read_changes(const std::string& place) {
    LoadChanges changes;
    const auto fields = index_.value<cache::ChangeFields>();
    changes.unlabelled_documents = fields.unlabelled_documents;
    changes.unlabelled_queries = fields.unlabelled_queries;
    while (changes.out_of_range.size() < fields.feature_count && !index_.failed()) {
      const auto id = index_.value<std::uint64_t>();
      if (id > std::numeric_limits<std::uint32_t>::max()) {
        index_.fail(fmt::format("{}: feature id {}; ids are below 2^32", place, id));
      }
      const auto count = index_.value<std::uint64_t>();
      changes.out_of_range.push_back({static_cast<std::uint32_t>(id), count, index_.text()});
    }
    return changes;
  }

  // Which ids a split has becomes part of `storage`, whose other fields are complete.
  void read_ids(const std::string& place, std::uint64_t doc_count, Split::Storage& storage) {
    const auto fields = index_.value<cache::IdFields>();
    if (fields.has_query_ids > 1 || fields.has_doc_ids > 1) {
      index_.fail(fmt::format("{}: ids {} and {}; 0 or 1", place, fields.has_query_ids,
                              fields.has_doc_ids));
    }
    if (fields.has_query_ids == 1) {
      storage.query_ids = index_.array<std::uint64_t>(storage.query_count).data();
    }
    if (fields.has_doc_ids == 0) return;
    const auto begin = index_.array<std::uint64_t>(doc_count + 1);
    storage.doc_id_begin = begin.data();
    storage.doc_ids = index_.array<char>(begin.empty() ? 0 : begin.back()).data();
  }

  Fold read_fold() {
    Fold fold;
    fold.name = index_.text();
    const auto fields = index_.value<cache::FoldFields>();
    if (fields.feature_count > cache::kMostFeatures) {
      index_.fail(fmt::format("{}: {} features; at most {}", fold.name, fields.feature_count,
                              cache::kMostFeatures));
    }
    if (fields.has_validation > 1) {
      index_.fail(
          fmt::format("{}: {} validation splits; 0 or 1", fold.name, fields.has_validation));
    }
    using Ids = std::vector<std::uint32_t>;
    fold.feature_ids = index_.copy<Ids>(fields.feature_count);
    fold.constant_feature_ids = index_.copy<Ids>(fields.constant_count);
    if (version_ != cache::kVersionWithoutIds) fold.changes = read_changes(fold.name);
    fold.train = read_split(fields.feature_count, fold.name + " train");
    if (fields.has_validation == 1) {
      fold.validation = read_split(fields.feature_count, fold.name + " validation");
    }
    fold.test = read_split(fields.feature_count, fold.name + " test");
    return fold;
  }

  // A split whose memory is complete; its content is not checked yet.
  Split read_split(std::uint32_t feature_count, const std::string& place) {
    const auto query_count = index_.value<std::uint64_t>();
    if (query_count > std::numeric_limits<std::uint32_t>::max()) {
      index_.fail(fmt::format("{}: {} queries; fewer than 2^32", place, query_count));
    }
    const auto query_begin = index_.array<std::uint64_t>(query_count + 1);
    const std::uint64_t doc_count = query_begin.empty() ? 0 : query_begin.back();
    const auto labels = index_.array<std::uint8_t>(doc_count);
    if (query_count == 0 || doc_count == 0 || feature_count == 0) {
      index_.fail(
          fmt::format("{}: {} queries, {} documents, {} features; expected at least 1 of each",
                      place, query_count, doc_count, feature_count));
    }
    const std::uint64_t row_bytes = cache::row_bytes(feature_count);
    if (!index_.failed() && doc_count > data_.size() / row_bytes) {
      index_.fail(fmt::format("{}: {} documents of {} bytes in {} bytes of feature data", place,
                              doc_count, row_bytes, data_.size()));
    }
    if (index_.failed()) return {};
    const auto data = data_.first(doc_count * row_bytes);
    data_ = data_.subspan(data.size());
    Split::Storage storage{.feature_count = feature_count,
                           .query_count = static_cast<std::uint32_t>(query_count),
                           .rows = reinterpret_cast<const float*>(data.data()),
                           .labels = labels.data(),
                           .query_begin = query_begin.data(),
                           .owner = options_.owner};
    if (version_ != cache::kVersionWithoutIds) read_ids(place, doc_count, storage);
    const auto sums = index_.array<std::uint64_t>(cache::chunk_count(data.size()));
    const Split split(std::move(storage));
    splits_.push_back({split, place, sums});
    return split;
  }

  // A split, its place ("Fold1 train") and the checksums that its chunks should have.
  struct UnverifiedSplit {
    Split split;
    std::string place;
    std::span<const std::uint64_t> sums;
  };

  std::span<const std::byte> bytes_;
  std::uint32_t version_ = 0;
  std::span<const std::byte> data_;  // feature data of the splits that are not read yet
  const ParseCacheOptions& options_;
  IndexReader index_;
  std::vector<UnverifiedSplit> splits_;
};

std::string selection_of(const LoadOptions& options) {
  if (options.keep_feature_ids) {
    return fmt::format("{} given features", options.keep_feature_ids->size());
  }
  return options.drop_constant_features ? "constant features dropped" : "constant features kept";
}

// How what was changed differs from what was asked for, or nothing.
std::string contradiction(const LoadChanges& changes, const LoadOptions& with,
                          const LoadOptions& asked) {
  if (!changes.out_of_range.empty() && with.out_of_range != asked.out_of_range) {
    return fmt::format("was written with out-of-range {}; asked for {}", name_of(with.out_of_range),
                       name_of(asked.out_of_range));
  }
  if (changes.unlabelled_documents > 0 && with.unlabelled != asked.unlabelled) {
    return fmt::format("was written with unlabelled {}; asked for {}", name_of(with.unlabelled),
                       name_of(asked.unlabelled));
  }
  return {};
}

// How a cache differs from the options, or nothing.
std::string contradiction(const CachedDataset& cached, const LoadOptions& asked) {
  const LoadOptions& with = cached.loaded_with;
  if (with.scaling != asked.scaling) {
    return fmt::format("written with scaling {}; asked for {}; convert it again",
                       name_of(with.scaling), name_of(asked.scaling));
  }
  for (const Fold& fold : cached.dataset.folds) {
    if (auto reason = contradiction(fold.changes, with, asked); !reason.empty()) {
      return fmt::format("{} {}; convert it again", fold.name, reason);
    }
  }
  if (asked.keep_feature_ids) {
    for (const Fold& fold : cached.dataset.folds) {
      if (fold.feature_ids == *asked.keep_feature_ids) continue;
      return fmt::format(
          "its {} holds {} features that are not the {} asked for, in their order; convert it "
          "again",
          fold.name, fold.feature_ids.size(), asked.keep_feature_ids->size());
    }
    return {};
  }
  if (with.keep_feature_ids || with.drop_constant_features != asked.drop_constant_features) {
    return fmt::format("written with {}; asked for {}; convert it again", selection_of(with),
                       selection_of(asked));
  }
  return {};
}

}  // namespace

bool is_cache(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  std::ifstream file(path, std::ios::binary);
  std::array<char, cache::kMagic.size()> start{};
  return file.read(start.data(), start.size()) &&
         std::string_view(start.data(), start.size()) == cache::kMagic;
}

Result<CachedDataset> parse_cache(std::span<const std::byte> bytes,
                                  const ParseCacheOptions& options) {
  assert(reinterpret_cast<std::uintptr_t>(bytes.data()) % kAlignment == 0);
  return CacheParser(bytes, options).parse();
}

Result<CachedDataset> open_cache(const std::filesystem::path& path, const CacheOptions& options) {
  auto opened = MappedFile::open(path);
  if (!opened) return opened.error();
  const auto file = std::make_shared<MappedFile>(std::move(*opened));
  return parse_cache(file->bytes(), {.name = path.string(), .cache = options, .owner = file});
}

Result<Dataset> load_cache(const std::filesystem::path& path, const LoadOptions& asked) {
  auto cached = open_cache(path, {.verify_features = asked.verify_cache, .threads = asked.threads});
  if (!cached) return cached.error();
  if (const auto reason = contradiction(*cached, asked); !reason.empty()) {
    return Error{reason}.in(path.string());
  }
  return std::move(cached->dataset);
}

}  // namespace plackett
