// The part of an impression that is learned from: what was sampled, without what was pinned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plackett/ranking.h"
#include "store/impression.h"

namespace plackett::serving {

struct LearnedList {
  Ranking ranking;                   // its docs are the rows of the impression, in order
  std::vector<std::uint8_t> clicks;  // a rank of the ranking
  std::vector<std::uint32_t> ranks;  // where each stood in what was shown

  // Reuses its memory. Requires: `clicked` has a byte for every shown item.
  void set(const store::Impression& impression, std::span<const std::byte> clicked) {
    ranking.shown.clear();
    ranking.scores.clear();
    clicks.clear();
    ranks.clear();
    for (std::uint32_t rank = 0; rank < impression.shown.size(); ++rank) {
      const store::ShownItem& item = impression.shown[rank];
      if (item.pinned) continue;
      ranking.shown.push_back(Doc{static_cast<std::uint32_t>(ranking.shown.size())});
      ranking.scores.push_back(item.sampled_score);
      clicks.push_back(static_cast<std::uint8_t>(clicked[rank]));
      ranks.push_back(rank);
    }
    ranking.rest = impression.rest;
  }
};

}  // namespace plackett::serving
