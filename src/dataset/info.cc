#include <algorithm>

#include "plackett/dataset.h"

namespace plackett {
namespace {

// Requires: counts not empty. Reorders them.
double median(std::vector<std::uint32_t>& counts) {
  const auto middle = counts.begin() + static_cast<std::ptrdiff_t>(counts.size() / 2);
  std::nth_element(counts.begin(), middle, counts.end());
  if (counts.size() % 2 == 1) return *middle;
  const std::uint32_t below = *std::max_element(counts.begin(), middle);
  return (static_cast<double>(below) + *middle) / 2;
}

}  // namespace

SplitInfo describe(const Split& split, std::uint32_t max_label) {
  SplitInfo info;
  info.queries = split.query_count();
  info.documents = split.doc_count();
  info.label_counts.assign(max_label + 1, 0);
  std::vector<std::uint32_t> doc_counts;
  doc_counts.reserve(info.queries);
  for (std::uint32_t query = 0; query < info.queries; ++query) {
    const auto labels = split.judgments(Query{query}).labels();
    bool relevant = false;
    for (const std::uint8_t label : labels) {
      if (label >= info.label_counts.size()) info.label_counts.resize(label + 1U, 0);
      ++info.label_counts[label];
      relevant = relevant || label > 0;
    }
    if (!relevant) ++info.queries_without_relevant;
    doc_counts.push_back(static_cast<std::uint32_t>(labels.size()));
  }
  if (doc_counts.empty()) return info;
  const auto [least, most] = std::minmax_element(doc_counts.begin(), doc_counts.end());
  info.min_docs = *least;
  info.max_docs = *most;
  info.median_docs = median(doc_counts);
  return info;
}

}  // namespace plackett
