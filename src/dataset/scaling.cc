#include "plackett/scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace plackett {
namespace {

constexpr std::pair<Scaling, std::string_view> kNames[] = {
    {Scaling::kQueryMinMax, "query-minmax"},
    {Scaling::kNone, "none"},
};

}  // namespace

Result<Scaling> parse_scaling(std::string_view name) {
  for (const auto& [scaling, known] : kNames) {
    if (known == name) return scaling;
  }
  return Error{fmt::format("unknown scaling \"{}\"; known: {}, {}", name, kNames[0].second,
                           kNames[1].second)};
}

std::string_view name_of(Scaling scaling) {
  return kNames[scaling == Scaling::kQueryMinMax ? 0 : 1].second;
}

void scale_query_minmax(float* rows, std::uint32_t doc_count, std::uint32_t feature_count,
                        std::uint32_t stride) {
  if (doc_count == 0) return;
  std::vector<float> low(rows, rows + feature_count);
  std::vector<float> high = low;
  for (std::size_t doc = 1; doc < doc_count; ++doc) {
    const float* row = rows + doc * stride;
    for (std::size_t feature = 0; feature < feature_count; ++feature) {
      low[feature] = std::min(low[feature], row[feature]);
      high[feature] = std::max(high[feature], row[feature]);
    }
  }
  for (std::size_t doc = 0; doc < doc_count; ++doc) {
    float* row = rows + doc * stride;
    for (std::size_t feature = 0; feature < feature_count; ++feature) {
      // In double neither difference rounds to 0 or overflows where the floats differ.
      const double range = static_cast<double>(high[feature]) - low[feature];
      const double above = static_cast<double>(row[feature]) - low[feature];
      row[feature] = range > 0 ? static_cast<float>(above / range) : 0.0F;
    }
  }
}

}  // namespace plackett
