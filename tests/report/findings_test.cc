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
  const Findings findings = findings_of(small_comparison());
  EXPECT_EQ(findings.headline,
            "Offline is too close to call; PDGD (linear) wins online in 3 of 3 settings.");
  ASSERT_EQ(findings.findings.size(), 3U);
  EXPECT_EQ(findings.findings[0].lead, "Perfect");
  // 0.002 / sqrt((0.017^2 + 0.020^2) / 125) = 0.85; 53.6 / sqrt((17.3^2 + 18.8^2) / 125) = 23.5.
  EXPECT_THAT(findings.findings[0].sentences,
              ElementsAre("Offline: PDGD (linear) with 0.511; PDGD (neural) is too close to call "
                          "(0.002 behind, 0.9 standard errors).",
                          "Online: PDGD (linear) with 797.3, 53.6 ahead of PDGD (neural) (23 "
                          "standard errors)."));
}

TEST(Findings, CallClearWins) {
  EXPECT_EQ(findings_of(large_comparison()).headline,
            "PDGD (linear) and PDGD (neural) beat every baseline, offline and online, in every "
            "setting.");
  Comparison comparison = large_comparison();
  comparison.contrasts.clear();
  comparison.cells[4].offline.mean = 0.5;
  EXPECT_EQ(findings_of(comparison).headline,
            "PDGD (neural) wins offline in 2 of 3 settings; PDGD (linear) wins online in 3 of 3 "
            "settings.");
}

TEST(Findings, GoByTheTestsWhereThereAreAny) {
  const Findings findings = findings_of(paper_comparison({"MQ2007"}, 0));
  EXPECT_THAT(findings.findings[2].sentences,
              ElementsAre("Offline: PDGD (linear) with 0.487; PDGD (neural) is too close to call "
                          "(0.004 behind, 1.5 standard errors).",
                          "Online: PDGD (linear) with 704.8, 86.0 ahead of MGD (linear) (p = "
                          "1.1e-68)."));
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

TEST(Findings, OneMethodHasAValueAndNoRival) {
  Comparison comparison = small_comparison();
  comparison.cells.resize(1);
  EXPECT_EQ(findings_of(comparison).headline, "PDGD (linear) reaches an NDCG@10 of 0.511.");
  EXPECT_EQ(findings_of({}).headline, "Nothing was run yet.");
}

}  // namespace
}  // namespace plackett::report
