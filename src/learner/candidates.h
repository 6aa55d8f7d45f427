// Candidate rankers: the current one, moved along directions drawn uniformly from the unit sphere
// (for a network: one direction over all its parameters together).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "plackett/feature_view.h"
#include "plackett/ranker.h"
#include "plackett/rng.h"
#include "sampling/score_table.h"

namespace plackett {

class Candidates {
 public:
  // For rankers of this shape. Requires: count > 0.
  Candidates(const Ranker& ranker, std::uint32_t count);

  void draw(Rng& rng);
  // The score of every document for the current ranker (row 0) and the candidates.
  void score(Ranker& current, const FeatureView& docs, ScoreTable& scores);
  // to += scale * the candidate's unit direction.
  void add_direction(std::size_t candidate, double scale, std::span<float> to) const;

 private:
  bool linear_;  // the scores are dot products: those of all directions are computed together
  std::uint32_t count_;
  std::size_t parameter_count_;
  std::size_t stride_;               // of a direction
  AlignedVector<float> directions_;  // [candidate][stride]: normals, not normalised
  std::vector<float> scales_;        // 1 / length
  std::unique_ptr<Ranker> probe_;    // scores with the candidates' parameters in turn
  std::vector<float> parameters_;
  std::vector<float> moved_;
};

}  // namespace plackett
