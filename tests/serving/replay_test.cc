// Restarts and replays: a model is a function of its spec and its log.
#include <gmock/gmock.h>

#include "served.h"
#include "serving/model_spec.h"
#include "serving/recover.h"
#include "store/sqlite/database.h"

namespace plackett::serving {
namespace {

void learn(Served& served, const ModelHandle& model, const Candidates& candidates, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    const auto ranked = served.rank(model, candidates.view());
    ASSERT_TRUE(ranked.ok());
    const std::string item =
        std::to_string(ranked->items[static_cast<std::size_t>(round) % 7].item);
    served.tell(model, {{ranked->impression, item, "", EventKind::kClick},
                        {ranked->impression, "", "", EventKind::kClose}});
  }
}

std::vector<std::byte> replayed(const std::string& db, ReplayReport& report) {
  const auto reader = store::read_sqlite(db);
  EXPECT_TRUE(reader.ok());
  const ModelRow row = (*reader)->models()->front();
  const auto spec = parse_spec(row.spec);
  EXPECT_TRUE(spec.ok());
  const auto trainer = replay(*spec, row, **reader, report);
  EXPECT_TRUE(trainer.ok()) << trainer.error().message;
  return serialise_model(trainer->saved());
}

ModelSpec network_spec() {
  ModelSpec spec = small_spec();
  spec.ranker.kind = RankerKind::kLinearPlusNeural;
  spec.settings = {{"steps", "adagrad"}};
  return spec;
}

TEST(Replay, RestartedServersGoOnToTheBit) {
  const Candidates candidates(12, 5);
  Served with;
  with.make(network_spec());
  for (int part = 0; part < 3; ++part) {
    learn(with, with->find("m"), candidates, 10);
    with.reopen();
  }
  Served parts;
  const ModelHandle model = parts.make(network_spec());
  for (int part = 0; part < 3; ++part) learn(parts, model, candidates, 10);
  EXPECT_EQ(with->export_file(*with->find("m")), parts->export_file(*model));
  EXPECT_EQ(with->info(*with->find("m")).version, parts->info(*model).version);
}

TEST(Replay, ALogWithEverythingInItGivesTheServersBits) {
  const Candidates candidates(12, 5);
  Served served;
  served.close();
  served.options().snapshot_every = 7;
  served.open();
  const ModelHandle model = served.make(network_spec());
  learn(served, model, candidates, 20);
  const SnapshotRow snapshot = served.snapshot(model);
  learn(served, model, candidates, 10);
  EXPECT_TRUE(
      wait_for<ModelInfo>([&](auto done) { served->set_learning(model, false, done); }).ok());
  learn(served, model, candidates, 3);
  EXPECT_TRUE(
      wait_for<ModelInfo>([&](auto done) { served->set_learning(model, true, done); }).ok());
  EXPECT_TRUE(
      wait_for<ModelInfo>([&](auto done) { served->roll_back(model, snapshot.id, done); }).ok());
  learn(served, model, candidates, 10);
  const auto imported = wait_for<ModelInfo>(
      [&](auto done) { served->import_file("m", served->export_file(*model), {}, done); });
  EXPECT_TRUE(imported.ok());
  learn(served, model, candidates, 5);
  const auto live = served->export_file(*model);
  ReplayReport report;
  EXPECT_EQ(replayed(served.db(), report), live);
  EXPECT_GE(report.compared, 2U);
  EXPECT_EQ(report.different, 0U);
  served.close();
  ReplayReport after;
  EXPECT_EQ(replayed(served.db(), after), live);
  EXPECT_EQ(after.different, 0U);
}

TEST(Replay, SaysWhatIsMissing) {
  const Candidates candidates(12, 5);
  for (const std::string damage :
       {"UPDATE impressions SET data = x'00' WHERE id = (SELECT min(id) + 3 FROM impressions)",
        "DELETE FROM responses WHERE impression = (SELECT min(impression) + 3 FROM responses)",
        "UPDATE log SET kind = 77 WHERE seq = 4"}) {
    Served served;
    const ModelHandle model = served.make(network_spec());
    learn(served, model, candidates, 8);
    served.close();
    auto database = store::Database::open(served.db(), store::Database::Access::kWrite);
    ASSERT_TRUE(database->script(damage).ok());
    ASSERT_TRUE(database->script("DELETE FROM snapshots").ok());
    ReplayReport report;
    replayed(served.db(), report);
    ASSERT_EQ(report.missing.size(), 1U) << damage;
    EXPECT_THAT(report.missing.front(), ::testing::StartsWith("log entry 4: "));

    std::vector<std::string> lines;
    served.options().log = [&](const std::string& line) { lines.push_back(line); };
    served.open();
    ASSERT_EQ(served->faults().size(), 1U) << damage;
    EXPECT_EQ(served->faults().front().second, report.missing.front());
    EXPECT_THAT(lines, ::testing::ElementsAre("model m is frozen: " + report.missing.front()));
  }
}

TEST(Replay, NoticesAClickThatIsNotWhatWasLearned) {
  const Candidates candidates(12, 5);
  Served served;
  const ModelHandle model = served.make(network_spec());
  learn(served, model, candidates, 5);
  served.snapshot(model);
  served.close();
  auto database = store::Database::open(served.db(), store::Database::Access::kWrite);
  ASSERT_TRUE(database.ok());
  ASSERT_TRUE(
      database
          ->script("UPDATE responses SET clicked = x'01010000000000000000' WHERE impression = "
                   "(SELECT min(impression) + 3 FROM responses)")
          .ok());
  ReplayReport report;
  replayed(served.db(), report);
  EXPECT_GT(report.different, 0U);
}

}  // namespace
}  // namespace plackett::serving
