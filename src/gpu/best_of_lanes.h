// A query's best documents under kWarpLanes rankers, one per lane: no lane needs what another has.
#pragma once

#include "gpu/run_learner.h"
#include "gpu/score.h"

namespace plackett::gpu {

// In place of a value: its ties are not yet broken.
inline constexpr double kTied = -1;

// A document that may be among the best.
struct alignas(8) Candidate {
  float score;
  std::uint32_t doc;
};

// The best documents of a query under kWarpLanes rankers, one per lane.
class BestOfLanes {
 public:
  explicit BestOfLanes(const Warp& warp) : warp_(warp) {
    warp_.compute([&](unsigned lane) {
      PLACKETT_UNROLL_ALL
      for (auto& score : scores_) score[lane] = -__builtin_inff();
      PLACKETT_UNROLL_ALL
      for (auto& doc : docs_) doc[lane] = 0;
    });
  }

  [[gnu::always_inline]] void add(const PerLane<Candidate>& candidates) {
    warp_.compute([&](unsigned lane) PLACKETT_INLINE {
      const auto [score, doc] = candidates[lane];
      bool above = score > scores_[kCut][lane];  // the score is above that of the place below
      PLACKETT_UNROLL_ALL
      for (std::uint32_t place = kCut; place > 0; --place) {
        const bool is_further = score > scores_[place - 1][lane];
        const float here = choose(above, score, scores_[place][lane]);
        scores_[place][lane] = choose(is_further, scores_[place - 1][lane], here);
        if (place < kCut) {
          const std::uint32_t doc_here = choose(above, doc, docs_[place][lane]);
          docs_[place][lane] = choose(is_further, docs_[place - 1][lane], doc_here);
        }
        above = is_further;
      }
      scores_[0][lane] = choose(above, score, scores_[0][lane]);
      docs_[0][lane] = choose(above, doc, docs_[0][lane]);
    });
  }

  // Of the last one that is looked at: one more than count.
  [[nodiscard]] float least(unsigned lane) const { return scores_[kCut][lane]; }

  // DCG, or kTied if scores are equal among the best of so many documents, or of the last one and
  // one that is left out.
  [[gnu::always_inline]] double dcg(unsigned lane, std::uint32_t docs, const std::uint8_t* labels,
                                    const double* discounts) const {
    bool tied = false;
    double sum = 0;
    PLACKETT_UNROLL_ALL
    for (std::uint32_t place = 0; place < kCut; ++place) {
      const bool equals_next = scores_[place][lane] == scores_[place + 1][lane];
      tied = tied || (place + 1 < docs && equals_next);
      if (place < docs) sum += gain_of(labels[docs_[place][lane]]) * discounts[place];
    }
    return tied ? kTied : sum;
  }

 private:
  const Warp& warp_;
  PerLane<float> scores_[kCut + 1];  // descending
  PerLane<std::uint32_t> docs_[kCut];
};

inline constexpr unsigned kScoreGroups = 16;

}  // namespace plackett::gpu
