#include "plackett/ndcg.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace plackett {
namespace {

double ideal_dcg(const Judgments& judgments, std::span<const double> discounts) {
  std::array<std::uint32_t, kMaxLabel + 1> docs_of_label{};
  for (const std::uint8_t label : judgments.labels()) ++docs_of_label[label];
  double dcg = 0;
  std::size_t rank = 0;
  for (std::size_t label = kMaxLabel; label > 0; --label) {
    const std::size_t end = std::min(discounts.size(), rank + docs_of_label[label]);
    for (; rank < end; ++rank) dcg += gain(static_cast<std::uint8_t>(label)) * discounts[rank];
  }
  return dcg;
}

}  // namespace

double rank_discount(std::uint32_t rank) { return 1.0 / std::log2(static_cast<double>(rank) + 2); }

NdcgTable::NdcgTable(const Split& split, std::uint32_t k) {
  assert(k > 0);
  discounts_.reserve(k);
  for (std::uint32_t rank = 0; rank < k; ++rank) discounts_.push_back(rank_discount(rank));
  inverse_ideal_.reserve(split.query_count());
  for (std::uint32_t query = 0; query < split.query_count(); ++query) {
    const double ideal = ideal_dcg(split.judgments(Query{query}), discounts_);
    inverse_ideal_.push_back(ideal > 0 ? 1 / ideal : 0);
  }
}

}  // namespace plackett
