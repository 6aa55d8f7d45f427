#include "report/arrangement.h"

#include <gmock/gmock.h>

#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "samples.h"

namespace plackett::report {
namespace {

using testing::paper_comparison;

std::string marks_of(const Comparison& comparison, const std::string& click_model,
                     const std::string& label, const Measure& measure) {
  const Arrangement arrangement(comparison);
  for (const Block& block : arrangement.blocks) {
    for (const Row& row : block.rows) {
      if (row.cell->click_model != click_model || row.cell->label != label) continue;
      std::string marks;
      for (const TTest& test : row.values[measure.index].tests) marks += mark(test);
      return marks;
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

TEST(Significance, MarksFollowPAndTheSign) {
  EXPECT_STREQ(mark({2, 10, 0.05}), "·");
  EXPECT_STREQ(mark({2, 10, 0.049}), "△");
  EXPECT_STREQ(mark({2, 10, 0.01}), "△");
  EXPECT_STREQ(mark({2, 10, 0.0099}), "▲");
  EXPECT_STREQ(mark({-2, 10, 0.049}), "▽");
  EXPECT_STREQ(mark({-2, 10, 0}), "▼");
  EXPECT_STREQ(mark({0, 0, 1}), " ");
  EXPECT_STREQ(mark(TTest{}), " ");
  EXPECT_STREQ(mark({2, 10, std::nan("")}), "·");
}

TEST(Significance, BetweenLooksBothWays) {
  const Comparison comparison = paper_comparison({"MQ2007"}, 0);
  const Arrangement arrangement(comparison);
  const std::vector<Row>& rows = arrangement.blocks[0].rows;
  const Row& dbgd = rows[0];
  const Row& linear = rows[4];
  const Row& neural = rows[5];
  EXPECT_STREQ(mark(arrangement.between(linear, dbgd, kOffline)), "▲");
  EXPECT_STREQ(mark(arrangement.between(dbgd, linear, kOffline)), "▼");
  EXPECT_DOUBLE_EQ(arrangement.between(linear, dbgd, kOffline).difference, 0.511 - 0.483);
  EXPECT_DOUBLE_EQ(arrangement.between(dbgd, linear, kOffline).difference, 0.483 - 0.511);
  EXPECT_STREQ(mark(arrangement.between(linear, neural, kOffline)), "·");  // the best two
}

TEST(Significance, MarksGoByTheChosenTest) {
  Comparison comparison = paper_comparison({"MQ2007"}, 0);
  for (Contrast& contrast : comparison.contrasts) {
    contrast.online = {.paired = {1, 9, 0.001}, .welch = {-1, 9, 0.001}, .student = {1, 9, 0.5}};
  }
  for (const auto& [test, name, marks] :
       {std::tuple{SignificanceTest::kPaired, "paired t-test", "▲▲▲▲"},
        {SignificanceTest::kWelch, "Welch's t-test", "▼▼▼▼"},
        {SignificanceTest::kStudent, "Student's t-test", "····"}}) {
    comparison.test = test;
    EXPECT_STREQ(Arrangement(comparison).test_name, name);
    EXPECT_EQ(marks_of(comparison, "perfect", "PDGD (linear)", kOnline), marks);
  }
}

TEST(Significance, SettingsThatDifferAreDifferentBlocks) {
  Comparison comparison = testing::small_comparison();
  comparison.cells.resize(2);
  comparison.cells[1].impressions = 1000;
  const Arrangement lengths(comparison);
  ASSERT_EQ(lengths.blocks.size(), 2U);
  EXPECT_EQ(lengths.blocks[0].title, "Perfect · 10,000 impressions");
  EXPECT_EQ(lengths.blocks[1].title, "Perfect · 1,000 impressions");
  comparison.cells[1].impressions = comparison.cells[0].impressions;
  comparison.cells[1].seed = 7;
  const Arrangement seeds(comparison);
  ASSERT_EQ(seeds.blocks.size(), 2U);
  EXPECT_EQ(seeds.blocks[1].title, "Perfect · seed 7");
}

TEST(Significance, SurroundingsThatDifferAreDifferentBlocks) {
  Comparison comparison = testing::small_comparison();
  comparison.cells.resize(3);
  comparison.cells[0].surroundings = {{"shown", "5"}, {"impressions", "10000"}};
  comparison.cells[1].surroundings = {{"shown", "20"}, {"impressions", "10000"}};
  const Arrangement arrangement(comparison);
  ASSERT_EQ(arrangement.blocks.size(), 3U);
  EXPECT_EQ(arrangement.blocks[0].title, "Perfect · shown 5");
  EXPECT_EQ(arrangement.blocks[1].title, "Perfect · shown 20");
  EXPECT_EQ(arrangement.best_of_what, "of its click model and setting");
}

TEST(Significance, MetricsAreMeasuresThatCarryMarks) {
  const Comparison comparison = testing::sweep_comparison();
  const Arrangement arrangement(comparison);
  ASSERT_EQ(arrangement.measures.size(), 3U);
  const Measure& map = arrangement.measures[2];
  EXPECT_EQ(map.title(), "Offline MAP");
  EXPECT_EQ(map.about(), "MAP on the test queries");
  EXPECT_EQ(marks_of(comparison, "perfect", "PDGD (linear, learning-rate 0.1)", map), "▲");
  EXPECT_DOUBLE_EQ(arrangement.blocks[0].rows[3].values[2].moments.mean, 0.9 * 0.5);
  // A cell without the metric has no number.
  EXPECT_TRUE(std::isnan(map.final(testing::small_comparison().cells[0]).mean));
}

}  // namespace
}  // namespace plackett::report
