#include "serving/impression.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/attempt.h"
#include "plackett/feature_view.h"
#include "plackett/scaling.h"

namespace plackett::serving {

std::uint32_t Impression::sampled_count() const {
  return static_cast<std::uint32_t>(std::count_if(
      shown.begin(), shown.end(), [](const ShownItem& item) { return !item.pinned; }));
}

std::vector<double> Impression::propensities() const {
  std::vector<double> propensities(shown.size(), 1.0);
  if (mode != Mode::kExplore) return propensities;
  Mass left = rest;
  for (std::size_t rank = shown.size(); rank-- > 0;) {
    if (shown[rank].pinned) continue;
    left.add(shown[rank].sampled_score);
    propensities[rank] = std::exp(shown[rank].sampled_score - left.log());
  }
  return propensities;
}

Result<std::optional<StoredImpression>> read_impression(StoreReader& store, std::int64_t id,
                                                        Rows rows) {
  return attempt([&]() -> std::optional<StoredImpression> {
    auto row = take(store.impression(id));
    if (!row) return std::nullopt;
    auto unpacked = unpack(*row, rows);
    if (!unpacked) return std::nullopt;
    return StoredImpression{row->id,
                            row->shown_at,
                            row->version,
                            std::move(row->given),
                            std::move(row->unit),
                            *std::move(unpacked),
                            std::move(row->in)};
  });
}

Result<const ItemVersion*> ItemVersionCache::find(StoreReader& store, std::int64_t version) {
  constexpr std::size_t kMostBytes = std::size_t{128} << 20;
  return attempt([&]() -> const ItemVersion* {
    if (const auto known = versions_.find(version); known != versions_.end()) {
      return &known->second;
    }
    auto found = take(store.item_version(version));
    if (!found) return nullptr;
    if (bytes_ > kMostBytes) {
      versions_.clear();
      bytes_ = 0;
    }
    constexpr std::size_t kOverhead = 128;  // of an element, about
    bytes_ += kOverhead + found->id.size() + found->features.size();
    return &(versions_[version] = *std::move(found));
  });
}

Result<void> find_others(StoreReader& store, Impression& impression) {
  ItemVersionCache cache;
  return find_others(store, impression, cache);
}

Result<void> find_others(StoreReader& store, Impression& impression, ItemVersionCache& cache) {
  const std::uint32_t features = impression.feature_count;
  const std::size_t stride = padded_width(features);
  return attempt([&] {
    std::vector<std::size_t> found;
    for (std::size_t at = 0; at < impression.others.size(); ++at) {
      OtherItem& other = impression.others[at];
      if (other.version == 0) continue;
      const ItemVersion* version = take(cache.find(store, other.version));
      if (version == nullptr || version->features.size() != features * sizeof(float)) {
        throw Failed{Error{"a candidate's features are missing in the store, or damaged"}};
      }
      std::memcpy(impression.other_rows.data() + at * stride, version->features.data(),
                  version->features.size());
      other.id = version->id;
      other.version = 0;
      found.push_back(at);
    }
    if (!impression.bounds.empty() && !found.empty()) {
      // The least and the greatest values are rows as well, so that scaling finds them again.
      AlignedVector<float> scaled((found.size() + 2) * stride);
      for (std::size_t row = 0; row < found.size(); ++row) {
        std::copy_n(impression.other_rows.data() + found[row] * stride, features,
                    scaled.data() + row * stride);
      }
      std::copy_n(impression.bounds.begin(), features, scaled.data() + found.size() * stride);
      std::copy_n(impression.bounds.begin() + features, features,
                  scaled.data() + (found.size() + 1) * stride);
      scale_query_minmax(scaled.data(), static_cast<std::uint32_t>(found.size() + 2), features,
                         static_cast<std::uint32_t>(stride));
      for (std::size_t row = 0; row < found.size(); ++row) {
        std::copy_n(scaled.data() + row * stride, features,
                    impression.other_rows.data() + found[row] * stride);
      }
    }
    impression.bounds.clear();
  });
}

void SampledPart::set(const Impression& impression, std::span<const std::byte> clicked) {
  ranking.shown.clear();
  ranking.scores.clear();
  clicks.clear();
  ranks.clear();
  for (std::uint32_t rank = 0; rank < impression.shown.size(); ++rank) {
    const ShownItem& item = impression.shown[rank];
    if (item.pinned) continue;
    ranking.shown.push_back(Doc{static_cast<std::uint32_t>(ranking.shown.size())});
    ranking.scores.push_back(item.sampled_score);
    clicks.push_back(static_cast<std::uint8_t>(clicked[rank]));
    ranks.push_back(rank);
  }
  ranking.rest = impression.rest;
}

}  // namespace plackett::serving
