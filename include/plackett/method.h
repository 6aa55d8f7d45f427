// The methods by name.
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

// What an experiment decides for all its methods.
struct MethodRules {
  std::uint32_t shown = 10;          // k
  double learning_rate_decay = 1.0;  // factor after each update
  // How published numbers were made, if that differs from the papers' text. The decay is that of
  // the protocol, not one that was asked for, and a method whose own experiments had another, or
  // none, follows them ...
  bool published_decay = false;
  // ... COLTR's linear ranker starts at random weights ...
  bool published_start = false;
  // ... projection examines one document fewer below the last click ...
  bool miscount = false;
  // ... duels with expectation 0 are decided at random ...
  bool ties_by_chance = false;
  // ... and the pairwise baseline exploits its worst documents first.
  bool exploit_worst_first = false;
  // The stream that a ranker's first parameters are drawn from. Its impressions from 1 on are free
  // for a method that draws parameters of its own.
  Rng::Stream initial = {.purpose = Purpose::kInitialise};
};

// A method as its file declares it. What its views point to must have static lifetime.
struct Method {
  std::string_view name = {};     // "pdgd"
  std::string_view title = {};    // "PDGD"
  std::string_view summary = {};  // one line of help
  bool baseline = false;          // whether tables test other methods against it by default
  // Whether it ranks by sampling from its ranker's scores and learns from a ranking whenever its
  // clicks arrive: what a service needs.
  bool servable = false;
  RankerKind default_ranker = RankerKind::kLinear;  // if none is named
  std::span<const Setting> settings = {};           // its own; kLearningRate first, if any
  // The settings, besides the learning rate, that a learner in this state was made with; null if
  // the state tells none.
  std::vector<GivenSetting> (*settings_in)(const LearnerState& state) = nullptr;
  // Whether it can work with a ranker under these settings; null if it works with all.
  Result<void> (*check)(const Ranker& ranker, const SettingValues& settings) = nullptr;
  // A learner that owns `ranker`, or a ranker of its own with as many features. The function may
  // hold state for the life of the process. Called from several threads at once. Requires: `ranker`
  // passes the check; the settings were made from those above. A results folder identifies the
  // method by its name, its settings and the program's build: any other state that this holds must
  // be the same in every process that works on the folder.
  std::function<std::unique_ptr<Learner>(std::unique_ptr<Ranker> ranker, const MethodRules& rules,
                                         const SettingValues& settings)>
      make = {};
};

// All methods: the built-in ones, then the added ones. This and what follows may be called once
// main() has started; static initialisers may run before the built-in methods exist.
PLACKETT_EXPORT std::vector<const Method*> methods();

// Registers a method under its name, for specs, settings, labels and errors, until the process
// ends. Fails if the name is taken or has characters other than a-z, 0-9 and '-', if a setting is
// invalid, or if `make` is missing. Safe from any thread.
PLACKETT_EXPORT Result<void> add_method(const Method& method);

// Whether it comes with plackett, not from add_method.
PLACKETT_EXPORT bool is_built_in(const Method& method);

// The method to use unless there is a reason for another (docs/decisions/0012-default.md).
inline constexpr std::string_view kDefaultMethod = "steady";

// "default" is kDefaultMethod. Fails on an unknown name; the error lists the known ones.
PLACKETT_EXPORT Result<const Method*> find_method(std::string_view name);

// The settings in the order of their declaration, numbers in shortest form, without those that
// equal the method's defaults. Returned as given if the method or a setting is unknown.
PLACKETT_EXPORT std::vector<GivenSetting> canonical_settings(
    std::string_view method, const std::vector<GivenSetting>& given);

// As a model file keeps them: canonical, without the learning rate.
PLACKETT_EXPORT std::vector<GivenSetting> saved_settings(std::string_view method,
                                                         const std::vector<GivenSetting>& given);
// The settings of a learner that continues from a model file: its learning rate, if its method has
// one, and the file's. Older files have none: then those that the learner's memory tells.
PLACKETT_EXPORT std::vector<GivenSetting> settings_of(const SavedModel& model);

// A learner that owns `ranker`. Fails on an unknown name or setting, on a value out of bounds, on a
// ranker that the method can't work with, and on a decay of the learning rate, other than the
// protocol's, if the method has no setting kLearningRate.
PLACKETT_EXPORT Result<std::unique_ptr<Learner>> make_learner(
    std::string_view method, std::unique_ptr<Ranker> ranker, const MethodRules& rules,
    std::span<const GivenSetting> settings);

}  // namespace plackett
