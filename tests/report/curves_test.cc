#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "report/arrangement.h"
#include "report/axes.h"
#include "report/plot.h"
#include "report/svg.h"
#include "samples.h"
#include "xml_check.h"

namespace plackett {
namespace {

using report::Axes;
using report::Metric;
using ::testing::HasSubstr;
using testing::large_comparison;
using ::testing::Not;
using testing::small_comparison;

// One curve from 0.2 to 0.6 over 1 to 10,000, without deviation.
Comparison straight() {
  Comparison comparison;
  CellSummary& cell = comparison.cells.emplace_back();
  cell.method = "pdgd";
  cell.ranker = "linear";
  cell.click_model = "perfect";
  cell.runs = 1;
  double mean = 0.2;
  for (std::uint64_t impression = 1; impression <= 10'000; impression *= 10, mean += 0.1) {
    cell.curve.push_back({impression, {mean, 0}, {1000 * mean, 0}});
  }
  return comparison;
}

std::vector<std::string> labels(const std::vector<report::Tick>& ticks) {
  std::vector<std::string> out;
  for (const report::Tick& tick : ticks) out.push_back(tick.label);
  return out;
}

TEST(Axes, KnownPointsFallOnKnownPixels) {
  const Axes axes(straight(), Metric::kOffline,
                  {.left = 100, .top = 10, .width = 400, .height = 108});
  EXPECT_NEAR(axes.x(1), 100, 1e-9);
  EXPECT_NEAR(axes.x(100), 300, 1e-9);
  EXPECT_NEAR(axes.x(10'000), 500, 1e-9);
  // The curve spans 0.4, with 4% of that as air on both sides: 0.432 over 108 pixels.
  EXPECT_NEAR(axes.y(0.6), 10 + 4, 1e-9);
  EXPECT_NEAR(axes.y(0.4), 10 + 54, 1e-9);
  EXPECT_NEAR(axes.y(0.2), 10 + 104, 1e-9);
}

TEST(Axes, ValuesOutsideEndOnTheBorder) {
  const Axes axes(straight(), Metric::kOffline,
                  {.left = 100, .top = 10, .width = 400, .height = 100});
  EXPECT_DOUBLE_EQ(axes.x(0), 100);
  EXPECT_DOUBLE_EQ(axes.x(1e9), 500);
  EXPECT_DOUBLE_EQ(axes.y(7), 10);
  EXPECT_DOUBLE_EQ(axes.y(-7), 110);
}

TEST(Axes, TicksAreRound) {
  const Axes axes(straight(), Metric::kOffline, {0, 0, 400, 100});
  EXPECT_THAT(labels(axes.x_ticks()), ::testing::ElementsAre("1", "10", "100", "1k", "10k"));
  EXPECT_THAT(labels(axes.y_ticks()), ::testing::ElementsAre("0.2", "0.3", "0.4", "0.5", "0.6"));
}

TEST(Axes, AShortSpanOfImpressionsStillHasTicks) {
  Comparison comparison = straight();
  comparison.cells[0].curve = {{300, {0.3, 0}, {}}, {900, {0.4, 0}, {}}};
  const Axes axes(comparison, Metric::kOffline, {0, 0, 400, 100});
  EXPECT_THAT(labels(axes.x_ticks()), ::testing::ElementsAre("500"));
}

TEST(Axes, OnlinePerformanceStartsAtZero) {
  const Axes axes(straight(), Metric::kOnline, {0, 0, 400, 100});
  EXPECT_EQ(axes.y(0), 100);
}

TEST(Axes, OddCurvesGiveFinitePixels) {
  Comparison odd = straight();
  const double nan = std::nan("");
  for (const auto& curve : std::vector<std::vector<CurveSummary>>{
           {},
           {{0, {0.1, 0}, {}}},
           {{5, {0.1, 0}, {}}},
           {{1, {nan, nan}, {nan, nan}}},
           {{1, {0, 0}, {0, 0}}, {10, {0, 0}, {0, 0}}},
           {{1, {1, 0}, {0, 0}}, {10, {1, 0}, {0, 0}}},
           {{1, {0.2, HUGE_VAL}, {5, nan}}, {10, {-3, 0.1}, {1e300, 0}}}}) {
    odd.cells[0].curve = curve;
    for (const Metric metric : {Metric::kOffline, Metric::kOnline}) {
      const Axes axes(odd, metric, {0, 0, 400, 100});
      EXPECT_TRUE(std::isfinite(axes.x(3)));
      EXPECT_TRUE(std::isfinite(axes.y(0.3)));
      EXPECT_LT(axes.x_ticks().size() + axes.y_ticks().size(), 40U);
      EXPECT_THAT(curves_svg(odd, {.metric = metric}), Not(HasSubstr("nan")));
      EXPECT_THAT(curves_svg(odd, {.metric = metric}), Not(HasSubstr("inf")));
    }
  }
}

TEST(Plot, LinesGoThroughTheirPoints) {
  const Comparison comparison = straight();
  const auto arrangement = report::arrange(comparison);
  const Axes axes(comparison, Metric::kOffline,
                  {.left = 100, .top = 10, .width = 400, .height = 108});
  std::string out;
  report::append_panel(out, arrangement, arrangement.blocks[0], axes, Metric::kOffline, {});
  EXPECT_THAT(out, HasSubstr("<path class=\"line c0 d0\" data-series=\"0\" d=\"M100.00 114.00"
                             "L200.00 89.00L300.00 64.00L400.00 39.00L500.00 14.00\"/>"));
}

TEST(Plot, TheBandIsOneDeviationEitherSide) {
  Comparison comparison = straight();
  comparison.cells[0].curve = {{1, {0.4, 0.2}, {}}, {10, {0.4, 0.1}, {}}};
  const auto arrangement = report::arrange(comparison);
  const Axes axes(comparison, Metric::kOffline,
                  {.left = 100, .top = 10, .width = 400, .height = 108});
  std::string out;
  report::append_panel(out, arrangement, arrangement.blocks[0], axes, Metric::kOffline, {});
  EXPECT_THAT(out, HasSubstr("d=\"M100.00 14.00L500.00 39.00L500.00 89.00L100.00 114.00Z\""));
}

TEST(Plot, AGapBreaksTheLine) {
  Comparison comparison = straight();
  comparison.cells[0].curve[2].offline.mean = std::nan("");
  const auto arrangement = report::arrange(comparison);
  const Axes axes(comparison, Metric::kOffline,
                  {.left = 100, .top = 10, .width = 400, .height = 108});
  std::string out;
  report::append_panel(out, arrangement, arrangement.blocks[0], axes, Metric::kOffline, {});
  EXPECT_THAT(out, HasSubstr("d=\"M100.00 114.00L200.00 89.00M400.00 39.00L500.00 14.00\""));
}

TEST(Plot, PdgdKeepsItsColoursInEveryComparison) {
  const Comparison small_one = small_comparison();
  const Comparison large_one = large_comparison();
  const auto few = report::arrange(small_one);
  const auto many = report::arrange(large_one);
  EXPECT_EQ(report::series_classes(few, 0), "c0 d0");
  EXPECT_EQ(report::series_classes(few, 1), "c1 d1");
  EXPECT_EQ(many.series[4].label, "PDGD (linear)");
  EXPECT_EQ(report::series_classes(many, 4), "c0 d0");
  EXPECT_EQ(report::series_classes(many, 5), "c1 d1");
}

TEST(Svg, IsWellFormedForAnyComparison) {
  Comparison hostile = small_comparison();
  hostile.title = "a & b <script> \x01 \xFF ]]> \"";
  hostile.cells[0].method = "<script>";
  hostile.cells[0].click_model = "\"><g onload='x'>";
  Comparison single = small_comparison();
  single.cells.resize(1);
  for (const Comparison& comparison :
       {Comparison{}, single, hostile, small_comparison(), large_comparison()}) {
    for (const double width : {960.0, 420.0, 0.0}) {
      const std::string svg = curves_svg(comparison, {.width = width});
      EXPECT_EQ(testing::xml_fault(svg), "");
      EXPECT_THAT(svg, Not(HasSubstr("<script>")));
    }
  }
}

TEST(Svg, TheSameComparisonGivesTheSameBytes) {
  EXPECT_EQ(curves_svg(large_comparison()), curves_svg(large_comparison()));
}

TEST(Svg, PanelsGoBelowEachOtherWhereItIsNarrow) {
  const auto height = [](double width) {
    const std::string svg = curves_svg(small_comparison(), {.width = width});
    return std::atof(svg.c_str() + svg.find("height=\"") + 8);
  };
  EXPECT_GT(height(420), 2.5 * height(960));
}

TEST(Svg, AFixedSchemeAsksTheReaderNothing) {
  EXPECT_THAT(curves_svg(small_comparison()), HasSubstr("prefers-color-scheme"));
  for (const SvgScheme scheme : {SvgScheme::kLight, SvgScheme::kDark}) {
    EXPECT_THAT(curves_svg(small_comparison(), {.scheme = scheme}),
                Not(HasSubstr("prefers-color-scheme")));
  }
}

TEST(XmlCheck, FindsPlantedFaults) {
  EXPECT_EQ(testing::xml_fault("<a b=\"c\"><d/></a>"), "");
  EXPECT_NE(testing::xml_fault("<a><b></a></b>"), "");
  EXPECT_NE(testing::xml_fault("<a>&nope;</a>"), "");
  EXPECT_NE(testing::xml_fault("<a b=\"<\"/>"), "");
  EXPECT_NE(testing::xml_fault("<a b=c/>"), "");
  EXPECT_NE(testing::xml_fault("<a b=\"1\" b=\"2\"/>"), "");
  EXPECT_NE(testing::xml_fault("<a>"), "");
  EXPECT_NE(testing::xml_fault("<a/><b/>"), "");
  EXPECT_NE(testing::xml_fault("<a>\x01</a>"), "");
}

}  // namespace
}  // namespace plackett
