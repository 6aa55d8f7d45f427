#include "plackett/top_k.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "support/chi_square.h"

namespace plackett {
namespace {

using testing::chi_square_p;
using testing::kFalseAlarmRate;

std::vector<Doc> best(const std::vector<float>& scores, std::size_t k, Rng& rng) {
  std::vector<Doc> out(k);
  top_k(scores, rng, out);
  return out;
}

// How often each possible outcome of ten thousand calls came up. The outcomes are all orders of
// documents that sorting by score allows, cut at k.
struct Outcomes {
  std::map<std::vector<Doc>, std::uint64_t> counts;

  Outcomes(const std::vector<float>& scores, std::size_t k) {
    std::vector<Doc> order(scores.size());
    for (std::uint32_t doc = 0; doc < scores.size(); ++doc) order[doc] = Doc{doc};
    do {
      const bool sorted = std::is_sorted(order.begin(), order.end(), [&](Doc a, Doc b) {
        return scores[index(a)] > scores[index(b)];
      });
      if (sorted) counts[{order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k)}] = 0;
    } while (std::next_permutation(order.begin(), order.end()));
  }

  double p_value() const {
    std::vector<std::uint64_t> seen;
    for (const auto& [outcome, count] : counts) seen.push_back(count);
    const std::vector<double> expected(seen.size(), 1.0 / static_cast<double>(seen.size()));
    return chi_square_p(seen, expected);
  }
};

TEST(TopK, EqualsAFullSortWhenScoresDiffer) {
  Rng rng({.seed = 4});
  for (std::uint32_t docs = 1; docs <= 600; docs += docs < 200 ? 1 : 23) {
    std::vector<float> scores(docs);
    for (std::uint32_t doc = 0; doc < docs; ++doc) {
      scores[doc] = static_cast<float>(rng.below(1U << 20)) + static_cast<float>(doc) / 256;
    }
    std::vector<Doc> sorted(docs);
    for (std::uint32_t doc = 0; doc < docs; ++doc) sorted[doc] = Doc{doc};
    std::sort(sorted.begin(), sorted.end(),
              [&](Doc a, Doc b) { return scores[index(a)] > scores[index(b)]; });
    for (const std::size_t k : {0UL, 1UL, 10UL, 17UL, 40UL, scores.size()}) {
      if (k > scores.size()) continue;
      const std::vector<Doc> expected(sorted.begin(),
                                      sorted.begin() + static_cast<std::ptrdiff_t>(k));
      ASSERT_EQ(best(scores, k, rng), expected);
    }
  }
}

// Twenty of forty tied documents find a place: each of the forty as often as another.
TEST(TopK, TiedDocumentsShareThePlacesOfALongList) {
  const std::vector<float> scores(40, 1);
  std::vector<std::uint64_t> at_the_top(scores.size());
  std::vector<std::uint64_t> at_the_end(scores.size());
  Rng rng({.seed = 8, .purpose = Purpose::kTieBreak});
  for (int draw = 0; draw < 20'000; ++draw) {
    const std::vector<Doc> docs = best(scores, 20, rng);
    ++at_the_top[index(docs.front())];
    ++at_the_end[index(docs.back())];
  }
  const std::vector<double> expected(scores.size(), 1.0 / 40);
  EXPECT_GT(chi_square_p(at_the_top, expected), kFalseAlarmRate);
  EXPECT_GT(chi_square_p(at_the_end, expected), kFalseAlarmRate);
}

TEST(TopK, DrawsNothingWhenScoresDiffer) {
  Rng rng({.seed = 5});
  Rng untouched = rng;
  best({3, 1, 2, -7, 0}, 3, rng);
  EXPECT_EQ(rng.next_u64(), untouched.next_u64());
}

// Chi-square over all allowed orders, alpha 1e-6 a case, 20,000 draws of one fixed stream.
TEST(TopK, OrdersOfEqualScoresAreEquallyLikely) {
  const std::vector<std::vector<float>> cases = {
      {0, 0, 0, 0}, {1, 0, 1, 0, 1}, {2, 1, 1, 1, 1, 0}, {0.0F, -0.0F, 5, 0.0F}, {1, 1, 2, 2}};
  for (const std::vector<float>& scores : cases) {
    for (std::size_t k = 1; k <= scores.size(); ++k) {
      Outcomes outcomes(scores, k);
      Rng rng({.seed = 6, .purpose = Purpose::kTieBreak});
      for (int draw = 0; draw < 20'000; ++draw) {
        const auto found = outcomes.counts.find(best(scores, k, rng));
        ASSERT_NE(found, outcomes.counts.end());
        ++found->second;
      }
      EXPECT_GT(outcomes.p_value(), kFalseAlarmRate) << scores.size() << " docs, k " << k;
    }
  }
}

// The planted fault: a heap that keeps whichever tied document came first, then shuffles.
TEST(TopK, TieCheckRejectsFavouringTheFirstDocuments) {
  const std::vector<float> scores = {0, 0, 0, 0};
  Outcomes outcomes(scores, 2);
  Rng rng({.seed = 6, .purpose = Purpose::kTieBreak});
  for (int draw = 0; draw < 20'000; ++draw) {
    std::vector<Doc> faulty = {Doc{0}, Doc{1}};
    if (rng.below(10) == 0) {
      faulty = best(scores, 2, rng);
    } else if (rng.below(2) == 0) {
      std::swap(faulty[0], faulty[1]);
    }
    ++outcomes.counts.at(faulty);
  }
  EXPECT_LT(outcomes.p_value(), kFalseAlarmRate);
}

// The plainest code that gives the same lists and draws the same numbers, for lists of up to 16.
std::vector<Doc> plain_best(const std::vector<float>& scores, std::size_t k, Rng& rng) {
  std::vector<Doc> order(scores.size());
  for (std::uint32_t doc = 0; doc < scores.size(); ++doc) order[doc] = Doc{doc};
  const auto score_of = [&scores](Doc doc) { return scores[index(doc)]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](Doc a, Doc b) { return score_of(a) > score_of(b); });
  for (std::size_t begin = 0; begin < k;) {
    std::size_t end = begin + 1;
    while (end < order.size() && score_of(order[end]) == score_of(order[begin])) ++end;
    const std::size_t places = std::min(end, k) - begin;
    for (std::size_t seen = places; seen < end - begin; ++seen) {
      const std::uint32_t place = rng.below(static_cast<std::uint32_t>(seen + 1));
      if (place < places) order[begin + place] = order[begin + seen];
    }
    for (std::size_t left = places; left > 1; --left) {
      std::swap(order[begin + left - 1],
                order[begin + rng.below(static_cast<std::uint32_t>(left))]);
    }
    begin = end;
  }
  order.resize(k);
  return order;
}

