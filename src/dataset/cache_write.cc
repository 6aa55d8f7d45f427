#include <cstring>
#include <vector>

#include "base/file.h"
#include "base/hash.h"
#include "dataset/build_fold.h"
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
  void put_value(const T& value) {
    put(std::span(&value, 1));
  }
  void put_text(std::string_view text) {
    put_value(std::uint64_t{text.size()});
    put(std::span(text.data(), text.size()));
  }
  std::vector<std::byte>& bytes() { return bytes_; }

 private:
  std::vector<std::byte> bytes_ = std::vector<std::byte>(sizeof(Header));
};

Selection selection_of(const LoadOptions& options) {
  if (options.keep_feature_ids) return Selection::kGiven;
  return options.drop_constant_features ? Selection::kVarying : Selection::kAll;
}

// Header, index and the zeros before the feature data.
Result<std::vector<std::byte>> make_index(const Dataset& dataset, const LoadOptions& loaded_with) {
  IndexWriter index;
  index.put_value(
      cache::DatasetFields{.scaling = static_cast<std::uint32_t>(loaded_with.scaling),
                           .selection = static_cast<std::uint32_t>(selection_of(loaded_with)),
                           .max_label = dataset.max_label,
                           .source_feature_count = dataset.source_feature_count,
                           .fold_count = static_cast<std::uint32_t>(dataset.folds.size()),
                           .zero = 0});
  index.put_text(dataset.name);
  index.put_text(dataset.origin);
  Header header{};
  for (const Fold& fold : dataset.folds) {
    index.put_text(fold.name);
    index.put_value(cache::FoldFields{
        .feature_count = static_cast<std::uint32_t>(fold.feature_ids.size()),
        .constant_count = static_cast<std::uint32_t>(fold.constant_feature_ids.size()),
        .has_validation = fold.validation ? 1U : 0U,
        .zero = 0});
    index.put(std::span(fold.feature_ids));
    index.put(std::span(fold.constant_feature_ids));
    for (const auto& [part, split] : splits_of(fold)) {
      const Split::Storage& storage = split->storage();
      auto sums = cache::chunk_checksums(*split, {}, loaded_with.threads);
      if (!sums) return sums.error().in(fold.name);
      index.put_value(std::uint64_t{storage.query_count});
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
  if (const auto reason = cache::dataset_complaint(dataset); !reason.empty()) {
    return Error{reason}.in(path.string());
  }
  auto index = make_index(dataset, loaded_with);
  if (!index) return index.error().in(path.string());
  auto file = AtomicFile::create(path);
  if (!file) return file.error();
  if (auto appended = file->append(*index); !appended) return appended;
  for (const Fold& fold : dataset.folds) {
    for (const auto& [part, split] : splits_of(fold)) {
      if (auto appended = file->append(cache::data_of(*split)); !appended) return appended;
    }
  }
  return file->finish();
}

}  // namespace plackett
