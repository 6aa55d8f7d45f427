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
  for (const char* name :
       {"compare", "report", "simulate", "explain", "audit", "evaluate", "data", "fit"}) {
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

TEST(Usage, CountsMayHaveExponents) {
  const auto plain = run_command("simulate --runs 1 --impressions 200 --json");
  EXPECT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_THAT(run_command("simulate --runs 1 --impressions 2e2 --json").out,
              HasSubstr("\"impressions\":200"));
}

TEST(Usage, MistakesExitWithTwoAndSayWhatIsAllowed) {
  struct Case {
    const char* arguments;
    const char* message;
  };
  for (const Case& mistake : {
           Case{"", "subcommand is required"},
           Case{"dance", "unknown command \"dance\"; known: compare, report, simulate"},
           Case{"simulate --runs many", "--runs"},
           Case{"simulate one two --three", "unexpected arguments: one two --three;"},
           Case{"simulate --impressions 1.5e0", "--impressions: 1.5e0; expected an integer"},
           Case{"simulate --impressions 1e400", "--impressions: 1e400; expected an integer"},
           Case{"simulate --method magic --runs 1",
                "unknown method \"magic\"; known: cascade, coltr, dbgd, mgd, pairrank, pairwise, "
                "pdgd"},
           Case{"simulate --ranker forest --runs 1",
                "unknown ranker \"forest\"; known: linear, neural"},
           Case{"simulate --click-model angry --runs 1", "navigational"},
           Case{"simulate --protocol imagined --runs 1", "known: described, published"},
           Case{"simulate --activation step --runs 1", "known: sigmoid, relu, tanh"},
           Case{"simulate --no-relevant two --runs 1", "skip"},
           Case{"simulate --data /nowhere --runs 1", "/nowhere"},
           Case{"simulate --impressions 0", "--impressions: 0; expected an integer from 1"},
           Case{"simulate --impressions -5", "--impressions: -5; expected an integer"},
           Case{"simulate --seed -1", "--seed: -1; expected an integer from 0"},
           Case{"audit --logs 5", "--logs: it goes with --off-policy"},
           Case{"audit --off-policy --docs 6", "with --off-policy at most 5"},
           Case{"audit --seed 99999999999999999999999",
                "--seed: 99999999999999999999999; expected"},
           Case{"simulate --threads 5000", "--threads: 5000; expected an integer from 0 to 1024"},
           Case{"simulate --shown 0", "--shown: 0; expected an integer from 1 to 100"},
           Case{"simulate --hidden 64,0", "--hidden: 0; expected an integer"},
           Case{"data frob", "unknown command \"frob\"; known: info, convert, synth"},
           Case{"simulate --learning-rate nan --runs 1", "learning-rate nan; it must be a number"},
           Case{"simulate --eta nan --click-model position-based",
                "--eta: nan; expected a finite number"},
           Case{"simulate --save-model /nowhere/m --runs 1", "/nowhere/m: can't create"},
           Case{"compare --out /proc/nowhere --runs 1", "/proc/nowhere: can't create"},
           Case{"compare --click-models perfect,perfect --runs 1", "is listed twice"},
           Case{"simulate --scaling log", "query-minmax"},
           Case{"evaluate --model /nowhere --data synthetic", "/nowhere: can't open"},
       }) {
    const auto result = run_command(mistake.arguments);
    EXPECT_EQ(result.exit_code, 2) << mistake.arguments;
    EXPECT_THAT(result.err, HasSubstr(mistake.message)) << mistake.arguments;
    EXPECT_EQ(result.out, "") << mistake.arguments;
  }
}

TEST(Usage, AnAnswerThatCannotBeWrittenIsAFailure) {
  // The shell's own redirection comes last and would win; a group keeps it inside.
  for (const char* arguments :
       {"data info synthetic", "simulate --runs 1 --impressions 5", "audit --cases 5", "--help"}) {
    const std::string line =
        std::string("'" PLACKETT_COMMAND "' ") + arguments + " >/dev/full 2>/dev/null";
    const int status = std::system(line.c_str());
    EXPECT_EQ(WEXITSTATUS(status), 2) << arguments;
  }
}

}  // namespace
}  // namespace plackett
