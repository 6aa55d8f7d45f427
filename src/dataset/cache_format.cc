#include "dataset/cache_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <functional>
#include <utility>

#include "base/hash.h"
#include "base/parallel.h"
#include "dataset/build_fold.h"

namespace plackett::cache {
namespace {

std::string fold_complaint(const Fold& fold) {
  if (fold.feature_ids.empty()) return "no features; a fold has at least 1";
  if (fold.feature_ids.size() > kMostFeatures) {
    return fmt::format("{} features; at most {}", fold.feature_ids.size(), kMostFeatures);
  }
  if (auto reason = ids_complaint(fold.feature_ids); !reason.empty()) return reason;
  const auto& constant = fold.constant_feature_ids;
  if (!constant.empty() && constant.front() == 0) return "constant feature id 0; ids start at 1";
  const auto falling = std::adjacent_find(constant.begin(), constant.end(), std::greater_equal());
  if (falling != constant.end()) {
    return fmt::format("constant feature id {} after {}; ids ascend", falling[1], falling[0]);
  }
  std::uint32_t last = 0;
  for (const OutOfRangeValues& values : fold.changes.out_of_range) {
    if (values.feature_id <= last) {
      return fmt::format("values out of range of feature id {} after {}; ids start at 1 and ascend",
                         values.feature_id, last);
    }
    last = values.feature_id;
  }
  return {};
}

std::string split_complaint(const Split& split, std::uint32_t feature_count,
                            std::uint32_t max_label) {
  const Split::Storage& storage = split.storage();
  if (storage.feature_count != feature_count) {
    return fmt::format("{} features; its fold has {}", storage.feature_count, feature_count);
  }
  if (storage.query_count == 0) return "no queries; a split has at least 1";
  const auto reason =
      queries_complaint({storage.query_begin, std::size_t{storage.query_count} + 1});
  if (!reason.empty()) return reason;
  if (const std::uint32_t largest = largest_label(split); largest > max_label) {
    return fmt::format("label {}; the dataset's largest is {}", largest, max_label);
  }
  if (storage.doc_id_begin == nullptr) return {};
  return doc_ids_complaint({storage.doc_id_begin, split.doc_count() + 1}, doc_ids_of(split));
}

// Why the rows that start in a chunk are invalid, or an empty string.
std::string chunk_complaint(const Split& split, std::uint64_t chunk) {
  const std::uint64_t bytes = row_bytes(split.feature_count());
  const std::uint64_t first = round_up(chunk * kChunkBytes, bytes) / bytes;
  const std::uint64_t last =
      std::min(round_up((chunk + 1) * kChunkBytes, bytes) / bytes, split.doc_count());
  const std::uint32_t stride = padded_width(split.feature_count());
  for (std::uint64_t doc = first; doc < last; ++doc) {
    const float* row = split.storage().rows + doc * stride;
    // A float's magnitude bits reach 0x7F800000 if it is not finite; adding what is missing
    // to the sign bit carries into it then. Kept so plain that compilers vectorise it.
    std::uint32_t carried = 0;
    for (std::uint32_t block = 0; block < stride; block += kRowAlign) {
      for (std::uint32_t lane = 0; lane < kRowAlign; ++lane) {
        const auto bits = std::bit_cast<std::uint32_t>(row[block + lane]);
        carried |= (bits & 0x7FFF'FFFFU) + 0x0080'0000U;
      }
    }
    if ((carried & 0x8000'0000U) != 0) {
      return fmt::format("document {} has a feature that is not finite", doc);
    }
    for (std::uint32_t column = split.feature_count(); column < stride; ++column) {
      if (std::bit_cast<std::uint32_t>(row[column]) != 0) {
        return fmt::format("document {} has something in its padding; that is 0", doc);
      }
    }
  }
  return {};
}

}  // namespace

std::span<const std::byte> data_of(const Split& split) {
  assert(split.storage().foreign_stride == 0);
  return std::as_bytes(
      std::span(split.storage().rows, split.doc_count() * padded_width(split.feature_count())));
}

std::string_view doc_ids_of(const Split& split) {
  const Split::Storage& storage = split.storage();
  return {storage.doc_ids, static_cast<std::size_t>(storage.doc_id_begin[split.doc_count()])};
}

std::string dataset_complaint(const Dataset& dataset) {
  if (dataset.folds.empty()) return "no folds; a dataset has at least 1";
  if (dataset.max_label > kMaxLabel) {
    return fmt::format("largest label {}; labels go up to {}", dataset.max_label, kMaxLabel);
  }
  for (const Fold& fold : dataset.folds) {
    if (const auto reason = fold_complaint(fold); !reason.empty()) {
      return fmt::format("{}: {}", fold.name, reason);
    }
    const auto feature_count = static_cast<std::uint32_t>(fold.feature_ids.size());
    for (const auto& [part, split] : splits_of(fold)) {
      const auto reason = split_complaint(*split, feature_count, dataset.max_label);
      if (!reason.empty()) return fmt::format("{} {}: {}", fold.name, part, reason);
    }
  }
  return {};
}

Result<std::vector<std::uint64_t>> chunk_checksums(const Split& split,
                                                   std::span<const std::uint64_t> expected,
                                                   unsigned threads) {
  const auto data = data_of(split);
  std::vector<std::uint64_t> sums(chunk_count(data.size()));
  std::vector<std::string> complaints(sums.size());
  parallel_for(threads, sums.size(), [&](std::size_t chunk) {
    const auto rest = data.subspan(chunk * kChunkBytes);
    sums[chunk] = checksum(rest.first(std::min<std::size_t>(kChunkBytes, rest.size())));
    complaints[chunk] =
        expected.empty() || sums[chunk] == expected[chunk]
            ? chunk_complaint(split, chunk)
            : fmt::format("checksum of feature chunk {} does not match: the file is damaged",
                          chunk);
  });
  for (std::string& complaint : complaints) {
    if (!complaint.empty()) return Error{std::move(complaint)};
  }
  return sums;
}

}  // namespace plackett::cache
