// Whether two datasets are the same to an experiment.
#pragma once

#include <cstdint>

#include "plackett/dataset.h"

namespace plackett {

// A hash over all that a run reads of a dataset: features, labels and queries of the training and
// test splits, as loaded, and the number of grades. Not its name or where it came from. Costs a
// read of all of it.
std::uint64_t fingerprint(const Dataset& dataset);

}  // namespace plackett
