// The measures of a ranking that `plackett evaluate` prints. A document is relevant if its label is
// above 0.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "plackett/export.h"
#include "plackett/index.h"
#include "plackett/judgments.h"
#include "plackett/no_relevant.h"
#include "plackett/result.h"

namespace plackett {

// Which measure.
enum class Metric : std::uint8_t {
  kNdcg1,   // NDCG cut at 1 (ndcg.h)
  kNdcg3,   // at 3
  kNdcg5,   // at 5
  kNdcg10,  // at 10
  kMrr,     // 1 / place of the first relevant document, without a cut
  kMap,     // mean of the precision at each relevant document, without a cut
  kErr,     // expected reciprocal rank (Chapelle et al., CIKM 2009), cut at 10
};
// How many there are.
inline constexpr std::size_t kMetricCount = 7;

// "NDCG@1", ..., "MRR", "MAP", "ERR@10", in the order of the enum.
PLACKETT_EXPORT std::span<const std::string_view, kMetricCount> metric_names();

// Fails on an unknown name; the error lists the known ones.
PLACKETT_EXPORT Result<Metric> parse_metric(std::string_view name);

// One number per metric.
class MetricSet {
 public:
  // The metric's number, mutable.
  double& operator[](Metric metric) { return values_[static_cast<std::size_t>(metric)]; }
  // The metric's number.
  double operator[](Metric metric) const { return values_[static_cast<std::size_t>(metric)]; }
  // All, in the order of the enum.
  [[nodiscard]] std::span<const double, kMetricCount> values() const { return values_; }

 private:
  std::array<double, kMetricCount> values_{};
};

// The metrics of one query's ranking of all its documents, best first; all 0 if no document is
// relevant. `max_label` is the dataset's: in ERR a document with that label satisfies with
// probability 1 - 2^-max_label. Requires: ranking is a permutation of the query's documents;
// labels <= max_label. No allocation.
PLACKETT_EXPORT MetricSet metrics(std::span<const Doc> ranking, const Judgments& judgments,
                                  std::uint32_t max_label);

// The mean of every metric over queries, with the same policy for all.
class PLACKETT_EXPORT MetricMeans {
 public:
  // Starts with no query.
  explicit MetricMeans(NoRelevant policy);

  // Adds a query with a relevant document.
  void add(const MetricSet& query_metrics);
  // Adds a query without one, by the policy.
  void add_without_relevant();

  // How many queries count.
  [[nodiscard]] std::uint64_t count() const { return means_.front().count(); }
  // All 0 if no query counts.
  [[nodiscard]] MetricSet means() const;

 private:
  std::array<QueryMean, kMetricCount> means_;
};

}  // namespace plackett
