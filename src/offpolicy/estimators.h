// Which estimators were asked for.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "plackett/off_policy.h"

namespace plackett {

using Estimators = std::array<bool, kEstimatorCount>;  // by Estimator

// From their names.
Result<Estimators> estimators_of(const std::vector<std::string>& names);

}  // namespace plackett
