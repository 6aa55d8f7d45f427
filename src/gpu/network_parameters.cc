#include "gpu/network_parameters.h"

#include <algorithm>

namespace plackett::gpu {
namespace {

// Calls visit(place among the packed values, count) for each contiguous run of values, in the order
// of get_parameters().
template <typename Visitor>
void visit_runs(const NetworkLayout& layout, std::uint32_t features, NetworkPart part,
                Visitor visit) {
  const std::uint32_t skipped = part == NetworkPart::kAll ? 0 : layout.weights;
  if (part == NetworkPart::kAll && layout.has_linear != 0) visit(0U, features);
  for (std::uint32_t feature = 0; feature < features; ++feature) {
    visit(layout.weights - skipped + feature * layout.padded_units, layout.units);
  }
  visit(layout.biases - skipped, layout.units);
  visit(layout.output - skipped, layout.units);
}

}  // namespace

std::vector<float> pack_network(const NetworkLayout& layout, std::uint32_t features,
                                NetworkPart part, std::span<const float> values) {
  std::vector<float> packed(part == NetworkPart::kAll ? layout.size : layout.square_count());
  std::size_t from = 0;
  visit_runs(layout, features, part, [&](std::uint32_t place, std::uint32_t count) {
    const auto run = values.subspan(from, count);
    std::copy(run.begin(), run.end(), packed.begin() + static_cast<std::ptrdiff_t>(place));
    from += count;
  });
  return packed;
}

std::vector<float> unpack_network(const NetworkLayout& layout, std::uint32_t features,
                                  NetworkPart part, std::span<const float> packed) {
  std::vector<float> values;
  visit_runs(layout, features, part, [&](std::uint32_t place, std::uint32_t count) {
    const auto run = packed.subspan(place, count);
    values.insert(values.end(), run.begin(), run.end());
  });
  return values;
}

}  // namespace plackett::gpu
