// Lists in the order in which another ranking showed them: what a ranker is fitted to (fit.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plackett/export.h"
#include "plackett/feature_view.h"
#include "plackett/result.h"

namespace plackett {

// Observed orders. Keeps copies of the rows: 4 bytes per feature of a candidate. Reading is safe
// from many threads at once.
class PLACKETT_EXPORT ObservedOrders {
 public:
  // Without a list. Lists have documents of this many features.
  explicit ObservedOrders(std::uint32_t feature_count) : feature_count_(feature_count) {}

  // Adds a list: all its candidates, the first `shown` of them in the order in which they were
  // shown, best first; the others were not shown, and their order means nothing. The features are
  // as the ranker is going to read them, so scaled, if it reads scaled ones. Fails, and adds
  // nothing, if the number of features is another, a value is not finite, or `shown` is not from 1
  // to the number of candidates.
  Result<void> add(const FeatureView& docs, std::uint32_t shown);

  // Number of lists.
  [[nodiscard]] std::size_t size() const { return orders_.size(); }
  // Features per document.
  [[nodiscard]] std::uint32_t feature_count() const { return feature_count_; }
  // The candidates of a list. Valid until the next add(). Requires: order < size().
  [[nodiscard]] FeatureView docs(std::size_t order) const {
    const Order& one = orders_[order];
    return FeatureView::of(one.rows.data(), one.doc_count, feature_count_, feature_count_);
  }
  // How many of them were shown. Requires: order < size().
  [[nodiscard]] std::uint32_t shown(std::size_t order) const { return orders_[order].shown; }

 private:
  struct Order {
    std::vector<float> rows;
    std::uint32_t doc_count = 0;
    std::uint32_t shown = 0;
  };

  std::uint32_t feature_count_;
  std::vector<Order> orders_;
};

}  // namespace plackett
