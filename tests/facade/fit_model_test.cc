#include "plackett/fit_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "plackett/model_file.h"
#include "support/present_ranking.h"
#include "support/run_command.h"

namespace plackett {
namespace {

using ::testing::HasSubstr;
using testing::Present;
using testing::PresentRanking;

constexpr RankerKind kKinds[] = {RankerKind::kLinear, RankerKind::kNeural,
                                 RankerKind::kLinearPlusNeural};

FitModelSpec spec_of(std::string method, RankerKind kind) {
  return {.method = std::move(method), .ranker = {.kind = kind, .hidden = {16}}};
}

// A learner made anew that continues from the file, as a service does.
std::unique_ptr<Learner> restored(const SavedModel& model) {
  Rng rng({.seed = 99});
  auto learner = make_learner(model.learner.method, make_ranker(model.ranker, rng).value(), {},
                              settings_of(model))
                     .value();
  learner->ranker().set_parameters(model.parameters);
  learner->restore(model.learner);
  return learner;
}

TEST(FitModel, EveryLearnerThatCanBeServedShowsAndExploresWithTheFittedScores) {
  const ObservedOrders orders = PresentRanking(Present::kNonlinear).orders(60, 8, 8);
  int fitted = 0;
  for (const Method* method : methods()) {
    for (const RankerKind kind : kKinds) {
      if (!method->servable || (method->name == "cascade" && kind != method->default_ranker)) {
        continue;
      }
      SCOPED_TRACE(std::string(method->name) + " " + std::string(name_of(kind)));
      const FittedModel made = fit_model(orders, spec_of(std::string(method->name), kind)).value();
      const auto ranker = restore_ranker(made.model).value();
      const auto learner = restored(made.model);
      std::vector<float> expected(8);
      std::vector<float> scores(8);
      for (Learner* one : {made.learner.get(), learner.get()}) {
        for (Ranker* used : {&one->ranker(), &one->explorer()}) {
          ranker->score(orders.docs(3), expected);
          used->score(orders.docs(3), scores);
          EXPECT_EQ(scores, expected);
        }
        EXPECT_EQ(one->state().updates, 0U);
      }
      ++fitted;
    }
  }
  EXPECT_EQ(fitted, 7);
}

TEST(FitModel, FilesAreReadBackAndEqual) {
  const ObservedOrders orders = PresentRanking(Present::kLinear).orders(30, 8, 8);
  const testing::TemporaryFolder folder;
  FitModelSpec spec = spec_of("pdgd", RankerKind::kNeural);
  spec.settings = {{"steps", "adagrad"}, {"learning-rate", "0.25"}};
  spec.feature_ids = {3, 5, 7, 8, 9, 10, 12, 20, 21, 22};
  spec.scaling = Scaling::kNone;
  const FittedModel made = fit_model(orders, spec).value();
  ASSERT_TRUE(save_model(made.model, folder / "m").ok());
  const SavedModel read = load_model(folder / "m").value();
  EXPECT_EQ(serialise_model(read), serialise_model(made.model));
  EXPECT_EQ(read.feature_ids, spec.feature_ids);
  EXPECT_EQ(read.scaling, "none");
  EXPECT_EQ(read.learner.learning_rate, 0.25);
  ASSERT_EQ(read.settings.size(), 1U);
  EXPECT_EQ(read.settings[0].value, "adagrad");
}

TEST(FitModel, IsAFunctionOfItsArguments) {
  const ObservedOrders orders = PresentRanking(Present::kNonlinear).orders(60, 8, 8);
  FitModelSpec spec = spec_of("steady", RankerKind::kLinearPlusNeural);
  spec.fit.iterations = 20;
  spec.fit.threads = 1;
  const auto one = serialise_model(fit_model(orders, spec).value().model);
  spec.fit.threads = 3;
  EXPECT_EQ(serialise_model(fit_model(orders, spec).value().model), one);
  spec.fit.seed = 2;
  EXPECT_NE(serialise_model(fit_model(orders, spec).value().model), one);
}

// The mean tau of the sorted lists.
double tau_of(const PresentRanking& present, Ranker& ranker) {
  const ObservedOrders fresh = present.orders(200, 20, 20);
  double sum = 0;
  std::vector<float> scores(20);
  for (std::size_t list = 0; list < fresh.size(); ++list) {
    ranker.score(fresh.docs(list), scores);
    int lead = 0;
    for (std::size_t doc = 0; doc < scores.size(); ++doc) {
      for (std::size_t below = doc + 1; below < scores.size(); ++below) {
        lead += scores[doc] > scores[below] ? 1 : -1;
      }
    }
    sum += lead / 190.0;
  }
  return sum / static_cast<double>(fresh.size());
}

// Clicks at random ranks, which say nothing of the documents.
void learn(Learner& learner, const ObservedOrders& orders, std::uint64_t lists) {
  Ranking ranking;
  for (std::uint64_t number = 0; number < lists; ++number) {
    Rng rng({.seed = 41, .impression = number});
    const FeatureView docs = orders.docs(number % orders.size());
    ASSERT_TRUE(learner.rank(docs, rng, ranking));
    std::vector<std::uint8_t> clicks(ranking.shown.size());
    clicks[rng.below(static_cast<std::uint32_t>(clicks.size()))] = 1;
    learner.learn(docs, ranking, clicks);
  }
}

// How much of tau the first lists cost: with the memory of the fit, and with none.
struct Loss {
  double with_memory = 0;
  double without = 0;
};

Loss loss_of(const FitModelSpec& spec, std::uint64_t lists) {
  const PresentRanking present(Present::kNonlinear);
  const ObservedOrders orders = present.orders(500, 20, 20);
  const FittedModel made = fit_model(orders, spec).value();
  const auto plain = restored(made.model);
  plain->restore({.method = spec.method, .learning_rate = made.model.learner.learning_rate});
  const double fitted = tau_of(present, made.learner->explorer());
  EXPECT_GT(fitted, 0.9);
  EXPECT_EQ(tau_of(present, plain->explorer()), fitted);
  learn(*made.learner, orders, lists);
  learn(*plain, orders, lists);
  EXPECT_GT(made.learner->state().updates, 0U);
  return {fitted - tau_of(present, made.learner->explorer()),
          fitted - tau_of(present, plain->explorer())};
}

TEST(FitModel, TheFirstClicksChangeLittleAndWithoutMemoryTheyWouldChangeMuch) {
  for (const RankerKind kind : {RankerKind::kNeural, RankerKind::kLinearPlusNeural}) {
    FitModelSpec spec = spec_of("steady", kind);
    spec.ranker.hidden = {64};
    for (const std::uint64_t lists : {1, 10}) {
      const Loss loss = loss_of(spec, lists);
      EXPECT_LT(loss.with_memory, 0.01) << name_of(kind) << lists;
      EXPECT_GT(loss.without, 0.05) << name_of(kind) << lists;
    }
    spec.method = "pdgd";
    spec.settings = {{"steps", "adagrad"}};
    const Loss loss = loss_of(spec, 10);
    EXPECT_LT(loss.with_memory, 0.01) << name_of(kind);
    EXPECT_GT(loss.without, 0.05) << name_of(kind);
  }
}

TEST(FitModel, RefusesALearnerThatCanNotGoOnFromAFit) {
  const ObservedOrders orders = PresentRanking(Present::kLinear).orders(10, 4, 4);
  const auto refusal = [&](const FitModelSpec& spec) {
    const auto made = fit_model(orders, spec);
    return made ? std::string() : made.error().message;
  };
  EXPECT_THAT(refusal(spec_of("magic", RankerKind::kLinear)), HasSubstr("unknown method"));
  EXPECT_THAT(refusal(spec_of("dbgd", RankerKind::kLinear)),
              HasSubstr("method \"dbgd\" can't start from a fit; those that can: cascade, pdgd, "
                        "steady"));
  EXPECT_THAT(refusal(spec_of("cascade", RankerKind::kLinear)), HasSubstr("linear+neural"));
  FitModelSpec spec = spec_of("steady", RankerKind::kLinear);
  spec.settings = {{"magic", "1"}};
  EXPECT_THAT(refusal(spec), HasSubstr("magic"));
  spec = spec_of("steady", RankerKind::kNeural);
  spec.ranker.hidden = {};
  EXPECT_THAT(refusal(spec), HasSubstr("at least 1 hidden layer"));
  spec = spec_of("steady", RankerKind::kLinear);
  spec.fit.ridge = -1;
  EXPECT_THAT(refusal(spec), HasSubstr("ridge"));
  spec = spec_of("steady", RankerKind::kLinear);
  spec.feature_ids = {1, 2};
  EXPECT_THAT(refusal(spec), HasSubstr("2 feature ids for 10 features"));
}

TEST(FitModel, TheDefaultMethodIsMeantByDefaultToo) {
  const ObservedOrders orders = PresentRanking(Present::kLinear).orders(10, 4, 4);
  const FittedModel made = fit_model(orders, spec_of("default", RankerKind::kLinear)).value();
  EXPECT_EQ(made.model.learner.method, kDefaultMethod);
}

}  // namespace
}  // namespace plackett
