#include "report/write.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <string>

#include "base/file.h"
#include "report/figure.h"
#include "report/scorecard.h"
#include "report/table.h"
#include "samples.h"

namespace plackett::report {
namespace {

class WriteReport : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* const info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(::testing::TempDir()) / "plackett-report" / info->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
};

TEST_F(WriteReport, WritesItsFilesIntoANewFolder) {
  const auto target = folder_ / "a" / "b";
  const Comparison comparison = testing::small_comparison();
  ASSERT_TRUE(write_report(comparison, target, {.command = "plackett compare"}).ok());
  EXPECT_EQ(read_file(target / "tables.md").value(), markdown_table(comparison));
  EXPECT_EQ(read_file(target / "tables.tex").value(), latex_table(comparison));
  EXPECT_EQ(read_file(target / "tables.csv").value(), csv_table(comparison));
  EXPECT_EQ(read_file(target / "tests.csv").value(), csv_tests(comparison));
  const auto figure = [&](const Measure& measure, FigureFormat format) {
    return draw_curves(comparison, measure, format).value();
  };
  EXPECT_EQ(read_file(target / "curves.svg").value(), figure(kOffline, FigureFormat::kSvg));
  EXPECT_EQ(read_file(target / "online.svg").value(), figure(kOnline, FigureFormat::kSvg));
  EXPECT_EQ(read_file(target / "curves.pdf").value(), figure(kOffline, FigureFormat::kPdf));
  EXPECT_EQ(read_file(target / "online.pdf").value(), figure(kOnline, FigureFormat::kPdf));
  EXPECT_EQ(read_file(target / "results.json").value(),
            results_json(comparison, {.command = "plackett compare"}));
  EXPECT_EQ(read_file(target / "scorecard.md").value(), markdown_scorecard(comparison));
  EXPECT_EQ(read_file(target / "scorecard.csv").value(), csv_scorecard(comparison));
  EXPECT_EQ(read_file(target / "report.html").value(),
            html_report(comparison, {.command = "plackett compare"}));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(target), {}), 12);
}

TEST(PublicReport, GivesTablesAndCurvesWithoutAFolder) {
  const Comparison comparison = testing::small_comparison();
  EXPECT_EQ(text_table(comparison), terminal_table(comparison));
  EXPECT_EQ(text_table(comparison, 72), terminal_table(comparison, {.width = 72}));
  EXPECT_EQ(html_table(comparison), embedded_table(comparison));
  EXPECT_EQ(curves_svg(comparison).value(), draw_curves(comparison).value());
}

TEST_F(WriteReport, LeavesTheScorecardOutWhereThePaperHasNothing) {
  ASSERT_TRUE(write_report(testing::large_comparison(), folder_, {}).ok());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "scorecard.md"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 10);
}

TEST_F(WriteReport, DrawsMetricsAndSweeps) {
  const Comparison comparison = testing::sweep_comparison();
  ASSERT_TRUE(write_report(comparison, folder_, {}).ok());
  const Arrangement arrangement(comparison);
  EXPECT_EQ(read_file(folder_ / "curves_MAP.svg").value(),
            draw_curves(comparison, arrangement.measures[2]).value());
  EXPECT_EQ(read_file(folder_ / "sweep.pdf").value(),
            draw_sweep(comparison, FigureFormat::kPdf).value());
  ASSERT_TRUE(write_report(testing::large_comparison(), folder_, {}).ok());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "sweep.svg"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "curves_MAP.svg"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "curves_MAP.pdf"));
}

TEST_F(WriteReport, DrawsNoCurvesOfOnePoint) {
  Comparison comparison = testing::sweep_comparison();
  ASSERT_TRUE(write_report(comparison, folder_, {}).ok());
  ASSERT_TRUE(std::filesystem::exists(folder_ / "curves.svg"));
  comparison = testing::final_curves(comparison);
  EXPECT_EQ(curves_svg(comparison).value(), "");
  const std::string table = markdown_table(testing::sweep_comparison());
  ASSERT_TRUE(write_report(comparison, folder_, {}).ok());
  for (const char* name : {"curves", "online", "curves_MAP"}) {
    EXPECT_FALSE(std::filesystem::exists(folder_ / (name + std::string(".svg")))) << name;
    EXPECT_FALSE(std::filesystem::exists(folder_ / (name + std::string(".pdf")))) << name;
  }
  EXPECT_TRUE(std::filesystem::exists(folder_ / "sweep.svg"));
  EXPECT_EQ(read_file(folder_ / "tables.md").value(), table);
}

TEST_F(WriteReport, TakesAwayAScorecardThatNoLongerApplies) {
  ASSERT_TRUE(write_report(testing::small_comparison(), folder_, {}).ok());
  ASSERT_TRUE(std::filesystem::exists(folder_ / "scorecard.csv"));
  ASSERT_TRUE(write_report(testing::large_comparison(), folder_, {}).ok());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "scorecard.md"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "scorecard.csv"));
}

TEST_F(WriteReport, TheSameResultsGiveTheSameFiles) {
  Comparison slow = testing::paper_comparison({"MQ2007"}, 0);
  ASSERT_TRUE(write_report(slow, folder_ / "one", {}).ok());
  slow.threads = 99;
  for (CellSummary& cell : slow.cells) {
    cell.seconds = 1e6;
    cell.impressions_per_second = 0.1;
    cell.evaluation_share = 0.9;
  }
  ASSERT_TRUE(write_report(slow, folder_ / "two", {}).ok());
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "one")) {
    const auto name = entry.path().filename();
    EXPECT_EQ(read_file(entry.path()).value(), read_file(folder_ / "two" / name).value()) << name;
  }
}

TEST_F(WriteReport, SaysWhereItCanNotWrite) {
  ASSERT_TRUE(write_file(folder_ / "file", "x").ok());
  const auto result = write_report(testing::small_comparison(), folder_ / "file");
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("file"), std::string::npos);
  EXPECT_EQ(read_file(folder_ / "file").value(), "x");
}

}  // namespace
}  // namespace plackett::report
