#include "experiment/curve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "drifting.h"
#include "evaluation/small_split.h"
#include "experiment/world.h"
#include "plackett/method_entry.h"
#include "plackett/ranker_spec.h"
#include "plackett/split_evaluator.h"
#include "ranker/linear_plus_neural.h"

namespace plackett {
namespace {

using ::testing::HasSubstr;
using testing::small_split;

// One point, measured alone by the plainest code.
struct PlainPoint {
  double offline = 0;
  std::vector<double> metrics = {};
  bool finite = true;
};

PlainPoint plain_point(const std::vector<Split>& held_out, const Curve::Options& options,
                       const Curve::Moment& moment, Ranker& ranker) {
  PlainPoint point;
  point.metrics.resize(options.metrics.size());
  std::vector<float> scores;
  const auto score = [&](const FeatureView& docs) {
    scores.resize(docs.doc_count());
    ranker.score(docs, scores);
    for (float& one : scores) {
      if (std::isfinite(one)) continue;
      point.finite = false;
      one = 0;
    }
    return std::span<const float>(scores);
  };
  for (std::size_t state = 0; state < held_out.size(); ++state) {
    const double weight = moment.weights[state];
    if (weight == 0) continue;
    SplitEvaluator evaluator(held_out[state], {kNdcgCut, options.no_relevant});
    Rng rng({options.seed, options.run, moment.impression, Purpose::kTieBreak});
    Rng again = rng;
    point.offline += weight * evaluator.mean_ndcg(score, rng);
    const MetricSet means = evaluator.mean_metrics(score, options.max_label, again).means();
    for (std::size_t at = 0; at < point.metrics.size(); ++at) {
      point.metrics[at] += weight * means[options.metrics[at]];
    }
  }
  return point;
}

std::unique_ptr<Ranker> linear_ranker(std::uint32_t features) {
  Rng rng({});
  return make_ranker({.kind = RankerKind::kLinear, .feature_count = features}, rng).value();
}

// A linear ranker of a user's own, whose weights nothing else can see.
class OwnRanker final : public Ranker {
 public:
  explicit OwnRanker(const Ranker& inner) : inner_(inner.clone()) {}
  std::unique_ptr<Ranker> clone() const override { return std::make_unique<OwnRanker>(*inner_); }
  std::uint32_t feature_count() const override { return inner_->feature_count(); }
  void score(const FeatureView& docs, std::span<float> scores) override {
    inner_->score(docs, scores);
  }
  void gradient(const FeatureView& docs, std::span<const DocWeight> weights,
                std::span<float> out) override {
    inner_->gradient(docs, weights, out);
  }
  std::size_t parameter_count() const override { return inner_->parameter_count(); }
  void get_parameters(std::span<float> out) const override { inner_->get_parameters(out); }
  void set_parameters(std::span<const float> parameters) override {
    inner_->set_parameters(parameters);
  }

