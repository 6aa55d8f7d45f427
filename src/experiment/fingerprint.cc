#include "experiment/fingerprint.h"

#include <cassert>
#include <span>
#include <vector>

#include "base/hash.h"

namespace plackett {
namespace {

void add(const Split& split, std::vector<std::uint64_t>& parts) {
  const Split::Storage& storage = split.storage();
  assert(storage.foreign_stride == 0);
  const std::uint64_t docs = split.doc_count();
  const std::size_t width = padded_width(storage.feature_count);
  parts.push_back(storage.feature_count);
  parts.push_back(storage.query_count);
  parts.push_back(checksum(std::as_bytes(std::span(storage.rows, docs * width))));
  parts.push_back(checksum(std::as_bytes(std::span(storage.labels, docs))));
  parts.push_back(checksum(
      std::as_bytes(std::span(storage.query_begin, storage.query_count + std::size_t{1}))));
}

}  // namespace

std::uint64_t fingerprint(const Dataset& dataset) {
  std::vector<std::uint64_t> parts{dataset.grade_count(), dataset.folds.size()};
  for (const Fold& fold : dataset.folds) {
    add(fold.train, parts);
    add(fold.test, parts);
  }
  return checksum(std::as_bytes(std::span(parts)));
}

}  // namespace plackett
