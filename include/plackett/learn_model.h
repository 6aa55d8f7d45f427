// A model that was learned from a log, with a learner that goes on from there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plackett/export.h"
#include "plackett/learn.h"
#include "plackett/method.h"
#include "plackett/model_file.h"
#include "plackett/ranker_spec.h"
#include "plackett/result.h"
#include "plackett/scaling.h"
#include "plackett/setting.h"

namespace plackett {

// What to learn, and which learner goes on from it.
struct LearnModelSpec {
  std::string method{kDefaultMethod};        // of the learner that goes on, by its name
  std::vector<GivenSetting> settings = {};   // its own
  RankerSpec ranker = {};                    // its feature_count is that of the log
  Scaling scaling = Scaling::kQueryMinMax;   // how the log's features were scaled
  std::vector<std::uint32_t> feature_ids{};  // of the source, from 1; empty: 1, 2, ...
  std::uint32_t shown = 10;                  // documents that the learner shows
  LearnOptions learn = {};                   // how
};

// What learn_model gives.
struct LearnedModel {
  LearnReport report = {};  // what learning came to
  SavedModel model = {};    // for save_model and for a service
};

// Learns a ranker of this kind from the log, and makes a learner that starts from it, as fit_model
// does. Fails as learn() and make_learner() do, and on a method that a service can't use.
PLACKETT_EXPORT Result<LearnedModel> learn_model(LoggedLists& lists, const LearnModelSpec& spec);

}  // namespace plackett
