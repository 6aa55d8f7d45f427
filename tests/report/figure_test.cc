#include "report/figure.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/file.h"
#include "report/numbers.h"
#include "samples.h"
#include "support/run_command.h"

namespace plackett::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::large_comparison;
using ::testing::Not;
using testing::small_comparison;

// One curve from 0.2 to 0.6 over 1 to 10,000, without deviation.
Comparison straight() {
  Comparison comparison;
  CellSummary& cell = comparison.cells.emplace_back();
  cell.label = "PDGD (linear)";
  cell.click_model = "perfect";
  cell.runs = 1;
  double mean = 0.2;
  for (std::uint64_t impression = 1; impression <= 10'000; impression *= 10, mean += 0.1) {
    cell.curve.push_back({impression, {mean, 0}, {1000 * mean, 0}});
  }
  return comparison;
}

Axes axes_of(const Comparison& comparison, const Measure& measure) {
  return Axes({curve_of(comparison.cells[0], measure)}, measure);
}

std::vector<std::string> labels(const std::vector<double>& ticks) {
  std::vector<std::string> out;
  for (const double tick : ticks) out.push_back(compact(tick));
  return out;
}

std::string svg_of(const Comparison& comparison, const Measure& measure = kOffline) {
  return draw_curves(comparison, measure).value();
}

std::string pdf_of(const Comparison& comparison) {
  return draw_curves(comparison, kOffline, FigureFormat::kPdf).value();
}

bool installed(const char* command) {
  return std::system(("command -v " + std::string(command) + " >/dev/null 2>&1").c_str()) == 0;
}

// What the command prints on standard output for a file with this content; "$f" is its path.
std::string printed(const std::string& content, const std::string& command) {
  const testing::TemporaryFolder folder;
  EXPECT_TRUE(write_file(folder.path() / "file", content).ok());
  const std::string line = "f='" + folder / "file" + "'; " + command + " >'" + folder / "out" + "'";
  EXPECT_EQ(std::system(line.c_str()), 0);
  return testing::slurp(folder.path() / "out");
}

