// A model whose parameters were found in one go, with a learner that goes on from them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plackett/learner.h"
#include "plackett/model_file.h"
#include "plackett/observed_orders.h"
#include "plackett/ranker.h"
#include "plackett/ranker_spec.h"
#include "plackett/scaling.h"
#include "plackett/setting.h"

namespace plackett {

struct StartSpec {
  std::string method;
  std::vector<GivenSetting> settings;
  RankerSpec ranker;  // with its feature_count
  Scaling scaling = Scaling::kQueryMinMax;
  std::vector<std::uint32_t> feature_ids;  // empty: 1, 2, ...
  std::uint32_t shown = 10;
  std::uint64_t seed = 1;
};

// The learner before its parameters are known: a wrong method, setting, ranker or number of ids is
// told before the work. Throws Failed.
std::unique_ptr<Learner> make_start(const StartSpec& spec);

// Sets the learner to the ranker's parameters, and gives the model. `orders`: some lists, for the
// sizes of a network's first steps.
SavedModel start_from(const StartSpec& spec, Ranker& ranker, const ObservedOrders& orders,
                      Learner& learner);

}  // namespace plackett
