// How kernels do a method: which of them, and with what.
#pragma once

#include "gpu/device.h"
#include "gpu/run_data.h"
#include "plackett/learner.h"
#include "plackett/result.h"
#include "plackett/simulation.h"

namespace plackett::gpu {

struct DeviceMethod {
  Kernel kernel = Kernel::kLearn;
  RunData data = {};           // the method's part of a run's
  NetworkLayout network = {};  // if its ranker has one
  bool has_squares = false;    // its steps are AdaGrad's
};

// Of the spec's learner, before its first impression. The error is what no device does.
Result<DeviceMethod> device_method(const SimulationSpec& spec, Learner& learner);

}  // namespace plackett::gpu