TEST(Axes, KnownPointsFallOnKnownPlaces) {
  const Comparison comparison = straight();
  const Axes axes = axes_of(comparison, kOffline);
  EXPECT_NEAR(axes.x.part(1), 0, 1e-12);
  EXPECT_NEAR(axes.x.part(100), 0.5, 1e-12);
  EXPECT_NEAR(axes.x.part(10'000), 1, 1e-12);
  // The curve spans 0.4, with 4% of that as air on both sides.
  EXPECT_NEAR(axes.y.part(0.6), 0.416 / 0.432, 1e-12);
  EXPECT_NEAR(axes.y.part(0.4), 0.5, 1e-12);
  EXPECT_NEAR(axes.y.part(0.2), 0.016 / 0.432, 1e-12);
}

TEST(Axes, ValuesOutsideEndOnTheBorder) {
  const Comparison comparison = straight();
  const Axes axes = axes_of(comparison, kOffline);
  EXPECT_DOUBLE_EQ(axes.x.part(0), 0);
  EXPECT_DOUBLE_EQ(axes.x.part(1e9), 1);
  EXPECT_DOUBLE_EQ(axes.y.part(7), 1);
  EXPECT_DOUBLE_EQ(axes.y.part(-7), 0);
}

TEST(Axes, TicksAreRound) {
  const Comparison comparison = straight();
  const Axes axes = axes_of(comparison, kOffline);
  EXPECT_THAT(labels(axes.x.ticks()), ::testing::ElementsAre("1", "10", "100", "1k", "10k"));
  EXPECT_THAT(labels(axes.y.ticks()), ::testing::ElementsAre("0.2", "0.3", "0.4", "0.5", "0.6"));
}

TEST(Axes, AShortSpanOfImpressionsStillHasTicks) {
  Comparison comparison = straight();
  comparison.cells[0].curve = {{300, {0.3, 0}, {}}, {900, {0.4, 0}, {}}};
  EXPECT_THAT(labels(axes_of(comparison, kOffline).x.ticks()), ::testing::ElementsAre("500"));
}

TEST(Axes, OnlinePerformanceStartsAtZero) {
  const Comparison comparison = straight();
  EXPECT_EQ(axes_of(comparison, kOnline).y.part(0), 0);
}

TEST(Axes, OddCurvesGiveFinitePlaces) {
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
    for (const Measure& measure : kPaperMeasures) {
      const Axes axes = axes_of(odd, measure);
      EXPECT_TRUE(std::isfinite(axes.x.part(3)));
      EXPECT_TRUE(std::isfinite(axes.y.part(0.3)));
      EXPECT_LT(axes.x.ticks().size() + axes.y.ticks().size(), 40U);
      EXPECT_THAT(svg_of(odd, measure), AllOf(Not(HasSubstr("nan")), Not(HasSubstr("inf"))));
    }
  }
}

// The first panel is 884 pixels wide from 52 on and 230 high, its top is at 92.
TEST(Figure, LinesGoThroughTheirPointsAndAGapBreaksThem) {
  Comparison comparison = straight();
  EXPECT_THAT(svg_of(comparison), HasSubstr("M 52 "));
  const std::string whole = svg_of(comparison);
  comparison.cells[0].curve[2].offline.mean = std::nan("");
  const std::string broken = svg_of(comparison);
  const auto lines = [](const std::string& svg) {  // strokes of 2.25, the legend's among them
    std::size_t count = 0;
    for (std::size_t at = 0; (at = svg.find("stroke-width:2.25", at)) != std::string::npos; ++at) {
      ++count;
    }
    return count;
  };
  EXPECT_EQ(lines(whole), 2U);
  EXPECT_EQ(lines(broken), 3U);
}

TEST(Figure, DrawsABandAndALineForEveryCell) {
  const std::string svg = svg_of(testing::paper_comparison({"MQ2007"}, 0));
  const auto occurrences = [&](const std::string& what) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = svg.find(what, at)) != std::string::npos; ++at) ++count;
    return count;
  };
  EXPECT_EQ(occurrences("fill-opacity:0.13"), 18U);
  EXPECT_EQ(occurrences("stroke-width:2.25"), 18U + 6U);    // and the legend
  EXPECT_EQ(occurrences("stroke-dasharray:7,5"), 2U * 4U);  // the neural ones
}

TEST(Figure, IsWellFormedForAnyComparison) {
  if (!installed("python3")) GTEST_SKIP() << "no python3";
  Comparison hostile = small_comparison();
  hostile.title = "a & b <script> \x01 \xFF ]]> \"";
  hostile.cells[0].label = "<script>";
  hostile.cells[0].click_model = "\"><g onload='x'>";
  Comparison single = small_comparison();
  single.cells.resize(1);
  for (const Comparison& comparison :
       {Comparison{}, single, hostile, testing::weird_comparison(), large_comparison()}) {
    const std::string svg = svg_of(comparison);
    EXPECT_EQ(printed(svg,
                      "python3 -c 'import sys, xml.dom.minidom as m; "
                      "print(m.parse(sys.argv[1]).documentElement.tagName)' \"$f\""),
              "svg\n");
    EXPECT_THAT(svg, Not(HasSubstr("<script>")));
  }
}

TEST(Figure, TheSameComparisonGivesTheSameBytes) {
  EXPECT_TRUE(svg_of(large_comparison()) == svg_of(large_comparison()));
  EXPECT_TRUE(pdf_of(large_comparison()) == pdf_of(large_comparison()));
}

TEST(Figure, PanelsThatDoNotFitGoBelow) {
  const auto height = [](const Comparison& comparison) {
    const std::string svg = svg_of(comparison);
    return std::atof(svg.c_str() + svg.find("height=\"") + 8);
  };
  Comparison four = small_comparison();
  four.cells.push_back(four.cells.back());
  four.cells.back().click_model = "random";
  EXPECT_GT(height(four), 1.5 * height(small_comparison()));
}

