// What comes from outside and makes no sense is refused, in words, before anything reads it.
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "facade/arrays.h"
#include "plackett/evaluate.h"
#include "plackett/method.h"
#include "plackett/ranker_spec.h"
#include "plackett/simulate.h"

namespace plackett {
namespace {

std::unique_ptr<Ranker> some_ranker(std::uint32_t features) {
  Rng rng({});
  return make_ranker({.feature_count = features}, rng).value();
}

Dataset small_dataset() {
  static const testing::SmallArrays arrays;
  return wrap_dataset({.name = "small",
                       .train = wrap_split(arrays.arrays()).value(),
                       .test = wrap_split(arrays.arrays()).value()})
      .value();
}

std::string message_of(const Dataset& data) { return simulate(data, {}).error().message; }

TEST(Refusals, OfDatasetsWhosePartsDoNotFitTogether) {
  Dataset none;
  none.name = "none";
  EXPECT_EQ(message_of(none), "none: no folds; expected at least 1");

  Dataset narrow = small_dataset();
  const testing::SmallArrays memory;
  SplitArrays arrays = memory.arrays();
  arrays.feature_count = 2;
  narrow.folds[0].train = wrap_split(arrays).value();
  EXPECT_EQ(message_of(narrow),
            "small: 3 test features, 2 training features; they must be the same");

  Dataset labelled = small_dataset();
  labelled.max_label = 1;
  EXPECT_EQ(message_of(labelled), "small: label 2; the dataset's largest is 1");
  labelled.max_label = 200;
  EXPECT_EQ(message_of(labelled), "small: largest label 200; labels are 0 to 31");
}

TEST(Refusals, OfLabelsThatNoMeasureTakes) {
  const Dataset data = small_dataset();
  for (const std::uint32_t label : {32U, 64U, 255U}) {
    EXPECT_EQ(evaluate(*some_ranker(3), data.folds[0].test, label).error().message,
              "max_label " + std::to_string(label) + "; labels are 0 to 31");
  }
}

TEST(Refusals, OfLearnersThatCanNotBeMade) {
  EXPECT_EQ(make_learner("pdgd", nullptr, {}, {}).error().message,
            "no ranker; a learner needs one");
  for (const double decay : {0.0, -1.0, 1.5, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_FALSE(make_learner("pdgd", some_ranker(3), {.learning_rate_decay = decay}, {}).ok());
  }
  const Method empty_handed{
      .name = "empty-handed",
      .title = "Empty",
      .summary = "gives nothing",
      .settings = {},
      .make = [](std::unique_ptr<Ranker>, const MethodRules&,
                 const SettingValues&) -> std::unique_ptr<Learner> { return nullptr; }};
  ASSERT_TRUE(add_method(empty_handed).ok());
  EXPECT_EQ(make_learner("empty-handed", some_ranker(3), {}, {}).error().message,
            "empty-handed: make returned no learner");
}

TEST(Refusals, OfSettingsThatAreNotSound) {
  static constexpr std::array<std::string_view, 2> kNames{"one", "other"};
  const auto message = [](const std::vector<Setting>& settings) {
    Method method = *find_method("pdgd").value();
    method.name = "unsound";
    method.settings = settings;
    return add_method(method).error().message;
  };
  EXPECT_EQ(message({{.name = "a=b", .help = ""}}),
            "method unsound: setting \"a=b\": a name consists of a-z, 0-9 and -");
  EXPECT_EQ(message({{.name = "a", .help = ""}, {.name = "a", .help = ""}}),
            "method unsound: setting \"a\": declared twice");
  EXPECT_EQ(message({{.name = "a", .help = "", .fallback = 3, .names = kNames}}),
            "method unsound: setting \"a\": its default is out of bounds");
  EXPECT_EQ(message({{.name = "a", .help = "", .fallback = 3, .least = 0, .most = 1}}),
            "method unsound: setting \"a\": its default is out of bounds");
  EXPECT_EQ(
      message({{.name = "a", .help = "", .fallback = 0, .least = 0, .most = 1e10, .whole = true}}),
      "method unsound: setting \"a\": whole numbers are 0 to 2^32 - 1");
}

TEST(Refusals, OfRankersWithoutEnd) {
  Rng rng({});
  EXPECT_EQ(make_ranker({.feature_count = 4'294'967'295}, rng).error().message,
            "4294967295 features; there can be 1 to 268435456");
}

TEST(Compare, KeepsLearnersToItselfAndSetsNothingBesideThePaper) {
  Dataset data = load_dataset("synthetic", {}).value();
  data.name = "MQ2008";
  ComparisonSpec spec = default_comparison();
  spec.methods.resize(1);
  spec.click_models = {"perfect"};
  spec.common.runs = 2;
  spec.common.impressions = 50;
  RunOptions options;
  options.watch.learned = [](std::uint32_t, std::unique_ptr<Learner>) { FAIL(); };
  const Compared compared = compare(spec, std::span(&data, 1), options).value();
  EXPECT_FALSE(compared.comparison.cells.front().as_in_paper);
  SimulationSpec alone;
  alone.runs = 1;
  alone.impressions = 50;
  EXPECT_FALSE(simulate(data, alone).value().summary.as_in_paper);
}

}  // namespace
}  // namespace plackett
