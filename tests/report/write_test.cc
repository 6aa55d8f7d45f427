#include "report/write.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <string>

#include "base/file.h"
#include "report/svg.h"
#include "report/table.h"
#include "samples.h"

namespace plackett {
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

TEST_F(WriteReport, WritesFourFilesIntoANewFolder) {
  const auto target = folder_ / "a" / "b";
  const Comparison comparison = testing::small_comparison();
  ASSERT_TRUE(write_report(comparison, target, {.command = "plackett compare"}).ok());
  EXPECT_EQ(read_file(target / "tables.md").value(), markdown_table(comparison));
  EXPECT_EQ(read_file(target / "tables.csv").value(), csv_table(comparison));
  EXPECT_EQ(read_file(target / "curves.svg").value(), curves_svg(comparison));
  EXPECT_EQ(read_file(target / "report.html").value(),
            html_report(comparison, {.command = "plackett compare"}));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(target), {}), 4);
}

TEST_F(WriteReport, SaysWhereItCanNotWrite) {
  ASSERT_TRUE(write_file(folder_ / "file", "x").ok());
  const auto result = write_report(testing::small_comparison(), folder_ / "file");
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("file"), std::string::npos);
  EXPECT_EQ(read_file(folder_ / "file").value(), "x");
}

}  // namespace
}  // namespace plackett
