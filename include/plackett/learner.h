// An online method: decides what to show, then learns from what was clicked. It sees features
// and clicks, never a label.
#pragma once

#include <cstdint>
#include <span>

#include "plackett/export.h"
#include "plackett/feature_view.h"
#include "plackett/index.h"
#include "plackett/model_file.h"
#include "plackett/ranker.h"
#include "plackett/ranking.h"
#include "plackett/rng.h"

namespace plackett {

// Ranks and learns. Its hyper-parameters are fixed, its scratch its own. One thread at a time.
class PLACKETT_EXPORT Learner {
 public:
  virtual ~Learner() = default;
  Learner& operator=(const Learner&) = delete;
  Learner& operator=(Learner&&) = delete;

  // Chooses what to show for these candidates: min(k, doc_count) distinct docs. Reuses
  // `ranking`'s memory. False, and `ranking` as it was, where a score is not finite: the
  // parameters have left the range of numbers. Requires: doc_count > 0.
  [[nodiscard]] virtual bool rank(const FeatureView& docs, Rng& rng, Ranking& ranking) = 0;

  // Learns from clicks on a ranking that rank() gave for these candidates: clicks[rank] is 1 where
  // it was clicked, else 0. `ranking` may be old: its own scores are used, not the present ones.
  // Requires: clicks.size() == ranking.shown.size().
  virtual void learn(const FeatureView& docs, const Ranking& ranking,
                     std::span<const std::uint8_t> clicks) = 0;

  // The ranker as learned so far, for evaluation and saving. Lives as long as the learner; the next
  // learn() changes it.
  [[nodiscard]] virtual Ranker& ranker() = 0;

  // What besides the ranker's parameters changes as it learns. The state's `impressions` are the
  // caller's to count.
  [[nodiscard]] virtual LearnerState state() const = 0;
  // Goes on from there: a learner made with the same options, given the same parameters and
  // restored, goes on as the one that gave the state would, to the bit.
  virtual void restore(const LearnerState& state) = 0;

 protected:
  Learner() = default;
  Learner(const Learner&) = default;
  Learner(Learner&&) = default;
};

}  // namespace plackett
