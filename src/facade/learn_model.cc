#include "plackett/learn_model.h"

#include <utility>

#include "base/attempt.h"
#include "facade/started_model.h"

namespace plackett {
namespace {

// Some lists of the log with their candidates, spread over its parts.
ObservedOrders some_lists(LoggedLists& lists) {
  constexpr std::size_t kMost = 4000;
  ObservedOrders orders(lists.feature_count());
  const std::size_t parts = lists.parts();
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t until = kMost * (part + 1) / parts;
    take(lists.each(part, ListNeed::kAll, [&](const LoggedList& list) {
      if (orders.size() >= until || !list.kept || list.sampled() == 0) return;
      take(orders.add(list.docs, list.sampled()));
    }));
  }
  return orders;
}

}  // namespace

Result<LearnedModel> learn_model(LoggedLists& lists, const LearnModelSpec& spec) {
  return attempt([&] {
    StartSpec start{spec.method,      spec.settings, spec.ranker,    spec.scaling,
                    spec.feature_ids, spec.shown,    spec.learn.seed};
    start.ranker.feature_count = lists.feature_count();
    const auto learner = make_start(start);
    Rng rng({.seed = spec.learn.seed, .purpose = Purpose::kInitialise});
    const auto ranker = take(make_ranker(start.ranker, rng));
    LearnedModel made;
    made.report = take(learn(lists, *ranker, spec.learn));
    made.model = start_from(start, *ranker, some_lists(lists), *learner);
    return made;
  });
}

}  // namespace plackett
