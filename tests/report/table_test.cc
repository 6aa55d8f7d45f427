#include "report/table.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "report/text.h"
#include "samples.h"

namespace plackett::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::large_comparison;
using ::testing::Not;
using testing::paper_comparison;
using testing::small_comparison;

const std::vector<std::string> kPaperDatasets{"MQ2007", "MQ2008", "MSLR-WEB10K", "Yahoo",
                                              "Istella"};

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  std::size_t start = 0;
  for (std::size_t end; (end = text.find('\n', start)) != std::string::npos; start = end + 1) {
    out.push_back(text.substr(start, end - start));
  }
  return out;
}

std::string without_ansi(std::string text) {
  for (std::size_t at; (at = text.find('\x1b')) != std::string::npos;) {
    text.erase(at, text.find('m', at) + 1 - at);
  }
  return text;
}

TEST(TerminalTable, HasThePapersLayout) {
  const std::string expected =
      "PDGD on MQ2007\n"
      "MQ2007 · described protocol · 125 runs × 10,000 impressions\n"
      "\n"
      "                     offline NDCG@10   online NDCG@10\n"
      "─────────────────────────────────────────────────────\n"
      "Perfect\n"
      "  PDGD (linear)       0.511* (0.017)    797.3* (17.3)\n"
      "  PDGD (neural)       0.509  (0.020)    743.7  (18.8)\n"
      "─────────────────────────────────────────────────────\n"
      "Navigational\n"
      "  PDGD (linear)       0.503  (0.018)    726.9* (20.4)\n"
      "  PDGD (neural)       0.504* (0.019)    653.1  (23.9)\n"
      "─────────────────────────────────────────────────────\n"
      "Informational\n"
      "  PDGD (linear)       0.496* (0.021)    715.8* (25.6)\n"
      "  PDGD (neural)       0.493  (0.022)    634.5  (30.1)\n"
      "─────────────────────────────────────────────────────\n"
      "mean (standard deviation) over runs; * best of its click model\n";
  EXPECT_EQ(terminal_table(small_comparison()), expected);
}

TEST(TerminalTable, SendsEscapesOnlyWhereAsked) {
  EXPECT_THAT(terminal_table(small_comparison()), Not(HasSubstr("\x1b")));
  EXPECT_THAT(terminal_table(small_comparison(), {.ansi = true}), HasSubstr("\x1b[1m0.511\x1b[0m"));
}

TEST(TerminalTable, FitsItsWidthAndAligns) {
  Comparison comparison = large_comparison();
  comparison.title = std::string(200, 'x');
  comparison.cells[0].label = "a_method_with_a_very_long_name_nobody_can_remember";
  comparison.cells[1].label = "検索検索検索検索検索検索検索検索検索検索";
  comparison.cells[2].online.std = 1234.5;
  for (const std::size_t width : {80U, 72U, 100U}) {
    for (const bool ansi : {false, true}) {
      const auto table =
          lines(without_ansi(terminal_table(comparison, {.ansi = ansi, .width = width})));
      const auto is_rule = [](const std::string& line) { return line.starts_with("─"); };
      const std::size_t rule = display_width(*std::find_if(table.begin(), table.end(), is_rule));
      std::size_t deviation = 0;  // the column that the first ones end in
      EXPECT_LE(rule, width);
      for (const std::string& line : table) {
        EXPECT_LE(display_width(line), width) << line;
        if (line.starts_with("  ") && line.ends_with(')')) {
          const std::size_t end = display_width(line.substr(0, line.rfind(')') + 1));
          if (deviation == 0) deviation = end;
          EXPECT_EQ(end, deviation) << line;
        }
      }
    }
  }
}

TEST(TerminalTable, MarksAllThatPrintTheSameAsTheBest) {
  Comparison comparison = small_comparison();
  comparison.cells[1].offline.mean = 0.5112;
  EXPECT_THAT(terminal_table(comparison),
              AllOf(HasSubstr("0.511* (0.017)"), HasSubstr("0.511* (0.020)")));
}

TEST(TerminalTable, MarksNothingWhereNothingWasBeaten) {
  Comparison comparison = small_comparison();
  comparison.cells.resize(1);
  EXPECT_THAT(terminal_table(comparison), Not(HasSubstr("*")));
}

TEST(TerminalTable, NotANumberIsNeverBest) {
  Comparison comparison = small_comparison();
  comparison.cells[0].offline.mean = std::nan("");
  comparison.cells[0].online.std = std::nan("");
  const std::string table = terminal_table(comparison);
  EXPECT_THAT(table, AllOf(HasSubstr("–"), Not(HasSubstr("nan")), Not(HasSubstr("0.509*"))));
}

