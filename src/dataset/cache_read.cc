#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "base/file.h"
#include "base/hash.h"
#include "dataset/cache.h"
#include "dataset/cache_format.h"
#include "dataset/parallel.h"

namespace plackett {
namespace {

using namespace cache_format;

constexpr const char* kAgain = "convert the data again";
constexpr std::uint64_t kMostDocsOfQuery = std::numeric_limits<std::uint32_t>::max();

// Takes arrays off the front of the index. Once something does not fit, everything after is
// empty and ok() is false.
class IndexReader {
 public:
  explicit IndexReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  [[nodiscard]] bool ok() const { return ok_; }

  template <typename T>
  std::span<const T> array(std::uint64_t count) {
    if (!ok_ || count > rest_.size() / sizeof(T)) {
      ok_ = false;
      return {};
    }
    const std::size_t bytes = count * sizeof(T);
    const std::span<const T> values(reinterpret_cast<const T*>(rest_.data()), count);
    rest_ = rest_.subspan(std::min(aligned(bytes, kArrayAlign), rest_.size()));
    return values;
  }
  std::uint64_t number() {
    const auto value = array<std::uint64_t>(1);
    return value.empty() ? 0 : value.front();
  }
  std::string name() {
    const std::uint64_t length = number();
    if (length > kLongestName) ok_ = false;
    const auto text = array<char>(length);
    return {text.begin(), text.end()};
  }
  std::vector<std::uint32_t> ids() {
    const auto values = array<std::uint32_t>(number());
    if (std::find(values.begin(), values.end(), 0U) != values.end()) ok_ = false;
    return {values.begin(), values.end()};
  }

 private:
  std::span<const std::byte> rest_;
  bool ok_ = true;
};

class CacheReader {
 public:
  explicit CacheReader(const CacheBytes& source) : source_(source) {}

  Result<Cache> read() {
    if (auto checked = read_header(); !checked) return checked.error();
    IndexReader index(source_.bytes.subspan(sizeof(Header), header_.data_begin - sizeof(Header)));
    data_ = source_.bytes.subspan(header_.data_begin);
    Cache cache;
    cache.scaling = static_cast<Scaling>(header_.scaling);
    cache.drop_constant_features = header_.drop_constant_features != 0;
    cache.kept_given_ids = header_.kept_given_ids != 0;
    Dataset& dataset = cache.dataset;
    dataset.name = index.name();
    dataset.origin = index.name();
    dataset.max_label = header_.max_label;
    dataset.source_feature_count = header_.source_feature_count;
    for (std::uint32_t number = 0; number < header_.fold_count && index.ok(); ++number) {
      auto fold = read_fold(index, cache);
      if (!fold) return fold.error();
      dataset.folds.push_back(std::move(*fold));
    }
    if (!index.ok()) return damaged("its tables reach beyond the index");
    if (!data_.empty()) return damaged("it holds more feature data than its tables tell of");
    return cache;
  }

 private:
  [[nodiscard]] Error damaged(std::string_view what) const {
    return Error{fmt::format("{}: damaged cache: {}; {}", source_.path, what, kAgain)};
  }

  Result<void> read_header() {
    const auto bytes = source_.bytes;
    if (bytes.size() < sizeof kMagic ||
        std::memcmp(bytes.data(), kMagic.data(), sizeof kMagic) != 0) {
      return Error{fmt::format(
          "{}: not a plackett cache (it does not begin with {}); a dataset is a folder of LETOR "
          "files, a cache or 'synthetic'",
          source_.path, std::string_view(kMagic.data(), kMagic.size()))};
    }
    if (bytes.size() < sizeof(Header)) {
      return damaged(
          fmt::format("{} bytes, less than its header of {}", bytes.size(), sizeof(Header)));
    }
    std::memcpy(&header_, bytes.data(), sizeof header_);
    if (header_.version != kVersion) {
      return Error{fmt::format("{}: cache of version {}; this plackett reads version {}, {}",
                               source_.path, header_.version, kVersion, kAgain)};
    }
    if (header_.file_bytes != bytes.size()) {
      return damaged(fmt::format("{} bytes, of the {} that its header tells of", bytes.size(),
                                 header_.file_bytes));
    }
    if (header_.reserved != 0 || header_.reserved_byte != 0 ||
        header_.data_begin % kDataAlign != 0 || header_.data_begin < sizeof(Header) ||
        header_.data_begin > bytes.size()) {
      return damaged("its header makes no sense");
    }
    const auto index = bytes.subspan(kChecksumFrom, header_.data_begin - kChecksumFrom);
    if (source_.compare_checksums && checksum(index) != header_.index_checksum) {
      return damaged("the checksum of its index differs");
    }
    if (header_.fold_count == 0 || header_.max_label > kMaxLabel ||
        header_.scaling > static_cast<std::uint8_t>(Scaling::kNone)) {
      return damaged("its header makes no sense");
    }
    return {};
  }

  Result<Fold> read_fold(IndexReader& index, Cache& cache) {
    Fold fold;
    fold.name = index.name();
    fold.feature_ids = index.ids();
    fold.constant_feature_ids = index.ids();
    const std::uint64_t has_validation = index.number();
    if (!index.ok() || fold.feature_ids.empty() || has_validation > 1) {
      return damaged("the table of a fold makes no sense");
    }
    const auto features = static_cast<std::uint32_t>(fold.feature_ids.size());
    auto train = read_split(index, features, fold.name + " train", cache);
    if (!train) return train.error();
    fold.train = std::move(*train);
    if (has_validation != 0) {
      auto validation = read_split(index, features, fold.name + " vali", cache);
      if (!validation) return validation.error();
      fold.validation = std::move(*validation);
    }
    auto test = read_split(index, features, fold.name + " test", cache);
    if (!test) return test.error();
    fold.test = std::move(*test);
    return fold;
  }

