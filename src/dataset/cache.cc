#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cstring>
#include <fstream>
#include <limits>
#include <vector>

#include "base/aligned.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "dataset/cache_format.h"
#include "plackett/cache.h"
#include "plackett/scaling.h"

namespace plackett {
namespace {

using cache::Header;
using cache::Selection;

// Of an index or of features; the sum of two can't overflow.
constexpr std::uint64_t kMostBytes = std::numeric_limits<std::uint64_t>::max() / 4;

// Returns the index's arrays in place, one after another. After the first that reaches past the end
// all are empty, values are 0 and ok() is false.
class IndexReader {
 public:
  explicit IndexReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename T>
  std::span<const T> array(std::uint64_t count) {
    if (!ok_ || count > bytes_.size() / sizeof(T) ||
        cache::round_up(count * sizeof(T), 8) > bytes_.size()) {
      ok_ = false;
      return {};
    }
    const std::span values(reinterpret_cast<const T*>(bytes_.data()), count);
    bytes_ = bytes_.subspan(cache::round_up(count * sizeof(T), 8));
    return values;
  }
  template <typename T, std::size_t kCount>
  std::array<T, kCount> values() {
    std::array<T, kCount> read{};
    const auto found = array<T>(kCount);
    std::copy(found.begin(), found.end(), read.begin());
    return read;
  }
  std::string text() {
    const auto characters = array<char>(values<std::uint64_t, 1>()[0]);
    return {characters.begin(), characters.end()};
  }
  template <typename T>
  std::vector<T> copy(std::uint64_t count) {
    const auto found = array<T>(count);
    return {found.begin(), found.end()};
  }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return bytes_.empty(); }

 private:
  std::span<const std::byte> bytes_;
  bool ok_ = true;
};

// A part of a split's feature data and the checksum it should have.
struct Chunk {
  Split split;
  std::string place;  // "Fold1 train"
  std::uint64_t number = 0;
  std::uint64_t expected = 0;
};

class CacheParser {
 public:
  CacheParser(std::span<const std::byte> bytes, const ParseCacheOptions& options)
      : bytes_(bytes), options_(options) {}

  Result<CachedDataset> parse() {
    auto header = read_header();
    if (!header) return header.error();
    const std::uint64_t data_begin = cache::data_offset(header->index_bytes);
    data_ = bytes_.subspan(data_begin);
    IndexReader index(bytes_.subspan(sizeof(Header), header->index_bytes));
    CachedDataset cached;
    if (auto read = read_index(index, cached); !read) return read.error();
    if (!index.ok() || !index.at_end() || !data_.empty()) {
      return wrong("its parts don't fill it exactly");
    }
    if (const auto reason = cache::dataset_complaint(cached.dataset); !reason.empty()) {
      return wrong(reason);
    }
    if (options_.cache.verify_features) {
      if (auto verified = verify_features(); !verified) return verified.error();
    }
    return cached;
  }

