#include "plackett/observed_orders.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace plackett {

Result<void> ObservedOrders::add(const FeatureView& docs, std::uint32_t shown) {
  if (docs.feature_count() != feature_count_ || feature_count_ == 0) {
    return Error{fmt::format("{} features; expected {}", docs.feature_count(),
                             feature_count_ == 0 ? "at least 1" : std::to_string(feature_count_))};
  }
  if (docs.doc_count() == 0) return Error{"no candidate; a list has at least 1"};
  if (shown == 0 || shown > docs.doc_count()) {
    return Error{fmt::format("{} shown of {} candidates; expected 1 to {}", shown, docs.doc_count(),
                             docs.doc_count())};
  }
  Order order{.rows = {}, .doc_count = docs.doc_count(), .shown = shown};
  order.rows.reserve(std::size_t{docs.doc_count()} * feature_count_);
  for (std::uint32_t doc = 0; doc < docs.doc_count(); ++doc) {
    const auto row = docs.row(Doc{doc});
    for (std::size_t feature = 0; feature < row.size(); ++feature) {
      if (std::isfinite(row[feature])) continue;
      return Error{fmt::format("candidate {}, feature {}: {}; features must be finite", doc + 1,
                               feature + 1, row[feature])};
    }
    order.rows.insert(order.rows.end(), row.begin(), row.end());
  }
  orders_.push_back(std::move(order));
  return {};
}

}  // namespace plackett
