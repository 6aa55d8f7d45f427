// The data of the worlds that a run's impressions happen in: one, unless there is drift.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
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

// The worlds of one run, of its fold. World 0 is before all drifts, world d after drift d.
// Immutable: any number of threads may read it. Worlds share the memory of what does not differ
// between them; features that change and queries that are left out cost a copy.
class Worlds {
 public:
  // What is drawn: intents, features of a share, groups of queries.
  struct Source {
    std::uint64_t seed = 0;
    std::uint32_t run = 0;  // uses fold run modulo folds
  };
  // Fails if a drift leaves a split without queries. Under drift it fits the best linear rankers.
  // Requires: drifts that check_drifts and check_feature_ids accept.
  static Result<std::shared_ptr<const Worlds>> make(const Dataset& dataset,
                                                    std::span<const Drift> drifts,
                                                    const Source& source);

  // How many different states the data has: worlds that differ by their users have the same.
  [[nodiscard]] std::size_t state_count() const { return states_.size(); }
  // The state of a world's data.
  [[nodiscard]] std::size_t state_of(std::size_t world) const { return state_of_[world]; }
  // The data in a state.
  [[nodiscard]] const WorldFold& state(std::size_t at) const { return states_[at]; }
  // The world of an impression. The last drift decides first whether it is in its world, then the
  // one before it, and so on.
  [[nodiscard]] std::size_t draw(Rng& rng, std::uint64_t impression) const;
  // The probability of each state at an impression. Requires: one weight per state.
  void weigh(std::uint64_t impression, std::span<double> weights) const;

 private:
  Worlds() = default;
  std::vector<Drift> drifts_;
  std::vector<WorldFold> states_;
  std::vector<std::size_t> state_of_;  // one per world
};

// Fails if a drift names a feature that the data lacks.
Result<void> check_feature_ids(const Dataset& dataset, std::span<const Drift> drifts);

// Whether runs of the same fold differ in their worlds.
bool is_drawn(std::span<const Drift> drifts);

// The worlds of all runs, which all methods and click models share. Any number of threads may ask.
// Keeps the worlds that somebody holds and those of the last runs that were asked for: runs are
// done in order. Worlds that are not drawn are made once per fold and kept.
class WorldsByRun {
 public:
  WorldsByRun(Dataset dataset, std::span<const Drift> drifts, std::uint64_t seed);

  // Makes them unless they are there; who asks for worlds that are being made waits.
  Result<std::shared_ptr<const Worlds>> of(std::uint32_t run);
  [[nodiscard]] std::size_t fold_count() const { return dataset_.folds.size(); }
  // The run's fold as it was loaded.
  [[nodiscard]] const Fold& fold_of(std::uint32_t run) const {
    return dataset_.folds[run % dataset_.folds.size()];
  }

 private:
  struct Entry {
    std::mutex mutex = {};
    std::shared_ptr<const Worlds> worlds = nullptr;
  };
  std::shared_ptr<Entry> entry_of(std::uint32_t key);

  Dataset dataset_;
  std::vector<Drift> drifts_;
  std::uint64_t seed_;
  bool is_drawn_;
  std::mutex mutex_;  // of what follows
  std::map<std::uint32_t, std::weak_ptr<Entry>> entries_;
  std::deque<std::shared_ptr<Entry>> recent_;
};

}  // namespace plackett
