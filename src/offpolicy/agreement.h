// How well scores reproduce an observed order.
#pragma once

#include <span>
#include <vector>

#include "offpolicy/order_likelihood.h"
#include "plackett/fit.h"

namespace plackett {

// Of one list; `shown` of its documents come first, in the order shown. Requires: scores finite, at
// least two; 0 < shown <= scores.size(). Cost: O(shown x documents).
Agreement list_agreement(std::span<const float> scores, std::uint32_t shown,
                         ListLikelihood& likelihood);

// The means over some lists. False if a score is not finite. The bits don't depend on `threads`.
bool measure(const ObservedOrders& orders, std::span<const std::size_t> lists, const Ranker& ranker,
             unsigned threads, Agreement& means);

}  // namespace plackett
