// What an experiment's sums say.
#pragma once

#include <cstdint>
#include <vector>

#include "offpolicy/lift.h"
#include "serving/service.h"
#include "serving/stored_experiment.h"

namespace plackett::serving {

// A challenger beside the baseline. `logging`: of the experiment's model. `sums`: one per arm;
// fewer if the last have no list.
ArmComparison compare_arm(const ExperimentSpec& spec, const LogSettings& logging,
                          const std::vector<ArmSums>& sums, std::uint32_t arm);
// The upper bound of its lift, for its guard: known of a challenger without value, too.
std::optional<double> greatest_lift(const ExperimentSpec& spec, const LogSettings& logging,
                                    const std::vector<ArmSums>& sums, std::uint32_t arm);

// `now`: the end of an experiment that runs, ms since 1970.
ExperimentInfo describe(const StoredExperiment& stored, const LogSettings& logging,
                        const std::vector<ArmSums>& sums, const std::vector<ArmsPoint>& points,
                        std::int64_t now);
// What an arm that is stopped now keeps of its results.
ExperimentState::Stopped stopped_now(const ExperimentSpec& spec, const LogSettings& logging,
                                     const std::vector<ArmSums>& sums, std::uint32_t arm);

}  // namespace plackett::serving
