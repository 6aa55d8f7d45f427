// An online method: decides what to show, then learns from what was clicked. It sees features
// and clicks, never a label.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "plackett/export.h"
#include "plackett/feature_view.h"
#include "plackett/index.h"
#include "plackett/model_file.h"
#include "plackett/ranker.h"
#include "plackett/ranking.h"
#include "plackett/rng.h"

namespace plackett {

// Ranks and learns. Its hyper-parameters are fixed; it owns its scratch. One thread at a time.
class PLACKETT_EXPORT Learner {
 public:
  virtual ~Learner() = default;
  Learner& operator=(const Learner&) = delete;
  Learner& operator=(Learner&&) = delete;

  // Chooses what to show for these candidates: min(k, doc_count) distinct docs. Reuses
  // `ranking`'s memory. Returns false and leaves `ranking` as it was if a score is not finite.
  // Requires: doc_count > 0.
  [[nodiscard]] virtual bool rank(const FeatureView& docs, Rng& rng, Ranking& ranking) = 0;

  // Learns from clicks on a ranking that rank() gave for these candidates: clicks[rank] is 1 if it
  // was clicked, else 0. A servable method (Method) also takes an old ranking: it uses the scores
  // in `ranking`, not the current ones. Other methods learn only from the last ranking that they
  // gave, with the same view, and ignore any other.
  // Requires: clicks.size() == ranking.shown.size().
  virtual void learn(const FeatureView& docs, const Ranking& ranking,
                     std::span<const std::uint8_t> clicks) = 0;

  // The ranker as learned so far, for evaluation and saving. Valid as long as the learner; the next
  // learn() changes it.
  [[nodiscard]] virtual Ranker& ranker() = 0;

  // The ranker that rank() samples from, if it is another: a method may evaluate and save an
  // average of what it explored with. Valid as long as the learner; the next learn() changes it.
  [[nodiscard]] virtual Ranker& explorer() { return ranker(); }

  // Goes on from these parameters, as if it had learned them. What is set on ranker() alone may not
  // reach the ranker that it explores with.
  // Requires: parameters.size() == ranker().parameter_count().
  virtual void set_parameters(std::span<const float> parameters) {
    ranker().set_parameters(parameters);
  }

  // Goes on from parameters that were fitted to another ranking (fit.h), not learned from clicks.
  // `mean_squares` holds, for each parameter, the mean of its squared gradient over lists of that
  // ranking: methods whose steps depend on past gradients start with steps as short as after
  // kFittedUpdates of them, so that the first clicks change little of what was fitted.
  // Requires: both spans have ranker().parameter_count() values; mean_squares are at least 0.
  virtual void start_from_fit(std::span<const float> parameters,
                              std::span<const float> /*mean_squares*/) {
    set_parameters(parameters);
  }
  // How many updates a fitted start counts as.
  static constexpr double kFittedUpdates = 4000;

  // How often it started over since it was made because its clicks dropped; nothing if it never
  // does that.
  [[nodiscard]] virtual std::optional<std::uint64_t> restarts() const { return {}; }

  // What changes as it learns besides the ranker's parameters. The caller counts `impressions`.
  [[nodiscard]] virtual LearnerState state() const = 0;
  // Continues from a state, after ranker() got the parameters that belong to it. A learner with the
  // same options, parameters and state continues as the original would, bit by bit.
  virtual void restore(const LearnerState& state) = 0;

 protected:
  Learner() = default;
  Learner(const Learner&) = default;
  Learner(Learner&&) = default;
};

}  // namespace plackett
