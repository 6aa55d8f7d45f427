#include <fmt/format.h>

#include <cstring>
#include <string_view>

#include "base/file.h"
#include "base/hash.h"
#include "dataset/cache.h"
#include "dataset/cache_format.h"
#include "dataset/parallel.h"

namespace plackett {
namespace {

using namespace cache_format;

std::span<const std::byte> row_bytes(const Split& split) {
  const std::size_t floats = split.doc_count() * padded_width(split.feature_count());
  return std::as_bytes(std::span(split.storage().rows, floats));
}

// The index, piece by piece; everything in it starts at a multiple of kArrayAlign.
class IndexWriter {
 public:
  template <typename T>
  void array(std::span<const T> values) {
    const auto bytes = std::as_bytes(values);
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    bytes_.resize(aligned(bytes_.size(), kArrayAlign));
  }
  void name(std::string_view text) {
    number(text.size());
    array(std::span(text.data(), text.size()));
  }
  void number(std::uint64_t value) { array(std::span<const std::uint64_t>(&value, 1)); }

  void split(const Split& split, unsigned threads) {
    number(split.query_count());
    number(split.doc_count());
    array(std::span(split.storage().query_begin, std::size_t{split.query_count()} + 1));
    array(std::span(split.storage().labels, split.doc_count()));
    const auto rows = row_bytes(split);
    std::vector<std::uint64_t> checksums(chunk_count(rows.size()));
    parallel_for(threads, checksums.size(), [&](std::size_t chunk) {
      const auto rest = rows.subspan(chunk * kChunkBytes);
      checksums[chunk] = checksum(rest.first(std::min(rest.size(), kChunkBytes)));
    });
    array(std::span<const std::uint64_t>(checksums));
  }

  std::vector<std::byte>& bytes() { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

std::vector<const Split*> splits_of(const Fold& fold) {
  std::vector<const Split*> splits{&fold.train};
  if (fold.validation) splits.push_back(&*fold.validation);
  splits.push_back(&fold.test);
  return splits;
}

}  // namespace

Result<void> write_cache(const Dataset& dataset, const LoadOptions& options,
                         const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return Error{fmt::format("{}: a folder; a cache is one file", path.string())};
  }
  Header header;
  header.fold_count = static_cast<std::uint32_t>(dataset.folds.size());
  header.max_label = dataset.max_label;
  header.source_feature_count = dataset.source_feature_count;
  header.scaling = static_cast<std::uint8_t>(options.scaling);
  header.drop_constant_features = options.drop_constant_features ? 1 : 0;
  header.kept_given_ids = options.keep_feature_ids ? 1 : 0;

  IndexWriter index;
  index.array(std::span<const Header>(&header, 1));
  const auto cut = [](std::string_view text) { return text.substr(0, kLongestName); };
  index.name(cut(dataset.name));
  index.name(cut(dataset.origin));
  std::size_t data_bytes = 0;
  for (const Fold& fold : dataset.folds) {
    index.name(cut(fold.name));
    index.number(fold.feature_ids.size());
    index.array(std::span<const std::uint32_t>(fold.feature_ids));
    index.number(fold.constant_feature_ids.size());
    index.array(std::span<const std::uint32_t>(fold.constant_feature_ids));
    index.number(fold.validation ? 1 : 0);
    for (const Split* split : splits_of(fold)) {
      index.split(*split, options.threads);
      data_bytes += row_bytes(*split).size();
    }
  }
  auto& bytes = index.bytes();
  bytes.resize(aligned(bytes.size(), kDataAlign));
  header.data_begin = bytes.size();
  header.file_bytes = bytes.size() + data_bytes;
  std::memcpy(bytes.data(), &header, sizeof header);
  header.index_checksum = checksum(std::span<const std::byte>(bytes).subspan(kChecksumFrom));
  std::memcpy(bytes.data(), &header, sizeof header);

  auto file = AtomicFile::create(path);
  if (!file) return file.error();
  if (auto done = file->append(bytes); !done) return done;
  for (const Fold& fold : dataset.folds) {
    for (const Split* split : splits_of(fold)) {
      if (auto done = file->append(row_bytes(*split)); !done) return done;
    }
  }
  return file->finish();
}

}  // namespace plackett
