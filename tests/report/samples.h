// Comparisons to report on, made up but shaped like real ones, and the same at every call.
#pragma once

#include "experiment/record.h"

namespace plackett::testing {

// Linear and neural PDGD under three click models, near the paper's MQ2007.
Comparison small_comparison();

// Six methods under three click models, near the paper's MSLR-WEB10K.
Comparison large_comparison();

}  // namespace plackett::testing
