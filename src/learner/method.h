// The learners by name.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "learner/learner.h"
#include "learner/setting.h"
#include "ranker/spec.h"

namespace plackett {

// What an experiment decides for every method alike.
struct MethodRules {
  std::uint32_t shown = 10;          // k
  double learning_rate_decay = 1.0;  // factor after each update
  // How the paper's numbers were made, where that is not what its text says: expectations of 0
  // are decided by chance, and the pairwise baseline exploits its worst documents first.
  bool ties_by_chance = false;
  bool exploit_worst_first = false;
};

struct Method {
  std::string_view name;     // "pdgd"
  std::string_view title;    // "PDGD"
  std::string_view summary;  // a line for help
  bool baseline = false;     // whether others are tested against it by default
  // Whether it ranks by sampling from its ranker's scores, and learns from a ranking whenever the
  // clicks come: what a service needs.
  bool servable = false;
  RankerKind default_ranker = RankerKind::kLinear;  // where none is named
  std::span<const Setting> settings;
  // Whether it can work with a ranker; absent where it can with all.
  Result<void> (*check)(const Ranker& ranker) = nullptr;
  // Requires: `ranker` passes the check.
  std::unique_ptr<Learner> (*make)(std::unique_ptr<Ranker> ranker, const MethodRules& rules,
                                   const SettingValues& settings) = nullptr;
};

std::span<const Method* const> methods();

// Fails on an unknown name; the error lists the known ones.
Result<const Method*> find_method(std::string_view name);

// The settings in the order of their declaration, their numbers in shortest form, and those left
// out that are the method's own. As given where the method or a setting is unknown.
std::vector<GivenSetting> canonical_settings(std::string_view method,
                                             const std::vector<GivenSetting>& given);

// A learner around `ranker`. Fails on an unknown name or setting, on values that make no sense,
// and on a ranker that the method can't work with.
Result<std::unique_ptr<Learner>> make_learner(std::string_view method,
                                              std::unique_ptr<Ranker> ranker,
                                              const MethodRules& rules,
                                              std::span<const GivenSetting> settings);

}  // namespace plackett
