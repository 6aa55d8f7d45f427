// The service learns what the simulator learns.
#include <gmock/gmock.h>

#include <ostream>

#include "plackett/make_user.h"
#include "plackett/method.h"
#include "plackett/simulation.h"
#include "plackett/synthetic.h"
#include "served.h"
#include "serving/recover.h"

namespace plackett::serving {
namespace {

struct Case {
  RankerKind ranker;
  std::string method;
  std::vector<GivenSetting> settings;
};

void PrintTo(const Case& served, std::ostream* out) {
  *out << served.method << '_' << name_of(served.ranker);
}

class ServedSimulation : public ::testing::TestWithParam<Case> {};

constexpr std::uint64_t kImpressions = 300;
constexpr std::uint64_t kSeed = 7;

Dataset small_data() {
  SyntheticOptions options;
  options.queries = 60;
  options.folds = 1;
  return make_synthetic(options, {}).value();
}

std::vector<std::byte> simulated(const Dataset& data, const Case& given) {
  SimulationSpec spec;
  spec.method = given.method;
  spec.ranker.kind = given.ranker;
  spec.settings = given.settings;
  spec.click_model = "navigational";
  spec.runs = 1;
  spec.impressions = kImpressions;
  spec.seed = kSeed;
  auto simulation = Simulation::prepare(data, spec);
  EXPECT_TRUE(simulation.ok());
  std::vector<std::byte> file;
  Watch watch;
  watch.learned = [&](std::uint32_t, std::unique_ptr<Learner> learner) {
    SavedModel model;
    model.ranker = spec.ranker;
    model.ranker.feature_count = data.folds.front().train.feature_count();
    if (!has_network(spec.ranker.kind)) model.ranker.hidden.clear();
    model.feature_ids = data.folds.front().feature_ids;
    model.scaling = "none";
    model.parameters.resize(learner->ranker().parameter_count());
    learner->ranker().get_parameters(model.parameters);
    model.learner = learner->state();
    model.learner.impressions = kImpressions;
    model.settings = saved_settings(spec.method, spec.settings);
    file = serialise_model(model);
  };
  EXPECT_TRUE(simulation->run(0, watch).ok());
  return file;
}

TEST_P(ServedSimulation, GivesTheSimulatorsParametersToTheBit) {
  const Dataset data = small_data();
  const Split& train = data.folds.front().train;
  ModelSpec spec = small_spec("m", train.feature_count());
  spec.ranker.kind = GetParam().ranker;
  spec.learner = GetParam().method;
  spec.settings = GetParam().settings;
  spec.scaling = "none";
  spec.seed = kSeed;
  spec.feature_ids = data.folds.front().feature_ids;
  Served served;
  const ModelHandle model = served.make(spec);
  ASSERT_NE(model, nullptr);
  UserOptions user_options;
  user_options.grade_count = data.grade_count();
  const auto user = make_user("navigational", user_options).value();
  for (std::uint64_t impression = 0; impression < kImpressions; ++impression) {
    Rng query_rng({kSeed, 0, impression, Purpose::kQuery});
    const Query query{query_rng.below(train.query_count())};
    auto ranked = served.rank(model, train.features(query));
    ASSERT_TRUE(ranked.ok()) << ranked.error().message;
    std::vector<Doc> shown;
    for (const RankedItem& item : ranked->items) shown.push_back(Doc{item.item});
    std::vector<std::uint8_t> clicks(shown.size());
    Rng click_rng({kSeed, 0, impression, Purpose::kClicks});
    user->click(shown, train.judgments(query), click_rng, clicks);
    std::vector<FeedbackEvent> events;
    for (std::size_t rank = 0; rank < clicks.size(); ++rank) {
      if (clicks[rank] == 0) continue;
      events.push_back(
          {ranked->impression, std::to_string(index(shown[rank])), "", EventKind::kClick});
    }
    events.push_back({ranked->impression, "", "", EventKind::kClose});
    ASSERT_TRUE(served.feedback(model, events).ok());
  }
  EXPECT_EQ(served->export_file(*model), simulated(data, GetParam()));

  // And what the log makes of it again, by itself.
  const auto reader = store::read_sqlite(served.db());
  ASSERT_TRUE(reader.ok());
  ReplayReport report;
  const auto again = replay(spec_of(*model), (*reader)->models()->front(), **reader, report);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(serialise_model(again->saved()), served->export_file(*model));
  EXPECT_EQ(report.entries, kImpressions);
}

INSTANTIATE_TEST_SUITE_P(
    Rankers, ServedSimulation,
    ::testing::Values(Case{RankerKind::kLinear, "pdgd", {}},
                      Case{RankerKind::kNeural, "pdgd", {{"learning-rate", "0.05"}}},
                      Case{RankerKind::kLinearPlusNeural, "pdgd", {{"steps", "adagrad"}}},
                      Case{RankerKind::kLinearPlusNeural, "cascade", {}}));

}  // namespace
}  // namespace plackett::serving
