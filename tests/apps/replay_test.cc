// plackett replay as a user meets it. What it gives is tested where servers are.
#include <gmock/gmock.h>

#include <fstream>

#include "support/run_command.h"

namespace plackett {
namespace {

using ::testing::HasSubstr;
using testing::run_command;

TEST(ReplayCommand, SaysWhatIsWrongWithAFile) {
  const testing::TemporaryFolder folder;
  auto run = run_command("replay --db '" + (folder / "none.db") + "'");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("none.db: can't open"));
  std::ofstream(folder.path() / "text.db") << std::string(5000, 'x');
  run = run_command("replay --db '" + (folder / "text.db") + "'");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("text.db"));
  std::ofstream(folder.path() / "empty.db") << "";
  run = run_command("replay --db '" + (folder / "empty.db") + "'");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("not a plackett store"));
}

TEST(ServeCommand, RefusesAFileThatIsNotItsOwnAndLeavesItAlone) {
  const testing::TemporaryFolder folder;
  std::ofstream(folder.path() / "text.db") << std::string(5000, 'x');
  const auto run = run_command("serve --port 0 --db '" + (folder / "text.db") + "'");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("text.db"));
  EXPECT_EQ(testing::slurp(folder / "text.db"), std::string(5000, 'x'));
}

TEST(ServeCommand, SaysWhichOptionIsWrong) {
  EXPECT_THAT(run_command("serve --port 70000").err, HasSubstr("70000"));
  EXPECT_THAT(run_command("serve --db /nowhere/x.db --port 0").err, HasSubstr("/nowhere/x.db"));
  EXPECT_THAT(run_command("serve --port 0 --tls-cert a.pem").err, HasSubstr("--tls-key"));
  EXPECT_THAT(run_command("serve --port 0 --tokens ''").err,
              HasSubstr("--tokens: the value is empty"));
}

}  // namespace
}  // namespace plackett
