#include "report/html.h"

#include <gmock/gmock.h>

#include <cmath>
#include <string>

#include "report/arrangement.h"
#include "report/findings.h"
#include "report/html_parts.h"
#include "samples.h"
#include "xml_check.h"

namespace plackett {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::large_comparison;
using ::testing::Not;
using testing::small_comparison;

std::size_t occurrences(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

report::Findings findings_of(const Comparison& comparison) {
  return report::find(comparison, report::arrange(comparison));
}

TEST(HtmlReport, EscapesAllTextOfTheComparison) {
  const std::size_t scripts = occurrences(html_report(small_comparison()), "<script");
  const std::string evil = "</script><script>alert(1)</script><!-- \" onload='x' ]]>";
  Comparison comparison = small_comparison();
  comparison.title = evil;
  comparison.version = evil;
  for (CellSummary& cell : comparison.cells) {
    cell.ranker += evil;
    cell.method = "<script>";
    cell.click_model += evil;
    cell.dataset = evil;
    cell.protocol = evil;
  }
  const std::string page = html_report(comparison, {.command = evil});
  EXPECT_EQ(occurrences(page, "<script"), scripts);
  EXPECT_EQ(occurrences(page, "</script"), scripts);
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<!--")), Not(HasSubstr("alert(1)</")),
                          HasSubstr("&lt;script&gt;")));
}

TEST(HtmlReport, NeedsNothingBesideIt) {
  const std::string page = html_report(large_comparison());
  for (const char* outside : {"src=", "<link", "@import", "url(", "https://", "fetch("}) {
    EXPECT_THAT(page, Not(HasSubstr(outside)));
  }
  // The one address is the name of SVG, which nobody opens.
  EXPECT_EQ(occurrences(page, "http://"), occurrences(page, "http://www.w3.org/2000/svg"));
}

TEST(HtmlReport, TellsHowItWasMade) {
  const std::string page =
      html_report(small_comparison(), {.command = "plackett compare --x 'a b'"});
  EXPECT_THAT(page,
              AllOf(HasSubstr("<dd>MQ2007</dd>"), HasSubstr("<dd>125</dd>"),
                    HasSubstr("<dd>10,000</dd>"), HasSubstr("<dd>42</dd>"),
                    HasSubstr("plackett 0.1.0"), HasSubstr("plackett compare --x &#39;a b&#39;")));
  EXPECT_THAT(html_report(small_comparison()), Not(HasSubstr("<pre")));
}

TEST(HtmlReport, TheSameComparisonGivesTheSameBytes) {
  EXPECT_EQ(html_report(large_comparison()), html_report(large_comparison()));
}

TEST(HtmlReport, PartsAreWellFormed) {
  Comparison hostile = small_comparison();
  hostile.cells[0].method = "<script>\x02";
  for (const Comparison& comparison : {small_comparison(), large_comparison(), hostile}) {
    const auto arrangement = report::arrange(comparison);
    EXPECT_EQ(testing::xml_fault(report::html_legend(arrangement)), "");
    EXPECT_EQ(testing::xml_fault(report::html_table(arrangement)), "");
    for (const auto metric : {report::Metric::kOffline, report::Metric::kOnline}) {
      EXPECT_EQ(testing::xml_fault(report::html_panels(comparison, arrangement, metric)), "");
    }
  }
}

TEST(HtmlReport, TableNamesItsRowsAndColumns) {
  const Comparison comparison = small_comparison();
  const std::string table = report::html_table(report::arrange(comparison));
  EXPECT_EQ(occurrences(table, "scope=\"rowgroup\""), 3U);
  EXPECT_EQ(occurrences(table, "scope=\"row\""), 6U);
  EXPECT_THAT(table, AllOf(HasSubstr("<caption>"), HasSubstr("<strong>0.511</strong>"),
                           Not(HasSubstr("<strong>0.509</strong>"))));
}

