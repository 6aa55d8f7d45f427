#include "plackett/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "learner/learner_samples.h"
#include "offpolicy/agreement.h"
#include "offpolicy/order_likelihood.h"
#include "plackett/plackett_luce.h"
#include "plackett/ranker_spec.h"
#include "support/chi_square.h"
#include "support/present_ranking.h"
#include "support/sound_options.h"

namespace plackett {
namespace {

using ::testing::HasSubstr;
using testing::parameters_of;
using testing::Present;
using testing::PresentRanking;

std::unique_ptr<Ranker> make(RankerKind kind, std::uint32_t features,
                             std::vector<std::uint32_t> hidden = {16}) {
  Rng rng({.seed = 5, .purpose = Purpose::kInitialise});
  return make_ranker({.kind = kind, .feature_count = features, .hidden = std::move(hidden)}, rng)
      .value();
}

constexpr RankerKind kKinds[] = {RankerKind::kLinear, RankerKind::kNeural,
                                 RankerKind::kLinearPlusNeural};

// Orders sampled from the Plackett-Luce distribution of these weights; the first and
// the last place of each swapped, if that is asked for.
struct Sampled {
  ObservedOrders orders;
  testing::Matrix information;  // of the weights, by all orders
};

Sampled sample_orders(const std::vector<double>& weights, bool swap_ends) {
  constexpr std::uint32_t kLists = 3000;
  constexpr std::uint32_t kDocs = 7;
  constexpr std::uint32_t kShown = 4;
  const auto features = static_cast<std::uint32_t>(weights.size());
  Sampled made{ObservedOrders(features), testing::Matrix(features, std::vector<double>(features))};
  SamplingScratch scratch;
  for (std::uint32_t list = 0; list < kLists; ++list) {
    Rng rng({.seed = 6, .impression = list});
    std::vector<float> rows(std::size_t{kDocs} * features);
    for (float& value : rows) value = static_cast<float>(rng.uniform());
    std::vector<float> scores(kDocs);
    for (std::uint32_t doc = 0; doc < kDocs; ++doc) {
      for (std::uint32_t f = 0; f < features; ++f) {
        scores[doc] += static_cast<float>(weights[f] * rows[doc * features + f]);
      }
    }
    std::vector<Doc> ranking(kDocs);
    sample_ranking(scores, rng, scratch, ranking);
    // The information of a choice is the covariance of the features under its probabilities.
    for (std::uint32_t rank = 0; rank < kShown; ++rank) {
      double mass = 0;
      std::vector<double> mean(features);
      testing::Matrix second(features, std::vector<double>(features));
      for (std::uint32_t at = rank; at < kDocs; ++at) {
        const float* row = rows.data() + std::size_t{index(ranking[at])} * features;
        const double one = std::exp(double{scores[index(ranking[at])]});
        mass += one;
        for (std::uint32_t f = 0; f < features; ++f) {
          mean[f] += one * row[f];
          for (std::uint32_t g = 0; g < features; ++g) second[f][g] += one * row[f] * row[g];
        }
      }
      for (std::uint32_t f = 0; f < features; ++f) {
        for (std::uint32_t g = 0; g < features; ++g) {
          made.information[f][g] += second[f][g] / mass - mean[f] * mean[g] / (mass * mass);
        }
      }
    }
    if (swap_ends) std::swap(ranking[0], ranking[kShown - 1]);
    std::vector<float> ordered;
    for (const Doc doc : ranking) {
      const float* row = rows.data() + std::size_t{index(doc)} * features;
      ordered.insert(ordered.end(), row, row + features);
    }
    EXPECT_TRUE(
        made.orders.add(FeatureView::of(ordered.data(), kDocs, features, features), kShown).ok());
  }
  return made;
}

// The probability of an estimate at least this far from the truth: the squared error, measured by
// the information, is chi-square with as many degrees of freedom as there are weights.
double recovery_p(const Sampled& sampled, const std::vector<double>& truth, Ranker& ranker) {
  const auto report = fit(sampled.orders, ranker, {.ridge = 0, .held_out = 0});
  EXPECT_TRUE(report.ok());
  EXPECT_TRUE(report->converged);
  const std::vector<float> found = parameters_of(ranker);
  double statistic = 0;
  for (std::size_t f = 0; f < truth.size(); ++f) {
    for (std::size_t g = 0; g < truth.size(); ++g) {
      statistic += (found[f] - truth[f]) * sampled.information[f][g] * (found[g] - truth[g]);
    }
  }
  return boost::math::gamma_q(static_cast<double>(truth.size()) / 2, statistic / 2);
}

TEST(Fit, RecoversTheWeightsThatOrdersWereSampledFrom) {
  const std::vector<double> truth = {2, -1, 0.5, 0};
  const auto ranker = make(RankerKind::kLinear, 4);
  EXPECT_GT(recovery_p(sample_orders(truth, false), truth, *ranker), testing::kFalseAlarmRate);
}

TEST(Fit, TheRecoveryCheckRejectsOrdersWithFirstAndLastPlaceSwapped) {
  const std::vector<double> truth = {2, -1, 0.5, 0};
  const auto ranker = make(RankerKind::kLinear, 4);
  EXPECT_LT(recovery_p(sample_orders(truth, true), truth, *ranker), testing::kFalseAlarmRate);
}

TEST(Fit, ALinearRankerEndsAtTheOneMaximumFromAnyStart) {
  const ObservedOrders orders = PresentRanking(Present::kNonlinear).orders(200, 10, 10);
  const auto ranker = make(RankerKind::kLinear, 10);
  ASSERT_TRUE(fit(orders, *ranker, {.ridge = 1e-2}).ok());
  const std::vector<float> from_zero = parameters_of(*ranker);
  std::vector<float> start(10);
  for (std::size_t at = 0; at < start.size(); ++at) start[at] = at % 2 == 0 ? 20.0F : -10.0F;
  ranker->set_parameters(start);
  ASSERT_TRUE(fit(orders, *ranker, {.ridge = 1e-2}).ok());
  const std::vector<float> from_afar = parameters_of(*ranker);
  for (std::size_t at = 0; at < start.size(); ++at) {
    EXPECT_NEAR(from_afar[at], from_zero[at], 0.02 * std::abs(from_zero[at]) + 0.05) << at;
  }
}

TEST(Fit, ImitatesARankingThatIsLinear) {
  const ObservedOrders orders = PresentRanking(Present::kLinear).orders(300, 20, 10);
  for (const RankerKind kind : kKinds) {
    const auto ranker = make(kind, 10);
    const auto report = fit(orders, *ranker, {});
    ASSERT_TRUE(report.ok());
    EXPECT_EQ(report->held_out.lists, 60U);
    EXPECT_GT(report->held_out.kendall_tau, 0.9) << name_of(kind);
    EXPECT_GT(report->held_out.sampled_kendall_tau, 0.85) << name_of(kind);
  }
}

TEST(Fit, ImitatesARankingThatIsMildlyNonlinearBetterWithANetwork) {
  const ObservedOrders orders = PresentRanking(Present::kNonlinear).orders(600, 20, 10);
  const auto linear = make(RankerKind::kLinear, 10);
  const auto both = make(RankerKind::kLinearPlusNeural, 10);
  const auto with_linear = fit(orders, *linear, {});
  const auto with_both = fit(orders, *both, {});
  ASSERT_TRUE(with_linear.ok() && with_both.ok());
  EXPECT_GT(with_both->held_out.kendall_tau, 0.95);
  EXPECT_GT(with_both->held_out.kendall_tau, with_linear->held_out.kendall_tau + 0.02);
}

TEST(Fit, TheReportIsWhatTheFittedRankerDoesOnTheListsOfEachPart) {
  const ObservedOrders orders = PresentRanking(Present::kLinear).orders(50, 8, 3);
  const auto ranker = make(RankerKind::kLinear, 10);
  const FitReport report = fit(orders, *ranker, {.temperature = 2, .held_out = 0.4}).value();
  EXPECT_EQ(report.fitted.lists, 30U);
  EXPECT_EQ(report.held_out.lists, 20U);
  Agreement all;
  std::vector<std::size_t> lists(orders.size());
  for (std::size_t list = 0; list < lists.size(); ++list) lists[list] = list;
  ASSERT_TRUE(measure(orders, lists, *ranker, 1, all));
  EXPECT_NEAR((30 * report.fitted.kendall_tau + 20 * report.held_out.kendall_tau) / 50,
              all.kendall_tau, 1e-12);
  EXPECT_NEAR((30 * report.fitted.log_likelihood + 20 * report.held_out.log_likelihood) / 50,
              all.log_likelihood, 1e-9);
}

TEST(Fit, TheTemperatureDividesEveryScore) {
  const ObservedOrders orders = PresentRanking(Present::kNonlinear).orders(40, 8, 8);
  for (const RankerKind kind : kKinds) {
    const auto plain = make(kind, 10);
    const auto cold = make(kind, 10);
    const FitReport at_one = fit(orders, *plain, {}).value();
    const FitReport at_third = fit(orders, *cold, {.temperature = 0.3}).value();
    for (std::size_t list = 0; list < orders.size(); ++list) {
      std::vector<float> scores(8);
      std::vector<float> sharper(8);
      plain->score(orders.docs(list), scores);
      cold->score(orders.docs(list), sharper);
      for (std::size_t doc = 0; doc < scores.size(); ++doc) {
        EXPECT_NEAR(sharper[doc], scores[doc] / 0.3, 1e-4 * std::abs(scores[doc]) + 1e-3);
      }
    }
    EXPECT_EQ(at_third.held_out.kendall_tau, at_one.held_out.kendall_tau);
    EXPECT_GT(at_third.held_out.sampled_kendall_tau, at_one.held_out.sampled_kendall_tau);
  }
}

TEST(Fit, HasTheSameBitsForAnyNumberOfThreads) {
  const ObservedOrders orders = PresentRanking(Present::kNonlinear).orders(120, 8, 4);
  for (const RankerKind kind : kKinds) {
    const auto one = make(kind, 10);
    const auto more = make(kind, 10);
    const FitReport report = fit(orders, *one, {.iterations = 30, .threads = 1}).value();
    const FitReport other = fit(orders, *more, {.iterations = 30, .threads = 3}).value();
    EXPECT_EQ(parameters_of(*one), parameters_of(*more)) << name_of(kind);
    EXPECT_EQ(report.held_out.log_likelihood, other.held_out.log_likelihood);
  }
}

// A few lists and many parameters: a network that would learn them by heart.
TEST(Fit, ANetworkKeepsTheParametersUnderWhichTheHeldOutListsAreMostLikely) {
  const ObservedOrders orders = PresentRanking(Present::kLinear).orders(30, 10, 10);
  const auto early = make(RankerKind::kNeural, 10, {64});
  const FitReport report = fit(orders, *early, {.ridge = 0, .held_out = 0.5}).value();
  EXPECT_TRUE(report.converged);
  double best = -std::numeric_limits<double>::infinity();
  for (std::uint32_t iterations = 1; iterations <= report.iterations; ++iterations) {
    const auto ranker = make(RankerKind::kNeural, 10, {64});
    best =
        std::max(best, fit(orders, *ranker, {.ridge = 0, .held_out = 0.5, .iterations = iterations})
                           .value()
                           .held_out.log_likelihood);
  }
  EXPECT_EQ(report.held_out.log_likelihood, best);
  const auto late = make(RankerKind::kNeural, 10, {64});
  const FitReport by_heart = fit(orders, *late, {.ridge = 0, .held_out = 0}).value();
  EXPECT_EQ(by_heart.held_out.lists, 0U);
  EXPECT_GT(by_heart.fitted.log_likelihood, report.fitted.log_likelihood + 1);
}

TEST(Fit, TheRidgeKeepsParametersSmall) {
  const ObservedOrders orders = PresentRanking(Present::kLinear).orders(40, 8, 8);
  double last = std::numeric_limits<double>::infinity();
  for (const double ridge : {1e-4, 1e-2, 1.0}) {
    const auto ranker = make(RankerKind::kLinear, 10);
    ASSERT_TRUE(fit(orders, *ranker, {.ridge = ridge}).ok());
    double squares = 0;
    for (const float value : parameters_of(*ranker)) squares += double{value} * value;
    EXPECT_LT(squares, last / 2) << ridge;
    last = squares;
  }
}

TEST(Fit, FeaturesOfAnyScaleAreFittedAlike) {
  const PresentRanking present(Present::kLinear);
  constexpr float kScales[] = {1e-3F, 1e4F};
  ObservedOrders plain(10);
  ObservedOrders uneven(10);
  for (std::uint64_t list = 0; list < 100; ++list) {
    std::vector<float> rows = present.list(list, 8);
    ASSERT_TRUE(plain.add(FeatureView::of(rows.data(), 8, 10, 10), 8).ok());
    for (std::size_t at = 0; at < rows.size(); ++at) rows[at] *= kScales[at % 10 % 2];
    ASSERT_TRUE(uneven.add(FeatureView::of(rows.data(), 8, 10, 10), 8).ok());
  }
  const auto one = make(RankerKind::kLinear, 10);
  const auto other = make(RankerKind::kLinear, 10);
  const FitReport of_plain = fit(plain, *one, {.ridge = 1e-9}).value();
  const FitReport of_uneven = fit(uneven, *other, {.ridge = 1e-9}).value();
  EXPECT_GT(of_plain.held_out.kendall_tau, 0.98);
  EXPECT_GT(of_uneven.held_out.kendall_tau, 0.98);
  EXPECT_LE(of_uneven.iterations, 2 * of_plain.iterations);
}

TEST(Fit, TellsOfEveryIteration) {
  const ObservedOrders orders = PresentRanking(Present::kLinear).orders(40, 8, 8);
  const auto ranker = make(RankerKind::kLinear, 10);
  std::vector<std::uint32_t> told;
  const FitReport report =
      fit(orders, *ranker, {.stepped = [&](std::uint32_t count) { told.push_back(count); }})
          .value();
  ASSERT_EQ(told.size(), report.iterations);
  for (std::size_t at = 0; at < told.size(); ++at) EXPECT_EQ(told[at], at + 1);
}

TEST(Fit, HoldsOutOtherListsForAnotherSeed) {
  const ObservedOrders orders = PresentRanking(Present::kLinear).orders(40, 8, 8);
  std::set<double> likelihoods;
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto ranker = make(RankerKind::kLinear, 10);
    likelihoods.insert(
        fit(orders, *ranker, {.iterations = 5, .seed = seed}).value().held_out.log_likelihood);
  }
  EXPECT_EQ(likelihoods.size(), 3U);
}

TEST(Fit, ListsOfOneCandidateSayNothing) {
  ObservedOrders orders = PresentRanking(Present::kLinear).orders(20, 8, 8);
  const auto without = make(RankerKind::kLinear, 10);
  ASSERT_TRUE(fit(orders, *without, {.held_out = 0}).ok());
  const std::vector<float> row(10, 0.5F);
  ASSERT_TRUE(orders.add(FeatureView::of(row.data(), 1, 10, 10), 1).ok());
  const auto with = make(RankerKind::kLinear, 10);
  const FitReport report = fit(orders, *with, {.held_out = 0}).value();
  EXPECT_EQ(report.fitted.lists, 20U);
  EXPECT_EQ(parameters_of(*with), parameters_of(*without));
}

TEST(Fit, DocumentsThatDoNotDifferSayNothing) {
  ObservedOrders orders(3);
  const std::vector<float> rows(12, 0.5F);
  for (int list = 0; list < 10; ++list) {
    ASSERT_TRUE(orders.add(FeatureView::of(rows.data(), 4, 3, 3), 4).ok());
  }
  for (const RankerKind kind : kKinds) {
    const auto ranker = make(kind, 3);
    const FitReport report = fit(orders, *ranker, {}).value();
    EXPECT_TRUE(report.converged) << name_of(kind);
    EXPECT_EQ(report.held_out.kendall_tau, 0) << name_of(kind);
    EXPECT_NEAR(report.held_out.log_likelihood, -std::log(24.0), 1e-9) << name_of(kind);
  }
}

// score = exp(a x0), which knows no temperature.
class Unscalable final : public Ranker {
 public:
  [[nodiscard]] std::unique_ptr<Ranker> clone() const override {
    return std::make_unique<Unscalable>(*this);
  }
  [[nodiscard]] std::uint32_t feature_count() const override { return 10; }
  void score(const FeatureView& docs, std::span<float> scores) override {
    for (std::uint32_t doc = 0; doc < docs.doc_count(); ++doc) {
      scores[doc] = std::exp(a_ * docs.row(Doc{doc})[0]);
    }
  }
  void gradient(const FeatureView& docs, std::span<const DocWeight> weights,
                std::span<float> out) override {
    out[0] = 0;
    for (const DocWeight& one : weights) {
      const float x = docs.row(one.doc)[0];
      out[0] += one.weight * x * std::exp(a_ * x);
    }
  }
  [[nodiscard]] std::size_t parameter_count() const override { return 1; }
  void get_parameters(std::span<float> out) const override { out[0] = a_; }
  void set_parameters(std::span<const float> parameters) override { a_ = parameters[0]; }

