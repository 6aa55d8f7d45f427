#include <algorithm>

#include "plackett/dataset.h"

namespace plackett {
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
  std::sort(doc_counts.begin(), doc_counts.end());
  info.min_docs = doc_counts.front();
  info.max_docs = doc_counts.back();
  const std::size_t middle = doc_counts.size() / 2;
  const std::uint32_t below = doc_counts[(doc_counts.size() - 1) / 2];
  info.median_docs = (static_cast<double>(below) + doc_counts[middle]) / 2;
  return info;
}

}  // namespace plackett
