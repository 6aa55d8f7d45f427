// A model that starts as a present ranking: fitted to it, with a learner that goes on from there.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plackett/export.h"
#include "plackett/fit.h"
#include "plackett/learner.h"
#include "plackett/method.h"
#include "plackett/model_file.h"
#include "plackett/ranker_spec.h"
#include "plackett/result.h"
#include "plackett/scaling.h"
#include "plackett/setting.h"

namespace plackett {

// What to fit, and which learner goes on from it.
struct FitModelSpec {
  std::string method{kDefaultMethod};        // of the learner, by its name
  std::vector<GivenSetting> settings = {};   // the learner's own
  RankerSpec ranker = {};                    // its feature_count is that of the orders
  Scaling scaling = Scaling::kQueryMinMax;   // how the orders were scaled, for the model's users
  std::vector<std::uint32_t> feature_ids{};  // of the source, from 1; empty: 1, 2, ...
  std::uint32_t shown = 10;                  // documents that the learner shows
  FitOptions fit = {};  // its seed is also that of a network's first parameters
};

// What fit_model gives.
struct FittedModel {
  FitReport report = {};                  // how well the orders are reproduced
  std::unique_ptr<Learner> learner = {};  // explores and is evaluated with the fitted scores
  SavedModel model = {};                  // the same, for save_model and for a service
};

// Fits a ranker of this kind to the orders and makes a learner that starts from it. A network's
// step sizes start as if it had learned from as many lists sampled from the fit, each with one
// click at a random rank (Learner::start_from_fit). A function of its arguments, to the bit. Fails
// as fit() and make_learner() do, and on a method that a service can't use (Method::servable).
PLACKETT_EXPORT Result<FittedModel> fit_model(const ObservedOrders& orders,
                                              const FitModelSpec& spec);

}  // namespace plackett
