// Simulated logs for tests of off-policy evaluation.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/attempt.h"
#include "plackett/logged_list.h"
#include "plackett/plackett_luce.h"
#include "plackett/rng.h"

namespace plackett {

// Lists of `docs` candidates with random features; logged scores are `scale` times the first
// feature; clicks as `click` draws them from (rank, features).
struct LogMaker {
  std::uint32_t lists = 1000;
  std::uint32_t docs = 6;
  std::uint32_t shown = 4;
  std::vector<std::uint32_t> lengths = {};  // one of them is drawn for each list; empty: `shown`
  std::uint32_t features = 3;
  std::uint32_t lists_per_unit = 1;
  double scale = 1;
  double keep = 1;
  std::uint64_t seed = 1;
  std::uint32_t first = 0;  // number of the first list
  std::function<double(std::size_t rank, const float* row)> click_chance = [](std::size_t rank,
                                                                              const float* row) {
    return 0.6 * row[1] / static_cast<double>(rank + 1);
  };

  void fill(MemoryLog& log) const {
    SamplingScratch scratch;
    for (std::uint32_t number = first; number < first + lists; ++number) {
      Rng rng({seed, 0, number, Purpose::kTest});
      const std::uint32_t ranks =
          lengths.empty() ? shown : lengths[rng.below(static_cast<std::uint32_t>(lengths.size()))];
      std::vector<float> rows(std::size_t{docs} * features);
      for (float& value : rows) value = static_cast<float>(rng.uniform());
      std::vector<float> scores(docs);
      for (std::uint32_t doc = 0; doc < docs; ++doc) {
        scores[doc] = static_cast<float>(scale) * rows[doc * features];
      }
      std::vector<Doc> ranking(ranks);
      sample_ranking(scores, rng, scratch, ranking);
      std::vector<std::uint32_t> order;
      for (const Doc doc : ranking) order.push_back(index(doc));
      for (std::uint32_t doc = 0; doc < docs; ++doc) {
        if (std::find(order.begin(), order.end(), doc) == order.end()) order.push_back(doc);
      }
      LoggedList list;
      list.kept = rng.uniform() < keep;
      const std::uint32_t known = list.kept ? docs : ranks;
      std::vector<float> arranged_rows;
      std::vector<float> arranged_scores;
      for (std::uint32_t at = 0; at < known; ++at) {
        const float* row = rows.data() + std::size_t{order[at]} * features;
        arranged_rows.insert(arranged_rows.end(), row, row + features);
        arranged_scores.push_back(scores[order[at]]);
      }
      std::vector<std::uint8_t> clicked(ranks);
      std::vector<double> rewards(ranks);
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const double chance = click_chance(rank, rows.data() + std::size_t{order[rank]} * features);
        clicked[rank] = rng.uniform() < chance ? 1 : 0;
        rewards[rank] = 2.0 * clicked[rank];
      }
      const std::vector<std::uint8_t> pinned(ranks, 0);
      const std::string name = "i-" + std::to_string(number);
      list.name = name;
      list.unit = number / lists_per_unit;
      list.docs = FeatureView::of(arranged_rows.data(), known, features, features);
      list.scores = arranged_scores;
      list.pinned = pinned;
      list.clicked = clicked;
      list.rewards = rewards;
      list.keep = keep;
      take(log.add(list));
    }
  }
};

}  // namespace plackett
