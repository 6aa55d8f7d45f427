#include "report/scorecard.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "plackett/published_data.h"
#include "report/text.h"
#include "samples.h"

namespace plackett::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::paper_comparison;

CellSummary pdgd_on(const std::string& dataset) {
  CellSummary cell;
  cell.label = "PDGD (linear)";
  cell.as_in_paper = true;
  cell.method = "pdgd";
  cell.ranker = "linear";
  cell.click_model = "perfect";
  cell.dataset = dataset;
  cell.published_data = dataset;
  cell.protocol = "published";
  cell.runs = 125;
  cell.impressions = 10'000;
  return cell;
}

TEST(PublishedNumbers, AddUpToWhatTheTablesAddUpTo) {
  Moments offline;
  Moments online;
  for (const auto& row : published_rows()) {
    for (std::size_t dataset = 0; dataset < kPublishedDatasets; ++dataset) {
      offline.mean += row.values[0][dataset].mean;
      offline.std += row.values[0][dataset].std;
      online.mean += row.values[1][dataset].mean;
      online.std += row.values[1][dataset].std;
    }
  }
  EXPECT_EQ(published_rows().size(), 18U);
  EXPECT_NEAR(offline.mean, 46.548, 1e-9);
  EXPECT_NEAR(offline.std, 1.579, 1e-9);
  EXPECT_NEAR(online.mean, 64267.8, 1e-6);
  EXPECT_NEAR(online.std, 2832.9, 1e-6);
}

TEST(PublishedNumbers, StandWhereTheyStandInThePaper) {
  const auto rows = published_rows();
  EXPECT_EQ(rows[0].method, "dbgd");
  EXPECT_EQ(rows[0].values[0][0].mean, 0.483);
  EXPECT_EQ(rows[4].method, "pdgd");
  EXPECT_EQ(rows[4].values[1][1].mean, 959.7);
  EXPECT_EQ(rows[4].values[1][1].std, 43.4);
  EXPECT_EQ(rows[9].method, "pairwise");
  EXPECT_EQ(rows[9].click_model, "navigational");
  EXPECT_EQ(rows[9].values[0][4].mean, 0.209);
  EXPECT_EQ(rows[17].ranker, "neural");
  EXPECT_EQ(rows[17].click_model, "informational");
  EXPECT_EQ(rows[17].values[1][4].mean, 484.3);
  EXPECT_EQ(rows[17].values[0][2].std, 0.021);
}

TEST(PublishedNumbers, DatasetsAreKnownByWhatTheyAreNotByWhatTheyAreCalled) {
  for (const PublishedData& known : published_data()) {
    const bool in_paper =
        std::set<std::string_view>{"MQ2007", "MQ2008", "MSLR-WEB10K", "Yahoo set1", "Istella"}
            .contains(known.name);
    EXPECT_EQ(published_dataset(known.name) < kPublishedDatasets, in_paper) << known.name;
  }
  CellSummary cell = pdgd_on("MQ2008");
  cell.dataset = "my folder";
  EXPECT_NE(published(cell, kOffline), nullptr);
  cell.dataset = "MQ2008";
  cell.published_data = "";
  EXPECT_EQ(published(cell, kOffline), nullptr);
}

TEST(PublishedNumbers, OnlyThePapersSettingsMatch) {
  EXPECT_EQ(published(pdgd_on("MQ2008"), kOffline)->mean, 0.699);
  CellSummary cell = pdgd_on("MQ2008");
  cell.impressions = 30'000;
  EXPECT_EQ(published(cell, kOffline), nullptr);
  cell = pdgd_on("MQ2008");
  cell.as_in_paper = false;
  EXPECT_EQ(published(cell, kOffline), nullptr);
  cell = pdgd_on("MQ2008");
  cell.click_model = "random";
  EXPECT_EQ(published(cell, kOffline), nullptr);
  cell = pdgd_on("MQ2008");
  cell.method = "other";
  EXPECT_EQ(published(cell, kOffline), nullptr);
}

TEST(Scorecard, NamesWhatWasSweptAroundTheMethod) {
  CellSummary cell = pdgd_on("MQ2008");
  cell.surroundings = {{"seed", "7"}, {"protocol", cell.protocol}};
  EXPECT_THAT(setting_of(cell), ::testing::EndsWith(cell.protocol + " · seed 7"));
}