 private:
  float a_ = 0.1F;
};

TEST(Fit, FitsARankerOfYourOwnButCanNotGiveItATemperature) {
  const ObservedOrders orders = PresentRanking(Present::kLinear).orders(60, 8, 8);
  Unscalable ranker;
  EXPECT_TRUE(fit(orders, ranker, {}).ok());
  const std::vector<float> before = parameters_of(ranker);
  EXPECT_NE(before[0], 0.1F);
  const auto refused = fit(orders, ranker, {.temperature = 0.5});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("temperature 0.5; this ranker can't"));
  EXPECT_EQ(parameters_of(ranker), before);
}

TEST(Fit, RefusesWhatItCanNotFitAndLeavesTheRankerAsItWas) {
  const ObservedOrders orders = PresentRanking(Present::kLinear).orders(20, 8, 8);
  const auto ranker = make(RankerKind::kLinear, 10);
  const auto refusal = [&](const ObservedOrders& given, const FitOptions& options) {
    const auto report = fit(given, *ranker, options);
    EXPECT_EQ(parameters_of(*ranker), std::vector<float>(10));
    return report ? std::string() : report.error().message;
  };
  EXPECT_THAT(refusal(ObservedOrders(10), {}), HasSubstr("0 lists, none with two candidates"));
  ObservedOrders alone(10);
  const std::vector<float> row(10, 0.5F);
  ASSERT_TRUE(alone.add(FeatureView::of(row.data(), 1, 10, 10), 1).ok());
  EXPECT_THAT(refusal(alone, {}), HasSubstr("1 lists, none with two candidates"));
  EXPECT_THAT(refusal(PresentRanking(Present::kLinear, 4).orders(3, 3, 3), {}),
              HasSubstr("4 features; the ranker reads 10"));
  EXPECT_THAT(refusal(orders, {.ridge = -1}), HasSubstr("ridge: "));
  EXPECT_THAT(refusal(orders, {.temperature = 0}), HasSubstr("temperature: "));
  EXPECT_THAT(refusal(orders, {.held_out = 0.95}), HasSubstr("held-out: "));
  EXPECT_THAT(refusal(orders, {.iterations = 0}), HasSubstr("iterations: "));
  EXPECT_THAT(refusal(orders, {.temperature = 1e-42}), HasSubstr("a score is not finite after"));
  int asked = 0;
  const auto stopped = fit(orders, *ranker, {.stop = [&] { return ++asked == 3; }});
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code, ErrorCode::kStopped);
  EXPECT_EQ(parameters_of(*ranker), std::vector<float>(10));
}

TEST(Fit, ScoresThatAreNotFiniteAtTheStartAreRefused) {
  const ObservedOrders orders = PresentRanking(Present::kLinear).orders(20, 8, 8);
  const auto ranker = make(RankerKind::kLinear, 10);
  ranker->set_parameters(std::vector<float>(10, std::numeric_limits<float>::max()));
  const auto report = fit(orders, *ranker, {});
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(report.error().message, HasSubstr("a score is not finite at the start"));
}

TEST(FitOptions, AreSound) { testing::expect_sound(fit_options()); }

}  // namespace
}  // namespace plackett
