#include "experiment/contrasts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "evaluation/t_test.h"

namespace plackett {
namespace {

CellSummary cell(std::string label, std::string click_model, bool baseline) {
  CellSummary made;
  made.label = std::move(label);
  made.baseline = baseline;
  made.click_model = std::move(click_model);
  made.dataset = "MQ2007";
  made.protocol = "described";
  made.runs = 125;
  made.offline = {0.5, 0.02};
  made.online = {700, 20};
  return made;
}

std::vector<std::pair<std::size_t, std::size_t>> pairs(const Comparison& comparison) {
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for (const Contrast& contrast : comparison.contrasts) {
    found.emplace_back(contrast.cell, contrast.baseline);
  }
  return found;
}

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

TEST(Contrasts, PairEveryCellWithTheBaselinesOfItsBlock) {
  Comparison comparison;
  comparison.cells = {cell("DBGD", "perfect", true), cell("MGD", "perfect", true),
                      cell("PDGD", "perfect", false), cell("DBGD", "random", true),
                      cell("PDGD", "random", false)};
  add_contrasts(comparison);
  EXPECT_EQ(pairs(comparison), (Pairs{{0, 1}, {1, 0}, {2, 0}, {2, 1}, {4, 3}}));
  add_contrasts(comparison);
  EXPECT_EQ(comparison.contrasts.size(), 5U);
}

TEST(Contrasts, PairOnlyWhatDiffersByItsMethodAlone) {
  Comparison comparison;
  comparison.cells.assign(5, cell("PDGD", "perfect", false));
  comparison.cells[0].baseline = true;
  comparison.cells[1].dataset = "MQ2008";
  comparison.cells[2].protocol = "published";
  comparison.cells[3].seed = 2;
  comparison.cells[4].impressions = 1;
  add_contrasts(comparison);
  EXPECT_TRUE(comparison.contrasts.empty());
  EXPECT_TRUE(comparison.leaders.empty());
}

TEST(Contrasts, NoBaselineMeansNone) {
  Comparison comparison;
  comparison.cells = {cell("PDGD", "perfect", false), cell("other", "perfect", false)};
  add_contrasts(comparison);
  EXPECT_TRUE(comparison.contrasts.empty());
}

TEST(Contrasts, HoldAllTestsOfBothMeasures) {
  Comparison comparison;
  comparison.cells = {cell("DBGD", "perfect", true), cell("PDGD", "perfect", false)};
  comparison.cells[1].offline = {0.51, 0.01};
  comparison.cells[1].online = {650, 60};
  comparison.cells[1].runs = 25;
  add_contrasts(comparison);
  ASSERT_EQ(comparison.contrasts.size(), 1U);
  const Contrast& contrast = comparison.contrasts[0];
  EXPECT_EQ(contrast.offline.student.p, student_t_test({0.51, 0.01, 25}, {0.5, 0.02, 125}).p);
  EXPECT_EQ(contrast.offline.welch.p, welch_t_test({0.51, 0.01, 25}, {0.5, 0.02, 125}).p);
  EXPECT_EQ(contrast.online.welch.degrees, welch_t_test({650, 60, 25}, {700, 20, 125}).degrees);
  EXPECT_GT(contrast.offline.welch.t, 0);
  EXPECT_LT(contrast.online.student.t, 0);
}

TEST(Contrasts, PairTheRunsThatBothHave) {
  Comparison comparison;
  comparison.cells = {cell("DBGD", "perfect", true), cell("PDGD", "perfect", false)};
  comparison.cells[0].finals = {{0, 0.5, 700}, {1, 0.4, 600}, {3, 0.6, 650}, {4, 0.1, 1}};
  comparison.cells[1].finals = {{1, 0.45, 610}, {2, 0.9, 1}, {3, 0.62, 640}};
  add_contrasts(comparison);
  const MeasureTests& offline = comparison.contrasts[0].offline;
  EXPECT_DOUBLE_EQ(offline.paired.difference, (0.05 + 0.02) / 2);
  EXPECT_EQ(offline.paired.degrees, 1);
  EXPECT_EQ(offline.paired.p, paired_t_test(std::vector{0.45 - 0.4, 0.62 - 0.6}).p);
  EXPECT_EQ(comparison.contrasts[0].online.paired.t, 0);
  comparison.cells[0].finals = {{0, 0.5, 700}, {1, 0.4, 600}};
  add_contrasts(comparison);
  EXPECT_TRUE(std::isnan(comparison.contrasts[0].offline.paired.p));
}

TEST(Contrasts, TestTheBestTwoOfABlockWhereNeitherIsABaseline) {
  Comparison comparison;
  comparison.cells = {cell("a", "perfect", false), cell("b", "perfect", false),
                      cell("c", "perfect", false)};
  comparison.cells[1].offline.mean = 0.6;  // leads offline, a is next, being earlier than c
  comparison.cells[2].online.mean = 800;   // leads online
  comparison.cells[0].online.mean = 0.1;
  add_contrasts(comparison);
  ASSERT_EQ(comparison.leaders.size(), 2U);
  EXPECT_EQ(comparison.leaders[0].cell, 1U);
  EXPECT_EQ(comparison.leaders[0].baseline, 0U);
  EXPECT_EQ(comparison.leaders[1].cell, 2U);
  EXPECT_EQ(comparison.leaders[1].baseline, 1U);
  comparison.cells[1].baseline = true;  // the contrasts have what concerns it
  add_contrasts(comparison);
  EXPECT_TRUE(comparison.leaders.empty());
}

TEST(Contrasts, CorrectOverAllTestsAgainstBaselines) {
  Comparison comparison;
  comparison.cells = {cell("DBGD", "perfect", true), cell("MGD", "perfect", true),
                      cell("PDGD", "perfect", false)};
  comparison.cells[2].offline.mean = 0.506;
  comparison.cells[2].online.mean = 702;
  add_contrasts(comparison);
  // Four tests count: PDGD's against two baselines in two measures.
  const double p = welch_t_test({0.506, 0.02, 125}, {0.5, 0.02, 125}).p;
  for (const Contrast& contrast : comparison.contrasts) {
    const bool counts = contrast.cell == 2;
    EXPECT_EQ(std::isnan(contrast.offline.welch.holm), !counts);
    if (counts) {
      EXPECT_DOUBLE_EQ(contrast.offline.welch.holm, 4 * p);
    }
    EXPECT_TRUE(std::isnan(contrast.offline.paired.holm));  // no run is known
  }
}

TEST(Contrasts, CorrectLeadersForThePairsThatTheyWerePickedFrom) {
  Comparison comparison;
  comparison.cells = {cell("a", "perfect", false), cell("b", "perfect", false),
                      cell("c", "perfect", false), cell("d", "perfect", false)};
  comparison.cells[1].offline.mean = 0.508;
  add_contrasts(comparison);
  ASSERT_EQ(comparison.leaders.size(), 2U);  // offline and online
  const TTest& test = comparison.leaders[0].offline.welch;
  // One of 6 pairs, and the smallest p of 4 tests, of which the others are not below it.
  EXPECT_DOUBLE_EQ(test.holm, 6 * 4 * test.p);
}

TEST(Contrasts, TestEveryMetricThatBothHave) {
  Comparison comparison;
  comparison.cells = {cell("DBGD", "perfect", true), cell("PDGD", "perfect", false)};
  comparison.cells[0].metrics = {{"MAP", {0.4, 0.02}, {}}, {"MRR", {0.7, 0.02}, {}}};
  comparison.cells[1].metrics = {{"ERR@10", {0.3, 0.02}, {}}, {"MAP", {0.5, 0.02}, {}}};
  comparison.cells[0].finals = {{0, 0.5, 700, 0, {0.4, 0.7}}, {1, 0.4, 600, 1, {0.3, 0.7}}};
  comparison.cells[1].finals = {{0, 0.5, 700, 0, {0.3, 0.6}}, {1, 0.4, 600, 1, {0.3, 0.4}}};
  add_contrasts(comparison);
  ASSERT_EQ(comparison.contrasts.size(), 1U);
  const auto& metrics = comparison.contrasts[0].metrics;
  ASSERT_EQ(metrics.size(), 1U);
  EXPECT_EQ(metrics[0].name, "MAP");
  EXPECT_NEAR(metrics[0].tests.welch.difference, 0.1, 1e-12);
  EXPECT_NEAR(metrics[0].tests.paired.difference, 0.15, 1e-12);
  EXPECT_DOUBLE_EQ(metrics[0].tests.paired.t,
                   paired_t_test(std::vector<double>{0.6 - 0.4, 0.4 - 0.3}).t);
  // The smallest of three p-values, of which the others are 1.
  EXPECT_DOUBLE_EQ(metrics[0].tests.welch.holm, 3 * metrics[0].tests.welch.p);
}

TEST(Contrasts, TestTheMeasuresOfDriftAsAFamilyOfTheirOwn) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  Comparison comparison;
  comparison.cells = {cell("A", "perfect", false), cell("B", "perfect", true)};
  const auto before = [&] {
    add_contrasts(comparison);
    return comparison.contrasts.front();
  }();
  EXPECT_TRUE(before.drift.empty());
  const std::vector<std::vector<double>> regrets{{0.1, 0.3, 0.2}, {0.3, 0.4, 0.5}};
  for (std::size_t at = 0; at < 2; ++at) {
    CellSummary& made = comparison.cells[at];
    made.drift = DriftSummary{.drifts = std::vector<DriftMark>(2)};
    for (std::uint32_t run = 0; run < 3; ++run) {
      RunFinal& final = made.finals.emplace_back(RunFinal{.run = run});
      final.drift = DriftMeasures{
          .regret = regrets[at][run],
          .regret_after = 1,
          .worst_window = 0.5,
          .regained = {{(at == 0 ? 100.0 : 200.0) * (run + 1) * (run + 1), true}, {kNone, false}}};
    }
  }
  add_contrasts(comparison);
  const Contrast& contrast = comparison.contrasts.front();
  std::vector<std::string> names;
  for (const MetricTests& one : contrast.drift) names.push_back(one.name);
  EXPECT_EQ(names, (std::vector<std::string>{"regret", "regret_since_drift", "worst_window",
                                             "regained_after_1", "regained_after_2"}));
  const TTest& regret = contrast.drift[0].tests.paired;
  const TTestResult plain = paired_t_test(std::vector{0.1 - 0.3, 0.3 - 0.4, 0.2 - 0.5});
  EXPECT_DOUBLE_EQ(regret.difference, plain.difference);
  EXPECT_DOUBLE_EQ(regret.p, plain.p);
  const TTest& regained = contrast.drift[3].tests.paired;
  EXPECT_DOUBLE_EQ(regained.difference, -1'400.0 / 3);
  EXPECT_TRUE(std::isnan(contrast.drift[4].tests.paired.p));
  // Two of the tests have a p below 1, and the offline and online ones are not among them.
  EXPECT_GE(regret.holm, regret.p);
  EXPECT_DOUBLE_EQ(contrast.offline.welch.holm, before.offline.welch.holm);
  EXPECT_TRUE(comparison.leaders.empty());
}

TEST(Contrasts, LeadersLeadInAMetricToo) {
  Comparison comparison;
  comparison.cells = {cell("a", "perfect", false), cell("b", "perfect", false),
                      cell("c", "perfect", false)};
  comparison.cells[1].metrics = {{"MAP", {0.4, 0.02}, {}}};
  comparison.cells[2].metrics = {{"MAP", {0.5, 0.02}, {}}};
  add_contrasts(comparison);
  ASSERT_EQ(comparison.leaders.size(), 2U);
  EXPECT_EQ(comparison.leaders[1].cell, 2U);
  EXPECT_EQ(comparison.leaders[1].baseline, 1U);
}

}  // namespace
}  // namespace plackett
