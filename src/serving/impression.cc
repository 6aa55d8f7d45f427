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
                            *std::move(unpacked)};
  });
}

Result<void> find_others(StoreReader& store, Impression& impression) {
  const std::uint32_t features = impression.feature_count;
  const std::size_t stride = padded_width(features);
  // The least and the greatest values are rows as well, so that scaling finds them again.
  AlignedVector<float> scaled(impression.bounds.empty() ? 0 : 3 * stride);
  return attempt([&] {
    for (std::size_t at = 0; at < impression.others.size(); ++at) {
      OtherItem& other = impression.others[at];
      if (other.version == 0) continue;
      auto found = take(store.item_version(other.version));
      if (!found || found->features.size() != features * sizeof(float)) {
        throw Failed{Error{"a candidate's features are missing in the store, or damaged"}};
      }
      float* row = impression.other_rows.data() + at * stride;
      std::memcpy(row, found->features.data(), found->features.size());
      if (!scaled.empty()) {
        std::copy_n(row, features, scaled.begin());
        std::copy_n(impression.bounds.begin(), features, scaled.data() + stride);
        std::copy_n(impression.bounds.begin() + features, features, scaled.data() + 2 * stride);
        scale_query_minmax(scaled.data(), 3, features, static_cast<std::uint32_t>(stride));
        std::copy_n(scaled.begin(), features, row);
      }
      other.id = std::move(found->id);
      other.version = 0;
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