TEST(TopK, GivesPlainCodesListsAndDraws) {
  const float infinity = std::numeric_limits<float>::infinity();
  Rng rng({.seed = 9});
  for (std::uint32_t docs = 1; docs <= 300; docs += docs < 40 ? 1 : 13) {
    for (const std::uint32_t values : {1U, 2U, 5U, 40U, 1'000U, 1U << 24}) {
      std::vector<float> scores(docs);
      for (float& score : scores) {
        score = static_cast<float>(rng.below(values)) - static_cast<float>(values / 2);
        if (score == 0 && rng.below(2) == 0) score = -0.0F;
        if (values == 1'000 && rng.below(20) == 0) score = rng.below(2) == 0 ? infinity : -infinity;
      }
      for (const std::size_t k : {1UL, 2UL, 3UL, 5UL, 10UL, 15UL, 16UL}) {
        if (k > docs) continue;
        Rng fast({.seed = docs, .run = values});
        Rng plain = fast;
        ASSERT_EQ(best(scores, k, fast), plain_best(scores, k, plain))
            << docs << " docs of " << values << " values, k " << k;
        ASSERT_EQ(fast.next_u64(), plain.next_u64()) << docs << " docs of " << values << " values";
      }
    }
  }
}

TEST(TopK, TakesInfiniteScores) {
  Rng rng({.seed = 7});
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(best({-infinity, infinity, 0}, 3, rng), (std::vector<Doc>{Doc{1}, Doc{2}, Doc{0}}));
}

}  // namespace
}  // namespace plackett
