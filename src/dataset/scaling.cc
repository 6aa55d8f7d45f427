#include "plackett/scaling.h"

#include <fmt/format.h>

#include <utility>

#include "base/kernels.h"

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
  kernels().scale_minmax(rows, doc_count, stride, feature_count);
}

}  // namespace plackett
