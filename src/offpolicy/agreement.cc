#include "offpolicy/agreement.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace plackett {

Agreement list_agreement(std::span<const float> scores, std::uint32_t shown,
                         ListLikelihood& likelihood) {
  assert(scores.size() > 1 && shown > 0 && shown <= scores.size());
  double in_order = 0;  // minus those that are not
  double expected = 0;
  double pairs = 0;
  for (std::size_t rank = 0; rank < shown; ++rank) {
    for (const float other : scores.subspan(rank + 1)) {
      const double lead = static_cast<double>(scores[rank]) - other;
      in_order += lead > 0 ? 1 : lead < 0 ? -1 : 0;
      expected += std::tanh(lead / 2);  // P(in order) - P(not)
    }
    pairs += static_cast<double>(scores.size() - rank - 1);
  }
  Mass all;
  for (const float score : scores) all.add(score);
  const bool first = std::all_of(scores.begin() + 1, scores.end(),
                                 [&](float other) { return other < scores.front(); });
  return {.lists = 1,
          .kendall_tau = in_order / pairs,
          .same_first = first ? 1.0 : 0.0,
          .sampled_kendall_tau = expected / pairs,
          .sampled_same_first = std::exp(scores.front() - all.shift) / all.sum,
          .log_likelihood = likelihood.log_likelihood(scores, shown)};
}

namespace {

constexpr double Agreement::*kMeasures[] = {
    &Agreement::kendall_tau, &Agreement::same_first, &Agreement::sampled_kendall_tau,
    &Agreement::sampled_same_first, &Agreement::log_likelihood};

void add(const Agreement& more, Agreement& sum) {
  sum.lists += more.lists;
  for (const auto measure : kMeasures) sum.*measure += more.*measure;
}

}  // namespace

bool measure(const ObservedOrders& orders, std::span<const std::size_t> lists, const Ranker& ranker,
             unsigned threads, Agreement& means) {
  means = {};
  if (lists.empty()) return true;
  OrderLikelihood all(orders, lists, ranker, threads);
  std::vector<float> parameters(ranker.parameter_count());
  ranker.get_parameters(parameters);
  std::vector<Agreement> sums(all.workers());
  std::vector<ListLikelihood> likelihoods(all.workers());
  const bool finite = all.score(
      parameters, [&](std::size_t worker, std::size_t list, std::span<const float> scores) {
        add(list_agreement(scores, orders.shown(list), likelihoods[worker]), sums[worker]);
      });
  if (!finite) return false;
  for (const Agreement& sum : sums) add(sum, means);
  for (const auto measure : kMeasures) means.*measure /= static_cast<double>(means.lists);
  return true;
}

}  // namespace plackett
