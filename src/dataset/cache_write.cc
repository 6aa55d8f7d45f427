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
template <typename T>
void put(std::vector<std::byte>& index, std::span<const T> values) {
  const auto bytes = std::as_bytes(values);
  index.insert(index.end(), bytes.begin(), bytes.end());
  index.resize(cache::round_up(index.size(), 8));
}

template <typename T>
void put_value(std::vector<std::byte>& index, const T& value) {
  put(index, std::span(&value, 1));
}

void put_text(std::vector<std::byte>& index, std::string_view text) {
  put_value(index, std::uint64_t{text.size()});
  put(index, std::span(text.data(), text.size()));
}

void put_changes(std::vector<std::byte>& index, const LoadChanges& changes) {
  put_value(index, cache::ChangeFields{.unlabelled_documents = changes.unlabelled_documents,
                                       .unlabelled_queries = changes.unlabelled_queries,
                                       .feature_count = changes.out_of_range.size()});
  for (const OutOfRangeValues& values : changes.out_of_range) {
    put_value(index, std::uint64_t{values.feature_id});
    put_value(index, values.count);
    put_text(index, values.first);
  }
}

void put_ids(std::vector<std::byte>& index, const Split& split) {
  const Split::Storage& storage = split.storage();
  put_value(index, cache::IdFields{.has_query_ids = storage.query_ids != nullptr ? 1U : 0U,
                                   .has_doc_ids = storage.doc_id_begin != nullptr ? 1U : 0U});
  if (storage.query_ids != nullptr) {
    put(index, std::span(storage.query_ids, storage.query_count));
  }
  if (storage.doc_id_begin == nullptr) return;
  put(index, std::span(storage.doc_id_begin, split.doc_count() + 1));
  put(index, std::span(cache::doc_ids_of(split)));
}

Selection selection_of(const LoadOptions& options) {
  if (options.keep_feature_ids) return Selection::kGiven;
  return options.drop_constant_features ? Selection::kVarying : Selection::kAll;
}

// Header, index and the zeros before the feature data.
Result<std::vector<std::byte>> make_index(const Dataset& dataset, const LoadOptions& loaded_with) {
  std::vector<std::byte> index(sizeof(Header));
  put_value(index,
            cache::DatasetFields{.scaling = static_cast<std::uint32_t>(loaded_with.scaling),
                                 .selection = static_cast<std::uint32_t>(selection_of(loaded_with)),
                                 .max_label = dataset.max_label,
                                 .source_feature_count = dataset.source_feature_count,
                                 .fold_count = static_cast<std::uint32_t>(dataset.folds.size()),
                                 .zero = 0});
  put_value(index,
            cache::LoadFields{.out_of_range = static_cast<std::uint32_t>(loaded_with.out_of_range),
                              .unlabelled = static_cast<std::uint32_t>(loaded_with.unlabelled)});
  put_text(index, dataset.name);
  put_text(index, dataset.origin);
  Header header{};
  for (const Fold& fold : dataset.folds) {
    put_text(index, fold.name);
    put_value(index,
              cache::FoldFields{
                  .feature_count = static_cast<std::uint32_t>(fold.feature_ids.size()),
                  .constant_count = static_cast<std::uint32_t>(fold.constant_feature_ids.size()),
                  .has_validation = fold.validation ? 1U : 0U,
                  .zero = 0});
    put(index, std::span(fold.feature_ids));
    put(index, std::span(fold.constant_feature_ids));
    put_changes(index, fold.changes);
    for (const auto& [part, split] : splits_of(fold)) {
      const Split::Storage& storage = split->storage();
      auto sums = cache::chunk_checksums(*split, {}, loaded_with.threads);
      if (!sums) return sums.error().in(fold.name);
      put_value(index, std::uint64_t{storage.query_count});
      put(index, std::span(storage.query_begin, std::size_t{storage.query_count} + 1));
      put(index, std::span(storage.labels, split->doc_count()));
      put_ids(index, *split);
      put(index, std::span<const std::uint64_t>(*sums));
      header.data_bytes += cache::data_of(*split).size();
    }
  }

  std::memcpy(header.magic, cache::kMagic.data(), cache::kMagic.size());
  header.version = cache::kVersion;
  header.index_bytes = index.size() - sizeof(Header);
  index.resize(cache::data_offset(header.index_bytes));
  std::memcpy(index.data(), &header, sizeof header);
  header.checksum = checksum(std::span(index).subspan(cache::kChecksummedFrom));
  std::memcpy(index.data(), &header, sizeof header);
  return index;
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
