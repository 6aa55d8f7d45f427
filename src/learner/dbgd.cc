// DBGD and MGD by name.
#include <array>
#include <memory>
#include <utility>

#include "learner/dueling_bandit.h"
#include "plackett/method.h"
#include "ranker/linear.h"
#include "sampling/probabilistic_multileaving.h"
#include "sampling/team_draft_multileaving.h"

namespace plackett {
namespace {

constexpr std::string_view kInterleaving = "interleaving";
constexpr std::string_view kCandidates = "candidates";
constexpr std::array<std::string_view, 2> kInterleavings{"probabilistic", "team-draft"};
constexpr std::string_view kProjection = "projection";
constexpr std::array<std::string_view, 2> kProjections{"none", "documents"};

constexpr Setting kInterleavingSetting{
    .name = kInterleaving, .help = "how the rankers' lists are combined", .names = kInterleavings};
constexpr Setting kProjectionSetting{
    .name = kProjection,
    .help =
        "what the step is projected onto: nothing, or the span of the examined documents; for "
        "the ranker linear",
    .names = kProjections};
constexpr double kDefaultRate = DuelingBanditOptions{}.learning_rate;

constexpr std::array kDbgdSettings{learning_rate_setting(kDefaultRate), kInterleavingSetting,
                                   kProjectionSetting};
constexpr std::array kMgdSettings{learning_rate_setting(kDefaultRate),
                                  Setting{.name = kCandidates,
                                          .help = "candidates per impression",
                                          .fallback = 49,
                                          .least = 1,
                                          .most = 1000,
                                          .whole = true},
                                  kInterleavingSetting, kProjectionSetting};

bool projected(const SettingValues& settings) { return settings.whole(kProjection) != 0; }

Result<void> check_ranker(const Ranker& ranker, const SettingValues& settings) {
  if (!projected(settings) || dynamic_cast<const LinearRanker*>(&ranker) != nullptr) return {};
  return Error{
      "projection documents needs the ranker linear: it projects onto the documents' features"};
}

std::vector<GivenSetting> settings_in(const LearnerState& state) {
  if (state.memory.empty()) return {};
  return {{std::string(kProjection), std::string(kProjections[1])}};
}

std::unique_ptr<Learner> make(std::unique_ptr<Ranker> ranker, const MethodRules& rules,
                              const SettingValues& settings, DuelingBanditOptions options) {
  std::unique_ptr<Multileaving> multileaving;
  if (settings.whole(kInterleaving) == 0) {
    using Ties = ProbabilisticMultileaving::Ties;
    multileaving = std::make_unique<ProbabilisticMultileaving>(
        rules.ties_by_chance ? Ties::kByChance : Ties::kLost);
  } else {
    multileaving = std::make_unique<TeamDraftMultileaving>();
  }
  options.learning_rate = settings.number(kLearningRate);
  options.shown = rules.shown;
  options.projected = projected(settings);
  if (rules.miscount) --options.further;
  return std::make_unique<DuelingBandit>(std::move(ranker), std::move(multileaving), options);
}

std::unique_ptr<Learner> make_dbgd(std::unique_ptr<Ranker> ranker, const MethodRules& rules,
                                   const SettingValues& settings) {
  return make(std::move(ranker), rules, settings,
              {.method = "dbgd", .learning_rate_decay = rules.learning_rate_decay});
}

// The paper's numbers decay the learning rate of all methods except this one; projection's paper
// that of this one too.
std::unique_ptr<Learner> make_mgd(std::unique_ptr<Ranker> ranker, const MethodRules& rules,
                                  const SettingValues& settings) {
  const bool decays = projected(settings) || !rules.published_decay;
  return make(std::move(ranker), rules, settings,
              {.method = "mgd",
               .candidates = settings.whole(kCandidates),
               .learning_rate_decay = decays ? rules.learning_rate_decay : 1});
}

}  // namespace

extern const Method kDbgd;
const Method kDbgd{.name = "dbgd",
                   .title = "DBGD",
                   .summary = "dueling bandit gradient descent: one candidate per impression",
                   .baseline = true,
                   .settings = kDbgdSettings,
                   .settings_in = settings_in,
                   .check = check_ranker,
                   .make = make_dbgd};

extern const Method kMgd;
const Method kMgd{.name = "mgd",
                  .title = "MGD",
                  .summary = "multileave gradient descent: many candidates per impression",
                  .baseline = true,
                  .settings = kMgdSettings,
                  .settings_in = settings_in,
                  .check = check_ranker,
                  .make = make_mgd};

}  // namespace plackett