TEST(Tables, ASingleRunHasNoDeviation) {
  Comparison comparison = small_comparison();
  for (CellSummary& cell : comparison.cells) {
    cell.runs = 1;
    cell.offline.std = cell.online.std = 0;
  }
  const std::string terminal = terminal_table(comparison);
  EXPECT_THAT(terminal, AllOf(HasSubstr("· 1 run × 10,000"), HasSubstr("0.511* (–)")));
  EXPECT_THAT(terminal_table(comparison, {.ascii = true}), HasSubstr("0.511* (-)"));
  const std::string markdown = markdown_table(comparison);
  EXPECT_THAT(markdown, AllOf(HasSubstr("· 1 run × 10,000"), HasSubstr("**0.511** (–)")));
  const std::string latex = latex_table(comparison);
  EXPECT_THAT(latex, AllOf(HasSubstr("1 run $"), HasSubstr("\\textbf{0.511} \\plackettstd{--}")));
  for (const std::string& text : {terminal, markdown, latex}) {
    EXPECT_THAT(text, AllOf(Not(HasSubstr("0.000")), Not(HasSubstr("1 runs"))));
  }
}

TEST(TerminalTable, MarksWhatIsBetterOrWorseThanEachBaseline) {
  Comparison comparison = paper_comparison({"MQ2007"}, 0);
  const std::string table = terminal_table(comparison);
  // As the paper has them; its own baselines carry none.
  EXPECT_THAT(table, AllOf(HasSubstr("0.511* (0.017) ▲▲▲▲    797.3* (17.3) ▲▲▲▲\n"),
                           HasSubstr("0.493  (0.020) ▲▲▲▲    560.9  (14.6) ▼▽▼▲\n"),
                           HasSubstr("0.483  (0.022) ▲▲▲·    594.6  (23.0) △▲▼▲\n"),
                           HasSubstr("0.479  (0.022)         458.4  (13.3)\n")));
  EXPECT_THAT(table, HasSubstr("Welch's t-test,\ntwo-tailed, uncorrected, against 1 DBGD (linear), "
                               "2 DBGD (neural),\n3 MGD (linear), 4 Pairwise (linear)\n"));
  comparison.contrasts.clear();
  EXPECT_THAT(terminal_table(comparison), AllOf(Not(HasSubstr("▲")), Not(HasSubstr("t-test"))));
}

TEST(TerminalTable, PlainTerminalsGetPlainMarks) {
  const std::string table = terminal_table(paper_comparison({"MQ2007"}, 0), {.ascii = true});
  EXPECT_THAT(table, AllOf(HasSubstr("560.9  (14.6) VvVA\n"), HasSubstr("(0.022) AAA.")));
  EXPECT_TRUE(std::all_of(table.begin(), table.end(), [](char c) { return c > 0; }));
}

TEST(TerminalTable, SeveralDatasetsStandBesideEachOtherAsFarAsTheyFit) {
  const Comparison comparison = paper_comparison(kPaperDatasets, 0);
  const std::string wide = terminal_table(comparison, {.width = 140});
  EXPECT_THAT(wide, AllOf(HasSubstr("Offline NDCG@10"), HasSubstr("Online NDCG@10"),
                          HasSubstr("PDGD (linear)       0.511* (0.017) ▲▲▲▲   0.699* (0.024) "
                                    "▲▲▲▲   0.427  (0.005) ▲▲▲▲   0.736* (0.004) ▲▲▲▲   "
                                    "0.573  (0.004) ▲▲▲▲\n")));
  for (const std::size_t width : {72U, 80U, 100U, 140U}) {
    for (const std::string& line : lines(terminal_table(comparison, {.width = width}))) {
      EXPECT_LE(display_width(line), width) << line;
    }
  }
}

TEST(TerminalTable, ADatasetWithoutAMethodLeavesItsPlaceEmpty) {
  Comparison comparison = paper_comparison({"MQ2007", "MQ2008"}, 0);
  comparison.cells.pop_back();
  comparison.contrasts.clear();
  EXPECT_THAT(terminal_table(comparison), HasSubstr("  PDGD (neural)       0.483  (0.022)\n"));
}

TEST(Tables, SayThatNothingWasRun) {
  EXPECT_EQ(terminal_table({}), "No runs to show.\n");
  EXPECT_EQ(markdown_table({}), "No runs to show.\n");
  EXPECT_EQ(lines(csv_table({})).size(), 1U);
}

