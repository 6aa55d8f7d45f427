#include "report/drift.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "report/figure.h"
#include "report/write.h"
#include "samples.h"

namespace plackett::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

// Labels change at once, then users slowly; in the first click model alone.
Comparison drifting() {
  Comparison comparison = testing::small_comparison();
  const std::string click_model = comparison.cells.front().click_model;
  for (CellSummary& cell : comparison.cells) {
    if (cell.click_model != click_model) continue;
    DriftSummary drift{
        .drifts = {{.text = "labels at=4000 change=intents",
                    .at = 4'000,
                    .settled = 4'000,
                    .regained_after = {1'234.4, 99.6, 25},
                    .regained = 24},
                   {.text = "users at=6000 over=500 click-model=perfect",
                    .at = 6'000,
                    .settled = 6'500,
                    .regained_after = {3'500, 0, 25}},
                   {.text = "labels at=9900 change=intents", .at = 9'900, .settled = 9'900}},
        .regret = {0.05123, 0.00312, 25},
        .regret_after = {0.07, std::numeric_limits<double>::quiet_NaN(), 1},
        .worst_window = {0.3, 0.01, 25}};
    for (std::uint64_t end = 100; end <= cell.impressions; end += 100) {
      drift.windows.push_back({end, {0.4, 0.1}, {0.5, 0.1}});
    }
    cell.drift = drift;
  }
  return comparison;
}

TEST(DriftReport, ShowsTheMeasuresOfBlocksWithDrift) {
  const Comparison comparison = drifting();
  const auto tables = drift_tables(Arrangement(comparison));
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_THAT(tables[0].columns, ElementsAre("regret", "since drift", "worst window",
                                             "labels at 4k", "users at 6k", "labels at 9.9k"));
  ASSERT_EQ(tables[0].sections.size(), 1U);
  EXPECT_THAT(tables[0].about, HasSubstr("labels at=4000 change=intents; users at=6000 over=500"));
  const auto& cells = tables[0].sections[0].rows[0].cells;
  EXPECT_EQ(cells[0].mean, "0.0512 ± 0.0031");
  EXPECT_EQ(cells[1].mean, "0.0700");
  EXPECT_EQ(cells[3].mean, "1,234 ± 100 (24 of 25)");
  EXPECT_EQ(cells[4].mean, "never (0 of 25)");
  EXPECT_EQ(cells[5].mean, "–");
  for (const std::string& text : {terminal_table(comparison), markdown_table(comparison)}) {
    EXPECT_THAT(text, HasSubstr("0.0512 ± 0.0031"));
    EXPECT_THAT(text, HasSubstr("best linear ranker"));
  }
}

TEST(DriftReport, HasATableForEachListOfDrifts) {
  Comparison comparison = drifting();
  const std::string first = comparison.cells.front().click_model;
  for (CellSummary& cell : comparison.cells) {
    if (cell.click_model == first) continue;
    cell.drift = comparison.cells.front().drift;
    cell.drift->drifts.resize(1);
  }
  const auto tables = drift_tables(Arrangement(comparison));
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_EQ(tables[0].columns.size(), 6U);
  EXPECT_THAT(tables[1].columns, ElementsAre("regret", "since drift", "worst window", "regained"));
  EXPECT_THAT(tables[1].about, HasSubstr("Drift: labels at=4000 change=intents. "));
}

TEST(DriftReport, CountsRestartsOfMethodsThatRestart) {
  Comparison comparison = drifting();
  EXPECT_THAT(markdown_table(comparison), Not(HasSubstr("restarts")));
  comparison.cells.front().drift->restarts = {2.25, 0.5, 25};
  const auto tables = drift_tables(Arrangement(comparison));
  EXPECT_EQ(tables[0].columns.back(), "restarts");
  const auto& rows = tables[0].sections[0].rows;
  EXPECT_EQ(rows[0].cells.back().mean, "2.2 ± 0.5");
  EXPECT_EQ(rows[1].cells.back().mean, "");
}

TEST(DriftReport, IsInLatex) {
  const std::string latex = latex_table(drifting());
  EXPECT_THAT(latex, HasSubstr("\\caption{Under drift. Drifts: labels at=4000"));
  EXPECT_THAT(latex, HasSubstr("\\textbf{users at 6k}"));
  EXPECT_THAT(latex, HasSubstr("1,234 $\\pm$ 100 (24 of 25)"));
  EXPECT_THAT(latex_table(testing::small_comparison()), Not(HasSubstr("Under drift")));
}

TEST(DriftReport, HasTheTestsOfItsMeasures) {
  Comparison comparison = drifting();
  MetricTests tests{.name = "regret"};
  tests.tests.paired = {-2, 24, 0.05, -0.01, 0.02, 0.1};
  comparison.contrasts = {{.cell = 0, .baseline = 1, .drift = {tests}}};
  EXPECT_THAT(csv_tests(comparison), HasSubstr(",0,regret,-0.01,0.02,-2,24,0.05,0.1,"));
}

TEST(DriftReport, MarksDriftsAndShadesWhatIsOnItsWay) {
  Comparison comparison = drifting();
  const Arrangement arrangement(comparison);
  const Phases phases = phases_of(arrangement.blocks[0]);
  ASSERT_EQ(phases.marks.size(), 3U);
  EXPECT_EQ(phases.marks[0].at, 4'000);
  EXPECT_EQ(phases.marks[1].name, "users at 6k");
  EXPECT_THAT(phases.bands, ElementsAre(Pair(6'000, 6'500)));
  EXPECT_TRUE(phases_of(arrangement.blocks[1]).marks.empty());
}

TEST(DriftReport, ShadesTheSeasonsOfTheNewWorld) {
  Comparison comparison = drifting();
  DriftMark& mark = comparison.cells.front().drift->drifts[1];
  mark.period = 2'000;
  mark.settled = 7'000;
  const Arrangement arrangement(comparison);
  ASSERT_EQ(comparison.cells.front().impressions, 10'000U);
  EXPECT_THAT(phases_of(arrangement.blocks[0]).bands,
              ElementsAre(Pair(6'500, 7'500), Pair(8'500, 9'500)));
}

TEST(DriftReport, DrawsWindowsAndMarks) {
  const Comparison comparison = drifting();
  const std::string windows = draw_windows(comparison).value();
  EXPECT_THAT(windows, HasSubstr("<svg"));
  // The marks of the drifts are dashed lines.
  EXPECT_THAT(windows, HasSubstr("stroke-dasharray"));
  // Of a curve from 1 to 10,000 impressions, 280 wide from 52 on: on a linear axis.
  EXPECT_THAT(draw_curves(comparison).value(), HasSubstr("M 163.98"));  // 52 + 280 * 3999 / 9999
  EXPECT_THAT(draw_curves(testing::small_comparison()).value(), Not(HasSubstr("M 163.98")));
  const auto results = nlohmann::json::parse(results_json(comparison));
  EXPECT_EQ(results["blocks"][0]["drifts"][0]["name"], "labels at 4k");
  EXPECT_EQ(results["blocks"][0]["rows"][0]["windows"]["best"]["mean"][0], 0.5);
  EXPECT_EQ(results["drift"]["tables"][0]["columns"].size(), 6U);
}

TEST(DriftReport, HasOneLinePerRunAndDrift) {
  Comparison comparison = drifting();
  CellSummary& cell = comparison.cells.front();
  ASSERT_FALSE(cell.finals.empty());
  cell.finals.resize(1);
  cell.finals[0].drift = DriftMeasures{0.1, 0.2, 0.3, {{400, true}, {3'500, false}, {}}, 7};
  const std::string csv = csv_drift(comparison);
  EXPECT_THAT(csv, HasSubstr(",drift,at,regained,regained_after,restarts\n"));
  EXPECT_THAT(csv, HasSubstr(",0.1,0.2,0.3,labels at=4000 change=intents,4000,1,400,7\n"));
  EXPECT_THAT(csv,
              HasSubstr(",0.1,0.2,0.3,users at=6000 over=500 click-model=perfect,6000,0,3500,7\n"));
  EXPECT_THAT(csv, HasSubstr(",0.1,0.2,0.3,labels at=9900 change=intents,9900,,,7\n"));
}

TEST(DriftReport, IsNotThereWithoutDrift) {
  const Comparison comparison = testing::small_comparison();
  EXPECT_TRUE(drift_tables(Arrangement(comparison)).empty());
  EXPECT_THAT(draw_windows(comparison).value(), IsEmpty());
  EXPECT_THAT(csv_drift(comparison), IsEmpty());
  EXPECT_THAT(results_json(comparison), Not(HasSubstr("drift")));
}

}  // namespace
}  // namespace plackett::report
