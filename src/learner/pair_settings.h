// The settings of methods that learn from PDGD's pairs.
#pragma once

#include <array>
#include <string_view>

#include "plackett/pairs.h"
#include "plackett/setting.h"

namespace plackett {

inline constexpr std::string_view kPairs = "pairs";
inline constexpr std::string_view kSharpness = "sharpness";
inline constexpr std::array<std::string_view, 2> kPairNames{"seen", "above"};  // as PairKind

inline constexpr Setting kPairsSetting{
    .name = kPairs,
    .help =
        "which unclicked documents a clicked one is preferred to: all that were seen, or only "
        "those above it, which is sound for users who leave satisfied too",
    .names = kPairNames};

constexpr Setting sharpness_setting(double fallback) {
  return {.name = kSharpness,
          .help = "pairs count as if the scores were closer by this factor",
          .fallback = fallback,
          .least = 0.01,
          .most = 100};
}

inline PairRules pair_rules(const SettingValues& settings) {
  return {static_cast<PairKind>(settings.whole(kPairs)), settings.number(kSharpness)};
}

}  // namespace plackett
