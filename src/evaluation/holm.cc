#include "evaluation/holm.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace plackett {

std::vector<double> holm(std::span<const double> p) {
  std::vector<double> corrected(p.begin(), p.end());
  std::vector<double*> order;
  for (double& value : corrected) {
    if (!std::isnan(value)) order.push_back(&value);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const double* one, const double* other) { return *one < *other; });
  double largest = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    largest =
        std::max(largest, std::min(1.0, *order[rank] * static_cast<double>(order.size() - rank)));
    *order[rank] = largest;
  }
  return corrected;
}

}  // namespace plackett
