// The kernels in plain C++: the oracle for the vector ones, and what runs where they can't.
#pragma once

#include "base/kernels.h"

namespace plackett {

extern const Kernels kScalarKernels;

}  // namespace plackett
