#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiment/spec_parts.h"
#include "plackett/make_user.h"
#include "support/run_command.h"

namespace plackett {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ComparisonSpec unusual() {
  ComparisonSpec spec;
  spec.title = "A \"title\"\\ with\ttabs, \x7F and \xC3\xA9";
  spec.datasets = {{"MQ \"2008\"", "data/a=b, c"}, {"synthetic:mslr", "synthetic:mslr"}};
  spec.datasets[0].scaling = Scaling::kNone;
  spec.datasets[0].keep_constant_features = true;
  spec.datasets[0].max_feature_id = 7;
  spec.methods.push_back({.entry = parse_method_entry("pdgd").value()});
  spec.methods.push_back({.entry = parse_method_entry("pdgd:neural:learning-rate=1e-5").value(),
                          .label = "slow",
                          .baseline = true});
  spec.methods.push_back(
      {.entry = parse_method_entry("pdgd:learning-rate=0.3").value(), .baseline = false});
  spec.click_models = {"users/hurried.toml", "perfect"};
  spec.baselines = {"slow", "pdgd:linear"};
  spec.test = SignificanceTest::kStudent;
  spec.common.runs = 125;
  spec.common.impressions = 1'000'000;
  spec.common.protocol = Protocol::kPublished;
  spec.common.seed = ~std::uint64_t{0};
  spec.common.shown = 5;
  spec.common.ranker.hidden = {64, 32};
  spec.common.ranker.activation = Activation::kRelu;
  spec.common.eta = 0.1 + 0.2;
  spec.common.no_relevant = NoRelevant::kOne;
  spec.common.metrics = {"MAP", "ERR@10"};
  spec.common.split = MeasuredSplit::kValidation;
  spec.common.curve = CurveKind::kFinal;
  spec.common.learning_rate_decay = 0.999;
  spec.methods[2].sweeps = {{"ranker", {"linear", "neural"}}};
  spec.sweeps = {{"impressions", {"10", "1000000"}},
                 {"hidden", {"64", "32, 16"}},
                 {"learning-rate", {"0.1", "0.01"}}};
  return spec;
}

TEST(SpecFile, WhatIsWrittenReadsBackToTheSameSpec) {
  for (const ComparisonSpec& spec : {unusual(), default_comparison()}) {
    const std::string text = to_toml(spec);
    const auto read = parse_spec(text, "spec");
    ASSERT_TRUE(read.ok()) << read.error().message << "\n" << text;
    EXPECT_EQ(to_toml(*read), text);
    EXPECT_EQ(identity(*read), identity(spec));
  }
  const ComparisonSpec read = parse_spec(to_toml(unusual()), "spec").value();
  EXPECT_EQ(read.title, unusual().title);
  EXPECT_EQ(read.datasets[0].path, "data/a=b, c");
  EXPECT_EQ(read.common.seed, ~std::uint64_t{0});
  EXPECT_EQ(read.common.eta, 0.1 + 0.2);
  EXPECT_EQ(read.common.curve, CurveKind::kFinal);
  EXPECT_EQ(read.methods[1].label, "slow");
  EXPECT_EQ(read.methods[1].baseline, true);
  EXPECT_EQ(read.methods[2].baseline, false);
  EXPECT_THAT(read.baselines, ElementsAre("slow", "pdgd:linear"));
  EXPECT_EQ(read.test, SignificanceTest::kStudent);
}

TEST(SpecFile, KeysLeftOutAreTheDefaults) {
  EXPECT_EQ(to_toml(parse_spec("", "spec").value()), to_toml(default_comparison()));
}

TEST(SpecFile, AMethodIsTextOrATable) {
  const auto spec = parse_spec(R"(methods = [
    "pdgd:neural",
    {method = "pdgd", ranker = "neural", learning-rate = 0.20, label = "fast"},
    {method = "pdgd", learning-rate = "2e-1", baseline = true}])",
                               "spec");
  ASSERT_TRUE(spec.ok()) << spec.error().message;
  EXPECT_EQ(to_text(spec->methods[0].entry), "pdgd:neural");
  EXPECT_EQ(to_text(spec->methods[1].entry), "pdgd:neural:learning-rate=0.2");
  EXPECT_EQ(spec->methods[1].label, "fast");
  EXPECT_EQ(to_text(spec->methods[2].entry), "pdgd:learning-rate=0.2");
  EXPECT_EQ(spec->methods[2].baseline, true);
}

