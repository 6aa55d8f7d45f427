// NDCG: gain 2^label - 1, discount 1 / log2(place + 1) with places from 1, cut at k; the ideal
// ranges over the query's whole document set, cut at k.
#pragma once

#include <cassert>
#include <cstdint>
#include <span>
#include <vector>

#include "plackett/dataset.h"
#include "plackett/export.h"
#include "plackett/index.h"
#include "plackett/judgments.h"

namespace plackett {

// Gain of a label: 2^label - 1. Requires: label <= kMaxLabel.
constexpr double gain(std::uint8_t label) {
  return static_cast<double>((std::uint64_t{1} << label) - 1);
}

// Discount of a rank (from 0): 1 at the top.
PLACKETT_EXPORT double rank_discount(std::uint32_t rank);

// A split's ideal DCG at k, computed once, so that one shown list costs O(k). Immutable: safe to
// use from many threads. Holds no reference to the split.
class PLACKETT_EXPORT NdcgTable {
 public:
  // Of every query of the split. Requires: k > 0. Cost: O(documents).
  NdcgTable(const Split& split, std::uint32_t k);

  // k.
  [[nodiscard]] std::uint32_t k() const { return static_cast<std::uint32_t>(discounts_.size()); }

  // NDCG of a list for that query; 0 if the query has no relevant document. Ranks past the end of a
  // short list count as empty. `judgments` are the query's. No allocation.
  [[nodiscard]] double ndcg(Query query, const Judgments& judgments,
                            std::span<const Doc> shown) const {
    assert(index(query) < inverse_ideal_.size());
    const std::size_t cut = shown.size() < discounts_.size() ? shown.size() : discounts_.size();
    double dcg = 0;
    for (std::size_t rank = 0; rank < cut; ++rank) {
      dcg += gain(judgments.label(shown[rank])) * discounts_[rank];
    }
    return dcg * inverse_ideal_[index(query)];
  }

  // What a DCG of the query is multiplied with: 1 / its ideal; 0 if nothing is relevant.
  [[nodiscard]] double inverse_ideal(Query query) const {
    assert(index(query) < inverse_ideal_.size());
    return inverse_ideal_[index(query)];
  }
  // Whether any document of the query has a label above 0.
  [[nodiscard]] bool has_relevant(Query query) const {
    assert(index(query) < inverse_ideal_.size());
    return inverse_ideal_[index(query)] > 0;
  }

 private:
  std::vector<double> discounts_;      // per rank
  std::vector<double> inverse_ideal_;  // per query; 0 if nothing is relevant
};

}  // namespace plackett
