#include "plan_table.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "report/text.h"

namespace plackett::command {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<PlannedCell> cells() {
  return {{.label = "PDGD (linear)", .click_model = "perfect", .runs = 125},
          {.label = "a method with a name that no terminal has room for, (neural, 512, 512)",
           .click_model = "almost-random",
           .runs = 12'500},
          {.label = "検索検索検索検索検索検索検索検索検索検索", .click_model = "検索検索検索検索"}};
}

TEST(PlanTable, FitsAndAligns) {
  for (std::size_t width = 60; width < 150; ++width) {
    const PlanTable table(cells(), width);
    const std::size_t taken = report::display_width(table.head());
    EXPECT_LE(taken, width);
    for (const PlannedCell& cell : cells()) {
      EXPECT_EQ(report::display_width(table.line(cell, 1e6, 3599)), taken);
    }
  }
}

TEST(PlanTable, IsNoWiderThanItsNames) {
  const PlanTable table({cells()[0]}, 140);
  EXPECT_EQ(table.head(), "  method        click model    runs impressions/s       a run");
  EXPECT_EQ(table.line(cells()[0], 10'000, 0.1),
            "  PDGD (linear) perfect         125       100,000       0.1 s");
}

TEST(PlanTable, ShortRunsTakeMilliseconds) {
  const PlanTable table(cells(), 80);
  EXPECT_THAT(table.line(cells()[0], 100, 0.0042), EndsWith(" 4.2 ms"));
}

TEST(PlanTable, IsNotMovedByWhatNamesHold) {
  const PlannedCell cell{.label = "a\x1b[2J\nb", .click_model = "\x07", .runs = 1};
  EXPECT_THAT(PlanTable({cell}, 80).line(cell, 100, 1),
              AllOf(StartsWith("  a\uFFFD[2J b "), HasSubstr(" \uFFFD ")));
}

}  // namespace
}  // namespace plackett::command
