#include "plackett/method.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "learner_samples.h"
#include "plackett/ranker_spec.h"

namespace plackett {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<Ranker> ranker_of(RankerKind kind) {
  Rng rng({.seed = 1});
  return make_ranker({.kind = kind, .feature_count = 3}, rng).value();
}

// With the method's own ranker.
std::string error_of(std::string_view method, const std::vector<GivenSetting>& settings) {
  const auto found = find_method(method);
  const auto kind = found ? found.value()->default_ranker : RankerKind::kLinear;
  const auto made = make_learner(method, ranker_of(kind), {}, settings);
  return made ? "" : made.error().message;
}

TEST(Method, NamesAndSettingsAreDistinctAndTheirFallbacksAllowed) {
  std::set<std::string_view> names;
  for (const Method* method : methods()) {
    EXPECT_TRUE(names.insert(method->name).second) << method->name;
    EXPECT_FALSE(method->title.empty());
    EXPECT_FALSE(method->summary.empty());
    std::set<std::string_view> settings;
    std::vector<GivenSetting> given;
    for (const Setting& setting : method->settings) {
      EXPECT_TRUE(settings.insert(setting.name).second) << setting.name;
      EXPECT_FALSE(setting.help.empty());
      given.push_back({std::string(setting.name), setting.text(setting.fallback)});
    }
    EXPECT_EQ(error_of(method->name, given), "");
    EXPECT_EQ(error_of(method->name, {}), "");
  }
}

TEST(Method, TheLearnerKnowsItsName) {
  for (const Method* method : methods()) {
    auto learner = make_learner(method->name, ranker_of(method->default_ranker), {}, {}).value();
    EXPECT_EQ(learner->state().method, method->name);
  }
}

// What Learner::learn promises of methods that can't be served.
TEST(Method, OneThatIsNotServableLearnsOnceAndOnlyFromItsLastRanking) {
  constexpr std::uint32_t kDocs = 6;
  const auto rows = testing::random_rows(kDocs, 3);
  const FeatureView docs(rows.data(), kDocs, 3);
  const std::vector<std::uint8_t> clicks{0, 1, 0, 0, 1, 0};
  for (const Method* method : methods()) {
    if (method->servable || !is_built_in(*method)) continue;
    auto learner = make_learner(method->name, ranker_of(method->default_ranker), {}, {}).value();
    const auto learned = [&] {
      const LearnerState state = learner->state();
      return std::tuple(state.updates, state.memory, testing::parameters_of(learner->ranker()));
    };
    Ranking ranking;
    for (std::uint64_t impression = 0; impression < 50; ++impression) {
      Rng rng({.seed = 1, .impression = impression});
      ASSERT_TRUE(learner->rank(docs, rng, ranking));
      const auto before = learned();
      Ranking other = ranking;
      std::swap(other.shown[0], other.shown[1]);
      learner->learn(docs, other, clicks);
      const AlignedVector<float> copy = rows;
      learner->learn(FeatureView(copy.data(), kDocs, 3), ranking, clicks);
      EXPECT_EQ(learned(), before) << method->name;

      const auto parameters = testing::parameters_of(learner->ranker());
      learner->ranker().set_parameters(std::vector<float>(parameters.size(), HUGE_VALF));
      Ranking failed;
      EXPECT_FALSE(learner->rank(docs, rng, failed));
      learner->ranker().set_parameters(parameters);
      learner->learn(docs, ranking, clicks);
      EXPECT_EQ(learned(), before) << method->name << " after a list that failed";

      ASSERT_TRUE(learner->rank(docs, rng, ranking));
      learner->learn(docs, ranking, clicks);
      const auto once = learned();
      learner->learn(docs, ranking, clicks);
      EXPECT_EQ(learned(), once) << method->name;
    }
    EXPECT_GT(learner->state().updates, 5U) << method->name;
  }
}

// The learning rate after a hundred lists with clicks, as a part of its start.
double rate_left(std::string_view method, const MethodRules& rules,
                 const std::vector<GivenSetting>& settings = {}) {
  const auto rows = testing::random_rows(6, 3);
  const FeatureView docs(rows.data(), 6, 3);
  auto ranker = ranker_of(find_method(method).value()->default_ranker);
  auto learner = make_learner(method, std::move(ranker), rules, settings).value();
  const double start = learner->state().learning_rate;
  Ranking ranking;
  for (std::uint64_t impression = 0; impression < 100; ++impression) {
    Rng rng({.seed = 1, .impression = impression});
    EXPECT_TRUE(learner->rank(docs, rng, ranking));
    learner->learn(docs, ranking, std::vector<std::uint8_t>{0, 1, 0, 0, 1, 0});
  }
  EXPECT_GT(learner->state().updates, 5U) << method;
  return learner->state().learning_rate / start;
}

TEST(Method, AServableOneStartsFromAFitWithShortSteps) {
  constexpr std::uint32_t kDocs = 12;
  constexpr std::uint32_t kFeatures = 4;
  const auto rows = testing::random_rows(kDocs, kFeatures);
  const FeatureView docs(rows.data(), kDocs, kFeatures);
  for (const Method* method : methods()) {
    if (!method->servable) continue;
    SCOPED_TRACE(method->name);
    Rng rng({.seed = 3});
    const auto make = [&] {
      auto ranker =
          make_ranker(
              {.kind = RankerKind::kLinearPlusNeural, .feature_count = kFeatures, .hidden = {5}},
              rng)
              .value();
      std::vector<GivenSetting> settings;
      if (method->name == "pdgd") settings = {{"steps", "adagrad"}};
      return make_learner(method->name, std::move(ranker), {}, settings).value();
    };
    const auto learner = make();
    std::vector<float> fitted(learner->ranker().parameter_count());
    for (float& parameter : fitted) parameter = static_cast<float>(rng.normal());
    // An update whose squares are 1 changes a parameter of the network by at most the rate / 60.
    learner->start_from_fit(fitted, std::vector<float>(fitted.size(), 1.0F));
    EXPECT_EQ(testing::parameters_of(learner->ranker()), fitted);
    EXPECT_EQ(testing::parameters_of(learner->explorer()), fitted);
    EXPECT_EQ(learner->state().updates, 0U);
    Ranking ranking;
    ASSERT_TRUE(learner->rank(docs, rng, ranking));
    std::vector<std::uint8_t> clicks(ranking.shown.size());
    clicks[4] = 1;
    learner->learn(docs, ranking, clicks);
    const auto after = testing::parameters_of(learner->explorer());
    const auto most = static_cast<float>(learner->state().learning_rate / 60);
    bool moved = false;
    for (std::size_t at = kFeatures; at < after.size(); ++at) {
      EXPECT_NEAR(after[at], fitted[at], most + 1e-4F * std::abs(fitted[at]));
      moved = moved || after[at] != fitted[at];
    }
    EXPECT_TRUE(moved);
    // What it saves continues in the same way.
    const auto twin = make();
    twin->ranker().set_parameters(testing::parameters_of(learner->ranker()));
    twin->restore(learner->state());
    EXPECT_EQ(testing::parameters_of(twin->explorer()), after);
  }
}

TEST(Method, ADecayThatIsAskedForIsFollowedOrRefused) {
  for (const Method* method : methods()) {
    if (!is_built_in(*method)) continue;
    if (find_setting(method->settings, kLearningRate) != nullptr) {
      EXPECT_LT(rate_left(method->name, {.learning_rate_decay = 0.9}), 0.6) << method->name;
      continue;
    }
    auto ranker = ranker_of(method->default_ranker);
    const auto made =
        make_learner(method->name, std::move(ranker), {.learning_rate_decay = 0.9}, {});
    ASSERT_FALSE(made.ok()) << method->name;
    EXPECT_EQ(
        made.error().message,
        std::string(method->name) + ": learning rate decay 0.9; the method has no learning rate");
  }
}

TEST(Method, TheProtocolsDecayIsOfAllMethodsWithARateExceptMgdWithoutProjection) {
  const MethodRules published{.learning_rate_decay = 0.9, .published_decay = true};
  EXPECT_EQ(rate_left("mgd", published), 1);
  EXPECT_LT(rate_left("mgd", published, {{"projection", "documents"}}), 0.6);
  EXPECT_LT(rate_left("dbgd", published), 0.6);
  EXPECT_TRUE(make_learner("pairrank", ranker_of(RankerKind::kLinear), published, {}).ok());
}

TEST(Method, ColtrsPublishedRateDecaysToOneHundredth) {
  const MethodRules published{.learning_rate_decay = 0.9, .published_decay = true};
  const double left = rate_left("coltr", published);  // of up to 100 updates
  EXPECT_LT(left, 0.9999);
  EXPECT_GT(left, 0.96);  // 0.99966^100
  const auto near_the_end = std::vector<GivenSetting>{{"learning-rate", "0.010001"}};
  EXPECT_NEAR(rate_left("coltr", published, near_the_end), 0.01 / 0.010001, 1e-12);
  EXPECT_EQ(rate_left("coltr", published, {{"learning-rate", "0.005"}}), 1);
}

TEST(Method, ColtrsPublishedStartIsRandomUnlessTheRankerHasLearned) {
  const auto start = [](std::uint32_t run, std::unique_ptr<Ranker> ranker) {
    const MethodRules rules{.published_start = true, .initial = {.run = run}};
    return testing::parameters_of(
        make_learner("coltr", std::move(ranker), rules, {}).value()->ranker());
  };
  std::set<std::vector<float>> starts;
  for (std::uint32_t run = 0; run < 5; ++run) {
    const auto weights = start(run, ranker_of(RankerKind::kLinear));
    double square = 0;
    for (const float weight : weights) square += double{weight} * double{weight};
    EXPECT_NEAR(std::sqrt(square), 0.01, 1e-8);
    starts.insert(weights);
  }
  EXPECT_EQ(starts.size(), 5U);
  auto learned = ranker_of(RankerKind::kLinear);
  learned->set_parameters(std::vector<float>{0, 1, 0});
  EXPECT_EQ(start(0, std::move(learned)), (std::vector<float>{0, 1, 0}));
  auto network = ranker_of(RankerKind::kNeural);
  const auto own = testing::parameters_of(*network);
  EXPECT_EQ(start(0, std::move(network)), own);
}

// Documents examined: the clicked one, and those below it.
TEST(Method, PublishedProjectionExaminesTwoDocumentsBelowTheLastClick) {
  const auto rows = testing::random_rows(8, 3);
  const FeatureView docs(rows.data(), 8, 3);
  for (const bool miscount : {false, true}) {
    auto learner = make_learner("dbgd", ranker_of(RankerKind::kLinear), {.miscount = miscount},
                                {{{"projection", "documents"}}})
                       .value();
    Rng rng({.seed = 2});
    Ranking ranking;
    ASSERT_TRUE(learner->rank(docs, rng, ranking));
    learner->learn(docs, ranking, std::vector<std::uint8_t>{1, 0, 0, 0, 0, 0, 0, 0});
    const auto memory = learner->state().memory;
    const auto zeros = std::count(memory.begin(), memory.end(), 0.0F);
    EXPECT_EQ((memory.size() - static_cast<std::size_t>(zeros)) / 3, miscount ? 3U : 4U);
  }
}

TEST(Method, ASettingThatAnotherSwitchesOffIsRefused) {
  EXPECT_EQ(error_of("pl-gradient", {{"position-bias", "2"}}),
            "position-bias 2 has no effect without debias=position");
  EXPECT_EQ(error_of("pl-gradient", {{"most-weight", "2"}}),
            "most-weight 2 has no effect without debias=position");
  EXPECT_EQ(error_of("pl-gradient", {{"debias", "position"}, {"position-bias", "2"}}), "");
  EXPECT_EQ(error_of("pl-gradient", {{"position-bias", "1"}}), "");  // the default
  for (const std::string steps : {"constant", "adagrad"}) {
    EXPECT_EQ(error_of("pdgd", {{"steps", steps}, {"step-memory", "5"}}),
              "step-memory 5 has no effect without steps=forgetting");
  }
  EXPECT_EQ(error_of("pdgd", {{"steps", "forgetting"}, {"step-memory", "5"}}), "");
}

TEST(Method, AFileTellsTheLearningRateOfMethodsThatHaveOne) {
  const auto rate = [](std::string_view method) {
    SavedModel model;
    model.learner = {.method = std::string(method), .learning_rate = 0.25};
    const auto settings = settings_of(model);
    return settings.empty() ? "none" : settings[0].name + " " + settings[0].value;
  };
  EXPECT_EQ(rate("pdgd"), "learning-rate 0.25");
  EXPECT_EQ(rate("unknown"), "learning-rate 0.25");
  EXPECT_EQ(rate("pairrank"), "none");
}

TEST(Method, AFileTellsItsSettingsAndAnOlderOneWhatItsMemorySays) {
  SavedModel model;
  model.learner = {.method = "pdgd", .learning_rate = 0.25, .memory = {1, 2}};
  const GivenSetting rate{"learning-rate", "0.25"};
  EXPECT_THAT(settings_of(model), ::testing::ElementsAre(rate, GivenSetting{"steps", "adagrad"}));
  const std::vector<GivenSetting> given{{"restart", "50"}, {"learning-rate", "0.5"}};
  model.settings = saved_settings("pdgd", given);
  EXPECT_THAT(settings_of(model), ::testing::ElementsAre(rate, GivenSetting{"restart", "50"}));
}

TEST(Method, ProjectionNeedsALinearRankerAndOlderFilesTellOfIt) {
  const std::vector<GivenSetting> projected{{"projection", "documents"}};
  for (const std::string_view name : {"dbgd", "mgd"}) {
    const auto made = make_learner(name, ranker_of(RankerKind::kNeural), {}, projected);
    ASSERT_FALSE(made.ok());
    EXPECT_THAT(made.error().message, HasSubstr("projection documents needs the ranker linear"));
    EXPECT_TRUE(make_learner(name, ranker_of(RankerKind::kNeural), {}, {}).ok());
    const auto linear = make_learner(name, ranker_of(RankerKind::kLinear), {}, projected);
    SavedModel model;
    model.learner = (*linear)->state();
    EXPECT_EQ(settings_of(model).back(), projected[0]);
  }
}

TEST(Method, ErrorsNameWhatIsAllowed) {
  EXPECT_THAT(error_of("magic", {}),
              HasSubstr("unknown method \"magic\"; known: cascade, coltr, dbgd, mgd"));
  EXPECT_THAT(error_of("mgd", {{"candidate", "3"}}),
              HasSubstr("mgd: unknown setting \"candidate\"; known: learning-rate, candidates"));
  EXPECT_THAT(error_of("mgd", {{"candidates", "2.5"}}),
              HasSubstr("candidates 2.5; it must be an integer from 1 to 1000"));
  EXPECT_THAT(error_of("mgd", {{"candidates", "0"}}), HasSubstr("from 1 to 1000"));
  EXPECT_THAT(error_of("mgd", {{"candidates", "9x"}}), HasSubstr("candidates 9x;"));
  EXPECT_THAT(error_of("mgd", {{"candidates", ""}}), HasSubstr("candidates \"\";"));
  EXPECT_THAT(error_of("mgd", {{"candidates", "9"}, {"candidates", "9"}}),
              HasSubstr("candidates is given twice"));
  EXPECT_THAT(error_of("dbgd", {{"interleaving", "balanced"}}),
              HasSubstr("interleaving \"balanced\"; known: probabilistic, team-draft"));
  EXPECT_THAT(error_of("pairwise", {{"epsilon", "nan"}}), HasSubstr("epsilon nan; it must be"));
}

}  // namespace
}  // namespace plackett
