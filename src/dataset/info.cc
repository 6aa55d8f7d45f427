#include "dataset/info.h"

#include <algorithm>

namespace plackett {

SplitInfo summarise(const Split& split, std::uint32_t max_label) {
  SplitInfo info;
  info.queries = split.query_count();
  info.docs = split.doc_count();
  info.features = split.feature_count();
  info.docs_of_label.resize(std::size_t{max_label} + 1);
  std::vector<std::uint32_t> docs;
  docs.reserve(info.queries);
  for (std::uint32_t query = 0; query < info.queries; ++query) {
    const Judgments judgments = split.judgments(Query{query});
    docs.push_back(judgments.doc_count());
    bool relevant = false;
    for (const std::uint8_t label : judgments.labels()) {
      ++info.docs_of_label[label];
      relevant = relevant || label > 0;
    }
    if (!relevant) ++info.queries_without_relevant;
  }
  if (docs.empty()) return info;
  std::sort(docs.begin(), docs.end());
  const std::size_t middle = docs.size() / 2;
  info.min_docs = docs.front();
  info.max_docs = docs.back();
  const double upper = docs[middle];
  info.median_docs = docs.size() % 2 == 1 ? upper : 0.5 * (upper + docs[middle - 1]);
  return info;
}

}  // namespace plackett
