// What the tests against baselines say, counted and in sentences.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "report/arrangement.h"
#include "report/significance.h"

namespace plackett::report {

// How many tests against baselines came out which way.
struct TestCounts {
  std::size_t better = 0;
  std::size_t worse = 0;
  std::size_t neither = 0;
  [[nodiscard]] std::size_t all() const { return better + worse + neither; }
};
TestCounts count_tests(const std::vector<Against>& against);

// All the tests of a series, over all blocks.
struct SeriesTests {
  TestCounts offline;
  TestCounts online;
};
SeriesTests series_tests(const Arrangement& arrangement, std::size_t series,
                         const Significance& significance);

// "PDGD (linear) beats all four baselines, offline and online, in all three settings." Empty where
// no series was better in every test that there could be, in at least one measure.
std::string sweep_sentence(const Arrangement& arrangement, const Significance& significance);

// "PDGD (neural): offline better than all 4 baselines; online better than 1, worse than 3 of 4
// baselines." Empty where nothing was tested.
std::string baselines_sentence(const Arrangement& arrangement, const Row& row,
                               const Significance& significance);

// The same over all blocks, in tests: "PDGD (linear): offline better in all 60 tests; ...".
std::string all_tests_sentence(const Arrangement& arrangement, std::size_t series,
                               const Significance& significance);

// "both", "all three", ... for 2 to 5 of something; "all" beyond.
std::string all_of(std::size_t count);

}  // namespace plackett::report
