// Memory that is kept aside, and given up when an allocation fails: small allocations that must not
// fail, such as those of an answer, then still succeed.
#pragma once

#include <cstddef>

namespace plackett {

// For the whole process: becomes its new-handler.
void install_memory_reserve(std::size_t bytes);

// Takes the memory again if it was given up. From any thread; does nothing without a reserve.
void refill_memory_reserve();

}  // namespace plackett
