// From lists in a spec to cells.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plackett/comparison_spec.h"

namespace plackett {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ComparisonSpec spec_of(const std::string& text) {
  auto spec = parse_spec(text, "spec");
  EXPECT_TRUE(spec.ok()) << spec.error().message;
  return spec ? *spec : ComparisonSpec();
}

std::vector<std::string> labels(const std::string& text) {
  const auto cells = cells_of(spec_of("click-models = [\"perfect\"]\n" + text));
  EXPECT_TRUE(cells.ok()) << cells.error().message;
  std::vector<std::string> result;
  if (!cells) return result;
  for (const ComparedCell& cell : *cells) {
    std::string label = cell.simulation.label;
    for (const auto& [name, value] : cell.surroundings)
      label += fmt::format(" [{} {}]", name, value);
    result.push_back(label);
  }
  return result;
}

std::string error(const std::string& text) {
  const auto spec = parse_spec(text, "spec");
  if (!spec) return spec.error().message;
  const auto valid = check(*spec);
  EXPECT_FALSE(valid.ok());
  return valid ? "" : valid.error().message;
}

TEST(Cells, ASettingMayBeAListAndLabelsShowWhatWasSwept) {
  EXPECT_THAT(labels("methods = [\"pdgd\", \"mgd\"]\nlearning-rate = [0.003, 0.1]"),
              ElementsAre("PDGD (linear, learning-rate 0.003)", "PDGD (linear, learning-rate 0.1)",
                          "MGD (linear, learning-rate 0.003)", "MGD (linear, learning-rate 0.1)"));
}

TEST(Cells, OneValueIsNoSweep) {
  EXPECT_THAT(labels("methods = [\"pdgd\"]\nlearning-rate = 0.1"), ElementsAre("PDGD (linear)"));
  EXPECT_THAT(labels("methods = [\"pdgd\"]\nlearning-rate = [0.2]"),
              ElementsAre("PDGD (linear, learning-rate 0.2)"));
}

TEST(Cells, NetworksAreSweptWhereThereAreNetworks) {
  EXPECT_THAT(
      labels("methods = [\"pdgd\"]\nranker = [\"linear\", \"neural\"]\n"
             "hidden = [[64], [32, 16]]"),
      ElementsAre("PDGD (linear)", "PDGD (neural, hidden 64)", "PDGD (neural, hidden 32,16)"));
}

TEST(Cells, AMethodHasSweepsOfItsOwnAndIsNotGivenWhatItSays) {
  EXPECT_THAT(labels("methods = [{method = \"pdgd\", learning-rate = [0.5, 0.6]},\n"
                     "  \"dbgd:learning-rate=0.7\", \"mgd\"]\nlearning-rate = [0.1, 0.2]"),
              ElementsAre("PDGD (linear, learning-rate 0.5)", "PDGD (linear, learning-rate 0.6)",
                          "DBGD (linear, learning-rate 0.7)", "MGD (linear, learning-rate 0.1)",
                          "MGD (linear, learning-rate 0.2)"));
}

TEST(Cells, ASettingIsSweptWhereAMethodHasIt) {
  EXPECT_THAT(
      labels("methods = [\"pdgd\", \"pairrank\"]\npairs = [\"seen\", \"above\"]"),
      ElementsAre("PDGD (linear, pairs seen)", "PDGD (linear, pairs above)", "PairRank (linear)"));
}

TEST(Cells, AGivenLabelShowsWhatWasSweptToo) {
  EXPECT_THAT(labels("methods = [{method = \"pdgd\", label = \"ours\"}]\n"
                     "learning-rate = [0.1, 0.2]\nlearning-rate-decay = [0.999, 1]"),
              ElementsAre("ours (learning-rate-decay 0.999, learning-rate 0.1)",
                          "ours (learning-rate-decay 0.999, learning-rate 0.2)",
                          "ours (learning-rate-decay 1, learning-rate 0.1)",
                          "ours (learning-rate-decay 1, learning-rate 0.2)"));
}

TEST(Cells, WhatSurroundsAMethodIsSweptOutsideIt) {
  EXPECT_THAT(
      labels("methods = [\"pdgd\", \"dbgd\"]\nimpressions = [10, 20]\nshown = [5, 10]"),
      ElementsAre(
          "PDGD (linear) [impressions 10] [shown 5]", "DBGD (linear) [impressions 10] [shown 5]",
          "PDGD (linear) [impressions 10] [shown 10]", "DBGD (linear) [impressions 10] [shown 10]",
          "PDGD (linear) [impressions 20] [shown 5]", "DBGD (linear) [impressions 20] [shown 5]",
          "PDGD (linear) [impressions 20] [shown 10]",
          "DBGD (linear) [impressions 20] [shown 10]"));
}

TEST(Cells, AFamilyIsWhatIsNotSwept) {
  const auto family = [](const std::string& text) {
    return cells_of(spec_of("click-models = [\"perfect\"]\n" + text)).value().back().family;
  };
  EXPECT_EQ(family("methods = [\"pdgd:neural\"]\nlearning-rate = [1, 2]"), "PDGD (neural)");
  EXPECT_EQ(family("methods = [\"pdgd\"]\nranker = [\"linear\", \"neural\"]"), "PDGD");
  EXPECT_EQ(family("methods = [\"mgd:candidates=9\"]\nranker = [\"linear\", \"neural\"]"),
            "MGD (candidates 9)");
  // A method with a ranker of its own keeps it.
  EXPECT_EQ(family("methods = [\"pdgd\", \"dbgd:neural\"]\nranker = [\"linear\", \"neural\"]"),
            "DBGD (neural)");
  EXPECT_EQ(family("methods = [{method = \"pdgd\", label = \"ours\"}]\nlearning-rate = [1, 2]"),
            "ours");
}

TEST(Cells, CountAsRuns) {
  const ComparisonSpec spec = spec_of(
      "methods = [\"pdgd\"]\nruns = 7\nlearning-rate = [1, 2, 3]\nranker = [\"linear\", "
      "\"neural\"]");
  EXPECT_EQ(run_count(spec), 7U * 3 * 2 * 3);
}

TEST(Cells, MistakesAreNamed) {
  const std::string pdgd = "methods = [\"pdgd\"]\n";
  EXPECT_THAT(error(pdgd + "candidates = [9, 49]"),
              HasSubstr("\"candidates\" is neither an option nor a setting of one of the methods"));
  EXPECT_THAT(error(pdgd + "hidden = [[64], [32]]"),
              HasSubstr("hidden: applies to none of the methods"));
  EXPECT_THAT(error(pdgd + "learning-rate = []"), HasSubstr("spec:2: learning-rate: no values"));
  EXPECT_THAT(error(pdgd + "learning-rate = [0.1, 0.1]"),
              HasSubstr("learning-rate: 0.1 is listed twice"));
  EXPECT_THAT(error(pdgd + "learning-rate = [0.1, -1]"), HasSubstr("learning-rate"));
  EXPECT_THAT(error(pdgd + "ranker = [\"linear\", \"cubic\"]"), HasSubstr("cubic"));
  EXPECT_THAT(error(pdgd + "runs = [5, 10]"), HasSubstr("runs: a list; all cells have the same"));
  EXPECT_THAT(error(pdgd + "metrics = [[\"MAP\"], [\"MRR\"]]"),
              HasSubstr("metrics: a list; all cells have the same"));
  EXPECT_THAT(error(pdgd + "shown = [5, 0]"), HasSubstr("spec:2: shown: 0; expected"));
  EXPECT_THAT(error(pdgd + "metrics = [\"MAP\", \"CTR\"]"),
              HasSubstr("spec:2: metrics: \"CTR\"; expected some of NDCG@1,"));
  EXPECT_THAT(error(pdgd + "select = \"test\""), HasSubstr("expected \"validation\""));
  EXPECT_THAT(error(pdgd + "select = \"validation\"\nsplit = \"validation\""),
              HasSubstr("split: validation; settings are selected on the validation queries"));
  EXPECT_THAT(error(pdgd + "learning-rate-decay = 1.5"), HasSubstr("expected at most 1"));
  EXPECT_THAT(error("methods = [\"pairrank\"]\nlearning-rate-decay = 0.9"),
              HasSubstr("pairrank: learning rate decay 0.9; the method has no learning rate"));
}

}  // namespace
}  // namespace plackett
