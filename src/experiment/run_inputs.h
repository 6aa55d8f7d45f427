// What a backend that does runs itself needs of a simulation.
#pragma once

#include <cstdint>
#include <memory>

#include "experiment/world.h"
#include "plackett/learner.h"
#include "plackett/simulation.h"
#include "plackett/user.h"

namespace plackett {

class RunInputs {
 public:
  // Of a simulation that outlives this.
  explicit RunInputs(const Simulation& simulation) : simulation_(simulation) {}

  // The folds that runs are spread over.
  [[nodiscard]] std::uint32_t fold_count() const;
  // What the run learns from and is measured on, if nothing drifts.
  [[nodiscard]] const Fold& loaded_fold(std::uint32_t run) const;
  // Whom it learns from, before all drifts.
  [[nodiscard]] const User& user() const { return *simulation_.users_.front(); }
  // The run's learner before its first impression.
  [[nodiscard]] Result<std::unique_ptr<Learner>> learner(std::uint32_t run) const;
  // The queries of the fold that offline performance is measured on.
  [[nodiscard]] const Split& measured(const Fold& fold) const;
  // The number of the run's fold.
  [[nodiscard]] std::uint32_t fold(std::uint32_t run) const;
  // Why a run fails at a score that is not finite, after that many impressions.
  [[nodiscard]] Error not_finite(std::uint32_t run, std::uint64_t impressions) const {
    return simulation_.not_finite(run, impressions);
  }

 private:
  const Simulation& simulation_;
};

}  // namespace plackett
