// Runs on a device, at the seam where an experiment hands them out.
#pragma once

#include <memory>

#include "experiment/backend.h"
#include "gpu/device.h"
#include "gpu/duel_data.h"

namespace plackett::gpu {

// Does the runs that docs/gpu.md lists, those of one batch together, as many as the device's memory
// holds. Batches of several threads share it: one that finds no room beside others waits until they
// release some. Requires: nobody else uses the device meanwhile.
// Duels that the rounding of a normal could decide are the engine's to decide: it does their runs,
// which are few. `normal_error` is how far normals may be off; more sends it more runs.
std::unique_ptr<DeviceBackend> make_device_backend(std::unique_ptr<Device> device,
                                                   double normal_error = kNormalError);

}  // namespace plackett::gpu
