#include "gpu/device_method.h"

#include <fmt/format.h>

#include "learner/pairwise.h"
#include "plackett/pdgd.h"

namespace plackett::gpu {
namespace {

Result<DeviceMethod> of_pdgd(const PdgdOptions& options) {
  if (options.weight_decay > 0) return Error{"weight-decay"};
  if (options.restart > 0) return Error{"restart"};
  return DeviceMethod{.kernel = Kernel::kLearn,
                      .data = {.decay = options.learning_rate_decay,
                               .sharpness = options.pairs.sharpness,
                               .only_above = options.pairs.kind == PairKind::kAbove ? 1U : 0U}};
}

DeviceMethod of_pairwise(const PairwiseOptions& options) {
  return {.kernel = Kernel::kLearnPairwise,
          .data = {.decay = options.learning_rate_decay,
                   .pairwise = {.epsilon = options.epsilon,
                                .worst_first = options.worst_first ? 1U : 0U}}};
}

}  // namespace

Result<DeviceMethod> device_method(const SimulationSpec& spec, Learner& learner) {
  const auto* pdgd = dynamic_cast<const Pdgd*>(&learner);
  const auto* pairwise = dynamic_cast<const Pairwise*>(&learner);
  if (pdgd == nullptr && pairwise == nullptr) {
    return Error{fmt::format("method {}, only pdgd and pairwise", spec.method)};
  }
  if (!learner.ranker().is_linear()) {
    return Error{fmt::format("{} rankers, only linear ones", name_of(spec.ranker.kind))};
  }
  if (pdgd != nullptr) return of_pdgd(pdgd->options());
  return of_pairwise(pairwise->options());
}

}  // namespace plackett::gpu
