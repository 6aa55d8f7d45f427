// Runs whose blocks' warps are threads: the engine's bits, and, under ThreadSanitizer, nothing that
// one warp reads while another may write it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "gpu/engine_bits.h"
#include "plackett/method_entry.h"

namespace plackett::gpu {
namespace {

TEST(WarpThreads, HaveTheEnginesBits) {
  if (!engine_fuses()) GTEST_SKIP() << "the kernels for " << kernels().name << " do not fuse";
  for (const char* method :
       {"pdgd", "dbgd", "mgd", "mgd:interleaving=team-draft", "mgd:projection=documents",
        "pdgd:neural", "pairwise:neural", "dbgd:neural", "pdgd:linear+neural:steps=adagrad"}) {
    for (const std::uint32_t processors : {132, 1}) {  // 16 warps each, or five
      for (const Protocol& protocol : {Protocol::kDescribed, Protocol::kPublished}) {
        SCOPED_TRACE(fmt::format("{}, {} processors", method, processors));
        DeviceLimits limits = HostDevice().limits().value();
        limits.processors = processors;
        auto device = std::make_unique<HostDevice>(limits);
        device->run_warps_as_threads();
        const auto backend = make_device_backend(std::move(device));
        SimulationSpec spec = tiny_spec();
        apply(parse_method_entry(method).value(), spec);
        spec.protocol = protocol;
        spec.impressions = 12;
        // To either side of where few documents are divided, and of where ranks come from sorting.
        expect_the_engines_bits(make_dataset({.features = 20, .docs = {1, 17, 130, 70}}), spec,
                                *backend);
      }
    }
  }
}

}  // namespace
}  // namespace plackett::gpu
