#include "plackett/fit_model.h"

#include <utility>

#include "base/attempt.h"
#include "facade/started_model.h"

namespace plackett {

Result<FittedModel> fit_model(const ObservedOrders& orders, const FitModelSpec& spec) {
  return attempt([&] {
    StartSpec start{spec.method,      spec.settings, spec.ranker,  spec.scaling,
                    spec.feature_ids, spec.shown,    spec.fit.seed};
    start.ranker.feature_count = orders.feature_count();
    FittedModel made;
    made.learner = make_start(start);
    Rng rng({.seed = spec.fit.seed, .purpose = Purpose::kInitialise});
    const auto ranker = take(make_ranker(start.ranker, rng));
    made.report = take(fit(orders, *ranker, spec.fit));
    made.model = start_from(start, *ranker, orders, *made.learner);
    return made;
  });
}

}  // namespace plackett
