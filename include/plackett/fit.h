// Imitates a present ranking: finds the parameters under which the orders that it showed are most
// likely (the maximum likelihood of the Plackett-Luce distribution, paper, eq. 1 and 2).
// docs/start_from_your_ranking.md shows what for.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "plackett/export.h"
#include "plackett/observed_orders.h"
#include "plackett/option.h"
#include "plackett/ranker.h"
#include "plackett/result.h"

namespace plackett {

// How a ranker is fitted.
struct FitOptions {
  // The fit maximises the mean log-likelihood of a list minus ridge * |parameters|^2 / 2. Without
  // it, parameters that reproduce every order would grow without bound.
  double ridge = 1e-4;
  // All scores are divided by this after the fit: below 1 sampled lists vary less, above 1 more.
  double temperature = 1;
  // The share of the lists, rounded down, that is not fitted but measured on. Networks stop early
  // by them: the parameters kept are those under which they are most likely.
  double held_out = 0.2;
  std::uint32_t iterations = 500;  // at most
  std::uint64_t seed = 1;          // of the choice of the lists that are held out
  std::uint32_t threads = 0;       // 0: one per core; the result has the same bits for any number
  // Asked before the likelihood is computed again, which takes longest with a network and many
  // lists; once it returns true, the fit fails with ErrorCode::kStopped.
  std::function<bool()> stop = {};
  // Told how many iterations were taken, after each.
  std::function<void(std::uint32_t iterations)> stepped = {};
};

// Their declarations.
PLACKETT_EXPORT std::span<const Option<FitOptions>> fit_options();

// How well a ranker reproduces observed orders: means over lists of at least two candidates; 0 if
// there are none. Pairs are those whose order is known: two shown documents, or a shown one and one
// that was not shown, which counts as below it.
struct Agreement {
  std::uint64_t lists = 0;  // that were measured on
  // Kendall's tau of the documents sorted by score: the share of pairs in the observed order minus
  // the share in the other; equal scores count as neither.
  double kendall_tau = 0;
  double same_first = 0;  // the share of lists whose first document has the highest score
  // The expected tau of a sampled ranking, exactly: two documents are in the order of their scores
  // with probability 1 / (1 + exp(-difference)).
  double sampled_kendall_tau = 0;
  double sampled_same_first = 0;  // the probability that a sampled list starts as observed
  double log_likelihood = 0;      // of the observed order
};

// What a fit came to.
struct FitReport {
  Agreement fitted = {};         // on the lists that were fitted, after the temperature
  Agreement held_out = {};       // on those that were held out, likewise
  std::uint32_t iterations = 0;  // taken
  // Whether it ended because nothing was left to gain: at the maximum, or, for a network, where the
  // lists held out became less likely. Otherwise the iterations were used up.
  bool converged = false;
};

// Fits a ranker, from the parameters that it has; a linear ranker ends at the one maximum from any.
// Only lists of at least two candidates count. A function of (orders, ranker's parameters,
// options), to the bit; the instruction sets' kernels differ as they do in scoring. Fails if no
// list has two candidates, the number of features is another, an option is not allowed, a score is
// not finite at the start or after the temperature, or the ranker can't divide its scores
// (Ranker::divide_scores) by a temperature other than 1; the parameters then stay as they were.
// Cost: an iteration scores each list about once and takes its gradient once.
PLACKETT_EXPORT Result<FitReport> fit(const ObservedOrders& orders, Ranker& ranker,
                                      const FitOptions& options);

}  // namespace plackett
