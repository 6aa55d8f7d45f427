#include "gpu/device_method.h"

#include <fmt/format.h>

#include "learner/dueling_bandit.h"
#include "learner/pairwise.h"
#include "plackett/pdgd.h"
#include "sampling/probabilistic_multileaving.h"
#include "sampling/team_draft_multileaving.h"

namespace plackett::gpu {
namespace {

// Of a ranker of the spec's: the error is a network that no device does.
Result<NetworkLayout> network_of(const RankerSpec& spec, const Ranker& ranker) {
  if (!has_network(spec.kind)) return NetworkLayout();
  if (spec.hidden.size() > 1) {
    return Error{fmt::format("networks of {} hidden layers, only of one", spec.hidden.size())};
  }
  return NetworkLayout(padded_width(ranker.feature_count()), spec.hidden.front(), spec.activation,
                       spec.kind == RankerKind::kLinearPlusNeural);
}

Result<DeviceMethod> of_pdgd(const PdgdOptions& options, const NetworkLayout& network) {
  if (options.weight_decay > 0) return Error{"weight-decay"};
  if (options.restart > 0) return Error{"restart"};
  DeviceMethod method{.kernel = Kernel::kLearn,
                      .data = {.decay = options.learning_rate_decay,
                               .sharpness = options.pairs.sharpness,
                               .only_above = options.pairs.kind == PairKind::kAbove ? 1U : 0U},
                      .network = network};
  if (!network.exists()) return method;
  method.kernel = Kernel::kLearnNetwork;
  method.has_squares = options.steps != Steps::kConstant;
  if (options.steps == Steps::kForgetting) {
    method.data.kept = static_cast<float>(1 - 1 / options.step_memory);
  }
  return method;
}

DeviceMethod of_pairwise(const PairwiseOptions& options, const NetworkLayout& network) {
  return {.kernel = network.exists() ? Kernel::kPairwiseNetwork : Kernel::kLearnPairwise,
          .data = {.decay = options.learning_rate_decay,
                   .pairwise = {.epsilon = options.epsilon,
                                .worst_first = options.worst_first ? 1U : 0U}},
          .network = network};
}

Result<DeviceMethod> of_duels(const DuelingBandit& learner, std::size_t parameters,
                              const NetworkLayout& network) {
  const DuelingBanditOptions& options = learner.options();
  static_assert(kRemembered == DuelingBandit::kRemembered);
  DuelRules rules{.candidates = options.candidates,
                  .parameters = static_cast<std::uint32_t>(parameters),
                  .projected = options.projected ? 1U : 0U,
                  .further = options.further};
  const Multileaving& multileaving = learner.multileaving();
  if (const auto* drawn = dynamic_cast<const ProbabilisticMultileaving*>(&multileaving)) {
    rules.by_chance = drawn->ties() == ProbabilisticMultileaving::Ties::kByChance ? 1U : 0U;
  } else if (dynamic_cast<const TeamDraftMultileaving*>(&multileaving) != nullptr) {
    rules.team_draft = 1;
  } else {
    return Error{"this multileaving"};
  }
  const Kernel linear = rules.candidates + 1 == kDuelGroup ? Kernel::kDuel : Kernel::kMultileave;
  return DeviceMethod{.kernel = network.exists() ? Kernel::kDuelNetwork : linear,
                      .data = {.decay = options.learning_rate_decay, .duels = rules},
                      .network = network};
}

}  // namespace

Result<DeviceMethod> device_method(const SimulationSpec& spec, Learner& learner) {
  const auto* pdgd = dynamic_cast<const Pdgd*>(&learner);
  const auto* pairwise = dynamic_cast<const Pairwise*>(&learner);
  const auto* duels = dynamic_cast<const DuelingBandit*>(&learner);
  if (pdgd == nullptr && pairwise == nullptr && duels == nullptr) {
    return Error{fmt::format("method {}, only pdgd, pairwise, dbgd and mgd", spec.method)};
  }
  const Ranker& ranker = learner.ranker();
  const auto network = network_of(spec.ranker, ranker);
  if (!network) return network.error();
  if (pdgd != nullptr) return of_pdgd(pdgd->options(), *network);
  if (pairwise != nullptr) return of_pairwise(pairwise->options(), *network);
  return of_duels(*duels, ranker.parameter_count(), *network);
}

}  // namespace plackett::gpu