TEST(SpecFile, AGroupStandsForItsMethods) {
  const auto spec =
      parse_spec("methods = [\"paper\", {method = \"coltr\", label = \"C\"}]", "spec");
  ASSERT_TRUE(spec.ok()) << spec.error().message;
  ASSERT_EQ(spec->methods.size(), 7U);
  EXPECT_EQ(to_text(spec->methods[1].entry), "dbgd:neural");
  EXPECT_EQ(spec->methods[6].label, "C");
}

TEST(SpecFile, ADatasetIsAPathOrATable) {
  const auto spec =
      parse_spec("datasets = [\"data/MQ2008/\", {path = \"x/cache.plk\"}, \"synthetic:mslr\"]", "");
  ASSERT_TRUE(spec.ok()) << spec.error().message;
  EXPECT_EQ(spec->datasets[0].name, "MQ2008");
  EXPECT_EQ(spec->datasets[0].path, "data/MQ2008/");
  EXPECT_EQ(spec->datasets[1].name, "cache");
  EXPECT_EQ(spec->datasets[2].name, "synthetic:mslr");
}

TEST(SpecFile, ErrorsGivePlaceValueAndRule) {
  struct Case {
    const char* text;
    const char* message;
  };
  for (const Case& mistake : {
           Case{"runs = ", "s.toml:1: "},
           Case{"runs = 1\nruns = 2", "s.toml:2: "},
           Case{"\nrun = 5", "s.toml:2: unknown key \"run\"; a comparison has title, datasets, "},
           Case{"runs = 0", "s.toml:1: runs: 0; expected an integer from 1 to 1000000"},
           Case{"runs = -3", "runs: -3; expected an integer from 1"},
           Case{"runs = 2.5", "runs is a fraction; expected an integer"},
           Case{"runs = \"5\"", "runs is text; expected an integer"},
           Case{"title = 5", "title is an integer; expected text in quotes"},
           Case{"eta = true", "eta is true or false; expected a number"},
           Case{"\n\nprotocol = \"x\"", "s.toml:3: protocol: "},
           Case{"protocol = \"x\"", "known: described, published"},
           Case{"activation = \"step\"", "known: sigmoid, relu, tanh"},
           Case{"no-relevant = \"two\"", "known are skip, zero, one"},
           Case{"\ncurve = \"half\"", "s.toml:2: curve: \"half\"; expected whole or final"},
           Case{"seed = -1", "seed: -1"},
           Case{"seed = \"-1\"", "seed: -1; expected an integer from 0 to 18446744073709551615"},
           Case{"hidden = 64", "hidden is an integer; expected an array of at least 1"},
           Case{"hidden = [64, 0]", "hidden: 0; expected an integer from 1"},
           Case{"methods = []", "methods is empty; expected an array of at least 1"},
           Case{"methods = [\n\"pdgd\",\n\"magic\"]",
                "s.toml:3: unknown method \"magic\"; known: "},
           Case{"methods = [5]", "a method is an integer; expected text like"},
           Case{"methods = [{ranker = \"neural\"}]", "a method without the key method"},
           Case{"methods = [{method = \"pdgd\", speed = 1}]", "unknown setting \"speed\""},
           Case{"methods = [{method = \"pdgd:neural\", ranker = \"neural\"}]", "one ranker"},
           Case{"methods = [{method = \"pdgd\", ranker = \"neural:learning-rate=5\"}]",
                "s.toml:1: ranker; expected a number, text without a colon, or a list"},
           Case{"methods = [{method = \"pdgd\", learning-rate = -1}]",
                "learning-rate -1; it must be a number from"},
           Case{"methods = [{method = \"pdgd\", baseline = 1}]", "expected true or false"},
           Case{"click-models = [1]", "a click model is an integer"},
           Case{"baselines = [1]", "a baseline is an integer; expected a name in quotes"},
           Case{"\ntest = \"z\"", "s.toml:2: test: unknown t-test \"z\"; known: paired, welch, "},
           Case{"[[datasets]]\nname = \"x\"", "s.toml:1: a dataset without a path"},
           Case{"[[datasets]]\npath = \"x\"\nscale = 1",
                "s.toml:3: unknown key \"scale\"; a dataset has name, path, scaling, "},
           Case{"[[datasets]]\npath = \"x\"\nscaling = \"log\"", "query-minmax"},
           Case{"datasets = [7]", "a dataset is an integer"},
           Case{"datasets = {path = \"x\"}", "datasets is a table; expected an array"},
       }) {
    const auto spec = parse_spec(mistake.text, "s.toml");
    ASSERT_FALSE(spec.ok()) << mistake.text;
    EXPECT_THAT(spec.error().message, HasSubstr(mistake.message)) << mistake.text;
  }
}

