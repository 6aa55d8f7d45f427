// The best fixed linear ranker of a world, which dynamic regret is measured against. It is fit to
// the labels: no learner sees it.
#pragma once

#include <cstdint>
#include <vector>

#include "plackett/dataset.h"
#include "plackett/ndcg.h"

namespace plackett {

// The NDCG of each query, ranked by weights that are fit to all of the split's labels: 20,000
// steps of stochastic gradient descent on pairwise logistic losses, each weighted by how much NDCG
// a swap of the two documents would change (LambdaRank; Burges, 2010), from 0, with steps of
// 1 / sqrt(1 + step / 200). Of the weights after every 1,000 steps, those with the highest mean
// NDCG on the split. Equal scores are in the order of the file. A function of its arguments, to the
// bit. Cost: about a second per 10 million pairs of documents with different labels.
std::vector<double> best_linear(const Split& split, const NdcgTable& ndcg, std::uint64_t seed);

}  // namespace plackett
