#include "report/html.h"

#include <gmock/gmock.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "experiment/contrasts.h"
#include "report/arrangement.h"
#include "report/findings.h"
#include "report/html_parts.h"
#include "report/scorecard.h"
#include "report/significance.h"
#include "samples.h"
#include "xml_check.h"

namespace plackett {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::large_comparison;
using ::testing::Not;
using testing::paper_comparison;
using testing::small_comparison;

std::size_t occurrences(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

// Of parts that have several elements side by side.
std::string fault_inside(const std::string& part) {
  return testing::xml_fault("<div>" + part + "</div>");
}

report::Findings findings_of(const Comparison& comparison) {
  return report::find(comparison, report::arrange(comparison),
                      report::Significance(comparison, SignificanceTest::kWelch));
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
  for (const Comparison& comparison :
       {small_comparison(), large_comparison(), hostile, testing::weird_comparison(),
        paper_comparison({"MQ2007", "Yahoo"}, 1)}) {
    const auto arrangement = report::arrange(comparison);
    EXPECT_EQ(testing::xml_fault(report::html_legend(arrangement)), "");
    const report::Significance significance(comparison, SignificanceTest::kWelch);
    EXPECT_EQ(fault_inside(report::html_tables(arrangement, significance)), "");
    if (const auto card = report::make_scorecard(comparison); !card.lines.empty()) {
      EXPECT_EQ(fault_inside(report::html_scorecard(arrangement, card)), "");
    }
    for (const auto metric : {report::Metric::kOffline, report::Metric::kOnline}) {
      EXPECT_EQ(fault_inside(report::html_panels(arrangement, metric)), "");
    }
  }
}

TEST(HtmlReport, TableNamesItsRowsAndColumns) {
  const Comparison comparison = small_comparison();
  const std::string table = report::html_tables(
      report::arrange(comparison), report::Significance(comparison, SignificanceTest::kWelch));
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
  const std::string data = report::html_data(report::arrange(comparison));
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
            "PDGD (linear) and PDGD (neural) beat all four baselines, offline and online, in all "
            "three settings.");
  Comparison comparison = large_comparison();
  comparison.contrasts.clear();
  EXPECT_EQ(findings_of(comparison).headline,
            "PDGD (neural) wins offline, PDGD (linear) online, in all three settings.");
  comparison.cells[4].offline.mean = 0.5;
  EXPECT_EQ(findings_of(comparison).headline,
            "PDGD (neural) wins offline in 2 of 3 settings, PDGD (linear) online in all three "
            "settings.");
}

TEST(Findings, GoByTheTestsWhereThereAreAny) {
  Comparison comparison = paper_comparison({"MQ2007"}, 0);
  const auto sentences = findings_of(comparison).findings[2].sentences;
  EXPECT_THAT(sentences,
              ::testing::ElementsAre(
                  "Offline: PDGD (linear) with 0.487; PDGD (neural) is too close to call (0.004 "
                  "behind, 1.5 standard errors).",
                  "Online: PDGD (linear) with 704.8, 86.0 ahead of MGD (linear) (p = 1.1e-68).",
                  "PDGD (linear) is better than all 4 baselines, offline and online.",
                  "PDGD (neural): offline better than 3, undecided against 1 of 4 baselines; "
                  "online better than 3, worse than 1 of 4 baselines."));
  EXPECT_EQ(findings_of(comparison).cards[2].value, "43 of 48");
}

TEST(Findings, ABaselineThatWasNotTestedWasNotBeaten) {
  Comparison comparison = paper_comparison({"MQ2007"}, 0);
  EXPECT_THAT(findings_of(comparison).headline, HasSubstr("beats all four baselines, offline and"));
  for (Contrast& contrast : comparison.contrasts) {
    if (contrast.baseline == 0) contrast.offline = {};
  }
  EXPECT_EQ(findings_of(comparison).headline,
            "PDGD (linear) beats all four baselines online, in all three settings.");
  for (Contrast& contrast : comparison.contrasts) {
    if (contrast.baseline == 0) contrast.online = {};
  }
  EXPECT_THAT(findings_of(comparison).headline, HasSubstr("PDGD (linear) wins online"));
}

TEST(Findings, SeveralDatasetsAreToldInSum) {
  const auto findings = findings_of(paper_comparison({"MQ2007", "MSLR-WEB10K"}, 0)).findings;
  EXPECT_EQ(findings[0].lead, "MQ2007");
  EXPECT_EQ(findings[0].sentences[0], "Offline: PDGD (linear) leads under all three click models.");
  EXPECT_EQ(findings[1].sentences[0],
            "Offline: PDGD (neural) leads under perfect clicks, PDGD (linear) leads under "
            "navigational and informational clicks.");
  EXPECT_EQ(findings[2].lead, "Against the baselines");
  EXPECT_EQ(findings[2].sentences[0],
            "PDGD (linear) is better in all 24 tests, offline and online.");
}

TEST(HtmlReport, MarksCarryTheirTests) {
  const std::string page = html_report(paper_comparison({"MQ2007"}, 0));
  EXPECT_THAT(page, AllOf(HasSubstr("▽ DBGD (neural): worse, p = 0.043 (t = -2.05, 135 degrees)"),
                          HasSubstr("Welch&#39;s t-test, two-tailed, against"),
                          HasSubstr("<li>Pairwise (linear)</li>")));
  // Six marked rows, two measures.
  EXPECT_EQ(occurrences(page, "class=\"marks tipped\""), 12U);
}

TEST(HtmlReport, IsAFunctionOfTheResultsAlone) {
  Comparison slow = paper_comparison({"MQ2007"}, 0);
  slow.threads = 1;
  for (CellSummary& cell : slow.cells) {
    cell.seconds *= 16;
    cell.impressions_per_second = 3;
    cell.evaluation_share = 0.5;
  }
  EXPECT_EQ(html_report(slow), html_report(paper_comparison({"MQ2007"}, 0)));
}

Comparison single_runs(Comparison comparison) {
  for (CellSummary& cell : comparison.cells) {
    cell.runs = 1;
    cell.offline.std = 0;
    cell.online.std = 0;
  }
  if (!comparison.contrasts.empty()) add_contrasts(comparison);
  return comparison;
}

TEST(Findings, SingleRunsHaveNoWinner) {
  for (const Comparison& comparison :
       {single_runs(small_comparison()), single_runs(large_comparison())}) {
    EXPECT_EQ(findings_of(comparison).headline, "Too few runs to call a winner.");
  }
  EXPECT_EQ(findings_of(single_runs(small_comparison())).findings[0].sentences[0],
            "Offline: PDGD (linear) with 0.511; PDGD (neural) is 0.002 behind, without a spread "
            "over runs to judge by.");
  EXPECT_EQ(
      findings_of(single_runs(paper_comparison({"MQ2007", "MQ2008"}, 0))).findings[0].sentences[0],
      "Offline, by single runs: PDGD (linear) leads under all three click models.");
}

TEST(Findings, MeansWithoutSpreadHaveNoWinner) {
  Comparison comparison = small_comparison();
  for (CellSummary& cell : comparison.cells) cell.offline.std = cell.online.std = 0;
  EXPECT_EQ(findings_of(comparison).headline, "Too close to call, offline and online.");
}

TEST(HtmlReport, ASingleRunHasNoDeviation) {
  const std::string page = html_report(single_runs(small_comparison()));
  EXPECT_THAT(page,
              AllOf(HasSubstr("0.511</strong> <span class=\"std\">(–)</span>"),
                    HasSubstr("· 1 run of 10,000 impressions each"), Not(HasSubstr("(0.000)")),
                    Not(HasSubstr("(0.0)")), Not(HasSubstr("1 runs"))));
  // Nor do the points of its curves, which the page shows on hover.
  EXPECT_THAT(report::html_data(report::arrange(single_runs(small_comparison()))),
              HasSubstr("[10000,0.5110,null,"));
}

// The sentences about noise; none where nothing is said.
std::vector<std::string> noise_sentences(const Comparison& comparison) {
  for (const report::Finding& finding : findings_of(comparison).findings) {
    if (finding.lead == "What noise costs") return finding.sentences;
  }
  return {};
}

TEST(Findings, NoiseCostsWhatIsClearlyLost) {
  // 0.015 / sqrt((0.017^2 + 0.021^2) / 125) = 6.2 and 0.016 / sqrt(...) = 6.0 standard errors.
  EXPECT_THAT(
      noise_sentences(small_comparison()),
      ::testing::ElementsAre(
          "PDGD (linear) goes from 0.511 under perfect clicks to 0.496 under informational ones.",
          "PDGD (neural) goes from 0.509 under perfect clicks to 0.493 under informational ones."));
}

TEST(Findings, NoiseThatHelpsByChanceCostsNothingMeasurable) {
  Comparison comparison = small_comparison();
  comparison.cells[0].offline = {0.674, 0.017};
  comparison.cells[2].offline = {0.677, 0.018};
  comparison.cells[4].offline = {0.676, 0.018};
  comparison.cells[5].offline = {0.520, 0.018};  // 0.011 more, 4.6 standard errors
  EXPECT_THAT(noise_sentences(comparison),
              ::testing::ElementsAre("Noise costs PDGD (linear) nothing measurable: 0.674 under "
                                     "perfect clicks, 0.676 under informational ones.",
                                     "Noise costs PDGD (neural) nothing: 0.509 under perfect "
                                     "clicks, 0.520 under informational ones."));
}

TEST(Findings, NoiseGoesByTheClickModelsNotByTheirOrderOrTheirMeans) {
  Comparison comparison = small_comparison();
  std::swap(comparison.cells[0].click_model, comparison.cells[4].click_model);
  std::swap(comparison.cells[1].click_model, comparison.cells[5].click_model);
  comparison.cells[0].click_model = comparison.cells[1].click_model = "almost-random";
  EXPECT_THAT(noise_sentences(comparison)[0],
              HasSubstr("0.496 under perfect clicks, 0.511 under almost-random ones."));
}

TEST(Findings, SingleRunsSayNothingOfNoise) {
  EXPECT_THAT(noise_sentences(single_runs(small_comparison())), ::testing::IsEmpty());
}

}  // namespace
}  // namespace plackett