TEST(SpecFile, TheExperimentsThatComeAlongAreSound) {
  for (const char* name : {"quick", "cikm2018", "grid"}) {
    const auto spec = read_spec(std::string(PLACKETT_SOURCE_DIR "/experiments/") + name + ".toml");
    EXPECT_TRUE(spec.ok()) << spec.error().message;
    // The paper's tables were made with Welch's test.
    const bool is_paper = name != std::string("quick");
    EXPECT_EQ(spec->test, is_paper ? SignificanceTest::kWelch : SignificanceTest::kPaired);
  }
}

TEST(SpecFile, TheGridIsOfThePapersSize) {
  const ComparisonSpec grid = read_spec(PLACKETT_SOURCE_DIR "/experiments/grid.toml").value();
  EXPECT_TRUE(check(grid).ok());
  EXPECT_EQ(run_count(grid), 5U * 6 * 3 * 125);
  const ComparisonSpec paper = read_spec(PLACKETT_SOURCE_DIR "/experiments/cikm2018.toml").value();
  EXPECT_EQ(grid.common.impressions, paper.common.impressions);
  EXPECT_EQ(grid.common.protocol, paper.common.protocol);
  EXPECT_EQ(grid.datasets.size(), paper.datasets.size());
}

TEST(Identity, DiffersWhereRunsWould) {
  const ComparisonSpec spec = unusual();
  const auto other = [&](auto change) {
    ComparisonSpec changed = spec;
    change(changed);
    return identity(changed);
  };
  EXPECT_NE(other([](ComparisonSpec& to) { to.datasets[0].scaling = Scaling::kQueryMinMax; }),
            identity(spec));
  EXPECT_NE(other([](ComparisonSpec& to) { to.methods.pop_back(); }), identity(spec));
  EXPECT_NE(other([](ComparisonSpec& to) { to.common.shown = 7; }), identity(spec));
  EXPECT_NE(other([](ComparisonSpec& to) { to.datasets[0].out_of_range = OutOfRange::kMissing; }),
            identity(spec));
  EXPECT_NE(other([](ComparisonSpec& to) { to.datasets[0].unlabelled = Unlabelled::kSkip; }),
            identity(spec));
}

TEST(Identity, IsOneWhereOnlyTheReportWouldDifferOrTheDataLiesElsewhereOrMoreIsAskedFor) {
  const ComparisonSpec spec = unusual();
  ComparisonSpec other = spec;
  other.title = "Another";
  other.methods[1].label = "tortoise";
  other.methods[1].baseline.reset();
  other.baselines = {"pdgd"};
  other.test = SignificanceTest::kWelch;
  other.datasets[0].path = "elsewhere";
  other.common.runs = 50;
  other.common.metrics = {"MRR"};
  other.select = true;
  EXPECT_EQ(identity(other), identity(spec));
}

// Folders that were made before there were final curves hold whole ones, under this identity.
TEST(Identity, OfAWholeCurveIsWhatItAlwaysWas) {
  const ComparedDataset data = dataset_at("synthetic");
  SimulationSpec spec;
  EXPECT_EQ(fmt::format("{:016x}", identity(data, spec)), "568cc57d38474941");
  spec.curve = CurveKind::kFinal;
  EXPECT_NE(fmt::format("{:016x}", identity(data, spec)), "568cc57d38474941");
}

