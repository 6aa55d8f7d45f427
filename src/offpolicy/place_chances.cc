#include "offpolicy/place_chances.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace plackett {
namespace {

// Adds one document that is earlier with probability 1 - stays; counts of `size` and more are left
// out.
void add_event(double stays, std::size_t size, double* counts) {
  const double earlier = 1 - stays;
  for (std::size_t count = size; count-- > 1;) {
    counts[count] = counts[count] * stays + counts[count - 1] * earlier;
  }
  counts[0] *= stays;
}

}  // namespace

void PlaceChances::set(std::span<const float> scores, std::uint32_t shown) {
  assert(shown > 0 && shown <= scores.size());
  constexpr double kLowest = -600;
  shown_ = shown;
  const double highest = *std::max_element(scores.begin(), scores.end());
  rates_.resize(scores.size());
  double total = 0;
  for (std::size_t doc = 0; doc < scores.size(); ++doc) {
    rates_[doc] = std::exp(std::max(scores[doc] - highest, kLowest));
    total += rates_[doc];
  }
  stays_.resize(shown);
  prefix_.resize(std::size_t{shown + 1} * shown);
  suffix_.resize(std::size_t{shown + 1} * shown);
  chances_.assign(std::size_t{shown} * shown, 0);

  // Time is exp(x - exp(-x)) / total: both ends vanish fast.
  constexpr double kStep = 0.22;
  constexpr double kFirst = -3.5;
  constexpr double kNothingLeft = 1e-16;
  for (std::uint32_t node = 0;; ++node) {
    const double x = kFirst + kStep * node;
    const double inverse = std::exp(-x);
    const double time = std::exp(x - inverse) / total;
    add_node(time, kStep * time * (1 + inverse));
    // Done once all places are taken almost surely.
    double open = 0;
    const double* counts = prefix_.data() + std::size_t{shown} * shown;
    for (std::uint32_t count = 0; count < shown; ++count) open += counts[count];
    if (x > 0 && open < kNothingLeft) break;
  }
}

void PlaceChances::add_node(double time, double weight) {
  const std::size_t shown = shown_;
  double* first = prefix_.data();
  std::fill_n(first, shown, 0.0);
  first[0] = 1;
  for (std::size_t doc = shown; doc < rates_.size(); ++doc) {
    add_event(std::exp(-rates_[doc] * time), shown, first);
  }
  for (std::size_t doc = 0; doc < shown; ++doc) {
    stays_[doc] = std::exp(-rates_[doc] * time);
    double* counts = prefix_.data() + doc * shown;
    std::copy_n(counts, shown, counts + shown);
    add_event(stays_[doc], shown, counts + shown);
  }
  double* last = suffix_.data() + shown * shown;
  std::fill_n(last, shown, 0.0);
  last[0] = 1;
  for (std::size_t doc = shown; doc-- > 0;) {
    double* counts = suffix_.data() + doc * shown;
    std::copy_n(counts + shown, shown, counts);
    add_event(stays_[doc], shown, counts);
  }
  for (std::size_t doc = 0; doc < shown; ++doc) {
    const double* before = prefix_.data() + doc * shown;
    const double* after = suffix_.data() + (doc + 1) * shown;
    const double density = weight * rates_[doc] * stays_[doc];
    double* chances = chances_.data() + doc * shown;
    for (std::size_t place = 0; place < shown; ++place) {
      double earlier = 0;  // exactly `place` of the other documents
      for (std::size_t count = 0; count <= place; ++count) {
        earlier += before[count] * after[place - count];
      }
      chances[place] += density * earlier;
    }
  }
}

}  // namespace plackett
