#include "sampling/shown_list.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sampling/finite.h"

namespace plackett {
namespace {

double first_place_entropy(std::span<const float> scores) {
  if (scores.empty()) return 0;
  const double highest = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  double weighted = 0;
  for (const float score : scores) {
    const double below = score - highest;
    const double mass = std::exp(below);
    sum += mass;
    weighted += mass * below;
  }
  return std::max(0.0, std::log(sum) - weighted / sum);
}

}  // namespace

bool sample_list(std::span<const float> scores, std::uint32_t places, Rng& rng,
                 SamplingScratch& scratch, Ranking& ranking) {
  if (!all_finite(scores)) return false;
  ranking.shown.resize(std::min<std::size_t>(places, scores.size()));
  ranking.scores.resize(ranking.shown.size());
  ranking.rest = sample_ranking(scores, rng, scratch, ranking.shown);
  for (std::size_t rank = 0; rank < ranking.shown.size(); ++rank) {
    ranking.scores[rank] = scores[index(ranking.shown[rank])];
  }
  return true;
}

bool ListMaker::set(std::span<const float> scores, const ListRules& rules) {
  rules_ = rules;
  rules_.places = std::min(rules.places, static_cast<std::uint32_t>(scores.size()));
  scores_.resize(scores.size());
  free_.clear();
  free_scores_.clear();
  for (std::uint32_t doc = 0; doc < scores.size(); ++doc) {
    scores_[doc] = scores[doc] / rules.temperature;
    if (std::any_of(rules.pins.begin(), rules.pins.end(),
                    [doc](const Pin& pin) { return index(pin.doc) == doc; })) {
      continue;
    }
    free_.push_back(Doc{doc});
    free_scores_.push_back(scores_[doc]);
  }
  return all_finite(scores) && all_finite(scores_);
}

void ListMaker::sort(std::uint32_t places) {
  order_.resize(free_.size());
  std::iota(order_.begin(), order_.end(), 0U);
  std::partial_sort(order_.begin(), order_.begin() + places, order_.end(),
                    [this](std::uint32_t left, std::uint32_t right) {
                      const float a = free_scores_[left];
                      const float b = free_scores_[right];
                      return a != b ? a > b : left < right;
                    });
  for (std::uint32_t at = 0; at < places; ++at) ranking_.shown.push_back(Doc{order_[at]});
}

void ListMaker::make(Rng rng, PlacedList& list) {
  const auto free_places = static_cast<std::uint32_t>(rules_.places - rules_.pins.size());
  ranking_.shown.clear();
  list.rest = {};
  list.log_probability = 0;
  list.entropy = first_place_entropy(free_scores_);
  if (rules_.order == ListOrder::kSorted) {
    sort(free_places);
  } else if (rules_.order == ListOrder::kAsGiven) {
    for (std::uint32_t doc = 0; doc < free_places; ++doc) ranking_.shown.push_back(Doc{doc});
  } else if (free_places > 0) {
    sample_list(free_scores_, free_places, rng, scratch_, ranking_);
    list.rest = ranking_.rest;
    list.log_probability = log_probability(ranking_.scores, ranking_.rest);
  }
  list.places.assign(rules_.places, {});
  for (const Pin& pin : rules_.pins) list.places[pin.rank] = {pin.doc, 0, true};
  std::size_t next = 0;
  for (PlacedList::Place& place : list.places) {
    if (!place.pinned) place.doc = free_[index(ranking_.shown[next++])];
    place.score = scores_[index(place.doc)];
  }
}

}  // namespace plackett