TEST(MarkdownTable, HasABlockAClickModelAndBoldBest) {
  const std::string table = markdown_table(small_comparison());
  EXPECT_THAT(table, HasSubstr("\n## Navigational\n\n"
                               "| method | offline NDCG@10 | online NDCG@10 |\n"
                               "|:--|:--|:--|\n"
                               "| PDGD (linear) | 0.503 (0.018) | **726.9** (20.4) |\n"
                               "| PDGD (neural) | **0.504** (0.019) | 653.1 (23.9) |\n"));
}

TEST(MarkdownTable, EscapesNames) {
  Comparison comparison = small_comparison();
  comparison.cells[0].label = "<script>|";
  EXPECT_THAT(markdown_table(comparison),
              AllOf(HasSubstr("&lt;script&gt;\\|"), Not(HasSubstr("<script>"))));
}

TEST(EmbeddedTable, IsTheMarkdownTableInAPage) {
  const std::string table = embedded_table(small_comparison());
  const std::string left = " style=\"text-align:left\">";
  const std::string one = "<td colspan=\"1\"" + left;
  EXPECT_THAT(table,
              AllOf(HasSubstr("<th colspan=\"3\"" + left + "Navigational</th>"),
                    HasSubstr(one + "PDGD (neural)</td>" + one + "<b>0.504</b> (0.019)</td>"),
                    Not(HasSubstr("color"))));
  EXPECT_EQ(embedded_table({}), "<p>No runs to show.</p>\n");
  const std::string marked = embedded_table(paper_comparison({"MQ2007", "MQ2008"}, 0));
  EXPECT_THAT(marked, AllOf(HasSubstr(">MQ2008</th>"), HasSubstr("<b>0.511</b> (0.017) ▲▲▲▲</td>"),
                            HasSubstr("Welch&#39;s t-test")));
}

TEST(EmbeddedTable, SweptSettingsAreColumns) {
  EXPECT_THAT(embedded_table(testing::sweep_comparison()),
              AllOf(HasSubstr(">learning-rate</th>"), HasSubstr(">0.01</td>")));
}

TEST(EmbeddedTable, EscapesNames) {
  Comparison comparison = small_comparison();
  comparison.title = comparison.cells[0].label = comparison.cells[0].click_model = "<script>&\"";
  comparison.cells[0].dataset = "<b>";
  EXPECT_THAT(embedded_table(comparison), AllOf(HasSubstr("&lt;script&gt;&amp;"),
                                                HasSubstr("&lt;b&gt;"), Not(HasSubstr("<script"))));
}

TEST(MarkdownTable, SeveralDatasetsAreColumns) {
  const std::string table = markdown_table(paper_comparison({"MQ2007", "MQ2008"}, 0));
  EXPECT_THAT(
      table,
      AllOf(HasSubstr("\n## Offline NDCG@10\n\n### Perfect\n\n| method | MQ2007 | MQ2008 |\n"),
            HasSubstr("\n## Online NDCG@10\n"),
            HasSubstr("| PDGD (linear) | **0.511** (0.017) ▲▲▲▲ | **0.699** (0.024) ▲▲▲▲ |\n"),
            HasSubstr("| DBGD (linear) | 0.483 (0.023) | 0.683 (0.024) |\n"),
            HasSubstr("Welch's t-test, two-tailed, uncorrected, against 1 DBGD (linear), 2 ")));
}

TEST(MarkdownTable, GivesTheDifferencesWithTheirIntervals) {
  const std::string one = markdown_table(paper_comparison({"MQ2007"}, 0));
  // 0.028 ± t(0.975, 228.34) * sqrt((0.017^2 + 0.023^2) / 125); p * 48 tests at most.
  EXPECT_THAT(
      one,
      AllOf(
          HasSubstr("\n## Differences\n\nMean difference ± half of its 95 % confidence interval; "
                    "Welch's t-test: p, and p after Holm's correction over all 48 tests.\n"),
          HasSubstr("\n### Perfect\n\n| method | offline NDCG@10 | online NDCG@10 |\n"),
          HasSubstr("\n| PDGD (linear) against DBGD (linear) | +0.0280 ± 0.0050 (p = 1.1e-22, Holm "
                    "= ")));
  EXPECT_THAT(
      markdown_table(paper_comparison({"MQ2007", "MQ2008"}, 0)),
      AllOf(HasSubstr("\n## Online NDCG@10: differences\n\n### Perfect\n\n| method | MQ2007 "
                      "| MQ2008 |\n"),
            HasSubstr("over all 96 tests")));
  EXPECT_THAT(markdown_table(small_comparison()), Not(HasSubstr("Differences")));
  EXPECT_THAT(markdown_table(testing::single_runs(large_comparison())),
              Not(HasSubstr("Differences")));
}

