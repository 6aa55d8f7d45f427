// The data of the worlds that a run's impressions happen in: one, unless there is drift.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "plackett/dataset.h"
#include "plackett/drift.h"
#include "plackett/ndcg.h"
#include "plackett/result.h"
#include "plackett/rng.h"

namespace plackett {

// A fold as it is in one world.
struct WorldFold {
  Fold fold;
  NdcgTable train_ndcg;
  // Under drift: NDCG@10 of the best linear ranker of this world (experiment/best_linear.h), one
  // per training query.
  std::vector<double> best = {};
};

// World 0 is before all drifts, world d after drift d. Immutable: any number of threads may read
// it. Worlds share the memory of what does not differ between them; features that change and
// queries that are left out cost a copy.
class Worlds {
 public:
  // Fails if a drift names a feature that the data lacks or leaves a split without queries.
  // Requires: drifts that check_drifts accepts.
  static Result<std::shared_ptr<const Worlds>> make(const Dataset& dataset,
                                                    std::span<const Drift> drifts,
                                                    std::uint64_t seed);

  // How many different states the data has: worlds that differ by their users have the same.
  [[nodiscard]] std::size_t state_count() const { return states_.size(); }
  [[nodiscard]] std::size_t fold_count() const { return states_.front().size(); }
  // The state of a world's data.
  [[nodiscard]] std::size_t state_of(std::size_t world) const { return state_of_[world]; }
  [[nodiscard]] const WorldFold& fold(std::size_t state, std::size_t fold) const {
    return states_[state][fold];
  }
  // The world of an impression. The last drift decides first whether it is in its world, then the
  // one before it, and so on.
  [[nodiscard]] std::size_t draw(Rng& rng, std::uint64_t impression) const;
  // The probability of each state at an impression. Requires: one weight per state.
  void weigh(std::uint64_t impression, std::span<double> weights) const;

 private:
  Worlds() = default;
  std::vector<Drift> drifts_;
  std::vector<std::vector<WorldFold>> states_;
  std::vector<std::size_t> state_of_;  // one per world
};

}  // namespace plackett
