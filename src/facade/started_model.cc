#include "facade/started_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/attempt.h"
#include "learner/pair_settings.h"
#include "plackett/method.h"
#include "plackett/pairs.h"
#include "sampling/shown_list.h"

namespace plackett {
namespace {

// How the method makes pairs of clicks: cascade has no setting for it.
PairRules rules_of(const StartSpec& spec) {
  const auto declared = take(find_method(spec.method))->settings;
  if (find_setting(declared, kSharpness) == nullptr) return {};
  return pair_rules(take(SettingValues::make(declared, spec.settings)));
}

// For each parameter, the mean of its squared gradient over updates: on lists sampled from the
// ranker, each with one click at a random rank.
std::vector<float> mean_squares(const ObservedOrders& orders, Ranker& ranker,
                                const StartSpec& spec) {
  constexpr std::size_t kMostLists = 4000;
  std::vector<double> sums(ranker.parameter_count());
  std::vector<float> gradient(sums.size());
  PairInference inference(rules_of(spec));
  SamplingScratch scratch;
  Ranking ranking;
  std::vector<float> scores;
  std::vector<std::uint8_t> clicks;
  std::vector<double> rank_weights;
  std::vector<DocWeight> weights;
  std::uint64_t updates = 0;
  const std::size_t lists = std::min(orders.size(), kMostLists);
  for (std::size_t number = 0; number < lists; ++number) {
    const std::size_t list = number * orders.size() / lists;
    const FeatureView docs = orders.docs(list);
    scores.resize(docs.doc_count());
    ranker.score(docs, scores);
    Rng rng({.seed = spec.seed, .impression = list, .purpose = Purpose::kRanking});
    if (!sample_list(scores, spec.shown, rng, scratch, ranking)) continue;
    const auto shown = static_cast<std::uint32_t>(ranking.shown.size());
    Rng click({.seed = spec.seed, .impression = list, .purpose = Purpose::kClicks});
    clicks.assign(shown, 0);
    clicks[click.below(shown)] = 1;
    rank_weights.resize(shown);
    sum_by_rank(inference.infer(ranking, clicks), rank_weights);
    weights.clear();
    for (std::uint32_t rank = 0; rank < shown; ++rank) {
      weights.push_back({ranking.shown[rank], static_cast<float>(rank_weights[rank])});
    }
    ranker.gradient(docs, weights, gradient);
    for (std::size_t at = 0; at < sums.size(); ++at) {
      sums[at] += static_cast<double>(gradient[at]) * gradient[at];
    }
    ++updates;
  }
  std::vector<float> means(sums.size());
  for (std::size_t at = 0; at < sums.size(); ++at) {
    means[at] =
        static_cast<float>(sums[at] / static_cast<double>(std::max<std::uint64_t>(updates, 1)));
  }
  return means;
}

}  // namespace

std::unique_ptr<Learner> make_start(const StartSpec& spec) {
  if (!spec.feature_ids.empty() && spec.feature_ids.size() != spec.ranker.feature_count) {
    throw Failed{{fmt::format("{} feature ids for {} features; there must be one each",
                              spec.feature_ids.size(), spec.ranker.feature_count)}};
  }
  if (!take(find_method(spec.method))->servable) {
    std::vector<std::string_view> able;
    for (const Method* method : methods()) {
      if (method->servable) able.push_back(method->name);
    }
    throw Failed{{fmt::format("method \"{}\" can't start from a fit; those that can: {}",
                              spec.method, fmt::join(able, ", "))}};
  }
  const Rng::Stream initial{.seed = spec.seed, .purpose = Purpose::kInitialise};
  Rng rng(initial);
  return take(make_learner(spec.method, take(make_ranker(spec.ranker, rng)),
                           {.shown = spec.shown, .initial = initial}, spec.settings));
}

SavedModel start_from(const StartSpec& spec, Ranker& ranker, const ObservedOrders& orders,
                      Learner& learner) {
  SavedModel model;
  model.ranker = spec.ranker;
  model.scaling = name_of(spec.scaling);
  model.feature_ids = spec.feature_ids;
  if (model.feature_ids.empty()) {
    model.feature_ids.resize(spec.ranker.feature_count);
    std::iota(model.feature_ids.begin(), model.feature_ids.end(), 1U);
  }
  model.parameters.resize(ranker.parameter_count());
  ranker.get_parameters(model.parameters);
  learner.start_from_fit(model.parameters, mean_squares(orders, ranker, spec));
  model.learner = learner.state();
  model.settings = saved_settings(spec.method, spec.settings);
  return model;
}

}  // namespace plackett
