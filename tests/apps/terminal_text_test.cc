#include "terminal_text.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "report/text.h"

namespace plackett::command {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

std::vector<std::vector<TableCell>> plan() {
  return {
      {{"method"}, {"click model"}, {"runs"}, {"impressions/s"}, {"per run"}},
      {{"PDGD (linear)"}, {"perfect"}, {"125"}, {"182,000"}, {"0.4 ms"}},
      {{"a method with a name that no terminal has room for, (neural, 512, 512)"},
       {"almost-random"},
       {"12,500"},
       {"41.3"},
       {"59 min 59 s"}},
      {{"検索検索検索検索検索検索検索検索検索検索"}, {"検索検索検索検索"}, {"1"}, {"1"}, {"1 s"}}};
}

TEST(TableLines, FitAndAlignWithEveryNumberFromSixtyColumnsOn) {
  for (std::size_t width = 60; width < 150; ++width) {
    const auto lines = table_lines(plan(), {.size = {width, 24}, .names = 2});
    ASSERT_THAT(lines, SizeIs(4));
    for (const std::string& line : lines) {
      EXPECT_LE(report::display_width(line), width);
      EXPECT_EQ(report::display_width(line), report::display_width(lines[0]));
    }
    EXPECT_THAT(lines[2], HasSubstr("59 min 59 s"));
  }
}

TEST(TableLines, AreNoWiderThanTheirCells) {
  EXPECT_THAT(table_lines({{{"fold"}, {"docs"}}, {{"Fold1"}, {"1,000"}}}, {.size = {80, 24}}),
              ElementsAre("fold    docs", "Fold1  1,000"));
}

TEST(TableLines, DropColumnsFromTheRightAndRowsFromTheBottom) {
  EXPECT_THAT(table_lines(plan(), {.size = {30, 2}, .names = 2}),
              ElementsAre(StartsWith("method       click model"), HasSubstr("perfect")));
  EXPECT_THAT(table_lines(plan(), {.size = {80, 1}}), IsEmpty());
  EXPECT_THAT(table_lines({}, {}), IsEmpty());
}

TEST(TableLines, ReplaceControlCharacters) {
  EXPECT_THAT(table_lines({{{"method"}}, {{"a\x1b[2J\nb"}}}, {}),
              ElementsAre(StartsWith("method"), AllOf(HasSubstr("a\uFFFD[2J b"))));
}

}  // namespace
}  // namespace plackett::command
