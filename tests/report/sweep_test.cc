#include "report/sweep.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "samples.h"

namespace plackett::report {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::sweep_comparison;

std::vector<std::string> labels(const SweepChart& chart) {
  std::vector<std::string> out;
  for (const Series& one : chart.series) out.push_back(one.label);
  return out;
}

std::vector<double> xs(const SweepLine& line) {
  std::vector<double> out;
  for (const SweepPoint& point : line.points) out.push_back(point.x);
  return out;
}

// PDGD with one label and these surroundings.
CellSummary cell_with(std::vector<SweptValue> surroundings) {
  CellSummary cell = testing::small_comparison().cells[0];
  cell.family = cell.label;
  cell.surroundings = std::move(surroundings);
  return cell;
}

TEST(SweepChart, HasALinePerMethodAndOtherSetting) {
  const Comparison comparison = sweep_comparison();
  const Arrangement arrangement(comparison);
  const SweepChart chart = make_sweep_chart(arrangement);
  EXPECT_EQ(chart.setting, "learning-rate");  // five values; the rankers are two
  EXPECT_TRUE(chart.is_logarithmic);
  EXPECT_THAT(chart.values, ElementsAre(0.003, 0.01, 0.03, 0.1, 0.3));
  EXPECT_THAT(labels(chart), ElementsAre("PDGD (linear)", "PDGD (neural)", "MGD (linear)"));
  EXPECT_EQ(chart.series[1].colour, 1U);  // as in every report
  EXPECT_EQ(chart.series[1].dash, 1U);
  ASSERT_EQ(chart.panels.size(), 3U);
  EXPECT_EQ(chart.panels[1].title, "Navigational");
  ASSERT_EQ(chart.panels[1].lines.size(), 3U);
  const SweepLine& linear = chart.panels[1].lines[0];
  EXPECT_THAT(xs(linear), ElementsAre(0.003, 0.01, 0.03, 0.1, 0.3));
  EXPECT_EQ(linear.points[2].cell->label, "PDGD (linear, learning-rate 0.03)");
  EXPECT_EQ(linear.points[2].cell->click_model, "navigational");
}

TEST(SweepChart, AMethodWithoutTheSettingIsLevel) {
  const Comparison comparison = sweep_comparison();
  const Arrangement arrangement(comparison);
  const SweepLine level = make_sweep_chart(arrangement).panels[0].lines[2];
  EXPECT_TRUE(level.is_level);
  EXPECT_EQ(level.points.size(), 5U);
  EXPECT_EQ(level.points[0].cell, level.points[4].cell);
}

TEST(SweepChart, ACellOutsideOfTheSweepIsLevelToo) {
  Comparison comparison = sweep_comparison();
  comparison.cells[4].swept.pop_back();  // as of an earlier spec
  const Arrangement arrangement(comparison);
  const SweepChart chart = make_sweep_chart(arrangement);
  const std::vector<SweepLine>& lines = chart.panels[0].lines;
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_THAT(xs(lines[0]), ElementsAre(0.003, 0.01, 0.03, 0.1));
  EXPECT_TRUE(lines[1].is_level);
  EXPECT_EQ(lines[1].series, lines[0].series);
  EXPECT_EQ(lines[1].points[0].cell, &comparison.cells[4]);
}

TEST(SweepChart, SurroundingsAreASettingTooAndTheirBlocksOnePanel) {
  Comparison comparison;
  for (const char* shown : {"10", "5"}) {
    for (const char* zero : {"skip", "zero"}) {
      comparison.cells.push_back(cell_with({{"shown", shown}, {"no-relevant", zero}}));
    }
  }
  const Arrangement arrangement(comparison);
  EXPECT_EQ(arrangement.blocks.size(), 4U);
  const SweepChart chart = make_sweep_chart(arrangement);
  EXPECT_EQ(chart.setting, "shown");
  EXPECT_FALSE(chart.is_logarithmic);  // from 5 to 10
  ASSERT_EQ(chart.panels.size(), 2U);
  EXPECT_EQ(chart.panels[1].title, "Perfect · no-relevant zero");
  EXPECT_THAT(xs(chart.panels[1].lines[0]), ElementsAre(5, 10));
}

TEST(SweepChart, ImpressionsOfRunsCanBeTheSetting) {
  Comparison comparison;
  for (const char* impressions : {"100", "10000"}) {
    comparison.cells.push_back(cell_with({{"impressions", impressions}}));
    comparison.cells.back().impressions = std::stoul(impressions);
  }
  const Arrangement arrangement(comparison);
  const SweepChart chart = make_sweep_chart(arrangement);
  EXPECT_EQ(chart.setting, "impressions");
  ASSERT_EQ(chart.panels.size(), 1U);
  EXPECT_EQ(chart.panels[0].title, "Perfect");
}

TEST(SweepChart, IsEmptyWithoutANumericSetting) {
  const auto setting = [](const Comparison& comparison) {
    const Arrangement arrangement(comparison);
    const SweepChart chart = make_sweep_chart(arrangement);
    EXPECT_THAT(chart.panels, IsEmpty());
    return chart.setting;
  };
  EXPECT_EQ(setting({}), "");
  EXPECT_EQ(setting(testing::small_comparison()), "");
  for (const auto& [name, one, other] : {std::tuple{"activation", "relu", "tanh"},
                                         {"hidden", "64", "32,16"},
                                         {"seed", "1", "2"},
                                         {"shown", "5", "5"}}) {
    Comparison comparison;
    comparison.cells = {cell_with({{name, one}}), cell_with({{name, other}})};
    EXPECT_EQ(setting(comparison), "") << name;
  }
}

TEST(SweepChart, OfChosenSettingsOnlySurroundingsAreLeft) {
  Comparison comparison = testing::selected_comparison();
  EXPECT_EQ(make_sweep_chart(Arrangement(comparison)).setting, "");
  const std::vector<CellSummary> cells = comparison.cells;
  for (const CellSummary& cell : cells) comparison.cells.push_back(cell);
  for (std::size_t at = 0; at < comparison.cells.size(); ++at) {
    comparison.cells[at].surroundings = {{"shown", at < cells.size() ? "5" : "10"}};
  }
  const Arrangement arrangement(comparison);
  const SweepChart chart = make_sweep_chart(arrangement);
  EXPECT_EQ(chart.setting, "shown");
  EXPECT_THAT(labels(chart), ElementsAre("PDGD", "MGD (linear)"));
}

}  // namespace
}  // namespace plackett::report