TEST(Scorecard, CountsStandardErrorsOfTheDifference) {
  Comparison comparison;
  comparison.cells = {pdgd_on("MQ2008")};
  comparison.cells[0].runs = 25;
  comparison.cells[0].offline = {0.710, 0.020};
  comparison.cells[0].online = {959.7, 40};
  const auto card = make_scorecard(comparison);
  ASSERT_EQ(card.scores.size(), 2U);
  // 0.011 / sqrt(0.020^2 / 25 + 0.024^2 / 125)
  EXPECT_NEAR(card.scores[0].errors, 0.011 / std::sqrt(1.6e-5 + 4.608e-6), 1e-9);
  EXPECT_EQ(card.scores[1].errors, 0);
  EXPECT_EQ(card.within(HUGE_VAL), 2U);
  EXPECT_EQ(card.within(2), 1U);
  EXPECT_EQ(card.within(3), 2U);
  EXPECT_EQ(card.agreement,
            "1 of 2 numbers within 2 standard errors of the paper's, 2 within 3; the farthest is "
            "2.4 away.");
  EXPECT_THAT(
      csv_scorecard(comparison),
      HasSubstr("MQ2008,published,perfect,PDGD (linear),offline,25,0.71,0.02,0.699,0.024,"));
}

TEST(Scorecard, ARepetitionOfThePaperAgreesWithIt) {
  const auto card = make_scorecard(paper_comparison({"MQ2007", "MQ2008"}, 1));
  EXPECT_EQ(card.within(HUGE_VAL), 72U);
  EXPECT_GE(card.within(2), 65U);
  EXPECT_EQ(card.note, "");
  // The check can fail: ten times as far away, most disagree.
  EXPECT_LT(make_scorecard(paper_comparison({"MQ2007"}, 10)).within(3), 18U);
}

TEST(Scorecard, SaysWhichProtocolThePaperHad) {
  Comparison comparison = paper_comparison({"MQ2007"}, 0);
  EXPECT_THAT(terminal_scorecard(comparison), HasSubstr("is how the paper's numbers"));
  for (CellSummary& cell : comparison.cells) cell.protocol = "described";
  EXPECT_THAT(markdown_scorecard(comparison), HasSubstr("differences are expected"));
}

TEST(Scorecard, OneRunHasNoVerdict) {
  Comparison comparison;
  comparison.cells = {pdgd_on("MQ2008")};
  comparison.cells[0].runs = 1;
  const auto card = make_scorecard(comparison);
  EXPECT_EQ(card.within(HUGE_VAL), 0U);
  comparison.cells[0].offline = {0.710, 0};
  comparison.cells[0].online = {959.7, 0};
  for (const std::string& text : {terminal_scorecard(comparison), markdown_scorecard(comparison)}) {
    EXPECT_THAT(
        text, AllOf(HasSubstr("single run"), ::testing::ContainsRegex("0.710 +\\(–\\)"),
                    ::testing::ContainsRegex("959.7 +\\(–\\)"), ::testing::Not(HasSubstr("nan"))));
  }
}

TEST(Scorecard, RoundedMeansAreMarked) {
  const Comparison comparison = paper_comparison({"Istella"}, 0);
  EXPECT_THAT(make_scorecard(comparison).note, HasSubstr("rounding"));
  EXPECT_THAT(markdown_scorecard(comparison), HasSubstr("†"));
}

TEST(Scorecard, IsEmptyWhereThePaperHasNothing) {
  EXPECT_EQ(terminal_scorecard(testing::large_comparison()), "");
  EXPECT_EQ(markdown_scorecard({}), "");
  EXPECT_EQ(csv_scorecard({}), "");
}

TEST(Scorecard, PlainTerminalsGetPlainText) {
  Comparison comparison = paper_comparison({"Istella"}, 0);
  comparison.cells[0].runs = 1;
  for (const std::size_t width : {72U, 130U}) {
    const std::string text = terminal_scorecard(comparison, {.width = width, .ascii = true});
    EXPECT_THAT(text, AllOf(HasSubstr("Istella . Perfect . published"), HasSubstr(" (-)"),
                            HasSubstr("\n! the rounding of")));
    EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) { return c > 0; }));
  }
}

TEST(Scorecard, FitsTheTerminal) {
  for (const std::size_t width : {72U, 73U, 80U, 99U, 100U, 140U}) {
    const std::string text =
        terminal_scorecard(paper_comparison({"MSLR-WEB10K", "Yahoo"}, 1), {.width = width});
    for (std::size_t start = 0; start < text.size();) {
      const std::size_t end = text.find('\n', start);
      EXPECT_LE(display_width(text.substr(start, end - start)), width);
      start = end + 1;
    }
  }
}

}  // namespace
}  // namespace plackett::report
