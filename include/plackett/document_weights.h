// PDGD as a loss: what each document's score should do, for a model that is differentiated
// elsewhere.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plackett/export.h"
#include "plackett/index.h"
#include "plackett/pairs.h"
#include "plackett/ranking.h"
#include "plackett/result.h"

namespace plackett {

// A shown list as it comes from outside.
struct ShownList {
  std::span<const double> scores = {};          // of all candidates, when the list was shown
  std::span<const std::uint32_t> ranking = {};  // the documents shown, from the top
  std::span<const std::uint8_t> clicks = {};    // clicks[rank] is 1 if it was clicked, else 0
};

// The ranking with all that pair weights need. Fails if a score is not finite, scores are too far
// apart to subtract, a document is not among the candidates or shown twice, a click is neither
// 0 nor 1, or clicks and ranking differ in length.
PLACKETT_EXPORT Result<Ranking> make_ranking(const ShownList& list);

// weights[doc], one per candidate: how strongly its score should rise (below 0: fall); 0 if it was
// in no inferred pair. Gradient ascent on the sum over docs of weights[doc] * score(doc) is PDGD's
// step (paper, algorithm 1): the negative sum, with constant weights, is a loss. The weights sum
// to 0. Fails as make_ranking does. Cost: O(candidates), plus PairInference::infer for the shown
// ones, at worst cubic in their number: show hundreds, not thousands.
// By the paper's rules, or others.
PLACKETT_EXPORT Result<std::vector<double>> document_weights(const ShownList& list,
                                                             const PairRules& rules = {});

}  // namespace plackett
