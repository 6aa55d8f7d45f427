#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>

#include "facade/same.h"
#include "plackett/method.h"
#include "plackett/method_entry.h"
#include "plackett/pdgd.h"
#include "plackett/simulate.h"

namespace plackett {
namespace {

using ::testing::HasSubstr;

constexpr std::array kSettings{learning_rate_setting(0.1)};

// PDGD under another name.
const Method kTwin{.name = "twin-of-pdgd",
                   .title = "Twin",
                   .summary = "PDGD under another name",
                   .baseline = true,
                   .settings = kSettings,
                   .make = [](std::unique_ptr<Ranker> ranker, const MethodRules& rules,
                              const SettingValues& settings) -> std::unique_ptr<Learner> {
                     return std::make_unique<Pdgd>(
                         std::move(ranker),
                         PdgdOptions{.learning_rate = settings.number(kLearningRate),
                                     .learning_rate_decay = rules.learning_rate_decay,
                                     .shown = rules.shown});
                   }};

// Added once a process, whichever test comes first.
void add_twin() {
  static const bool added = add_method(kTwin).ok();
  ASSERT_TRUE(added);
}

TEST(AddMethod, MakesItKnownAsTheBuiltInOnesAre) {
  add_twin();
  const Method* found = find_method("twin-of-pdgd").value();
  EXPECT_EQ(found->title, "Twin");
  EXPECT_EQ(methods().back(), found);
  const MethodEntry entry = parse_method_entry("twin-of-pdgd:neural:learning-rate=0.5").value();
  EXPECT_EQ(to_text(entry), "twin-of-pdgd:neural:learning-rate=0.5");
  EXPECT_THAT(parse_method_entry("twin-of-pdgd:speed=1").error().message, HasSubstr("speed"));
  EXPECT_THAT(find_method("nonesuch").error().message, HasSubstr("twin-of-pdgd"));
}

TEST(AddMethod, TakesPartInSimulations) {
  add_twin();
  const Dataset data = load_dataset("synthetic", {}).value();
  SimulationSpec spec;
  spec.runs = 2;
  spec.impressions = 200;
  const Simulated original = simulate(data, spec).value();
  spec.method = "twin-of-pdgd";
  const Simulated twin = simulate(data, spec).value();
  testing::expect_same_runs(twin.runs, original.runs);
  EXPECT_EQ(twin.summary.label, "Twin (linear)");
  EXPECT_TRUE(twin.summary.baseline);
}

TEST(AddMethod, TakesAMakeThatHoldsAFactoryOfRankers) {
  const auto made = std::make_shared<std::atomic<int>>(0);
  const auto factory = [made](std::uint32_t features) {
    ++*made;
    Rng rng({});
    return make_ranker({.kind = RankerKind::kNeural, .feature_count = features, .hidden = {3}}, rng)
        .value();
  };
  Method method = kTwin;
  method.name = "with-own-ranker";
  method.title = "Own";
  method.make = [factory](std::unique_ptr<Ranker> ranker, const MethodRules& rules,
                          const SettingValues& settings) -> std::unique_ptr<Learner> {
    return kTwin.make(factory(ranker->feature_count()), rules, settings);
  };
  ASSERT_TRUE(add_method(method).ok());

  const Dataset data = load_dataset("synthetic", {}).value();
  SimulationSpec spec;
  spec.method = "with-own-ranker";
  spec.runs = 3;
  spec.impressions = 200;
  const Simulated simulated = simulate(data, spec, {.threads = 3}).value();
  EXPECT_EQ(*made, 4);  // one to see whether it goes, and one a run
  const std::size_t features = data.folds[0].train.feature_count();
  EXPECT_EQ(simulated.learner->ranker().parameter_count(), (features + 1) * 3 + 3);
  testing::expect_same_runs(simulate(data, spec, {.threads = 1}).value().runs, simulated.runs);
  // It is no linear ranker, as the spec has it, and does not pass for one.
  EXPECT_THAT(save_model(simulated.model, "m.plk").error().message, HasSubstr("its shape needs"));
}

TEST(AddMethod, RefusesWithNameAndRule) {
  add_twin();
  const auto message = [](const Method& method) { return add_method(method).error().message; };
  Method method = kTwin;
  EXPECT_EQ(message(method), "method twin-of-pdgd: the name is already taken");
  method.name = "pdgd";
  EXPECT_EQ(message(method), "method pdgd: the name is already taken");
  method.name = "";
  EXPECT_EQ(message(method), "method name \"\"; a name consists of a-z, 0-9 and -");
  for (const char* name : {"Twin", "twin two", "twin:two", "twin_two", "twin=2"}) {
    method.name = name;
    EXPECT_EQ(message(method),
              "method name \"" + std::string(name) + "\"; a name consists of a-z, 0-9 and -");
  }
  method.name = "no-make";
  method.make = nullptr;
  EXPECT_EQ(message(method), "method no-make: make is missing");
  EXPECT_FALSE(find_method("no-make").ok());
}

}  // namespace
}  // namespace plackett
