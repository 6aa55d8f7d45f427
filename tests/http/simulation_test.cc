// A simulated user over HTTP, and the server learns what `plackett simulate` learns, to the bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "http/service.h"
#include "plackett/make_user.h"
#include "plackett/model_file.h"
#include "plackett/synthetic.h"

namespace plackett {
namespace {

using testing::HasStatus;
using testing::Json;

constexpr std::uint64_t kImpressions = 200;
constexpr std::uint64_t kSeed = 7;

class ServedOverHttp : public ::testing::TestWithParam<const char*> {};

SavedModel simulated(const std::string& ranker, const std::string& file) {
  const auto run = testing::run_command(
      "simulate --runs 1 --impressions " + std::to_string(kImpressions) + " --seed " +
      std::to_string(kSeed) + " --click-model navigational --ranker " + ranker + " --save-model '" +
      file + "'");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return load_model(file).value();
}

// What stands in the features of a query's documents, as JSON gives floats back: exactly.
Json items_of(const FeatureView& docs) {
  Json items = Json::array();
  for (std::uint32_t doc = 0; doc < docs.doc_count(); ++doc) {
    const auto row = docs.row(Doc{doc}).first(docs.feature_count());
    items.push_back(
        {{"id", std::to_string(doc)}, {"features", std::vector(row.begin(), row.end())}});
  }
  return items;
}

TEST_P(ServedOverHttp, GivesTheParametersOfPlackettSimulate) {
  // The data that `plackett simulate` uses where none is named. Its features are scaled already,
  // and scaling them again changes nothing.
  const Dataset data = make_synthetic(synthetic_preset("default").value(), {}).value();
  const Split& train = data.folds.front().train;
  UserOptions user_options;
  user_options.grade_count = data.grade_count();
  const auto user = make_user("navigational", user_options).value();

  testing::Server server;
  auto client = server.client();
  ASSERT_THAT(
      client.put("/models/m",
                 {{"features", train.feature_count()}, {"ranker", GetParam()}, {"seed", kSeed}}),
      HasStatus(201));
  for (std::uint64_t impression = 0; impression < kImpressions; ++impression) {
    Rng query_rng({kSeed, 0, impression, Purpose::kQuery});
    const Query query{query_rng.below(train.query_count())};
    const auto answer = client.post("/models/m/rank", {{"items", items_of(train.features(query))}});
    ASSERT_THAT(answer, HasStatus(200));
    const Json ranking = answer.json();
    std::vector<Doc> shown;
    for (const std::string& id : testing::ids_of(ranking)) {
      shown.push_back(Doc{static_cast<std::uint32_t>(std::stoul(id))});
    }
    std::vector<std::uint8_t> clicks(shown.size());
    Rng click_rng({kSeed, 0, impression, Purpose::kClicks});
    user->click(shown, train.judgments(query), click_rng, clicks);
    Json events = Json::array();
    for (std::size_t rank = 0; rank < clicks.size(); ++rank) {
      if (clicks[rank] == 0) continue;
      events.push_back(testing::event(ranking, "click", std::to_string(index(shown[rank]))));
    }
    events.push_back(testing::event(ranking, "close"));
    ASSERT_THAT(client.post("/models/m/feedback", events), HasStatus(200));
  }
  const testing::TemporaryFolder folder;
  const SavedModel wanted = simulated(GetParam(), folder / "model");
  const std::string exported = client.get("/models/m/export").body;
  const auto served = parse_model(std::as_bytes(std::span(exported)), {});
  ASSERT_TRUE(served.ok());
  EXPECT_EQ(served->parameters, wanted.parameters);
  EXPECT_EQ(served->learner.updates, wanted.learner.updates);
  EXPECT_EQ(served->learner.impressions, wanted.learner.impressions);
  EXPECT_EQ(served->learner.learning_rate, wanted.learner.learning_rate);
  EXPECT_NE(served->parameters, std::vector<float>(served->parameters.size()));

  // And so does the log, by itself, when the server is gone.
  EXPECT_EQ(server.stop(), 0);
  const auto replayed = testing::run_command("replay --db '" + server.db() + "' --save-model '" +
                                             (folder / "replayed") + "'");
  EXPECT_EQ(replayed.exit_code, 0) << replayed.err;
  EXPECT_EQ(testing::slurp(folder / "replayed"), exported);
}

INSTANTIATE_TEST_SUITE_P(Rankers, ServedOverHttp, ::testing::Values("linear", "neural"),
                         [](const auto& of) { return std::string(of.param); });

}  // namespace
}  // namespace plackett