  Result<Split> read_split(IndexReader& index, std::uint32_t feature_count, std::string what,
                           Cache& cache) {
    const std::uint64_t queries = index.number();
    const std::uint64_t docs = index.number();
    if (!index.ok() || queries == 0 || queries > std::numeric_limits<std::uint32_t>::max()) {
      return damaged(what + " has an impossible number of queries");
    }
    const auto begin = index.array<std::uint64_t>(queries + 1);
    const auto labels = index.array<std::uint8_t>(docs);
    if (!index.ok() || !is_partition(begin, docs)) {
      return damaged("the queries of " + what + " don't cover its documents");
    }
    if (*std::max_element(labels.begin(), labels.end()) > header_.max_label) {
      return damaged("a label of " + what + " is above the highest told of");
    }
    const std::uint64_t row_bytes = std::uint64_t{padded_width(feature_count)} * sizeof(float);
    if (docs > data_.size() / row_bytes) {
      return damaged("the feature data of " + what + " is not all there");
    }
    const auto rows = data_.first(docs * row_bytes);
    data_ = data_.subspan(rows.size());
    const auto checksums = index.array<std::uint64_t>(chunk_count(rows.size()));
    if (!index.ok()) return damaged("its tables reach beyond the index");
    cache.rows.push_back({std::move(what), rows,
                          static_cast<std::size_t>(rows.data() - source_.bytes.data()),
                          checksums.data()});

    Split::Storage storage;
    storage.feature_count = feature_count;
    storage.query_count = static_cast<std::uint32_t>(queries);
    storage.rows = reinterpret_cast<const float*>(rows.data());
    storage.labels = labels.data();
    storage.query_begin = begin.data();
    storage.owner = source_.owner;
    return Split(std::move(storage));
  }

  static bool is_partition(std::span<const std::uint64_t> begin, std::uint64_t docs) {
    if (begin.front() != 0 || begin.back() != docs) return false;
    for (std::size_t query = 1; query < begin.size(); ++query) {
      if (begin[query] <= begin[query - 1] || begin[query] - begin[query - 1] > kMostDocsOfQuery) {
        return false;
      }
    }
    return true;
  }

  const CacheBytes& source_;
  Header header_;
  std::span<const std::byte> data_;  // not yet given to a split
};

std::string_view name_of(Scaling scaling) {
  return scaling == Scaling::kNone ? "none" : "query-minmax";
}

}  // namespace

Result<Cache> parse_cache(const CacheBytes& source) { return CacheReader(source).read(); }

Result<Cache> open_cache(const std::filesystem::path& path) {
  auto file = MappedFile::open(path);
  if (!file) return file.error();
  auto owner = std::make_shared<const MappedFile>(std::move(*file));
  return parse_cache({.bytes = owner->bytes(), .owner = owner, .path = path.string()});
}

Result<void> verify_rows(const Cache& cache, const std::filesystem::path& path, unsigned threads) {
  for (const Cache::Rows& rows : cache.rows) {
    std::vector<char> bad(chunk_count(rows.bytes.size()));
    parallel_for(threads, bad.size(), [&](std::size_t chunk) {
      const auto rest = rows.bytes.subspan(chunk * kChunkBytes);
      const auto bytes = rest.first(std::min(rest.size(), kChunkBytes));
      bad[chunk] = checksum(bytes) != rows.checksums[chunk] ? 1 : 0;
    });
    const auto first = std::find(bad.begin(), bad.end(), 1);
    if (first == bad.end()) continue;
    const std::size_t begin =
        rows.file_offset + static_cast<std::size_t>(first - bad.begin()) * kChunkBytes;
    return Error{fmt::format(
        "{}: damaged cache: the checksum of {}'s feature data differs within the {} MiB from byte "
        "{}; {}",
        path.string(), rows.what, kChunkBytes >> 20, begin, kAgain)};
  }
  return {};
}

Result<void> check_made_as(const Cache& cache, const LoadOptions& options,
                           const std::filesystem::path& path) {
  if (cache.scaling != options.scaling) {
    return Error{fmt::format("{}: cache with scaling {} where {} is asked for; {} with that",
                             path.string(), name_of(cache.scaling), name_of(options.scaling),
                             kAgain)};
  }
  if (options.keep_feature_ids) {
    for (const Fold& fold : cache.dataset.folds) {
      if (fold.feature_ids == *options.keep_feature_ids) continue;
      return Error{fmt::format(
          "{}: cache whose {} has other features ({} of them) than the {} asked for; load the "
          "data it was made from",
          path.string(), fold.name, fold.feature_ids.size(), options.keep_feature_ids->size())};
    }
    return {};
  }
  if (cache.kept_given_ids || cache.drop_constant_features != options.drop_constant_features) {
    return Error{fmt::format(
        "{}: cache with {} where {} is asked for; {} with that", path.string(),
        cache.kept_given_ids ? "a given list of features"
                             : (cache.drop_constant_features ? "constant features dropped"
                                                             : "constant features kept"),
        options.drop_constant_features ? "dropping the constant ones" : "keeping all", kAgain)};
  }
  return {};
}

}  // namespace plackett
