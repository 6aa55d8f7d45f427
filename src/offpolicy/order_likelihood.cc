#include "offpolicy/order_likelihood.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "sampling/finite.h"

namespace plackett {
namespace {

// Each has a gradient of its own: fewer where there are many parameters.
std::size_t worker_count(std::size_t lists, std::size_t parameters) {
  constexpr std::size_t kMost = 64;
  constexpr std::size_t kLeast = 8;
  constexpr std::size_t kGradientNumbers = std::size_t{1} << 24;
  return std::min(lists, std::clamp(kGradientNumbers / parameters, kLeast, kMost));
}

}  // namespace

double ListLikelihood::log_likelihood(std::span<const float> scores, std::uint32_t shown) {
  assert(shown > 0 && shown <= scores.size());
  left_.resize(shown);
  Mass left;
  for (const float score : scores.subspan(shown)) left.add(score);
  double log_likelihood = 0;
  for (std::size_t rank = shown; rank-- > 0;) {
    left.add(scores[rank]);
    left_[rank] = left;
    log_likelihood += (scores[rank] - left.shift) - std::log(left.sum);
  }
  return log_likelihood;
}

// A document's weight is 1 if it was shown, minus the probability of its choice at each rank at
// which it was still unplaced: exp(score) times the sum of 1 / mass over those ranks. The sum is
// kept relative to the highest score left, which only falls from rank to rank.
void ListLikelihood::weights(std::span<const float> scores, std::span<DocWeight> weights) const {
  assert(weights.size() == scores.size());
  double shift = left_.front().shift;
  double inverse_masses = 0;
  const auto probability = [&](std::size_t doc) {
    return std::exp(scores[doc] - shift) * inverse_masses;
  };
  for (std::size_t rank = 0; rank < left_.size(); ++rank) {
    const Mass& left = left_[rank];
    if (left.shift < shift) inverse_masses *= std::exp(left.shift - shift);
    shift = left.shift;
    inverse_masses += 1 / left.sum;
    weights[rank] = {Doc{static_cast<std::uint32_t>(rank)},
                     static_cast<float>(1 - probability(rank))};
  }
  for (std::size_t doc = left_.size(); doc < scores.size(); ++doc) {
    weights[doc] = {Doc{static_cast<std::uint32_t>(doc)}, static_cast<float>(-probability(doc))};
  }
}

OrderLikelihood::OrderLikelihood(const ObservedOrders& orders, std::span<const std::size_t> lists,
                                 const Ranker& ranker, unsigned threads)
    : orders_(orders),
      lists_(lists),
      threads_(thread_count(threads)),
      workers_(worker_count(lists.size(), ranker.parameter_count())) {
  for (Worker& worker : workers_) {
    worker.ranker = ranker.clone();
    worker.list_gradient.resize(ranker.parameter_count());
  }
}

void OrderLikelihood::each_list(
    std::span<const float> parameters,
    const std::function<void(std::size_t worker, std::size_t list)>& use) {
  parallel_for(threads_, workers_.size(), [&](std::size_t at) {
    Worker& worker = workers_[at];
    worker.ranker->set_parameters(parameters);
    worker.finite = true;
    worker.sum = 0;
    const std::size_t begin = lists_.size() * at / workers_.size();
    const std::size_t end = lists_.size() * (at + 1) / workers_.size();
    for (std::size_t number = begin; number < end && worker.finite; ++number) {
      use(at, lists_[number]);
    }
  });
}

bool OrderLikelihood::score(std::span<const float> parameters,
                            const std::function<void(std::size_t worker, std::size_t list,
                                                     std::span<const float> scores)>& use) {
  each_list(parameters, [&](std::size_t at, std::size_t list) {
    Worker& worker = workers_[at];
    const FeatureView docs = orders_.docs(list);
    worker.scores.resize(docs.doc_count());
    worker.ranker->score(docs, worker.scores);
    worker.finite = all_finite(worker.scores);
    if (worker.finite) use(at, list, worker.scores);
  });
  return std::all_of(workers_.begin(), workers_.end(),
                     [](const Worker& worker) { return worker.finite; });
}

void OrderLikelihood::add_up(std::span<double> gradient) const {
  std::fill(gradient.begin(), gradient.end(), 0.0);
  for (const Worker& worker : workers_) {
    for (std::size_t at = 0; at < gradient.size(); ++at) gradient[at] += worker.gradient[at];
  }
}

double OrderLikelihood::mean(std::span<const float> parameters, std::span<double> gradient) {
  for (Worker& worker : workers_) worker.gradient.assign(gradient.size(), 0.0);
  const bool finite =
      score(parameters, [&](std::size_t at, std::size_t list, std::span<const float> scores) {
        Worker& worker = workers_[at];
        worker.sum += worker.likelihood.log_likelihood(scores, orders_.shown(list));
        if (gradient.empty()) return;
        worker.weights.resize(scores.size());
        worker.likelihood.weights(scores, worker.weights);
        worker.ranker->gradient(orders_.docs(list), worker.weights, worker.list_gradient);
        for (std::size_t one = 0; one < gradient.size(); ++one) {
          worker.gradient[one] += worker.list_gradient[one];
        }
      });
  if (!finite) return std::numeric_limits<double>::quiet_NaN();
  const auto lists = static_cast<double>(lists_.size());
  add_up(gradient);
  for (double& value : gradient) value /= lists;
  double sum = 0;
  for (const Worker& worker : workers_) sum += worker.sum;
  return sum / lists;
}

std::vector<double> OrderLikelihood::spread(std::span<const float> parameters) {
  std::vector<double> spread(parameters.size());
  for (Worker& worker : workers_) worker.gradient.assign(parameters.size(), 0.0);
  each_list(parameters, [&](std::size_t at, std::size_t list) {
    Worker& worker = workers_[at];
    const FeatureView docs = orders_.docs(list);
    const std::uint32_t paired = docs.doc_count() / 2 * 2;
    worker.weights.resize(paired);
    for (std::uint32_t doc = 0; doc < paired; ++doc) {
      worker.weights[doc] = {Doc{doc}, doc % 2 == 0 ? 1.0F : -1.0F};
    }
    worker.ranker->gradient(docs, worker.weights, worker.list_gradient);
    for (std::size_t one = 0; one < parameters.size(); ++one) {
      const double slope = worker.list_gradient[one];
      worker.gradient[one] += slope * slope / paired;
    }
  });
  add_up(spread);
  for (double& value : spread) value = std::sqrt(value / static_cast<double>(lists_.size()));
  return spread;
}

}  // namespace plackett
