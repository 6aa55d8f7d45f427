// PairRank (Jia, Wang, Guo & Wang, WWW 2021), for a linear ranker: it keeps the orders that it is
// certain of and shuffles the rest. Certain is an order whose probability is above 1/2 by more than
// the confidence bound of logistic regression over all pairs learned from so far.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "learner/last_list.h"
#include "learner/pair_regression.h"
#include "plackett/learner.h"
#include "ranker/linear.h"

namespace plackett {

struct PairRankOptions {
  double lambda = 0.1;       // of the ridge lambda |theta|^2, and of A's start lambda I
  double alpha = 0.1;        // width of the confidence bound
  bool disjoint = true;      // pairs of one list share no document
  std::uint32_t refit = 1;   // theta is fitted again after so many new pairs
  std::uint32_t shown = 10;  // k
};

class PairRank final : public Learner {
 public:
  PairRank(std::unique_ptr<LinearRanker> ranker, const PairRankOptions& options);

  // Blocks of documents between which no order is certain, each shuffled, in the order of their
  // scores. `ranking.rest` is empty.
  [[nodiscard]] bool rank(const FeatureView& docs, Rng& rng, Ranking& ranking) override;
  // Ignores clicks on any ranking but the last, which it draws disjoint pairs with the numbers of.
  void learn(const FeatureView& docs, const Ranking& ranking,
             std::span<const std::uint8_t> clicks) override;
  [[nodiscard]] Ranker& ranker() override { return *ranker_; }

  // Its memory is the pairs, so it grows with them. Memory that it did not write is ignored.
  [[nodiscard]] LearnerState state() const override;
  void restore(const LearnerState& state) override;

  // Where the blocks of the last ranking end, for tests: in all documents, best first.
  [[nodiscard]] std::span<const std::uint32_t> block_ends() const { return block_ends_; }

 private:
  void find_blocks(const FeatureView& docs);
  // A += d d^T.
  void add_confidence(std::span<const float> pair);

  std::unique_ptr<LinearRanker> ranker_;
  PairRankOptions options_;
  LearnerState state_;
  std::uint32_t features_;
  PairRegression regression_;
  std::vector<double> confidence_;  // the Cholesky factor of A

  LastList last_;

  // Scratch.
  std::vector<float> scores_;
  std::vector<std::uint32_t> order_;    // documents by score
  std::vector<double> whitened_;        // [document in order][features]: L^-1 x
  std::vector<std::uint64_t> certain_;  // [document][words]: those certainly below it
  std::vector<std::uint32_t> block_ends_;
  std::vector<std::uint32_t> winners_, losers_;
  std::vector<float> theta_;
  std::vector<double> difference_;
};

}  // namespace plackett
