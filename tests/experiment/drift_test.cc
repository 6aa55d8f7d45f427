#include "plackett/drift.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numbers>

#include "drifting.h"
#include "experiment/curve.h"
#include "experiment/drift_measures.h"
#include "plackett/results.h"
#include "plackett/simulation.h"
#include "small_experiment.h"
#include "support/run_command.h"

namespace plackett {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::slurp;
using testing::TemporaryFolder;

TEST(DriftWeight, IsZeroThenOneIfAbrupt) {
  EXPECT_EQ(drift_weight(kIntents, 999), 0);
  EXPECT_EQ(drift_weight(kIntents, 1'000), 1);
}

TEST(DriftWeight, RampsUpIfLinear) {
  const Drift drift{.at = 100, .pace = DriftPace::kLinear, .over = 50};
  EXPECT_EQ(drift_weight(drift, 99), 0);
  EXPECT_EQ(drift_weight(drift, 100), 0);
  EXPECT_DOUBLE_EQ(drift_weight(drift, 125), 0.5);
  EXPECT_EQ(drift_weight(drift, 150), 1);
  EXPECT_EQ(drift_weight(drift, 10'000), 1);
  EXPECT_EQ(settled_at(drift), 150U);
}

TEST(DriftWeight, IsACosineIfSeasonal) {
  const Drift drift{.at = 7, .pace = DriftPace::kSeasonal, .period = 40};
  EXPECT_EQ(drift_weight(drift, 6), 0);
  for (std::uint64_t t = 7; t < 200; ++t) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(t - 7) / 40;
    EXPECT_NEAR(drift_weight(drift, t), (1 - std::cos(angle)) / 2, 1e-12) << t;
  }
  EXPECT_EQ(settled_at(drift), 27U);
}

TEST(CurvePoints, AreDenseAgainAfterADrift) {
  EXPECT_THAT(curve_points({.impressions = 20, .drift = {Drift{.at = 8}}}),
              ElementsAre(1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 18, 20));
}

// 250 impressions are 82 windows of 3 and one of 4.
TEST(Drift, AllMethodsMeetTheWorldsOfTheirRun) {
  SimulationSpec spec = spec_with({kIntents});
  const auto pdgd = Simulation::prepare(dataset(), spec).value();
  spec.method = "dbgd";
  spec.click_model = "navigational";
  const auto dbgd = Simulation::prepare(dataset(), spec, &pdgd).value();
  const auto alone = Simulation::prepare(dataset(), spec).value();
  const auto best = [](const Simulation& simulation, std::uint32_t run) {
    const RunRecord record = simulation.run(run, {}).value();
    std::vector<double> all;
    for (const Window& window : record.windows) all.push_back(window.best);
    return all;
  };
  EXPECT_EQ(best(pdgd, 1), best(dbgd, 1));
  EXPECT_EQ(best(dbgd, 1), best(alone, 1));
  EXPECT_NE(best(pdgd, 0), best(pdgd, 1));
}

TEST(Drift, RunsCountTheRestartsOfMethodsThatRestart) {
  SimulationSpec spec = spec_with({kIntents});
  EXPECT_FALSE(run_of(spec).restarts.has_value());
  spec.settings = {{"restart", "1"}};  // so sensitive that chance restarts it
  const RunRecord record = run_of(spec);
  ASSERT_TRUE(record.restarts.has_value());
  EXPECT_GT(*record.restarts, 0U);
  const DriftMeasures measures = drift_measures(record, spec.drift, spec.impressions);
  EXPECT_EQ(measures.restarts, record.restarts);
  const auto summary = summarise_drift(std::vector{record}, {measures}, spec.drift, 2'000);
  EXPECT_EQ(summary.restarts.mean, static_cast<double>(*record.restarts));
  spec.drift.clear();
  EXPECT_FALSE(run_of(spec).restarts.has_value());
}

TEST(Drift, ChangesNothingBeforeIt) {
  const Drift users{.of = DriftOf::kUsers, .at = 1'000, .click_model = "informational"};
  const RunRecord still = run_of(spec_with({}));
  const RunRecord drifting = run_of(spec_with({users}));
  ASSERT_TRUE(still.windows.empty());
  const auto at = [](const RunRecord& record, std::uint64_t impression) {
    return *std::ranges::find(record.curve, impression, &CurvePoint::impression);
  };
  EXPECT_EQ(at(still, 1'000).online, at(drifting, 1'000).online);
  EXPECT_EQ(at(still, 1'000).offline, at(drifting, 1'000).offline);
  EXPECT_NE(at(still, 2'000).online, at(drifting, 2'000).online);
}

TEST(Drift, ALaterOneIsTheSameUntilTheEarlierOne) {
  const RunRecord early = run_of(spec_with({kIntents}));
  const RunRecord late = run_of(spec_with({{.at = 1'500}}));
  ASSERT_EQ(early.windows.size(), 100U);
  for (std::size_t at = 0; at < 50; ++at) EXPECT_EQ(early.windows[at], late.windows[at]);
  EXPECT_NE(early.windows[60], late.windows[60]);
}

// Nothing is clicked, so the ranker stays as it is, and ties are broken alike.
TEST(Drift, OfflinePerformanceIsOfTheWorldsByTheirWeights) {
  class Idle final : public User {
   public:
    [[nodiscard]] std::string_view name() const override { return "idle"; }
    [[nodiscard]] std::uint32_t grade_count() const override { return 5; }
    void click(std::span<const Doc>, const Judgments&, Rng&,
               std::span<std::uint8_t> clicks) const override {
      std::ranges::fill(clicks, std::uint8_t{0});
    }
  };
  const auto offline = [](std::uint64_t at, DriftPace pace, std::uint64_t over) {
    SimulationSpec spec = spec_with({{.at = at, .pace = pace, .over = over}});
    spec.user = std::make_shared<Idle>();
    return run_of(spec).curve.back().offline;
  };
  const double before = offline(1'999, DriftPace::kLinear, 1);  // 0 at the last impression
  const double after = offline(1'000, DriftPace::kAbrupt, 0);
  EXPECT_NE(before, after);
  EXPECT_NEAR(offline(1'969, DriftPace::kLinear, 31), before + (after - before) * 30 / 31, 1e-9);
}

TEST(Drift, GivesTheSameBytesWithShardsAndAfterAStop) {
  const TemporaryFolder folder;
  ComparisonSpec spec = testing::small_spec();
  spec.common.impressions = 200;
  spec.common.drift = {{.at = 80, .pace = DriftPace::kLinear, .over = 50},
                       {.of = DriftOf::kUsers, .at = 120, .click_model = "informational"}};
  EXPECT_EQ(testing::go_on(folder / "whole", spec, 2, 1'000), 12U);
  testing::go_on(folder / "stopped", spec, 1, 5);
  EXPECT_EQ(testing::go_on(folder / "stopped", spec, 1, 1'000), 12U);
  for (const std::uint32_t number : {2U, 1U}) {
    ASSERT_TRUE(run_in_folder(spec, folder / "shards", {.threads = 1, .shard = {number, 2}}).ok());
  }
  const std::string whole = slurp(folder / "whole/runs.jsonl");
  EXPECT_THAT(whole, HasSubstr("\"windows\""));
  EXPECT_EQ(slurp(folder / "stopped/runs.jsonl"), whole);
  EXPECT_EQ(slurp(folder / "shards/runs.jsonl"), whole);
  const auto read = read_results(std::filesystem::path(folder / "whole")).value();
  EXPECT_EQ(assemble(*read).cells.front().drift->windows.size(), 100U);
}

TEST(Drift, CellsThatDifferInItAreNotOfOneBlock) {
  const TemporaryFolder folder;
  ComparisonSpec spec = testing::small_spec();
  spec.click_models = {"perfect"};
  ASSERT_TRUE(run_in_folder(spec, folder / "a").ok());
  spec.common.drift = {{.at = 10}};
  const auto both = run_in_folder(spec, folder / "a");
  ASSERT_TRUE(both.ok()) << both.error().message;
  const Comparison comparison = assemble(*both);
  ASSERT_EQ(comparison.cells.size(), 4U);
  EXPECT_NE(block_of(comparison.cells[0]), block_of(comparison.cells[2]));
  EXPECT_THAT(comparison.cells[0].surroundings, ElementsAre(SweptValue{"drift", "none"}));
  EXPECT_THAT(comparison.cells[2].surroundings,
              ElementsAre(SweptValue{"drift", "labels at=10 change=intents"}));
}

// As of a plackett that drew one world for all runs: the identity of its cells is another.
TEST(Drift, RunsOfCellsWithOtherWorldsAreRefused) {
  const TemporaryFolder folder;
  ComparisonSpec spec = testing::small_spec();
  spec.common.drift = {{.at = 10}};
  ASSERT_TRUE(run_in_folder(spec, folder / "a").ok());
  spec.common.drift = {{.at = 11}};
  std::ofstream(folder / "a/experiment.toml") << to_toml(spec);
  const auto read = read_results(std::filesystem::path(folder / "a"));
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().message, HasSubstr("whose runs under drift shared their worlds"));
  EXPECT_EQ(read.error().hint, Hint::kOtherFolderOrFresh);
}

TEST(Drift, AChangedClickModelFileIsRefused) {
  const TemporaryFolder folder;
  const std::string path = folder / "user.toml";
  const auto write = [&](double click) {
    std::ofstream file(path);
    file << "name = \"new\"\nkind = \"position-based\"\nclick = [" << click;
    for (std::uint32_t grade = 1; grade < dataset().grade_count(); ++grade) file << ", 0.9";
    file << "]\n";
  };
  ComparisonSpec spec = testing::small_spec();
  spec.common.drift = {{.of = DriftOf::kUsers, .at = 10, .click_model = path}};
  write(0.1);
  const auto first = run_in_folder(spec, folder / "a");
  ASSERT_TRUE(first.ok()) << first.error().message;
  write(0.2);
  EXPECT_THAT(run_in_folder(spec, folder / "a").error().message, HasSubstr("has changed"));
}

TEST(DriftSpec, ReadsBackAsItWasWritten) {
  ComparisonSpec spec = testing::small_spec();
  EXPECT_EQ(to_toml(spec).find("drift"), std::string::npos);
  const std::uint64_t without = identity(spec);
  spec.common.impressions = 1'000;
  spec.common.drift = {
      {.at = 10, .pace = DriftPace::kLinear, .over = 5, .change = LabelChange::kReversed},
      {.of = DriftOf::kUsers, .at = 10, .click_model = "informational"},
      {.of = DriftOf::kFeatures, .at = 20, .dies = {.ids = {3, 1}}, .appears = {.share = 0.25}},
      {.of = DriftOf::kQueries,
       .at = 30,
       .pace = DriftPace::kSeasonal,
       .period = 9,
       .share = 0.125}};
  const auto read = parse_spec(to_toml(spec), "spec.toml");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->common.drift, spec.common.drift);
  EXPECT_NE(identity(spec), without);
  for (std::size_t at = 0; at < spec.common.drift.size(); ++at) {
    ComparisonSpec other = spec;
    other.common.drift[at].at += 1;
    EXPECT_NE(identity(other), identity(spec)) << at;
  }
}

TEST(DriftSpec, SaysWhatIsWrong) {
  const auto message = [](const std::string& drift) {
    const auto spec = parse_spec("impressions = 100\n" + drift, "spec.toml");
    if (!spec) return spec.error().message;
    const auto valid = check(*spec);
    return valid ? std::string("valid") : valid.error().message;
  };
  const std::string labels = "[[drift]]\nof = \"labels\"\nat = 50\n";
  EXPECT_EQ(message(labels), "valid");
  EXPECT_THAT(message("[[drift]]\nof = \"moods\"\nat = 50\n"),
              HasSubstr("spec.toml:3: unknown drift \"moods\"; known: labels, users"));
  EXPECT_THAT(message("[[drift]]\nof = \"labels\"\n"), HasSubstr("a drift without the key at"));
  EXPECT_THAT(message("drift = 3\n"), HasSubstr("drift is an integer; expected an array"));
  EXPECT_THAT(message(labels + "speed = 3\n"), HasSubstr("spec.toml:5: unknown key \"speed\""));
  EXPECT_THAT(message("[[drift]]\nof = \"labels\"\nat = 0\n"),
              HasSubstr("at is 0; expected an integer of at least 1"));
  EXPECT_THAT(message("[[drift]]\nof = \"labels\"\nat = 100\n"),
              HasSubstr("drift 1: at 100; a run of 100 impressions has drifts at 1 to 99"));
  EXPECT_THAT(message(labels + "[[drift]]\nof = \"labels\"\nat = 49\n"),
              HasSubstr("drift 2: at 49, before the drift above it, at 50"));
  EXPECT_THAT(message(labels + "pace = \"linear\"\n"), HasSubstr("linear without over"));
  EXPECT_THAT(message(labels + "pace = \"linear\"\nover = 51\n"),
              HasSubstr("over 51 from 50 on; a run has 100"));
  EXPECT_THAT(message(labels + "over = 5\n"), HasSubstr("over; only a linear drift has it"));
  EXPECT_THAT(message(labels + "pace = \"seasonal\"\n"), HasSubstr("seasonal without period"));
  EXPECT_THAT(message(labels + "change = \"mixed\"\n"),
              HasSubstr("unknown change \"mixed\"; known: intents, reversed"));
  EXPECT_THAT(message(labels + "share = 0.5\n"), HasSubstr("share; only queries have one"));
  EXPECT_THAT(message(labels + "dies = [1]\n"), HasSubstr("only features do"));
  const std::string users = "[[drift]]\nof = \"users\"\nat = 50\n";
  EXPECT_THAT(message(users), HasSubstr("users without click-model"));
  EXPECT_THAT(message(users + "click-model = \"shy\"\n"), HasSubstr("shy"));
  const std::string features = "[[drift]]\nof = \"features\"\nat = 50\n";
  EXPECT_THAT(message(features), HasSubstr("features without dies or appears"));
  EXPECT_THAT(message(features + "dies = [0]\n"), HasSubstr("expected feature ids"));
  EXPECT_THAT(message(features + "dies = [2, 2]\n"), HasSubstr("2 is listed twice"));
  EXPECT_THAT(message(features + "dies = [2]\nappears = [2]\n"),
              HasSubstr("both dies and appears"));
  EXPECT_THAT(message(features + "dies = 1.5\n"), HasSubstr("a share above 0 and below 1"));
  const std::string queries = "[[drift]]\nof = \"queries\"\nat = 50\n";
  EXPECT_EQ(message(queries), "valid");
  EXPECT_THAT(message(queries + "share = 0.3\n" + queries), HasSubstr("queries are divided once"));
}

TEST(DriftSpec, DataMustHaveTheFeatures) {
  const SimulationSpec spec =
      spec_with({{.of = DriftOf::kFeatures, .at = 10, .dies = {.ids = {123'456}}}});
  EXPECT_THAT(Simulation::prepare(dataset(), spec).error().message,
              HasSubstr("drift 1: synthetic has no feature 123456"));
}

}  // namespace
}  // namespace plackett
