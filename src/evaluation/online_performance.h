// Online performance: how well a method served its users while it learned.
#pragma once

namespace plackett {

// The weight of an impression relative to the one before it (paper, section 4.4).
inline constexpr double kOnlineDiscount = 0.9995;

// The sum over impressions t = 1, 2, ... of ndcg_t * kOnlineDiscount^(t - 1).
class OnlinePerformance {
 public:
  constexpr void add(double ndcg) {
    total_ += ndcg * weight_;
    weight_ *= kOnlineDiscount;
    // Far below the sum's precision; avoids denormal arithmetic after a million impressions.
    if (weight_ < 1e-300) weight_ = 0;
  }
  [[nodiscard]] constexpr double total() const { return total_; }

 private:
  double total_ = 0;
  double weight_ = 1;
};

}  // namespace plackett
