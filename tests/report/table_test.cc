#include "report/table.h"

#include <gmock/gmock.h>

#include <cmath>
#include <string>
#include <vector>

#include "report/text.h"
#include "samples.h"

namespace plackett {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::large_comparison;
using ::testing::Not;
using testing::small_comparison;

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
      "                     offline NDCG@10   online NDCG@10   impressions/s\n"
      "─────────────────────────────────────────────────────────────────────\n"
      "Perfect\n"
      "  PDGD (linear)       0.511* (0.017)    797.3* (17.3)         182,000\n"
      "  PDGD (neural)       0.509  (0.020)    743.7  (18.8)          41,300\n"
      "─────────────────────────────────────────────────────────────────────\n"
      "Navigational\n"
      "  PDGD (linear)       0.503  (0.018)    726.9* (20.4)         190,000\n"
      "  PDGD (neural)       0.504* (0.019)    653.1  (23.9)          42,000\n"
      "─────────────────────────────────────────────────────────────────────\n"
      "Informational\n"
      "  PDGD (linear)       0.496* (0.021)    715.8* (25.6)         175,000\n"
      "  PDGD (neural)       0.493  (0.022)    634.5  (30.1)          40,800\n"
      "─────────────────────────────────────────────────────────────────────\n"
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
  comparison.cells[0].method = "a_method_with_a_very_long_name_nobody_can_remember";
  comparison.cells[1].ranker = "検索検索検索検索検索検索検索検索検索検索";
  comparison.cells[2].online.std = 1234.5;
  for (const std::size_t width : {80U, 72U, 100U}) {
    for (const bool ansi : {false, true}) {
      const auto table =
          lines(without_ansi(terminal_table(comparison, {.ansi = ansi, .width = width})));
      const std::size_t rule = report::display_width(table[4]);
      EXPECT_LE(rule, width);
      for (const std::string& line : table) {
        EXPECT_LE(report::display_width(line), width) << line;
        if (line.starts_with("  ") && line.find('(') != std::string::npos) {
          EXPECT_EQ(report::display_width(line), rule) << line;
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

TEST(TerminalTable, NamesTheDatasetWhereThereAreSeveral) {
  Comparison comparison = small_comparison();
  for (CellSummary cell : large_comparison().cells) comparison.cells.push_back(std::move(cell));
  EXPECT_THAT(terminal_table(comparison, {.width = 100}),
              AllOf(HasSubstr("MQ2007 · Perfect"), HasSubstr("MSLR-WEB10K · Perfect"),
                    HasSubstr("10,000–1,000,000 impressions")));
}

TEST(Tables, SayThatNothingWasRun) {
  EXPECT_EQ(terminal_table({}), "No runs to show.\n");
  EXPECT_EQ(markdown_table({}), "No runs to show.\n");
  EXPECT_EQ(lines(csv_table({})).size(), 1U);
}

TEST(MarkdownTable, HasABlockAClickModelAndBoldBest) {
  const std::string table = markdown_table(small_comparison());
  EXPECT_THAT(table, HasSubstr("\n## Navigational\n\n"
                               "| method | offline NDCG@10 | online NDCG@10 | impressions/s |\n"
                               "|:--|--:|--:|--:|\n"
                               "| PDGD (linear) | 0.503 (0.018) | **726.9** (20.4) | 190,000 |\n"
                               "| PDGD (neural) | **0.504** (0.019) | 653.1 (23.9) | 42,000 |\n"));
}

TEST(MarkdownTable, EscapesNames) {
  Comparison comparison = small_comparison();
  comparison.cells[0].method = "<script>|";
  EXPECT_THAT(markdown_table(comparison),
              AllOf(HasSubstr("&lt;script&gt;\\|"), Not(HasSubstr("<script>"))));
}

TEST(CsvTable, NumbersReadBackTheSame) {
  Comparison comparison = small_comparison();
  comparison.cells.resize(1);
  comparison.cells[0].offline.mean = 0.1 + 0.2;
  comparison.cells[0].online.mean = std::nan("");
  comparison.cells[0].method = "a,b";
  const auto table = lines(csv_table(comparison));
  ASSERT_EQ(table.size(), 2U);
  EXPECT_THAT(table[1], HasSubstr("perfect,\"a,b\",linear,MQ2007,described,125,10000,42,"
                                  "0.30000000000000004,0.017,,17.3,"));
}

}  // namespace
}  // namespace plackett