 private:
  [[nodiscard]] Error wrong(std::string_view what) const {
    return Error{fmt::format("{}: {}", options_.name, what)};
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
    if (header.version != cache::kVersion) {
      return wrong(fmt::format("cache format version {}; this plackett reads version {}",
                               header.version, cache::kVersion));
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

  Result<void> read_index(IndexReader& index, CachedDataset& cached) {
    Dataset& dataset = cached.dataset;
    const auto [scaling, selection, max_label, source_feature_count, fold_count, zero] =
        index.values<std::uint32_t, 6>();
    if (scaling > static_cast<std::uint32_t>(Scaling::kNone)) {
      return wrong(fmt::format("scaling {}; known are 0 and 1", scaling));
    }
    if (selection > static_cast<std::uint32_t>(Selection::kGiven)) {
      return wrong(fmt::format("selection {}; known are 0 to 2", selection));
    }
    dataset.max_label = max_label;
    dataset.source_feature_count = source_feature_count;
    dataset.name = index.text();
    dataset.origin = index.text();
    for (std::uint32_t number = 0; number < fold_count && index.ok(); ++number) {
      auto fold = read_fold(index);
      if (!fold) return fold.error();
      dataset.folds.push_back(std::move(*fold));
    }
    cached.loaded_with.scaling = Scaling{static_cast<std::uint8_t>(scaling)};
    for (Fold& fold : dataset.folds) fold.scaling = cached.loaded_with.scaling;
    cached.loaded_with.drop_constant_features = Selection{selection} != Selection::kAll;
    if (Selection{selection} == Selection::kGiven && !dataset.folds.empty()) {
      cached.loaded_with.keep_feature_ids = dataset.folds.front().feature_ids;
      for (const Fold& fold : dataset.folds) {
        if (fold.feature_ids == dataset.folds.front().feature_ids) continue;
        return wrong(fmt::format("{} has other features than {}; they were given for all",
                                 fold.name, dataset.folds.front().name));
      }
    }
    return {};
  }

  Result<Fold> read_fold(IndexReader& index) {
    Fold fold;
    fold.name = index.text();
    const auto [feature_count, constant_count, has_validation, zero] =
        index.values<std::uint32_t, 4>();
    if (feature_count > cache::kMostFeatures) {
      return wrong(fmt::format("{}: {} features; at most {}", fold.name, feature_count,
                               cache::kMostFeatures));
    }
    if (has_validation > 1) {
      return wrong(fmt::format("{}: {} validation splits; 0 or 1", fold.name, has_validation));
    }
    fold.feature_ids = index.copy<std::uint32_t>(feature_count);
    fold.constant_feature_ids = index.copy<std::uint32_t>(constant_count);
    const auto read = [&](Split& into, const char* part) -> Result<void> {
      auto split = read_split(index, feature_count, fold.name + part);
      if (!split) return split.error();
      into = std::move(*split);
      return {};
    };
    auto done = read(fold.train, " train");
    if (done && has_validation == 1) done = read(fold.validation.emplace(), " validation");
    if (done) done = read(fold.test, " test");
    if (!done) return done.error();
    return fold;
  }

  // A split whose memory is complete; its content is not checked yet.
  Result<Split> read_split(IndexReader& index, std::uint32_t feature_count,
                           const std::string& place) {
    const std::uint64_t query_count = index.values<std::uint64_t, 1>()[0];
    if (query_count > std::numeric_limits<std::uint32_t>::max()) {
      return wrong(fmt::format("{}: {} queries; fewer than 2^32", place, query_count));
    }
    const auto query_begin = index.array<std::uint64_t>(query_count + 1);
    const std::uint64_t doc_count = query_begin.empty() ? 0 : query_begin.back();
    const auto labels = index.array<std::uint8_t>(doc_count);
    if (!index.ok() || query_count == 0 || doc_count == 0 || feature_count == 0) {
      return wrong(
          fmt::format("{}: {} queries, {} documents, {} features; expected at least 1 of each",
                      place, query_count, doc_count, feature_count));
    }
    const std::uint64_t row_bytes = cache::row_bytes(feature_count);
    if (doc_count > data_.size() / row_bytes) {
      return wrong(fmt::format("{}: {} documents of {} bytes in {} bytes of feature data", place,
                               doc_count, row_bytes, data_.size()));
    }
    const auto data = data_.first(doc_count * row_bytes);
    data_ = data_.subspan(data.size());
    const auto sums = index.array<std::uint64_t>(cache::chunk_count(data.size()));

    Split::Storage storage;
    storage.feature_count = feature_count;
    storage.query_count = static_cast<std::uint32_t>(query_count);
    storage.rows = reinterpret_cast<const float*>(data.data());
    storage.labels = labels.data();
    storage.query_begin = query_begin.data();
    storage.owner = options_.owner;
    Split split(std::move(storage));
    for (std::uint64_t number = 0; number < sums.size(); ++number) {
      chunks_.push_back({split, place, number, sums[number]});
    }
    return split;
  }

  // Why a chunk is invalid, or nothing.
  [[nodiscard]] std::string complaint(const Chunk& chunk) const {
    const auto data = cache::data_of(chunk.split);
    if (options_.check && checksum(cache::chunk_of(data, chunk.number)) != chunk.expected) {
      return fmt::format("checksum of feature chunk {} does not match: the file is damaged",
                         chunk.number);
    }
    return cache::chunk_complaint(chunk.split, chunk.number);
  }

  [[nodiscard]] Result<void> verify_features() const {
    std::atomic<std::size_t> first_bad{chunks_.size()};
    parallel_for(options_.cache.threads, chunks_.size(), [&](std::size_t number) {
      if (complaint(chunks_[number]).empty()) return;
      std::size_t before = first_bad.load();
      while (number < before && !first_bad.compare_exchange_weak(before, number)) {
      }
    });
    if (first_bad == chunks_.size()) return {};
    const Chunk& chunk = chunks_[first_bad];
    return wrong(fmt::format("{}: {}", chunk.place, complaint(chunk)));
  }

  std::span<const std::byte> bytes_;
  std::span<const std::byte> data_;  // feature data of the splits that are not read yet
  const ParseCacheOptions& options_;
  std::vector<Chunk> chunks_;
};

std::string selection_of(const LoadOptions& options) {
  if (options.keep_feature_ids) {
    return fmt::format("{} given features", options.keep_feature_ids->size());
  }
  return options.drop_constant_features ? "constant features dropped" : "constant features kept";
}

// How a cache differs from the options, or nothing.
std::string contradiction(const CachedDataset& cached, const LoadOptions& asked) {
  const LoadOptions& with = cached.loaded_with;
  if (with.scaling != asked.scaling) {
    return fmt::format("written with scaling {}; asked for {}; convert it again",
                       name_of(with.scaling), name_of(asked.scaling));
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
    return Error{fmt::format("{}: {}", path.string(), reason)};
  }
  return std::move(cached->dataset);
}

}  // namespace plackett
