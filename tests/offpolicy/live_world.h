// Simulated users of a live test: who comes, and what the lists that they see are worth.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "offpolicy/ratio_sums.h"
#include "plackett/rng.h"

namespace plackett::testing {

enum class Visits : std::uint8_t {
  kOnce,    // every list is another unit's
  kZipf,    // 3,000 units, the k-th in proportion to k^-0.8: the first sees 5 % of all lists
  kCohort,  // units arrive over time, see five lists on average within a short while, and leave
};

enum class Worth : std::uint8_t {
  kClick,   // 1 with the unit's chance
  kDcg,     // of five ranks, each clicked with the unit's chance / rank
  kEvents,  // a click, and a purchase of its own weight and chance
};

struct LiveWorld {
  Visits visits = Visits::kOnce;
  Worth worth = Worth::kClick;
  double chance = 0.1;       // of a click, on average over units
  double spread = 0;         // of a unit's log chance: its lists are alike
  double share = 0.5;        // of the challenger
  double effect = 0;         // the challenger has 1 + effect times as many clicks
  bool interleaved = false;  // a list is of both arms: what it is worth is credited to one of them
  double purchase_chance = 0;  // of a list
  double purchase_weight = 0;
  double purchase_effect = 0;  // the challenger has 1 + purchase_effect times as many
};

// One run of a live test. After each impression the sums are what a service would have stored.
class LiveRun {
 public:
  LiveRun(const LiveWorld& world, std::uint64_t seed, std::uint32_t run)
      : world_(world), rng_({.seed = seed, .run = run}) {
    if (world.visits == Visits::kZipf)
      while (units_.size() < kPopulation) add_unit();
  }

  void show_list() {
    Unit& unit = units_[visitor()];
    const double value = worth_of(unit);
    const UnitTotals before = unit.totals;
    if (world_.interleaved) {
      const bool credited = rng_.uniform() < (1 + world_.effect) / (2 + world_.effect);
      (credited ? unit.totals.y : unit.totals.x) += value;
    } else {
      unit.totals = {before.x + 1, before.y + value};
    }
    const std::size_t arm = unit.challenger && !world_.interleaved ? 1 : 0;
    arms_[arm].change(before, unit.totals);
    lists_[arm].change({}, {unit.totals.x - before.x, unit.totals.y - before.y});
  }

  // Split: the baseline's, the challenger's. Interleaved: the first is of both.
  [[nodiscard]] const RatioSums& arm(std::size_t at) const { return arms_[at]; }
  // The planted fault: as if each list were another unit's.
  [[nodiscard]] const RatioSums& arm_of_lists(std::size_t at) const { return lists_[at]; }

 private:
  struct Unit {
    bool challenger = false;
    double chance = 0;
    UnitTotals totals;
  };

  static constexpr std::size_t kPopulation = 3000;

  static const std::vector<double>& zipf() {
    static const std::vector<double> sums = [] {
      std::vector<double> made;
      double sum = 0;
      for (std::size_t at = 1; at <= kPopulation; ++at)
        made.push_back(sum += std::pow(static_cast<double>(at), -0.8));
      return made;
    }();
    return sums;
  }

  std::size_t add_unit() {
    Unit unit;
    unit.challenger = rng_.uniform() < world_.share;
    unit.chance = world_.chance;
    if (world_.spread > 0) {
      const double s = world_.spread;
      unit.chance = std::min(1.0, world_.chance * std::exp(s * rng_.normal() - s * s / 2));
    }
    if (unit.challenger && !world_.interleaved) unit.chance *= 1 + world_.effect;
    units_.push_back(unit);
    return units_.size() - 1;
  }

  std::size_t visitor() {
    if (world_.visits == Visits::kZipf) {
      const auto& sums = zipf();
      const auto at = std::upper_bound(sums.begin(), sums.end(), rng_.uniform() * sums.back());
      return std::min<std::size_t>(static_cast<std::size_t>(at - sums.begin()), kPopulation - 1);
    }
    constexpr std::uint32_t kPresent = 50;
    if (world_.visits == Visits::kOnce || units_.size() < kPresent || rng_.uniform() < 0.2)
      return add_unit();
    return units_.size() - 1 - rng_.below(kPresent);
  }

  double worth_of(const Unit& unit) {
    switch (world_.worth) {
      case Worth::kClick:
        return clicked(unit, 1);
      case Worth::kDcg:
        return dcg(unit);
      case Worth::kEvents: {
        const bool more = unit.challenger && !world_.interleaved;
        const double chance = world_.purchase_chance * (more ? 1 + world_.purchase_effect : 1);
        const double bought = rng_.uniform() < chance ? world_.purchase_weight : 0;
        return clicked(unit, 1) + bought;
      }
    }
    return 0;
  }
  double clicked(const Unit& unit, int rank) {
    return rng_.uniform() < unit.chance / rank ? 1.0 : 0.0;
  }
  double dcg(const Unit& unit) {
    double sum = 0;
    for (int rank = 1; rank <= 5; ++rank) sum += clicked(unit, rank) / std::log2(rank + 1.0);
    return sum;
  }

  LiveWorld world_;
  Rng rng_;
  std::vector<Unit> units_;
  RatioSums arms_[2];
  RatioSums lists_[2];
};

}  // namespace plackett::testing
