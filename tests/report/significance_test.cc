#include "report/significance.h"

#include <gmock/gmock.h>

#include <cmath>
#include <string>

#include "report/arrangement.h"
#include "samples.h"

namespace plackett::report {
namespace {

using testing::paper_comparison;

std::string marks_of(const Comparison& comparison, const std::string& click_model,
                     const std::string& label, const Measure& measure) {
  const Significance significance(comparison, SignificanceTest::kWelch);
  for (const CellSummary& cell : comparison.cells) {
    if (cell.click_model == click_model && cell.label == label) {
      return marks(significance.of(cell, measure));
    }
  }
  return "no such cell";
}

// All 240 marks that the paper prints: against linear and neural DBGD, MGD and the pairwise
// baseline, for both rankers, both measures, three click models and five datasets. Most say
// "better, p < 0.01"; the rest stand here.
TEST(Significance, GivesThePapersMarksFromThePapersNumbers) {
  struct Printed {
    const char* dataset;
    const char* navigational;
    const char* informational;
  };
  for (const auto& [dataset, navigational, informational] :
       {Printed{"MQ2007", "▼▽▼▲", "△▲▼▲"}, Printed{"MQ2008", "▼▲▼▲", "▲▲·▲"},
        Printed{"MSLR-WEB10K", "▼▼▼▲", "▽▲▼▲"}, Printed{"Yahoo", "▲▲▽▲", "▲▲▲▲"},
        Printed{"Istella", "▼▼▼▲", "▲▲▼▲"}}) {
    const Comparison comparison = paper_comparison({dataset}, 0);
    EXPECT_EQ(marks_of(comparison, "navigational", "PDGD (neural)", kOnline), navigational)
        << dataset;
    EXPECT_EQ(marks_of(comparison, "informational", "PDGD (neural)", kOnline), informational)
        << dataset;
    EXPECT_EQ(marks_of(comparison, "perfect", "PDGD (neural)", kOnline), "▲▲▲▲") << dataset;
    for (const char* click_model : {"perfect", "navigational", "informational"}) {
      const bool tied =
          dataset == std::string("MQ2007") && click_model == std::string("informational");
      EXPECT_EQ(marks_of(comparison, click_model, "PDGD (neural)", kOffline),
                tied ? "▲▲▲·" : "▲▲▲▲")
          << dataset;
      EXPECT_EQ(marks_of(comparison, click_model, "PDGD (linear)", kOnline), "▲▲▲▲") << dataset;
      EXPECT_EQ(marks_of(comparison, click_model, "PDGD (linear)", kOffline), "▲▲▲▲") << dataset;
    }
  }
}

TEST(Significance, BaselinesCarryNoMarks) {
  EXPECT_EQ(marks_of(paper_comparison({"MQ2007"}, 0), "perfect", "MGD (linear)", kOffline), "");
}

TEST(Significance, ABaselineThatABlockLacksLeavesItsPlaceBlank) {
  Comparison comparison = paper_comparison({"MQ2007"}, 0);
  std::erase_if(comparison.contrasts, [&](const Contrast& contrast) {
    return comparison.cells[contrast.baseline].label == "DBGD (neural)" &&
           comparison.cells[contrast.baseline].click_model == "perfect";
  });
  EXPECT_EQ(marks_of(comparison, "perfect", "PDGD (linear)", kOffline), "▲ ▲▲");
}

TEST(Significance, VerdictsFollowPAndTheSign) {
  EXPECT_EQ(verdict({2, 10, 0.05}), Verdict::kNoDifference);
  EXPECT_EQ(verdict({2, 10, 0.049}), Verdict::kBetter);
  EXPECT_EQ(verdict({2, 10, 0.01}), Verdict::kBetter);
  EXPECT_EQ(verdict({2, 10, 0.0099}), Verdict::kMuchBetter);
  EXPECT_EQ(verdict({-2, 10, 0.049}), Verdict::kWorse);
  EXPECT_EQ(verdict({-2, 10, 0}), Verdict::kMuchWorse);
  EXPECT_EQ(verdict({0, 0, 1}), Verdict::kUntested);
  EXPECT_EQ(verdict(TTest{}), Verdict::kUntested);
  EXPECT_EQ(verdict({2, 10, std::nan("")}), Verdict::kNoDifference);
}

TEST(Significance, BetweenLooksBothWays) {
  const Comparison comparison = paper_comparison({"MQ2007"}, 0);
  const Significance significance(comparison, SignificanceTest::kStudent);
  const CellSummary& dbgd = comparison.cells[0];
  const CellSummary& linear = comparison.cells[4];
  const CellSummary& neural = comparison.cells[5];
  EXPECT_EQ(significance.between(linear, dbgd, kOffline).verdict, Verdict::kMuchBetter);
  EXPECT_EQ(significance.between(dbgd, linear, kOffline).verdict, Verdict::kMuchWorse);
  EXPECT_EQ(significance.between(linear, neural, kOffline).verdict, Verdict::kUntested);
}

TEST(Significance, PIsShort) {
  EXPECT_EQ(p_text(0.4321), "p = 0.43");
  EXPECT_EQ(p_text(0.0427), "p = 0.043");
  EXPECT_EQ(p_text(0.00321), "p = 0.0032");
  EXPECT_EQ(p_text(1.09e-22), "p = 1.1e-22");
  EXPECT_EQ(p_text(0), "p < 1e-300");
}

}  // namespace
}  // namespace plackett::report
