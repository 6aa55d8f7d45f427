// The kernels in plain C++: the oracle for the vector ones, and the fallback on old machines.
#pragma once

#include "base/kernels.h"

namespace plackett {

extern const Kernels kScalarKernels;

}  // namespace plackett