TEST(Figure, PdfHasItsTitleItsTextAndNoDateOfToday) {
  if (!installed("pdfinfo")) GTEST_SKIP() << "no pdfinfo";
  Comparison comparison = testing::paper_comparison({"MQ2007"}, 0);
  comparison.title = "Größe (50%)";
  const std::string pdf = pdf_of(comparison);
  EXPECT_THAT(printed(pdf, "TZ=UTC pdfinfo \"$f\""),
              AllOf(HasSubstr("Title:           Größe (50%)\n"), HasSubstr(" 1970 UTC\n"),
                    HasSubstr("Pages:           1\n")));
  EXPECT_THAT(printed(pdf, "pdffonts \"$f\""), HasSubstr(" yes yes "));  // embedded
  EXPECT_THAT(printed(pdf, "pdftotext -layout \"$f\" -"),
              AllOf(HasSubstr("Navigational"), HasSubstr("PDGD (neural)")));
}

TEST(Figure, PdfRendersForAnyComparison) {
  if (!installed("pdftoppm")) GTEST_SKIP() << "no pdftoppm";
  for (const Comparison& comparison : {Comparison{}, testing::weird_comparison(),
                                       testing::paper_comparison({"MQ2007", "Yahoo"}, 1)}) {
    const std::string image = printed(pdf_of(comparison), "pdftoppm -r 40 \"$f\"");
    ASSERT_GT(image.size(), 1000U);
    EXPECT_GT(std::count_if(image.begin(), image.end(), [](char c) { return c != '\xFF'; }),
              comparison.cells.empty() ? 100 : 5000);
  }
}

TEST(Figure, SeriesHaveTheColoursOfThePage) {
  const std::string theme =
      read_file(std::filesystem::path(PLACKETT_SOURCE_DIR) / "web/theme.css").value();
  for (std::size_t colour = 0; colour < kColours; ++colour) {
    char wanted[40];
    std::snprintf(wanted, sizeof wanted, "--c%zu: light-dark(#%06x, ", colour,
                  kSeriesColours[colour]);
    EXPECT_THAT(theme, HasSubstr(wanted));
  }
}

TEST(Series, PdgdKeepsItsColoursInEveryComparison) {
  const Comparison small_one = small_comparison();
  const Comparison large_one = large_comparison();
  const Arrangement few(small_one);
  const Arrangement many(large_one);
  EXPECT_EQ(few.series[0].colour, 0U);
  EXPECT_EQ(few.series[1].colour, 1U);
  EXPECT_EQ(few.series[1].dash, 1U);
  EXPECT_EQ(many.series[4].label, "PDGD (linear)");
  EXPECT_EQ(many.series[4].colour, 0U);
  EXPECT_EQ(many.series[5].colour, 1U);
}

TEST(SweepFigure, HasALineAndItsPointsForEveryMethod) {
  const std::string svg = draw_sweep(testing::sweep_comparison()).value();
  const auto occurrences = [&](const std::string& what) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = svg.find(what, at)) != std::string::npos; ++at) ++count;
    return count;
  };
  // Three measures, three click models.
  EXPECT_EQ(occurrences("stroke-width:2.25"), 9U * 3 + 3);  // and the legend
  EXPECT_EQ(occurrences("fill-opacity:0.13"), 9U * 3);
  EXPECT_EQ(occurrences("stroke-width:7;"), 9U * 2 * 4);
  EXPECT_EQ(occurrences("stroke-width:11;"), 9U * 2);  // the best of a line
  EXPECT_TRUE(
      draw_sweep(testing::sweep_comparison(), FigureFormat::kPdf).value().starts_with("%PDF"));
}

TEST(SweepFigure, IsLeftOutWithoutASweep) {
  EXPECT_EQ(draw_sweep(small_comparison()).value(), "");
  EXPECT_EQ(draw_sweep({}).value(), "");
}

}  // namespace
}  // namespace plackett::report
