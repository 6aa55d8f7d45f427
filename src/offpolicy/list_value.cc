#include "offpolicy/list_value.h"

#include <algorithm>
#include <cmath>

namespace plackett {

LoggedList first_ranks(const LoggedList& list, std::uint32_t ranks) {
  LoggedList shorter = list;
  if (ranks == 0 || ranks >= list.pinned.size()) return shorter;
  shorter.pinned = list.pinned.first(ranks);
  shorter.clicked = list.clicked.first(ranks);
  shorter.rewards = list.rewards.first(ranks);
  return shorter;
}

std::uint32_t sampled_in(const LoggedList& list, std::size_t ranks) {
  const auto first = list.pinned.first(std::min(ranks, list.pinned.size()));
  return static_cast<std::uint32_t>(std::count(first.begin(), first.end(), std::uint8_t{0}));
}

double rank_discount(ValueMetric metric, std::size_t rank) {
  return metric == ValueMetric::kDcg ? 1 / std::log2(static_cast<double>(rank) + 2) : 1.0;
}

void list_gains(const LoggedList& list, ValueMetric metric, std::vector<double>& gains) {
  gains.assign(list.clicked.size(), 0);
  bool clicked = false;
  for (std::size_t rank = 0; rank < gains.size(); ++rank) {
    if (metric == ValueMetric::kEvents) {
      gains[rank] = list.rewards[rank];
    } else if (list.clicked[rank] != 0 && !(clicked && metric == ValueMetric::kClickThrough)) {
      gains[rank] = rank_discount(metric, rank);
    }
    clicked = clicked || list.clicked[rank] != 0;
  }
}

void ListValue::set(const LoggedList& list, const PolicyChoice& choice,
                    std::span<const double> gains) {
  list_ = &list;
  choice_ = &choice;
  gains_ = gains;
  weights_.resize(gains.size());
  prefix_.compute(list, choice, weights_);
}

double ListValue::prefix_ips() const {
  double value = 0;
  for (std::size_t rank = 0; rank < gains_.size(); ++rank) value += weights_[rank] * gains_[rank];
  return value;
}

double ListValue::doubly_robust(const GainModel& model) {
  const std::uint32_t shown = list_->sampled();
  means_.resize(shown);
  if (choice_->sampled) {
    prefix_.chosen().expect(choice_->scores, model.values, means_);
  } else {
    for (std::uint32_t place = 0; place < shown; ++place) {
      means_[place] = model.values[index(choice_->order[place])];
    }
  }
  double value = 0;
  double above = 1;  // W of the rank above
  std::uint32_t place = 0;
  for (std::size_t rank = 0; rank < gains_.size(); ++rank) {
    const double weight = weights_[rank];
    value += weight * gains_[rank];
    if (list_->pinned[rank] != 0) continue;
    const double base = model.base[rank] + model.later[rank];
    value += above * (base + model.factor[rank] * means_[place]) -
             weight * (base + model.factor[rank] * model.values[place]);
    above = weight;
    ++place;
  }
  return value;
}

ListValue::Exposure ListValue::exposure(std::span<const double> discounts,
                                        std::span<const double> examination,
                                        const PlaceChances& logged) {
  const std::size_t examined = std::min(gains_.size(), examination.size());
  const std::uint32_t places = sampled_in(*list_, examined);
  if (choice_->sampled && places > 0) places_.set(choice_->scores, places);
  double value = 0;
  double weight = 0;
  double expected = 0;  // of `weight`
  double most = 0;
  double largest = 0;
  std::uint32_t doc = 0;
  for (std::size_t rank = 0; rank < gains_.size(); ++rank) {
    if (rank >= examined || list_->pinned[rank] != 0) {
      value += gains_[rank];
      most += discounts[rank];
      largest = std::max(largest, 1.0);
      continue;
    }
    const std::uint32_t shown_doc = doc++;
    double wanted = 0;
    double had = 0;
    std::uint32_t place = 0;
    for (std::size_t at = 0; at < examined; ++at) {
      if (list_->pinned[at] != 0) continue;
      const double chance = choice_->sampled
                                ? places_.at(shown_doc, place)
                                : (choice_->order[place] == Doc{shown_doc} ? 1.0 : 0.0);
      wanted += discounts[at] * examination[at] * chance;
      had += examination[at] * logged.at(shown_doc, place);
      ++place;
    }
    expected += discounts[rank] * examination[rank];
    if (!(had > 0)) continue;
    weight += examination[rank] * wanted / had;
    most += wanted / had;
    largest = std::max(largest, wanted / had);
    if (gains_[rank] != 0) value += gains_[rank] / discounts[rank] * wanted / had;
  }
  return {value, expected > 0 ? weight / expected : 1.0, most, largest};
}

}  // namespace plackett
