// The learners by name.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plackett/export.h"
#include "plackett/learner.h"
#include "plackett/ranker_spec.h"
#include "plackett/result.h"
#include "plackett/setting.h"

namespace plackett {

// What an experiment decides for every method alike.
struct MethodRules {
  std::uint32_t shown = 10;          // k
  double learning_rate_decay = 1.0;  // factor after each update
  // How the paper's numbers were made, where that is not what its text says: expectations of 0
  // are decided by chance ...
  bool ties_by_chance = false;
  // ... and the pairwise baseline exploits its worst documents first.
  bool exploit_worst_first = false;
  // The stream that a ranker's first parameters come from; its impressions from 1 on are free for
  // a method that draws first parameters of its own.
  Rng::Stream initial = {.purpose = Purpose::kInitialise};
};

// A method as its file declares it. All that its views point to must last for ever.
struct Method {
  std::string_view name = {};     // "pdgd"
  std::string_view title = {};    // "PDGD"
  std::string_view summary = {};  // a line for help
  bool baseline = false;          // whether others are tested against it by default
  // Whether it ranks by sampling from its ranker's scores, and learns from a ranking whenever the
  // clicks come: what a service needs.
  bool servable = false;
  RankerKind default_ranker = RankerKind::kLinear;  // where none is named
  std::span<const Setting> settings = {};           // its own; kLearningRate first, by custom
  // Whether it can work with a ranker; absent where it can with all.
  Result<void> (*check)(const Ranker& ranker) = nullptr;
  // A learner around `ranker`, which it owns, or around a ranker of its own for as many features.
  // May hold what it needs, for as long as the process lasts. Called from several threads at once.
  // Requires: `ranker` passes the check; the settings were made from those above. A results folder
  // knows the method by its name, its settings and the program's build; what this holds, and they
  // don't say, must be the same in every process that works there.
  std::function<std::unique_ptr<Learner>(std::unique_ptr<Ranker> ranker, const MethodRules& rules,
                                         const SettingValues& settings)>
      make = {};
};

// All methods that there are: the built-in ones, then those that were added. This and what follows
// are for when main() has begun; in a static initialiser the built-in ones may not be there yet.
PLACKETT_EXPORT std::vector<const Method*> methods();

// Makes a method of one's own known by its name, in specs, settings, labels and errors as the
// built-in ones are. Fails where the name is taken or is not of a-z, 0-9 and '-', where a setting
// is not sound, or where it can't make learners. From any thread; for as long as the process lasts.
PLACKETT_EXPORT Result<void> add_method(const Method& method);

// Whether it comes with plackett, not from add_method.
PLACKETT_EXPORT bool is_built_in(const Method& method);

// Fails on an unknown name; the error lists the known ones.
PLACKETT_EXPORT Result<const Method*> find_method(std::string_view name);

// The settings in the order of their declaration, their numbers in shortest form, and those left
// out that are the method's own. As given where the method or a setting is unknown.
PLACKETT_EXPORT std::vector<GivenSetting> canonical_settings(
    std::string_view method, const std::vector<GivenSetting>& given);

// A learner around `ranker`. Fails on an unknown name or setting, on values that make no sense,
// and on a ranker that the method can't work with.
PLACKETT_EXPORT Result<std::unique_ptr<Learner>> make_learner(
    std::string_view method, std::unique_ptr<Ranker> ranker, const MethodRules& rules,
    std::span<const GivenSetting> settings);

}  // namespace plackett
