#include <gmock/gmock.h>

#include <string>

#include "experiment/contrasts.h"
#include "report/arrangement.h"
#include "samples.h"

namespace plackett::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::large_comparison;
using testing::paper_comparison;
using testing::single_runs;
using testing::small_comparison;

Findings findings_of(const Comparison& comparison) { return find(Arrangement(comparison)); }

TEST(Findings, CallCloseMeansTooCloseToCall) {
  Comparison comparison = small_comparison();
  comparison.test = SignificanceTest::kWelch;
  const Findings findings = findings_of(comparison);
  EXPECT_EQ(findings.headline,
            "Offline is too close to call; PDGD (linear) wins online in 3 of 3 settings.");
  ASSERT_EQ(findings.findings.size(), 3U);
  EXPECT_EQ(findings.findings[0].lead, "Perfect");
  // 0.002 / sqrt((0.017^2 + 0.020^2) / 125) = 0.85 and 1.97 standard errors are 0.0046.
  EXPECT_THAT(findings.findings[0].sentences,
              ElementsAre("Offline: PDGD (linear) with 0.511; PDGD (neural) is too close to call "
                          "(0.0020 ± 0.0046 behind, p = 0.4).",
                          "Online: PDGD (linear) with 797.3, 53.60 ± 4.50 ahead of PDGD (neural) "
                          "(p = 1e-64)."));
}

// What runs of the same number have in common hides the difference from Welch's test only.
TEST(Findings, SeeThroughTheSpreadBetweenFolds) {
  const Findings findings = findings_of(small_comparison());
  EXPECT_EQ(findings.headline,
            "PDGD (linear) wins offline in 2 of 3 settings; PDGD (linear) wins online in 3 of 3 "
            "settings.");
  EXPECT_EQ(findings.findings[0].sentences[0],
            "Offline: PDGD (linear) with 0.511, 0.0020 ± 0.0017 ahead of PDGD (neural) (p = "
            "0.018).");
}

TEST(Findings, ALeaderThatIsBehindInTheRunsOfBothHasNotWon) {
  Comparison comparison = small_comparison();
  comparison.cells.resize(2);
  comparison.cells[0].finals = {{0, 0.5, 700}, {1, 0.4, 701}, {2, 0.9, 999}};
  comparison.cells[1].finals = {{0, 0.6, 800}, {1, 0.51, 800}};
  add_contrasts(comparison);
  EXPECT_EQ(findings_of(comparison).headline,
            "Offline is too close to call; online is too close to call.");
}

TEST(Findings, CallClearWins) {
  EXPECT_EQ(findings_of(large_comparison()).headline,
            "PDGD (linear) and PDGD (neural) beat every baseline, offline and online, in every "
            "setting.");
  Comparison comparison = large_comparison();
  for (CellSummary& cell : comparison.cells) cell.baseline = false;
  comparison.cells[4].offline.mean = 0.5;
  testing::set_finals(comparison.cells[4]);
  add_contrasts(comparison);
  EXPECT_EQ(findings_of(comparison).headline,
            "PDGD (neural) wins offline in 2 of 3 settings; PDGD (linear) wins online in 3 of 3 "
            "settings.");
}

TEST(Findings, GiveTheDifferenceItsIntervalAndP) {
  const Findings findings = findings_of(paper_comparison({"MQ2007"}, 0));
  EXPECT_THAT(findings.findings[2].sentences,
              ElementsAre("Offline: PDGD (linear) with 0.487; PDGD (neural) is too close to call "
                          "(0.0040 ± 0.0054 behind, p = 0.14).",
                          "Online: PDGD (linear) with 704.8, 86.00 ± 6.60 ahead of MGD (linear) "
                          "(p = 1.1e-68)."));
}

TEST(Findings, PIsShort) {
  Comparison comparison = paper_comparison({"MQ2007"}, 0);
  for (const auto& [p, text] :
       {std::pair{0.00321, "(p = 0.0032)"}, {1.09e-22, "(p = 1.1e-22)"}, {0.0, "(p < 1e-300)"}}) {
    for (Contrast& contrast : comparison.contrasts) contrast.online.welch.p = p;
    EXPECT_THAT(findings_of(comparison).findings[2].sentences[1], HasSubstr(text));
  }
}

TEST(Findings, ABaselineThatWasNotTestedWasNotBeaten) {
  Comparison comparison = paper_comparison({"MQ2007"}, 0);
  EXPECT_EQ(findings_of(comparison).headline,
            "PDGD (linear) beats every baseline, offline and online, in every setting.");
  for (Contrast& contrast : comparison.contrasts) {
    if (contrast.baseline == 0) contrast.offline = {};
  }
  EXPECT_THAT(findings_of(comparison).headline, HasSubstr("PDGD (linear) wins online"));
}

TEST(Findings, ManySettingsAreLeftToTheTables) {
  const Findings findings = findings_of(paper_comparison({"MQ2007", "MQ2008", "Istella"}, 0));
  EXPECT_THAT(findings.findings, ::testing::IsEmpty());
  EXPECT_THAT(findings.headline, HasSubstr("beats every baseline"));
}

TEST(Findings, SingleRunsHaveNoWinner) {
  for (const Comparison& comparison :
       {single_runs(small_comparison()), single_runs(large_comparison())}) {
    EXPECT_EQ(findings_of(comparison).headline, "Too few runs to call a winner.");
  }
  EXPECT_EQ(findings_of(single_runs(small_comparison())).findings[0].sentences[0],
            "Offline: PDGD (linear) with 0.511; PDGD (neural) is too close to call (0.002 behind, "
            "no spread over runs to judge by).");
}

TEST(Findings, SayWhoLeadsInEveryMetric) {
  const Comparison comparison = testing::sweep_comparison();
  const Findings findings = findings_of(comparison);
  ASSERT_EQ(findings.findings[0].sentences.size(), 3U);
  EXPECT_THAT(findings.findings[0].sentences[2],
              HasSubstr("MAP: PDGD (linear, learning-rate 0.1) with 0.450; PDGD (neural, "
                        "learning-rate 0.03) is too close to call ("));
  // More than two names are no headline.
  EXPECT_EQ(findings.headline,
            "6 methods beat MGD (linear), offline and online, in every setting.");
}

TEST(Findings, OneMethodHasAValueAndNoRival) {
  Comparison comparison = small_comparison();
  comparison.cells.resize(1);
  EXPECT_EQ(findings_of(comparison).headline, "PDGD (linear) reaches an NDCG@10 of 0.511.");
  EXPECT_EQ(findings_of({}).headline, "Nothing was run yet.");
}

}  // namespace
}  // namespace plackett::report