 private:
  std::unique_ptr<Ranker> inner_;
};

// Rankers of all kinds in turn, their parameters different at each point. Some score many documents
// alike.
std::vector<std::unique_ptr<Ranker>> rankers_of_all_kinds(std::uint32_t features,
                                                          std::size_t count) {
  std::vector<std::unique_ptr<Ranker>> rankers;
  for (std::uint32_t at = 0; at < count; ++at) {
    Rng rng({.seed = 7, .run = at});
    const std::array<std::uint32_t, 1> hidden = {8};
    if (at % 7 == 3) {
      rankers.push_back(
          make_ranker({.kind = RankerKind::kNeural, .feature_count = features}, rng).value());
    } else if (at % 7 == 5 || at % 7 == 6) {
      auto both = std::make_unique<LinearPlusNeuralRanker>(features, hidden, Activation::kTanh);
      both->initialise(Initialisation::kXavier, rng);
      both->set_network_on(at % 7 == 5);
      rankers.push_back(std::move(both));
    } else {
      rankers.push_back(linear_ranker(features));
    }
    std::vector<float> parameters(rankers.back()->parameter_count());
    rankers.back()->get_parameters(parameters);
    // Few distinct weights, many of them 0: ties.
    for (std::uint32_t feature = 0; feature < features; ++feature) {
      if (at % 3 == 0) parameters[feature] = static_cast<float>(rng.below(8) / 7);
      if (at % 3 == 1) parameters[feature] = static_cast<float>(rng.normal());
    }
    rankers.back()->set_parameters(parameters);
    if (at % 7 == 4) rankers.back() = std::make_unique<OwnRanker>(*rankers.back());
  }
  return rankers;
}

// Measures all rankers as the points 1, 2, ... and compares each with plain_point().
void expect_plain_points(const std::vector<Split>& held_out, Curve::Options options,
                         const std::vector<std::unique_ptr<Ranker>>& rankers,
                         const std::vector<std::vector<double>>& weights) {
  for (std::uint64_t at = 1; at <= rankers.size(); ++at) options.points.push_back(at);
  Curve curve(held_out, options);
  for (std::size_t at = 0; at < rankers.size(); ++at) {
    ASSERT_TRUE(curve.due(at + 1));
    const std::unique_ptr<Ranker> changing = rankers[at]->clone();
    curve.measure({at + 1, 0.5 * static_cast<double>(at), weights[at % weights.size()]}, *changing,
                  {});
    // What happens to the ranker later must not matter.
    changing->set_parameters(std::vector<float>(changing->parameter_count(), 3.0F));
  }
  curve.finish({});
  ASSERT_EQ(curve.points().size(), rankers.size());
  std::optional<std::uint64_t> first_bad;
  for (std::size_t at = 0; at < rankers.size(); ++at) {
    const PlainPoint plain =
        plain_point(held_out, options, {at + 1, 0, weights[at % weights.size()]}, *rankers[at]);
    EXPECT_EQ(curve.points()[at].impression, at + 1);
    EXPECT_EQ(curve.points()[at].offline, plain.offline) << "point " << at;
    EXPECT_EQ(curve.points()[at].online, 0.5 * static_cast<double>(at));
    ASSERT_EQ(curve.metrics().size(), plain.metrics.size());
    for (std::size_t metric = 0; metric < plain.metrics.size(); ++metric) {
      EXPECT_EQ(curve.metrics()[metric].values[at], plain.metrics[metric])
          << curve.metrics()[metric].name << " at point " << at;
    }
    if (!plain.finite && !first_bad) first_bad = at + 1;
  }
  EXPECT_EQ(curve.not_finite(), first_bad);
}

const std::vector<Metric> kAllMetrics = {Metric::kErr,   Metric::kNdcg1, Metric::kMrr,
                                         Metric::kNdcg3, Metric::kMap,   Metric::kNdcg5};

// 150 points: kept ones are measured more than once before the end.
TEST(Curve, GivesTheBitsOfPointsMeasuredAlone) {
  const Split& test = dataset().folds[0].test;
  for (const NoRelevant policy : {NoRelevant::kSkip, NoRelevant::kZero, NoRelevant::kOne}) {
    expect_plain_points({test}, {.seed = 3, .run = 2, .no_relevant = policy},
                        rankers_of_all_kinds(test.feature_count(), 150), {{1.0}});
  }
}

TEST(Curve, GivesTheBitsOfPointsMeasuredAloneInEveryMetric) {
  const Split& test = dataset().folds[0].test;
  expect_plain_points({test}, {.seed = 3, .metrics = kAllMetrics, .max_label = dataset().max_label},
                      rankers_of_all_kinds(test.feature_count(), 80), {{1.0}});
}

// States that count nothing at some points, and one that never counts.
TEST(Curve, GivesTheBitsOfPointsMeasuredAloneUnderDrift) {
  const Fold& fold = dataset().folds[0];
  expect_plain_points(
      {fold.test, fold.train, *fold.validation, fold.test},
      {.metrics = kAllMetrics, .max_label = dataset().max_label},
      rankers_of_all_kinds(fold.test.feature_count(), 80),
      {{1, 0, 0, 0}, {0.25, 0.75, 0, 0}, {0, 0.1, 0.9, 0}, {0, 1, 0, 0}, {0.2, 0.3, 0.5, 0}});
}

// Queries so long that not all kept points are scored at a time.
TEST(Curve, GivesTheBitsOfPointsMeasuredAloneOnLongQueries) {
  std::vector<testing::SmallQuery> queries(3);
  Rng rng({.seed = 5});
  for (testing::SmallQuery& query : queries) {
    for (int doc = 0; doc < 3'000; ++doc) {
      query.labels.push_back(static_cast<std::uint8_t>(rng.below(3)));
      query.features.push_back(static_cast<float>(rng.normal()));
    }
  }
  std::vector<std::unique_ptr<Ranker>> rankers;
  for (int at = 0; at < 70; ++at) {
    rankers.push_back(linear_ranker(1));
    const std::array<float, 1> weight = {static_cast<float>(at - 30)};
    rankers.back()->set_parameters(weight);
  }
  expect_plain_points({small_split(queries)}, {}, rankers, {{1.0}});
}

TEST(Curve, TellsTheFirstPointWhoseScoresAreNotFinite) {
  const Split& test = dataset().folds[0].test;
  for (const float bad :
       {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(), 3e38F}) {
    auto rankers = rankers_of_all_kinds(test.feature_count(), 30);
    for (const std::size_t at : {10U, 12U, 23U}) {  // neural, linear, linear
      std::vector<float> parameters(rankers[at]->parameter_count(), bad);
      rankers[at]->set_parameters(parameters);
    }
    expect_plain_points({test}, {.metrics = kAllMetrics, .max_label = dataset().max_label}, rankers,
                        {{1.0}});
  }
}

TEST(Curve, StopsAtTheNextQueryOnceTold) {
  const Split& test = dataset().folds[0].test;
  const std::vector<double> weights = {1.0};
  for (const bool kept : {false, true}) {
    std::unique_ptr<Ranker> ranker = linear_ranker(test.feature_count());
    if (!kept) ranker = std::make_unique<OwnRanker>(*ranker);
    EXPECT_EQ(Curve::keeps(*ranker), kept);
    Curve curve({test}, {.points = {1, 2}});
    int asked = 0;
    const auto stop = [&asked] { return ++asked == 5; };
    curve.measure({1, 0, weights}, *ranker, stop);
    EXPECT_EQ(asked, kept ? 0 : 5);
    if (!kept) continue;
    curve.finish(stop);
    EXPECT_EQ(asked, 5);
  }
}

TEST(Curve, MeasuresNothingTwice) {
  const Split& test = dataset().folds[0].test;
  const std::vector<double> weights = {1.0};
  const std::unique_ptr<Ranker> ranker = linear_ranker(test.feature_count());
  Curve curve({test}, {.points = {1, 2}});
  curve.measure({1, 0, weights}, *ranker, {});
  curve.finish({});
  const double offline = curve.points().front().offline;
  EXPECT_GT(offline, 0);
  const double seconds = curve.seconds();
  curve.finish({});
  EXPECT_EQ(curve.points().front().offline, offline);
  EXPECT_EQ(curve.seconds(), seconds);
}

// A run is a function of its impressions so far: the ranker at a point is that of a run that ends
// there.
class CurveOfARun : public ::testing::TestWithParam<std::string> {};

TEST_P(CurveOfARun, EqualsRankersOfShorterRunsMeasuredAlone) {
  for (const bool drifts : {false, true}) {
    SimulationSpec spec;
    spec.impressions = 60;
    spec.click_model = "informational";
    spec.metrics = {"MAP", "NDCG@1"};
    spec.validate = true;
    if (drifts) {
      spec.drift = {{.of = DriftOf::kLabels, .at = 3, .pace = DriftPace::kSeasonal, .period = 40}};
    }
    apply(parse_method_entry(GetParam()).value(), spec);
    const std::uint32_t run = 1;
    const Simulation simulation = Simulation::prepare(dataset(), spec).value();
    const auto worlds = WorldsByRun(dataset(), spec.drift, spec.seed).of(run).value();
    std::vector<Split> test;
    std::vector<Split> validation;
    for (std::size_t state = 0; state < worlds->state_count(); ++state) {
      test.push_back(worlds->state(state).fold.test);
      validation.push_back(*worlds->state(state).fold.validation);
    }
    const Curve::Options options{.seed = spec.seed,
                                 .run = run,
                                 .metrics = {Metric::kMap, Metric::kNdcg1},
                                 .max_label = dataset().max_label};
    const RunRecord record = simulation.run(run, {}).value();
    ASSERT_EQ(record.curve.size(), curve_points(spec).size());
    for (std::size_t at = 0; at < record.curve.size(); ++at) {
      spec.impressions = record.curve[at].impression;
      if (drifts && spec.impressions <= settled_at(spec.drift.front())) continue;
      std::unique_ptr<Learner> learner;
      Watch watch;
      watch.learned = [&](std::uint32_t, std::unique_ptr<Learner> made) {
        learner = std::move(made);
      };
      const RunRecord shorter = Simulation::prepare(dataset(), spec)->run(run, watch).value();
      EXPECT_EQ(shorter.curve.back().online, record.curve[at].online);
      std::vector<double> weights(worlds->state_count());
      worlds->weigh(spec.impressions - 1, weights);
      const Curve::Moment moment{spec.impressions, 0, weights};
      const PlainPoint plain = plain_point(test, options, moment, learner->ranker());
      EXPECT_EQ(record.curve[at].offline, plain.offline) << "after " << spec.impressions;
      EXPECT_EQ(record.metrics[0].values[at], plain.metrics[0]) << "after " << spec.impressions;
      EXPECT_EQ(record.metrics[1].values[at], plain.metrics[1]) << "after " << spec.impressions;
      EXPECT_EQ(shorter.validation,
                plain_point(validation, options, moment, learner->ranker()).offline);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, CurveOfARun,
                         ::testing::Values("pdgd", "pdgd:neural", "pdgd:linear+neural", "steady",
                                           "cascade:window=5:threshold=1000", "dbgd",
                                           "mgd:candidates=5", "pairwise", "pairrank",
                                           "coltr:candidates=9", "pl-gradient"));

// Training goes on without an error; the test query's scores overflow from the first step on.
TEST(SimulationCurve, TellsTheFirstPointWithAScoreThatIsNotFinite) {
  Dataset data = dataset();
  data.folds[0].train = small_split({{{1, 0, 0}, {0.5F, 0, 1}}});
  data.folds[0].test = small_split({{{1, 0}, {0.1F, 0}}, {{1, 0, 0}, {3e38F, -3e38F, 0}}});
  data.folds[0].validation.reset();
  data.folds[0].feature_ids = {1};
  SimulationSpec spec;
  spec.impressions = 300;
  spec.settings = {{"learning-rate", "30"}};
  spec.method = "pdgd";
  std::optional<std::uint64_t> first;
  for (const std::uint64_t point : curve_points(spec)) {
    spec.impressions = point;
    const auto record = Simulation::prepare(data, spec)->run(0, {});
    if (record.ok()) continue;
    if (!first) first = point;
    EXPECT_THAT(record.error().message,
                HasSubstr("a score is not finite after " + std::to_string(*first) + " impressions"))
        << "of a run of " << point;
  }
  ASSERT_TRUE(first.has_value());
  EXPECT_LT(*first, 100U);
}

// As above, until the one training query in 31 is met whose scores overflow too.
TEST(SimulationCurve, TellsAKeptPointRatherThanALaterFailureToRank) {
  Dataset data = dataset();
  std::vector<testing::SmallQuery> train(30, {{1, 0, 0}, {1e10F, 0, -1e10F}});
  train.push_back({{1, 0, 0}, {1e35F, 0, -1e35F}});
  data.folds[0].train = small_split(train);
  data.folds[0].test = small_split({{{1, 0}, {3e38F, -3e38F}}});
  data.folds[0].validation.reset();
  data.folds[0].feature_ids = {1};
  SimulationSpec spec;
  spec.method = "pdgd";
  const auto error_of = [&](std::uint64_t impressions) {
    spec.impressions = impressions;
    const auto record = Simulation::prepare(data, spec)->run(0, {});
    return record.ok() ? std::string() : record.error().message;
  };
  const std::string whole = error_of(1'000);
  std::string first;
  for (const std::uint64_t point : curve_points({.impressions = 1'000})) {
    first = error_of(point);
    if (!first.empty()) break;
  }
  EXPECT_THAT(first, HasSubstr("a score is not finite after"));
  EXPECT_EQ(whole, first);
}

TEST(SimulationCurve, StopsWhileKeptPointsAreMeasured) {
  SimulationSpec spec;
  spec.method = "pdgd";
  spec.impressions = 50;
  int asked = 0;
  Watch watch;
  watch.stop = [&asked] { return ++asked > 70; };  // 50 impressions, 13 points, some queries
  const auto record = Simulation::prepare(dataset(), spec)->run(0, watch);
  ASSERT_FALSE(record.ok());
  EXPECT_EQ(record.error().code, ErrorCode::kStopped);
  EXPECT_LE(asked, 72);
}

}  // namespace
}  // namespace plackett
