// Runs on a device, at the seam where an experiment hands them out.
#pragma once

#include <memory>

#include "experiment/backend.h"
#include "gpu/device.h"

namespace plackett::gpu {

// Does the runs that docs/gpu.md lists, those of one batch together, as many as the device's memory
// holds. Requires: nobody else uses the device meanwhile.
std::unique_ptr<DeviceBackend> make_device_backend(std::unique_ptr<Device> device);

}  // namespace plackett::gpu
