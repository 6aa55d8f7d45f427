#include "plackett/audit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "plackett/make_user.h"
#include "plackett/pairs.h"
#include "support/run_command.h"
#include "users/click_models.h"

namespace plackett::audit {
namespace {

constexpr std::array kStopRules = {StopRule::kAfterClick, StopRule::kAfterAnyDocument};

// Audits `cases` random cases of up to `max_docs` documents.
Summary audit_many(const User& user, Weight weight, std::uint64_t cases, std::uint32_t max_docs) {
  Summary summary;
  for (std::uint64_t at = 0; at < cases; ++at) {
    Rng rng({.seed = 11, .impression = at});
    const Case drawn = draw_case({.max_docs = max_docs}, user.grade_count(), rng);
    summary.add(drawn, audit_case(drawn, user, {weight}));
  }
  return summary;
}

// A user of whom the paper's five assumptions hold: the better document is a little more often
// clicked, and satisfies whoever clicks it.
CascadeUser satisfied_leaver() {
  static const std::vector<double> click = {.5, .51};
  static const std::vector<double> stop = {0, 1};
  return CascadeUser({.name = "satisfied leaver", .click = click, .stop = stop});
}

int exit_code_of(const std::string& arguments) { return testing::run_command(arguments).exit_code; }

TEST(Audit, DrawnCascadesStopAsTheProtocolSays) {
  const std::string drawn = "audit --click-model drawn-cascade --pairs above --docs 5 --cases 400 ";
  EXPECT_EQ(exit_code_of(drawn), 0);
  EXPECT_EQ(exit_code_of(drawn + "--protocol published"), 1);
  EXPECT_EQ(exit_code_of(drawn + "--eta 2"), 2);
}

TEST(Audit, HoldsForScoresThatLieAThousandApart) {
  EXPECT_EQ(exit_code_of("audit --scores 800,0 --labels 0,1 --click-model perfect"), 0);
  EXPECT_EQ(exit_code_of("audit --scores 1000,-1000,0 --labels 0,1,2 --click-model navigational"),
            0);
  EXPECT_EQ(exit_code_of("audit --scores 1000,-1000,0 --labels 1,1,0 --weight none"), 1);
}

TEST(Audit, TwoDocumentsByHand) {
  // Informational, two grades: click .4 and .9, stop .1 and .5. Scores log 3 and 0: the better
  // document is first with probability 3/4, rho is 1/4 there and 3/4 in the other ranking, so
  // each ranking counts 3/16; the pair gradient is 3/16 too.
  // Better first: over the other .9 (.5 + .5 * .6), under it .1 * .4.
  // Better second: over the other .6 * .9, under it .4 (.1 + .9 * .1).
  const auto user = make_user("informational", {.grade_count = 2});
  const Case two{.scores = {std::log(3), 0}, .labels = {1, 0}, .k = 2};
  const std::vector<Pair> pairs = audit_case(two, **user, {Weight::kRho});
  ASSERT_EQ(pairs.size(), 1U);
  const double factor = 3.0 / 16 * 3.0 / 16;
  EXPECT_NEAR(pairs[0].alpha, factor * (.72 - .04 + .54 - .076), 1e-16);
  EXPECT_NEAR(pairs[0].gross, factor * (.72 + .04 + .54 + .076), 1e-16);
  EXPECT_EQ(pairs[0].expected, 1);
  EXPECT_TRUE(pairs[0].holds());
  EXPECT_EQ(pairs[0].rankings, 2U);
}

TEST(Audit, PairsAreInferredAsInThePaper) {
  const std::vector<std::uint8_t> one = {0, 0, 1, 0, 0};
  EXPECT_EQ(inferred_pairs(one), (std::vector<RankPair>{{2, 0}, {2, 1}, {2, 3}}));
  const std::vector<std::uint8_t> several = {0, 0, 0, 0, 1, 1, 0, 0, 1, 0};
  std::vector<RankPair> expected;
  for (const std::uint32_t winner : {4U, 5U, 8U}) {
    for (const std::uint32_t loser : {0U, 1U, 2U, 3U, 6U, 7U, 9U}) {
      expected.push_back({winner, loser});
    }
  }
  EXPECT_EQ(inferred_pairs(several), expected);
  EXPECT_TRUE(inferred_pairs(std::vector<std::uint8_t>{0, 0}).empty());
  EXPECT_TRUE(inferred_pairs(std::vector<std::uint8_t>{1, 1}).empty());
}

TEST(Audit, ProbabilitiesOfAllRankingsSumToOneForScoresFarApart) {
  const std::vector<double> scores = {700, -700, 0};
  std::vector<Doc> order = {Doc{0}, Doc{1}, Doc{2}};
  double sum = 0;
  do sum += std::exp(log_probability(scores, order));
  while (std::next_permutation(order.begin(), order.end()));
  EXPECT_NEAR(sum, 1, 1e-14);
}

TEST(Audit, AlphaChangesSignWhenTwoDocumentsChangeNames) {
  const auto user = make_user("navigational", {});
  for (std::uint64_t at = 0; at < 50; ++at) {
    Rng rng({.seed = 12, .impression = at});
    const Case drawn = draw_case({.max_docs = 4}, 5, rng);
    Case renamed = drawn;
    std::swap(renamed.scores[0], renamed.scores[1]);
    std::swap(renamed.labels[0], renamed.labels[1]);
    const Pair one = audit_case(drawn, **user, {Weight::kRho}).front();
    const Pair other = audit_case(renamed, **user, {Weight::kRho}).front();
    EXPECT_NEAR(one.alpha, -other.alpha, 1e-13 * one.gross);
    EXPECT_NEAR(one.gross, other.gross, 1e-13 * one.gross);
    EXPECT_EQ(one.expected, -other.expected);
  }
}

TEST(Audit, TheoremHoldsForEveryBuiltInUser) {
  for (const std::string_view model : click_model_names()) {
    for (const std::uint32_t grades : built_in_grade_counts()) {
      for (const StopRule rule : kStopRules) {
        const auto user = make_user(model, {.grade_count = grades, .stop_rule = rule});
        const Summary summary = audit_many(**user, Weight::kRho, 150, 5);
        EXPECT_EQ(summary.violations, 0U) << model << ", " << grades << " grades";
      }
    }
  }
}

TEST(Audit, FindsTheBiasOfUnweightedPairs) {
  for (const std::string_view model : click_model_names()) {
    const auto user = make_user(model, {});
    const Summary summary = audit_many(**user, Weight::kNone, 100, 4);
    EXPECT_GT(summary.violations, 0U) << model;
    EXPECT_TRUE(summary.smallest_violation.has_value());
  }
}

TEST(Audit, ExpectsNothingOfLabelsThatTheUserTreatsAlike) {
  const auto user = make_user("random", {});
  const Case drawn{.scores = {1, 0, -1}, .labels = {4, 0, 2}, .k = 3};
  for (const Pair& pair : audit_case(drawn, **user, {Weight::kRho})) {
    EXPECT_EQ(pair.expected, 0);
    EXPECT_TRUE(pair.holds());
    EXPECT_GT(pair.gross, 0);
  }
}

// The proof's step for one ranking fails where a clicked good document ends the reading more
// often than a clicked bad one: P(c_rem) isn't the same in R and R*.
TEST(Audit, NavigationalBreaksTheProofsStepAndKeepsTheTheorem) {
  const auto user = make_user("navigational", {});
  const Case three{.scores = {0, 0, 0}, .labels = {4, 4, 3}, .k = 3};
  const Pair far = audit_case(three, **user, {Weight::kRho})[1];
  EXPECT_GT(far.step_failures, 0U);
  EXPECT_TRUE(far.holds());
  EXPECT_EQ(audit_many(**make_user("perfect", {}), Weight::kRho, 100, 4).step_failures, 0U);
}

TEST(Audit, ASatisfiedLeaverMeetsTheAssumptionsAndBreaksTheTheorem) {
  // Assumption 4, the same place: .51 > .5. Assumption 5, below the other: .51 > .5 * .49.
  const CascadeUser user = satisfied_leaver();
  const Case four{.scores = {0, 0, 0, 0}, .labels = {1, 1, 1, 0}, .k = 4};
  const Pair pair = audit_case(four, user, {Weight::kRho})[2];
  EXPECT_EQ(pair.expected, 1);
  EXPECT_FALSE(pair.holds());
  EXPECT_NEAR(pair.alpha, -0.0008400625, 1e-15);  // by a separate enumeration
}

// Every case with a user of its own.
Summary audit_drawn(DrawnUser kind, PairKind pairs, std::uint64_t cases) {
  Summary summary;
  for (std::uint64_t at = 0; at < cases; ++at) {
    Rng rng({.seed = 17, .impression = at});
    const std::uint32_t grades = 2 + rng.below(4);
    const auto user = draw_user(kind, grades, rng);
    const Case drawn = draw_case({.max_docs = 5}, grades, rng);
    summary.add(drawn, audit_case(drawn, *user, {.pairs = pairs}));
  }
  return summary;
}

TEST(Audit, PairsAboveAreSoundForEveryCascadeAndSeenOnesAreNot) {
  const Summary above = audit_drawn(DrawnUser::kCascade, PairKind::kAbove, 400);
  EXPECT_EQ(above.violations, 0U);
  EXPECT_EQ(above.step_failures, 0U);
  EXPECT_GT(above.pairs, 1500U);
  EXPECT_GT(audit_drawn(DrawnUser::kCascade, PairKind::kSeen, 400).violations, 20U);
  const CascadeUser leaver = satisfied_leaver();
  const Case four{.scores = {0, 0, 0, 0}, .labels = {1, 1, 1, 0}, .k = 4};
  for (const Pair& pair : audit_case(four, leaver, {.pairs = PairKind::kAbove})) {
    EXPECT_TRUE(pair.holds());
  }
}

// Whom documents elsewhere in the list influence by whether they were clicked alone.
constexpr std::array kInfluencedByClicksAlone = {DrawnUser::kPositionBased,
                                                 DrawnUser::kDependentClick,
                                                 DrawnUser::kUserBrowsing, DrawnUser::kTrustBias};

TEST(Audit, BothKindsOfPairsAreSoundForUsersWhomClicksAloneInfluence) {
  for (const DrawnUser kind : kInfluencedByClicksAlone) {
    for (const PairKind pairs : {PairKind::kSeen, PairKind::kAbove}) {
      const Summary summary = audit_drawn(kind, pairs, 300);
      EXPECT_EQ(summary.violations, 0U) << static_cast<int>(kind);
      EXPECT_EQ(summary.step_failures, 0U) << static_cast<int>(kind);
    }
  }
}

// How many patterns with a click on one of two documents are more likely if that is the worse one,
// over drawn users and lists of five, all pairs of ranks.
std::uint32_t patterns_for_the_worse(DrawnUser kind) {
  constexpr std::uint32_t kDocs = 5;
  std::uint32_t count = 0;
  for (std::uint64_t at = 0; at < 50; ++at) {
    Rng rng({.seed = 23, .impression = at});
    const auto user = draw_user(kind, 5, rng);
    std::vector<std::uint8_t> better_clicked(kDocs);
    for (std::uint8_t& label : better_clicked) label = static_cast<std::uint8_t>(rng.below(5));
    for (std::uint32_t bits = 0; bits < 1U << kDocs; ++bits) {
      std::vector<std::uint8_t> clicks(kDocs);
      for (std::uint32_t rank = 0; rank < kDocs; ++rank) clicks[rank] = bits >> rank & 1U;
      for (std::uint32_t clicked = 0; clicked < kDocs; ++clicked) {
        for (std::uint32_t skipped = 0; skipped < kDocs; ++skipped) {
          if (clicks[clicked] == 0 || clicks[skipped] != 0) continue;
          if (better_clicked[clicked] <= better_clicked[skipped]) continue;
          std::vector<std::uint8_t> worse_clicked = better_clicked;
          std::swap(worse_clicked[clicked], worse_clicked[skipped]);
          const double better = user->pattern_probability(better_clicked, clicks);
          const double worse = user->pattern_probability(worse_clicked, clicks);
          if (better < worse * (1 - 1e-12)) ++count;
        }
      }
    }
  }
  return count;
}

// The proof of docs/audit.md, step by step.
TEST(Audit, EveryPatternOfUsersWhomClicksAloneInfluenceFavoursTheBetterDocument) {
  for (const DrawnUser kind : kInfluencedByClicksAlone) {
    EXPECT_EQ(patterns_for_the_worse(kind), 0U) << static_cast<int>(kind);
  }
  EXPECT_GT(patterns_for_the_worse(DrawnUser::kCascade), 100U);
}

TEST(Audit, TrustThatPrefersTheWorseDocumentAtALowRankBreaksTheTheorem) {
  const std::vector<double> click = {0, 1};
  const std::vector<double> relevant = {.9, .05};
  const std::vector<double> irrelevant = {.8, .3};
  const UserTable table{.click = click, .relevant = relevant, .irrelevant = irrelevant};
  const auto user = make_user("contrary", table, {.grade_count = 2, .eta = 0});
  const Case two{.scores = {0, 0}, .labels = {1, 0}, .k = 2};
  // Each ranking counts 1/4, the pair's gradient 1/4.
  // Seen: .9 * .7 + .2 * .05 - (.8 * .95 + .1 * .3). Above: .2 * .05 - .1 * .3.
  const Pair seen = audit_case(two, *user, {.pairs = PairKind::kSeen}).front();
  EXPECT_NEAR(seen.alpha, (.64 - .79) / 16, 1e-15);
  EXPECT_FALSE(seen.holds());
  const Pair above = audit_case(two, *user, {.pairs = PairKind::kAbove}).front();
  EXPECT_NEAR(above.alpha, (.01 - .03) / 16, 1e-15);
  EXPECT_FALSE(above.holds());
}

TEST(Audit, PairsAboveNeedRhoAndUsersWhomABadDocumentDoesNotDriveAway) {
  const auto user = make_user("informational", {});
  Summary without_rho;
  Summary impatient;
  for (std::uint64_t at = 0; at < 200; ++at) {
    Rng rng({.seed = 19, .impression = at});
    const Case drawn = draw_case({.max_docs = 4}, 5, rng);
    without_rho.add(drawn, audit_case(drawn, **user, {Weight::kNone, PairKind::kAbove}));
    const std::vector<double> click = {.5, .55, .6, .65, .7};
    const std::vector<double> stop = {.9, .6, .4, .2, 0};  // after any document
    const CascadeUser leaver({.name = "impatient",
                              .click = click,
                              .stop = stop,
                              .stop_rule = StopRule::kAfterAnyDocument});
    impatient.add(drawn, audit_case(drawn, leaver, {.pairs = PairKind::kAbove}));
  }
  EXPECT_GT(without_rho.violations, 0U);
  EXPECT_GT(impatient.violations, 0U);
}

TEST(Audit, AnySymmetricWeightOfAPairWillDo) {
  for (const std::string_view model : {"perfect", "navigational", "informational"}) {
    const auto user = make_user(model, {});
    Summary summary;
    for (std::uint64_t at = 0; at < 150; ++at) {
      Rng rng({.seed = 11, .impression = at});
      const Case drawn = draw_case({.max_docs = 4}, 5, rng);
      summary.add(drawn, audit_case(drawn, **user, {.sharpness = 4}));
    }
    EXPECT_EQ(summary.violations, 0U) << model;
  }
}

TEST(Audit, BuiltInCascadesMeetAssumptionsFourAndFive) {
  for (const std::string_view model : cascade_names()) {
    for (const std::uint32_t grades : built_in_grade_counts()) {
      const UserTable table = *user_table(model, grades);
      for (std::size_t low = 0; low < grades; ++low) {
        for (std::size_t high = low + 1; high < grades; ++high) {
          const double click_high = table.click[high];
          const double click_low = table.click[low];
          if (click_high == click_low) continue;  // random: no preference
          EXPECT_GT(click_high, click_low);
          EXPECT_GT(click_high * (1 - click_low * table.stop[low]),
                    click_low * (1 - click_high * table.stop[high]));
          EXPECT_GT(click_high * (1 - table.stop[low]), click_low * (1 - table.stop[high]));
        }
      }
    }
  }
}

TEST(Audit, DefinitionsAgreeWithTheLearnersPairs) {
  for (std::uint64_t at = 0; at < 600; ++at) {
    Rng rng({.seed = 13, .impression = at / 2});
    const PairKind kind = at % 2 == 0 ? PairKind::kSeen : PairKind::kAbove;
    PairInference fast({.kind = kind});
    const Case drawn = draw_case({.max_docs = kMaxDocs}, 5, rng);
    std::vector<Doc> order;
    for (std::uint32_t doc = 0; doc < drawn.scores.size(); ++doc) order.push_back(Doc{doc});
    for (auto left = static_cast<std::uint32_t>(order.size()); left > 1; --left) {
      std::swap(order[left - 1], order[rng.below(left)]);
    }
    order.resize(drawn.k);
    std::vector<std::uint8_t> clicks(drawn.k);
    for (std::uint8_t& click : clicks) click = static_cast<std::uint8_t>(rng.below(2));

    Ranking ranking{.shown = order, .scores = {}, .rest = rest_mass(drawn.scores, order)};
    for (const Doc doc : order) ranking.scores.push_back(drawn.scores[index(doc)]);
    const std::span<const WeightedPair> found = fast.infer(ranking, clicks);
    const std::vector<RankPair> expected = inferred_pairs(clicks, kind);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t pair = 0; pair < expected.size(); ++pair) {
      EXPECT_EQ(found[pair].winner_rank, expected[pair].winner_rank);
      EXPECT_EQ(found[pair].loser_rank, expected[pair].loser_rank);
      const double plain = std::exp(log_rho(drawn.scores, order, expected[pair]));
      EXPECT_NEAR(found[pair].rho, plain, 1e-12 * plain);
    }
  }
}

TEST(AuditCommand, ExitCodesTellTheVerdict) {
  EXPECT_EQ(exit_code_of("audit --cases 50"), 0);
  EXPECT_EQ(exit_code_of("audit --cases 50 --weight none"), 1);
  EXPECT_EQ(exit_code_of("audit --cases 200 --docs 5 --click-model drawn-cascade"), 1);
  EXPECT_EQ(exit_code_of("audit --cases 200 --docs 5 --click-model drawn-cascade --pairs above"),
            0);
  for (const std::string model :
       {"position-based", "dependent-click", "user-browsing", "trust-bias"}) {
    for (const std::string pairs : {"seen", "above"}) {
      EXPECT_EQ(exit_code_of("audit --cases 50 --click-model drawn-" + model + " --pairs " + pairs),
                0);
    }
    EXPECT_EQ(exit_code_of("audit --cases 50 --click-model drawn-" + model + " --weight none"), 1);
  }
  EXPECT_EQ(exit_code_of("audit --click-model perfect --grades 3 --labels 0,1,2 --scores 1,0,-1"),
            0);
  EXPECT_EQ(exit_code_of("audit --click-model perfect --json --cases 20"), 0);
}

TEST(AuditCommand, BadInputIsTwo) {
  for (const char* const arguments :
       {"--click-model prefect", "--labels 0,7", "--labels 0,1 --scores 1", "--labels 1",
        "--labels 0,0,0,0,0,0,0", "--scores nan,1", "--k 1", "--k 5", "--docs 7", "--grades 4",
        "--protocol told", "--weight half", "--pairs below", "--sharpness 0", "--cases 0",
        "--eta -1", "--labels 0,-1"}) {
    EXPECT_EQ(exit_code_of(std::string("audit ") + arguments), 2) << arguments;
  }
}

TEST(AuditCommand, AnUnknownUserListsTheDrawnOnesToo) {
  const auto run = testing::run_command("audit --click-model drawn-cascades");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.err.find("unknown click model \"drawn-cascades\"; known: all, perfect, "),
            std::string::npos);
  EXPECT_NE(run.err.find("drawn-cascade, drawn-position-based, drawn-dependent-click, "
                         "drawn-user-browsing, drawn-trust-bias, or a file that ends in .toml"),
            std::string::npos);
}

TEST(AuditCommand, ReadsAUserFile) {
  const std::string path = ::testing::TempDir() + "audit_satisfied_leaver.toml";
  std::ofstream(path) << "kind = \"cascade\"\nname = \"satisfied-leaver\"\n"
                         "click = [0.5, 0.51]\nstop = [0, 1]\n";
  EXPECT_EQ(
      exit_code_of("audit --grades 2 --labels 1,1,1,0 --scores 0,0,0,0 --click-model " + path), 1);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace plackett::audit