TEST(HtmlReport, DataHasEveryPointWithItsPixel) {
  Comparison comparison = small_comparison();
  comparison.cells.resize(1);
  comparison.cells[0].curve = {{1, {0.25, 0.01}, {0.5, 0}},
                               {10, {std::nan(""), 0.01}, {4, 0}},
                               {100, {0.5, std::nan("")}, {40, 1}}};
  const std::string data = report::html_data(comparison, report::arrange(comparison));
  EXPECT_THAT(data, HasSubstr("\"points\":[[1,0.2500,0.0100,46.00,"));
  EXPECT_THAT(data, HasSubstr("[100,0.5000,null,746.00,"));
  EXPECT_THAT(data, Not(HasSubstr("nan")));
}

TEST(HtmlReport, ShowsAnEmptyComparisonAndASingleRun) {
  EXPECT_THAT(html_report({}), AllOf(HasSubstr("Nothing was run yet."), HasSubstr("</html>")));
  Comparison single = small_comparison();
  single.cells.resize(1);
  single.cells[0].runs = 1;
  single.cells[0].offline.std = 0;
  EXPECT_THAT(html_report(single),
              AllOf(HasSubstr("PDGD\u00A0(linear) reaches an NDCG@10 of 0.511."),
                    Not(HasSubstr("standard errors)"))));
}

TEST(HtmlReport, NotFiniteNumbersNeverShow) {
  Comparison comparison = small_comparison();
  const double nan = std::nan("");
  comparison.cells[0].offline = {nan, nan};
  comparison.cells[0].online = {HUGE_VAL, nan};
  comparison.cells[1].offline.std = nan;
  comparison.cells[2].curve.clear();
  comparison.cells[3].impressions_per_second = nan;
  comparison.cells[3].seconds = nan;
  const std::string page = html_report(comparison);
  for (const char* shown :
       {">nan", "nan<", "nan%", "NaN", ">inf", "inf<", "inf ", ":nan", ",nan"}) {
    EXPECT_THAT(page, Not(HasSubstr(shown)));
  }
}

TEST(Findings, CallCloseMeansTooCloseToCall) {
  const report::Findings findings = findings_of(small_comparison());
  EXPECT_EQ(findings.headline,
            "PDGD (linear) wins online in all three settings; offline is too close to call.");
  ASSERT_FALSE(findings.findings.empty());
  EXPECT_EQ(findings.findings[0].lead, "Perfect");
  // 0.002 / sqrt((0.017^2 + 0.020^2) / 125) = 0.85; 53.6 / sqrt((17.3^2 + 18.8^2) / 125) = 23.5.
  EXPECT_THAT(findings.findings[0].sentences,
              ::testing::ElementsAre("Offline: PDGD (linear) with 0.511; PDGD (neural) is too "
                                     "close to call (0.002 behind, 0.9 standard errors).",
                                     "Online: PDGD (linear) with 797.3, 53.6 ahead of PDGD "
                                     "(neural) (23 standard errors)."));
}

TEST(Findings, CallClearWins) {
  EXPECT_EQ(findings_of(large_comparison()).headline,
            "PDGD (neural) wins offline, PDGD (linear) online, in all three settings.");
  Comparison comparison = large_comparison();
  comparison.cells[4].offline.mean = 0.5;
  EXPECT_EQ(findings_of(comparison).headline,
            "PDGD (neural) wins offline in 2 of 3 settings, PDGD (linear) online in all three "
            "settings.");
}

TEST(Findings, ASingleRunHasNoStandardError) {
  Comparison comparison = small_comparison();
  for (CellSummary& cell : comparison.cells) {
    cell.runs = 1;
    cell.offline.std = 0;
    cell.online.std = 0;
  }
  EXPECT_EQ(findings_of(comparison).findings[0].sentences[0],
            "Offline: PDGD (linear) with 0.511, 0.002 ahead of PDGD (neural).");
}

}  // namespace
}  // namespace plackett
