// How likely observed orders are under a ranker, and the gradient of that.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "plackett/mass.h"
#include "plackett/observed_orders.h"
#include "plackett/ranker.h"

namespace plackett {

// log P of the first `shown` documents in this order among all, and its derivative with respect to
// each score. Right for any finite scores: the masses of each rank are relative to the highest
// score that is left there.
class ListLikelihood {
 public:
  // Requires: scores finite; 0 < shown <= scores.size().
  double log_likelihood(std::span<const float> scores, std::uint32_t shown);
  // After log_likelihood() of the same list: the weight of every document.
  // Requires: weights.size() == scores.size().
  void weights(std::span<const float> scores, std::span<DocWeight> weights) const;

 private:
  std::vector<Mass> left_;  // left_[rank]: of the documents at that rank and below, and the rest
};

// The sum over some lists, spread over threads. Which part of the sum is added when never depends
// on the number of threads, so neither do the bits.
class OrderLikelihood {
 public:
  // `lists`: indices into `orders`. Keeps references to both. Works on copies of `ranker`.
  OrderLikelihood(const ObservedOrders& orders, std::span<const std::size_t> lists,
                  const Ranker& ranker, unsigned threads);

  // The mean log-likelihood of a list under these parameters; NaN if a score is not finite. Writes
  // the gradient, if it has a size, in that case without meaning.
  // Requires: one parameter each; at least one list.
  double mean(std::span<const float> parameters, std::span<double> gradient);

  // Calls use(list, scores) for every list, each worker's own in order, several at once: worker w
  // of workers() does not run beside itself. False if a score is not finite.
  bool score(std::span<const float> parameters,
             const std::function<void(std::size_t worker, std::size_t list,
                                      std::span<const float> scores)>& use);
  // For each parameter the root of its mean squared gradient over lists, when the documents'
  // weights are by turns 1 and -1: how far the scores of a list spread by this parameter.
  std::vector<double> spread(std::span<const float> parameters);

  [[nodiscard]] std::size_t workers() const { return workers_.size(); }

 private:
  // What is summed on its own. A worker has a fixed part of the lists.
  struct Worker {
    std::unique_ptr<Ranker> ranker;
    ListLikelihood likelihood;
    std::vector<float> scores;
    std::vector<DocWeight> weights;
    std::vector<float> list_gradient;
    std::vector<double> gradient;
    double sum = 0;
    bool finite = true;
  };

  void each_list(std::span<const float> parameters,
                 const std::function<void(std::size_t worker, std::size_t list)>& use);
  // Adds the gradients of all workers, in order.
  void add_up(std::span<double> gradient) const;

  const ObservedOrders& orders_;
  std::span<const std::size_t> lists_;
  unsigned threads_;
  std::vector<Worker> workers_;
};

}  // namespace plackett
