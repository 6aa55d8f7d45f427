// From the records of runs to what tables show of them.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "plackett/simulation.h"

namespace plackett {
namespace {

RunRecord record_of(std::uint32_t run, double offline, std::vector<MetricCurve> metrics) {
  return {.run = run,
          .fold = run % 2,
          .curve = {{1, 0.1, 1}, {10, offline, 10}},
          .metrics = std::move(metrics),
          .validation = offline / 2};
}

TEST(Summary, HasEveryMetricThatAllRunsHave) {
  const CellSummary cell = summarise({}, "data",
                                     {record_of(3, 0.5, {{"MAP", {0.2, 0.4}}, {"MRR", {0, 1}}}),
                                      record_of(0, 0.7, {{"MRR", {0, 1}}, {"MAP", {0.4, 0.8}}})});
  ASSERT_EQ(cell.metrics.size(), 2U);
  EXPECT_EQ(cell.metrics[0].name, "MAP");
  ASSERT_EQ(cell.metrics[0].curve.size(), 2U);
  EXPECT_DOUBLE_EQ(cell.metrics[0].curve[0].mean, 0.3);
  EXPECT_DOUBLE_EQ(cell.metrics[0].final.mean, 0.6);
  EXPECT_DOUBLE_EQ(cell.metrics[0].final.std, 0.4 / std::sqrt(2));
  EXPECT_EQ(summarise({}, "data", {record_of(0, 0.5, {{"MAP", {0, 0}}}), record_of(1, 0.5, {})})
                .metrics.size(),
            0U);
}

TEST(Summary, KeepsWhatEachRunEndedWith) {
  const CellSummary cell = summarise(
      {}, "data",
      {record_of(3, 0.5, {{"MAP", {0.2, 0.4}}}), record_of(0, 0.7, {{"MAP", {0.4, 0.8}}})});
  ASSERT_EQ(cell.finals.size(), 2U);
  const RunFinal& last = cell.finals[1];
  EXPECT_EQ(last.run, 3U);
  EXPECT_EQ(last.fold, 1U);
  EXPECT_EQ(last.offline, 0.5);
  EXPECT_EQ(last.validation, 0.25);
  EXPECT_EQ(last.metrics, std::vector<double>{0.4});
}

TEST(Summary, NumbersOfValidationQueriesAreNotThePapers) {
  EXPECT_TRUE(summarise({}, "MQ2007", {}).as_in_paper);
  EXPECT_FALSE(summarise({.split = MeasuredSplit::kValidation}, "MQ2007", {}).as_in_paper);
  EXPECT_FALSE(summarise({.shown = 5}, "MQ2007", {}).as_in_paper);
}

}  // namespace
}  // namespace plackett