TEST(Identity, IgnoresWhatACellDoesNotRead) {
  const ComparedDataset data = dataset_at("synthetic");
  SimulationSpec linear;
  SimulationSpec wide = linear;
  wide.ranker.hidden = {7};
  wide.eta = 3;
  EXPECT_EQ(identity(data, wide), identity(data, linear));
  linear.ranker.kind = wide.ranker.kind = RankerKind::kNeural;
  wide.eta = 1;
  EXPECT_NE(identity(data, wide), identity(data, linear));
}

TEST(Identity, HasEtaForUsersWhoReadItAlone) {
  const ComparedDataset data = dataset_at("synthetic");
  for (const std::string_view name : click_model_names()) {
    SimulationSpec one;
    one.click_model = name;
    SimulationSpec other = one;
    other.eta = 3;
    EXPECT_EQ(identity(data, one) != identity(data, other),
              name == "position-based" || name == "trust-bias")
        << name;
  }
}

TEST(CheckSpec, FindsWhatCannotRunBeforeAnythingIsLoaded) {
  const testing::TemporaryFolder folder;
  const auto message = [](auto change) {
    ComparisonSpec spec = default_comparison();
    change(spec);
    const auto checked = check(spec);
    return checked ? std::string("sound") : checked.error().message;
  };
  EXPECT_EQ(message([](auto&) {}), "sound");
  EXPECT_THAT(message([](auto& spec) { spec.methods.push_back(spec.methods.front()); }),
              HasSubstr("is listed twice"));
  EXPECT_THAT(message([](auto& spec) {
                spec.methods.front().label = "x";
                spec.methods.back().label = "x";
              }),
              HasSubstr("two methods are called \"x\""));
  EXPECT_THAT(message([](auto& spec) {
                spec.click_models = {"perfect", "perfect"};
              }),
              HasSubstr("click model perfect is listed twice"));
  EXPECT_THAT(message([](auto& spec) {
                spec.baselines = {"pdgd:linear", "PDGD (neural)"};
              }),
              "sound");
  EXPECT_EQ(message([](auto& spec) {
              spec.baselines = {"mgd", "magic"};
            }),
            "baselines: no method \"magic\"; there are dbgd, dbgd:neural, mgd, pairwise, pdgd, "
            "pdgd:neural, steady");
  EXPECT_THAT(message([](auto& spec) { spec.click_models = {"angry"}; }),
              HasSubstr("known: perfect"));
  EXPECT_THAT(message([](auto& spec) { spec.click_models = {"nowhere.toml"}; }),
              HasSubstr("nowhere.toml: can't open"));
  EXPECT_THAT(message([](auto& spec) {
                spec.datasets.push_back({"two", "/nowhere"});
              }),
              HasSubstr("dataset two: /nowhere: no such file or folder"));
  EXPECT_THAT(message([](auto& spec) {
                spec.datasets = {{"a", "synthetic:moon"}};
              }),
              HasSubstr("dataset a: "));
  EXPECT_THAT(message([&](auto& spec) {
                spec.datasets = {{"a", folder.path().string()}};
              }),
              HasSubstr("no dataset in this folder"));
  EXPECT_THAT(message([](auto& spec) {
                spec.datasets = {{"a", "synthetic"}, {"a", "synthetic:mslr"}};
              }),
              HasSubstr("two datasets are called \"a\""));
  EXPECT_THAT(message([](auto& spec) { spec.common.ranker.hidden = {}; }), HasSubstr("hidden"));
  EXPECT_THAT(message([](auto& spec) { spec.common.eta = -1; }), HasSubstr("eta: -1"));
}

TEST(CheckSpec, KnowsTheGradesOfEmbeddedData) {
  const testing::TemporaryFolder folder;
  std::ofstream(folder / "five.toml") << "kind = \"cascade\"\nname = \"five\"\n"
                                         "click = [0, 0, 0, 0, 1]\nstop = [0, 0, 0, 0, 0]\n";
  ComparisonSpec spec = default_comparison();
  spec.click_models = {folder / "five.toml"};
  EXPECT_TRUE(check(spec).ok());
  spec.datasets.push_back({"three", "synthetic:mq2008"});
  EXPECT_THAT(check(spec).error().message, ::testing::AllOf(HasSubstr("dataset three: "),
                                                            HasSubstr("expected 3 probabilities")));
}

}  // namespace
}  // namespace plackett
