#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "base/file.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "dataset/cache_format.h"
#include "plackett/cache.h"

namespace plackett {
namespace {

using cache::Header;
using cache::Selection;

// Every array is followed by zeros up to a multiple of 8 bytes.
class IndexWriter {
 public:
  template <typename T>
  void put(std::span<const T> values) {
    const auto bytes = std::as_bytes(values);
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    bytes_.resize(cache::round_up(bytes_.size(), 8));
  }
  template <typename T>
  void put(std::initializer_list<T> values) {
    put(std::span<const T>(values.begin(), values.size()));
  }
  void put_text(std::string_view text) {
    put({std::uint64_t{text.size()}});
    put(std::span(text.data(), text.size()));
  }
  std::vector<std::byte>& bytes() { return bytes_; }

 private:
  std::vector<std::byte> bytes_ = std::vector<std::byte>(sizeof(Header));
};

std::vector<const Split*> splits_of(const Fold& fold) {
  if (fold.validation) return {&fold.train, &*fold.validation, &fold.test};
  return {&fold.train, &fold.test};
}

// The checksum of each chunk, or why a row is invalid.
Result<std::vector<std::uint64_t>> checksums(const Split& split, unsigned threads) {
  const auto data = cache::data_of(split);
  std::vector<std::uint64_t> sums(cache::chunk_count(data.size()));
  std::vector<std::string> complaints(sums.size());
  parallel_for(threads, sums.size(), [&](std::size_t chunk) {
    sums[chunk] = checksum(cache::chunk_of(data, chunk));
    complaints[chunk] = cache::chunk_complaint(split, chunk);
  });
  for (const std::string& complaint : complaints) {
    if (!complaint.empty()) return Error{complaint};
  }
  return sums;
}

Selection selection_of(const LoadOptions& options) {
  if (options.keep_feature_ids) return Selection::kGiven;
  return options.drop_constant_features ? Selection::kVarying : Selection::kAll;
}

// Header, index and the zeros before the feature data.
Result<std::vector<std::byte>> make_index(const Dataset& dataset, const LoadOptions& loaded_with) {
  IndexWriter index;
  index.put({static_cast<std::uint32_t>(loaded_with.scaling),
             static_cast<std::uint32_t>(selection_of(loaded_with)), dataset.max_label,
             dataset.source_feature_count, static_cast<std::uint32_t>(dataset.folds.size()), 0U});
  index.put_text(dataset.name);
  index.put_text(dataset.origin);
  Header header{};
  for (const Fold& fold : dataset.folds) {
    index.put_text(fold.name);
    index.put({static_cast<std::uint32_t>(fold.feature_ids.size()),
               static_cast<std::uint32_t>(fold.constant_feature_ids.size()),
               fold.validation ? 1U : 0U, 0U});
    index.put(std::span(fold.feature_ids));
    index.put(std::span(fold.constant_feature_ids));
    for (const Split* split : splits_of(fold)) {
      const Split::Storage& storage = split->storage();
      auto sums = checksums(*split, loaded_with.threads);
      if (!sums) return Error{fmt::format("{}: {}", fold.name, sums.error().message)};
      index.put({std::uint64_t{storage.query_count}});
      index.put(std::span(storage.query_begin, std::size_t{storage.query_count} + 1));
      index.put(std::span(storage.labels, split->doc_count()));
      index.put(std::span<const std::uint64_t>(*sums));
      header.data_bytes += cache::data_of(*split).size();
    }
  }

  std::vector<std::byte>& bytes = index.bytes();
  std::memcpy(header.magic, cache::kMagic.data(), cache::kMagic.size());
  header.version = cache::kVersion;
  header.index_bytes = bytes.size() - sizeof(Header);
  bytes.resize(cache::data_offset(header.index_bytes));
  std::memcpy(bytes.data(), &header, sizeof header);
  header.checksum = checksum(std::span(bytes).subspan(cache::kChecksummedFrom));
  std::memcpy(bytes.data(), &header, sizeof header);
  return std::move(bytes);
}

}  // namespace

Result<void> write_cache(const Dataset& dataset, const LoadOptions& loaded_with,
                         const std::filesystem::path& path) {
  const auto wrong = [&path](std::string_view what) {
    return Error{fmt::format("{}: {}", path.string(), what)};
  };
  if (const auto reason = cache::dataset_complaint(dataset); !reason.empty()) return wrong(reason);
  auto index = make_index(dataset, loaded_with);
  if (!index) return wrong(index.error().message);
  auto file = AtomicFile::create(path);
  if (!file) return file.error();
  if (auto appended = file->append(*index); !appended) return appended;
  for (const Fold& fold : dataset.folds) {
    for (const Split* split : splits_of(fold)) {
      if (auto appended = file->append(cache::data_of(*split)); !appended) return appended;
    }
  }
  return file->finish();
}

}  // namespace plackett
