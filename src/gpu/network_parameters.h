// A network's parameters in the order of Ranker::get_parameters, and as kernels have them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/run_data.h"

namespace plackett::gpu {

// Whose: all parameters, with a linear part's first, or the network's alone, as what AdaGrad keeps.
enum class NetworkPart : std::uint8_t { kAll, kNetwork };

// Padded with zeros: layout.size of them, or layout.square_count().
std::vector<float> pack_network(const NetworkLayout& layout, std::uint32_t features,
                                NetworkPart part, std::span<const float> values);
// And back.
std::vector<float> unpack_network(const NetworkLayout& layout, std::uint32_t features,
                                  NetworkPart part, std::span<const float> packed);

}  // namespace plackett::gpu