TEST(CsvTable, NumbersReadBackTheSame) {
  Comparison comparison = small_comparison();
  comparison.cells.resize(1);
  comparison.cells[0].offline.mean = 0.1 + 0.2;
  comparison.cells[0].online.mean = std::nan("");
  comparison.cells[0].label = "a,b";
  const auto table = lines(csv_table(comparison));
  ASSERT_EQ(table.size(), 2U);
  EXPECT_EQ(table[1],
            "MQ2007,described,perfect,\"a,b\",pdgd,linear,0,0,125,10000,42,"
            "0.30000000000000004,0.017,,17.3");
}

TEST(CsvTests, HasAllTestsOfEveryContrast) {
  const Comparison comparison = paper_comparison({"MQ2007"}, 0);
  const auto table = lines(csv_tests(comparison));
  // 3 click models, 6 methods, 4 baselines but itself and the best two, 2 measures.
  ASSERT_EQ(table.size(), 1U + 3 * (2 * 4 + 4 * 3 + 1) * 2);
  // The t-tests themselves: tests/evaluation/t_test_test.cc.
  EXPECT_EQ(table[0],
            "dataset,protocol,click_model,label,baseline,leaders,measure,"
            "paired_difference,paired_half_width,paired_t,paired_df,paired_p,paired_holm,"
            "welch_difference,welch_half_width,welch_t,welch_df,welch_p,welch_holm,"
            "student_difference,student_half_width,student_t,student_df,student_p,student_holm");
  EXPECT_THAT(
      csv_tests(comparison),
      HasSubstr("\nMQ2007,published,perfect,PDGD (linear),DBGD (linear),0,offline,0.0280000"));
  EXPECT_THAT(csv_tests(comparison), HasSubstr(",248,5.246063673"));
  // Baselines against each other carry no marks, so they are not corrected.
  EXPECT_THAT(table[1], ::testing::EndsWith(","));
}

constexpr const char* kSelection =
    "Settings were chosen for each fold on its validation queries; offline numbers are of the test "
    "queries.";

TEST(Tables, SettingsAreColumns) {
  const Comparison comparison = testing::sweep_comparison();
  EXPECT_THAT(
      markdown_table(comparison),
      AllOf(HasSubstr("| method | ranker | learning-rate | offline NDCG@10 | online NDCG@10 "
                      "| offline MAP |\n|:--|--:|--:|:--|:--|:--|\n"),
            HasSubstr("| PDGD (neural, learning-rate 0.03) | neural | 0.03 | **0.500** "),
            HasSubstr("| MGD (linear) |  |  | 0.470 (0.020) | ")));
  EXPECT_THAT(latex_table(comparison),
              AllOf(HasSubstr("\\caption{Offline and online NDCG@10, offline MAP: "),
                    HasSubstr("\\begin{tabular}{lrrlll}"),
                    HasSubstr(" & ranker & learning-{}rate & \\textbf{offline NDCG@10} & "),
                    HasSubstr("\\multicolumn{5}{c}{\\textit{Perfect}}"),
                    HasSubstr("0.03) & neural & 0.03 & \\textbf{0.500}")));
  EXPECT_THAT(terminal_table(comparison, {.width = 140}),
              AllOf(HasSubstr("ranker   learning-rate   offline NDCG@10"),
                    HasSubstr("PDGD (neural, learning-rate 0.03)    neural            0.03    "
                              "0.500* (0.020)")));
  // Labels have them too: where they do not fit they are left out.
  EXPECT_THAT(terminal_table(comparison), Not(HasSubstr("  ranker")));
  EXPECT_THAT(markdown_table(comparison), Not(HasSubstr(kSelection)));
}

TEST(Tables, ChosenSettingsAreColumnsInAnyWidthAndSaySo) {
  const Comparison comparison = testing::selected_comparison();
  const std::string table = terminal_table(comparison);
  EXPECT_THAT(table, AllOf(HasSubstr("ranker   learning-rate"),
                           HasSubstr("  PDGD               linear             0.1"),
                           HasSubstr("  PDGD               linear            0.03")));
  Comparison wide = comparison;
  for (CellSummary& cell : wide.cells) {
    if (!cell.swept.empty()) cell.swept.push_back({"a-setting-with-a-long-name", "64"});
  }
  for (const Comparison& shown : {comparison, wide}) {
    for (const std::string& line : lines(terminal_table(shown))) {
      EXPECT_LE(display_width(line), 80U) << line;
    }
  }
  for (const std::string& text :
       {replaced(table, "\n", " "), markdown_table(comparison), latex_table(comparison)}) {
    EXPECT_THAT(text, HasSubstr(kSelection));
  }
  EXPECT_THAT(csv_table(comparison),
              AllOf(HasSubstr("\nMQ2007,described,perfect,PDGD,pdgd,linear,0,1,"),
                    HasSubstr("\nMQ2007,described,perfect,MGD (linear),mgd,linear,1,0,")));
}

