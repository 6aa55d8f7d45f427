#include "plackett/metrics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <functional>
#include <utility>

#include "plackett/ndcg.h"

namespace plackett {
namespace {

constexpr std::array kNames = std::to_array<std::string_view>(
    {"NDCG@1", "NDCG@3", "NDCG@5", "NDCG@10", "MRR", "MAP", "ERR@10"});
static_assert(kNames.size() == kMetricCount);

constexpr std::array<std::pair<std::uint32_t, Metric>, 4> kNdcgCutoffs = {
    {{1, Metric::kNdcg1}, {3, Metric::kNdcg3}, {5, Metric::kNdcg5}, {10, Metric::kNdcg10}}};
constexpr std::uint32_t kDeepestNdcg = kNdcgCutoffs.back().first;
constexpr std::uint32_t kErrCutoff = 10;

void set_ndcg(std::span<const Doc> ranking, const Judgments& judgments, MetricSet& result) {
  std::array<std::uint8_t, kDeepestNdcg> ideal{};
  const std::span<const std::uint8_t> labels = judgments.labels();
  std::partial_sort_copy(labels.begin(), labels.end(), ideal.begin(), ideal.end(),
                         std::greater<>());
  double dcg = 0;
  double ideal_dcg = 0;
  std::uint32_t rank = 0;
  for (const auto& [k, metric] : kNdcgCutoffs) {
    for (; rank < k; ++rank) {
      const double discount = rank_discount(rank);
      if (rank < ranking.size()) dcg += gain(judgments.label(ranking[rank])) * discount;
      ideal_dcg += gain(ideal[rank]) * discount;
    }
    result[metric] = ideal_dcg > 0 ? dcg / ideal_dcg : 0;
  }
}

void set_precision(std::span<const Doc> ranking, const Judgments& judgments, MetricSet& result) {
  double precisions = 0;
  double relevant = 0;
  for (std::size_t rank = 0; rank < ranking.size(); ++rank) {
    if (judgments.label(ranking[rank]) == 0) continue;
    const auto place = static_cast<double>(rank + 1);
    if (relevant == 0) result[Metric::kMrr] = 1 / place;
    relevant += 1;
    precisions += relevant / place;
  }
  result[Metric::kMap] = relevant > 0 ? precisions / relevant : 0;
}

void set_err(std::span<const Doc> ranking, const Judgments& judgments, std::uint32_t max_label,
             MetricSet& result) {
  const auto scale = static_cast<double>(std::uint64_t{1} << max_label);
  double reading = 1;  // probability that no document above satisfied the user
  double err = 0;
  const std::size_t cut = std::min<std::size_t>(ranking.size(), kErrCutoff);
  for (std::size_t rank = 0; rank < cut; ++rank) {
    const double satisfied = gain(judgments.label(ranking[rank])) / scale;
    err += reading * satisfied / static_cast<double>(rank + 1);
    reading *= 1 - satisfied;
  }
  result[Metric::kErr] = err;
}

}  // namespace

std::span<const std::string_view, kMetricCount> metric_names() { return kNames; }

Result<Metric> parse_metric(std::string_view name) {
  const auto* const found = std::find(kNames.begin(), kNames.end(), name);
  if (found != kNames.end()) return static_cast<Metric>(found - kNames.begin());
  return Error{fmt::format("unknown metric \"{}\"; known: {}", name, fmt::join(kNames, ", "))};
}

MetricSet metrics(std::span<const Doc> ranking, const Judgments& judgments,
                  std::uint32_t max_label) {
  assert(ranking.size() == judgments.doc_count());
  assert(max_label <= kMaxLabel);
  MetricSet result;
  set_ndcg(ranking, judgments, result);
  set_precision(ranking, judgments, result);
  set_err(ranking, judgments, max_label, result);
  return result;
}

MetricMeans::MetricMeans(NoRelevant policy)
    : means_{QueryMean(policy), QueryMean(policy), QueryMean(policy), QueryMean(policy),
             QueryMean(policy), QueryMean(policy), QueryMean(policy)} {}

void MetricMeans::add(const MetricSet& query_metrics) {
  for (std::size_t at = 0; at < kMetricCount; ++at) means_[at].add(query_metrics.values()[at]);
}

void MetricMeans::add_without_relevant() {
  for (QueryMean& mean : means_) mean.add_without_relevant();
}

MetricSet MetricMeans::means() const {
  MetricSet result;
  for (std::size_t at = 0; at < kMetricCount; ++at) {
    result[static_cast<Metric>(at)] = means_[at].mean();
  }
  return result;
}

}  // namespace plackett
