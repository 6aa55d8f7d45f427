#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/run_command.h"

namespace plackett {
namespace {

using ::testing::HasSubstr;
using testing::run_command;

TEST(Usage, HelpNamesEverySubcommandAndSucceeds) {
  const auto help = run_command("--help");
  EXPECT_EQ(help.exit_code, 0);
  for (const char* name : {"compare", "simulate", "explain", "audit", "evaluate", "data"}) {
    EXPECT_THAT(help.out, HasSubstr(name));
  }
}

TEST(Usage, HelpOfASubcommandShowsDefaults) {
  const auto help = run_command("simulate --help");
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.out, HasSubstr("--impressions"));
  EXPECT_THAT(help.out, HasSubstr("=10000"));
  EXPECT_THAT(help.out, HasSubstr("=described"));
}

TEST(Usage, MistakesExitWithTwoAndSayWhatIsAllowed) {
  struct Case {
    const char* arguments;
    const char* message;
  };
  for (const Case& mistake : {
           Case{"", "subcommand is required"},
           Case{"dance", "unknown command \"dance\"; known: compare, simulate"},
           Case{"simulate --runs many", "--runs"},
           Case{"simulate --method magic --runs 1", "unknown method \"magic\"; known: pdgd"},
           Case{"simulate --ranker forest --runs 1",
                "unknown ranker \"forest\"; known: linear, neural"},
           Case{"simulate --click-model angry --runs 1", "navigational"},
           Case{"simulate --protocol imagined --runs 1", "known: described, published"},
           Case{"simulate --activation step --runs 1", "known: sigmoid, relu, tanh"},
           Case{"simulate --no-relevant two --runs 1", "skip"},
           Case{"simulate --data /nowhere --runs 1", "/nowhere"},
           Case{"simulate --impressions 0", "0 impressions"},
           Case{"simulate --scaling log", "query-minmax"},
           Case{"evaluate --model /nowhere --data synthetic", "/nowhere: can't open"},
       }) {
    const auto result = run_command(mistake.arguments);
    EXPECT_EQ(result.exit_code, 2) << mistake.arguments;
    EXPECT_THAT(result.err, HasSubstr(mistake.message)) << mistake.arguments;
    EXPECT_EQ(result.out, "") << mistake.arguments;
  }
}

}  // namespace
}  // namespace plackett