TEST(Tables, ChosenSettingsMayDifferBetweenDatasets) {
  Comparison comparison = testing::selected_comparison();
  std::vector<CellSummary> more = comparison.cells;
  for (CellSummary& cell : more) {
    cell.dataset = "MQ2008";
    if (!cell.swept.empty()) cell.swept[1].value = "0.3";
  }
  comparison.cells.insert(comparison.cells.end(), more.begin(), more.end());
  EXPECT_THAT(markdown_table(comparison),
              AllOf(HasSubstr("\n## Offline MAP\n"), HasSubstr("| PDGD | linear | 0.1 / 0.3 | ")));
}

TEST(CsvTable, HasAColumnPerSettingAndMetric) {
  Comparison comparison = testing::sweep_comparison();
  comparison.cells.resize(11);
  comparison.cells[0].surroundings = {{"shown", "5"}, {"impressions", "10000"}};
  const auto table = lines(csv_table(comparison));
  ASSERT_EQ(table.size(), 12U);
  // The ranker and the number of impressions have columns anyway.
  EXPECT_EQ(table[0],
            "dataset,protocol,click_model,label,method,ranker,baseline,selected,runs,impressions,"
            "seed,learning-rate,shown,offline_mean,offline_std,online_mean,online_std,MAP_mean,"
            "MAP_std");
  EXPECT_THAT(table[1], HasSubstr(",pdgd,linear,0,0,125,10000,42,0.003,5,0.43"));
  EXPECT_THAT(table[11], HasSubstr(",mgd,linear,1,0,125,10000,42,,,0.47,0.02,690,15,"));
}

TEST(CsvTests, HasSettingsAndMetrics) {
  const Comparison comparison = testing::sweep_comparison();
  const auto table = lines(csv_tests(comparison));
  // Click models, cells and the best two, measures.
  ASSERT_EQ(table.size(), 1U + 3 * (10 + 1) * 3);
  EXPECT_TRUE(table[0].starts_with(
      "dataset,protocol,click_model,label,ranker,learning-rate,baseline,leaders,measure,paired_"));
  EXPECT_THAT(table[3], HasSubstr(",linear,0.003,MGD (linear),0,MAP,-"));
}

TEST(CsvRuns, HasALinePerRun) {
  Comparison comparison = testing::sweep_comparison();
  comparison.cells.erase(comparison.cells.begin() + 1, comparison.cells.end());
  CellSummary other = testing::small_comparison().cells[0];
  other.finals = {{7, 0.5, 700, 2}};
  other.finals[0].validation = 0.25;
  comparison.cells[0].finals = {{3, 0.1 + 0.2, 800, 3, {0.75}}};
  comparison.cells.push_back(other);
  EXPECT_EQ(csv_runs(comparison),
            "dataset,protocol,click_model,label,method,ranker,learning-rate,impressions,seed,run,"
            "fold,offline,online,MAP,validation\n"
            "MQ2007,described,perfect,\"PDGD (linear, learning-rate 0.003)\",pdgd,linear,0.003,"
            "10000,42,3,3,0.30000000000000004,800,0.75,\n"
            "MQ2007,described,perfect,PDGD (linear),pdgd,linear,,10000,42,7,2,0.5,700,,0.25\n");
}

TEST(CsvCurves, HasALinePerPoint) {
  Comparison comparison = testing::sweep_comparison();
  comparison.cells.erase(comparison.cells.begin() + 1, comparison.cells.end());
  const RunRecord record{.run = 6,
                         .fold = 1,
                         .curve = {{1, 0.25, 0.5}, {10, 0.5, 4}},
                         .metrics = {{"MAP", {0.125, 0.75}}}};
  const auto table = lines(csv_curves(comparison, {{record, record}}));
  ASSERT_EQ(table.size(), 5U);
  EXPECT_TRUE(
      table[0].ends_with(",learning-rate,impressions,seed,run,fold,impression,offline,"
                         "online,MAP"));
  EXPECT_TRUE(table[1].ends_with(",pdgd,linear,0.003,10000,42,6,1,1,0.25,0.5,0.125"));
  EXPECT_TRUE(table[2].ends_with(",pdgd,linear,0.003,10000,42,6,1,10,0.5,4,0.75"));
}

}  // namespace
}  // namespace plackett::report
