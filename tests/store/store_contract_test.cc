// What serving/store.h promises. Every store must pass: a new one adds a line to kStores.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>

#include "serving/shared_store.h"
#include "serving/store.h"
#include "store/postgres/postgres_store.h"
#include "store/sqlite/sqlite_store.h"
#include "support/postgres.h"
#include "support/run_command.h"

namespace plackett::serving {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::Pair;

struct StoreKind {
  const char* name;
  // Opens the store in a folder, or creates it.
  std::function<Result<std::unique_ptr<Store>>(const testing::TemporaryFolder&)> open;
  // Why it can't be tested here; empty if it can.
  std::function<std::string()> missing = [] { return ""; };
};
void PrintTo(const StoreKind& kind, std::ostream* out) { *out << kind.name; }

Result<std::unique_ptr<Store>> open_in_postgres(const testing::TemporaryFolder& folder,
                                                bool shared) {
  auto& server = testing::PostgresServer::shared();
  return store::open_postgres(
      {.url = server.database(folder.path().filename()), .alone = !shared, .shared = shared});
}
std::string missing_postgres() {
  using Server = testing::PostgresServer;
  return Server::is_installed() ? "" : Server::kMissing;
}

const StoreKind kStores[] = {
    {"sqlite",
     [](const auto& folder) { return store::open_sqlite({.path = folder / "store.db"}); }},
    {"postgres", [](const auto& folder) { return open_in_postgres(folder, false); },
     missing_postgres},
    {"postgres_shared",
     [](const auto& folder) {
       auto store = open_in_postgres(folder, true);
       // The process is a node from its first beat on.
       if (store) {
         EXPECT_TRUE((*store)->shared()->beat("west", {}).ok());
       }
       return store;
     },
     missing_postgres}};

std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> result;
  for (const int value : values) result.push_back(static_cast<std::byte>(value));
  return result;
}

// The value of a call that must succeed.
template <typename T>
T got(Result<T> result) {
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
  return *std::move(result);
}
void done(const Result<void>& result) {
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
}

class StoreContract : public ::testing::TestWithParam<StoreKind> {
 protected:
  void SetUp() override {
    if (const std::string missing = GetParam().missing(); !missing.empty()) GTEST_SKIP() << missing;
    open();
  }
  void open() { store_ = got(GetParam().open(folder_)); }
  void reopen() {
    store_.reset();
    open();
  }
  // One transaction.
  void commit(const std::function<void()>& changes) {
    done(store_->begin());
    changes();
    done(store_->commit());
    store_->tidy();
  }
  std::int64_t insert_model(const std::string& name) {
    std::int64_t id = 0;
    commit([&] { id = got(store_->insert_model({.name = name, .created_at = 5, .spec = "{}"})); });
    return id;
  }
  void show(std::int64_t model, std::uint64_t number, const std::string& given = "") {
    done(store_->insert_impression({.id = ImpressionKey{model, number}.id(),
                                    .shown_at = static_cast<std::int64_t>(1000 + number),
                                    .version = 3,
                                    .given = given,
                                    .data = bytes({1, 2, 3})}));
  }
  static std::int64_t id(std::int64_t model, std::uint64_t number) {
    return ImpressionKey{model, number}.id();
  }

  testing::TemporaryFolder folder_;
  std::unique_ptr<Store> store_;
};

TEST_P(StoreContract, KeepsWhatIsCommittedAndNothingElse) {
  const std::int64_t model = insert_model("m");
  const auto reader = got(store_->open_reader());
  done(store_->begin());
  show(model, 0);
  EXPECT_TRUE(got(store_->read().impression(id(model, 0)))) << "sees its own changes";
  EXPECT_FALSE(got(reader->impression(id(model, 0)))) << "others see commits only";
  store_->roll_back();
  EXPECT_FALSE(got(store_->read().impression(id(model, 0))));
  commit([&] { show(model, 1); });
  EXPECT_TRUE(got(reader->impression(id(model, 1))));
  // Not committed: the store goes with the transaction open.
  done(store_->begin());
  show(model, 2);
  reopen();
  EXPECT_TRUE(got(store_->read().impression(id(model, 1))));
  EXPECT_FALSE(got(store_->read().impression(id(model, 2))));
  EXPECT_GT(got(store_->used_bytes()), 0U);
  EXPECT_GT(store_->disk_bytes(), 0U);
}

TEST_P(StoreContract, ReadsTheSameAheadOrNot) {
  const std::int64_t model = insert_model("m");
  commit([&] {
    for (std::uint64_t number = 0; number < 3; ++number) show(model, number);
    done(store_->set_response(id(model, 0), {bytes({1}), bytes({0}), Closed::kLearned}));
  });
  const auto ahead = got(store_->open_reader());
  const std::int64_t ids[] = {id(model, 0), id(model, 1), id(model, 7), id(model, 0)};
  done(ahead->read_ahead(ids));
  const auto plain = got(store_->open_reader());
  for (const std::uint64_t number : {0, 1, 2, 7}) {
    const auto left = got(ahead->impression(id(model, number)));
    const auto right = got(plain->impression(id(model, number)));
    EXPECT_EQ(left.has_value(), number != 7);
    EXPECT_EQ(left ? left->data : bytes({}), right ? right->data : bytes({}));
    EXPECT_EQ(left ? left->shown_at : 0, right ? right->shown_at : 0);
    EXPECT_EQ(got(ahead->response(id(model, number))).has_value(), number == 0);
  }
  EXPECT_EQ(got(ahead->response(id(model, 0)))->clicked, bytes({1}));
  commit([&] { show(model, 7); });
  done(ahead->read_ahead({}));
  EXPECT_TRUE(got(ahead->impression(id(model, 7))));
}

TEST_P(StoreContract, AFailedChangeIsAnErrorOfTheStoreAndTheNextTransactionIsClean) {
  const std::int64_t model = insert_model("m");
  commit([&] { show(model, 0); });
  done(store_->begin());
  show(model, 1);
  auto failed = store_->insert_impression({.id = id(model, 0), .data = bytes({1})});
  if (failed) failed = store_->commit();  // a store may say it late
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().code, ErrorCode::kUnavailable);
  store_->roll_back();
  commit([&] { done(store_->probe()); });
  EXPECT_TRUE(got(store_->read().impression(id(model, 0))));
  EXPECT_FALSE(got(store_->read().impression(id(model, 1))));
}

TEST_P(StoreContract, ATakenNameRefusesOneChangeAlone) {
  const std::int64_t model = insert_model("m");
  commit([&] { got(store_->insert_experiment({.model = model, .name = "e"})); });
  commit([&] {
    show(model, 0);
    EXPECT_EQ(store_->insert_model({.name = "m"}).error().code, ErrorCode::kConflict);
    EXPECT_EQ(store_->insert_experiment({.model = model, .name = "e"}).error().code,
              ErrorCode::kConflict);
    show(model, 1);
  });
  EXPECT_EQ(got(store_->read().from(model, 0, 9)).size(), 2U);
  EXPECT_EQ(got(store_->read().models()).size(), 1U);
}

TEST_P(StoreContract, ModelsKeepTheirMarksAndIdsAreNeverUsedAgain) {
  const std::int64_t first = insert_model("a");
  const std::int64_t second = insert_model("b");
  commit([&] {
    done(store_->set_model_marks({.id = second, .next_number = 8, .expired = 4, .dropped_log = 2}));
  });
  reopen();
  EXPECT_FALSE(got(store_->read().model(77)));
  const auto models = got(store_->read().models());
  EXPECT_EQ(got(store_->read().model(models.back().id))->name, models.back().name);
  ASSERT_EQ(models.size(), 2U);
  EXPECT_EQ(models[0].id, first);
  EXPECT_EQ(models[1].name, "b");
  EXPECT_EQ(models[1].spec, "{}");
  EXPECT_EQ(models[1].created_at, 5);
  EXPECT_EQ(models[1].next_number, 8U);
  EXPECT_EQ(models[1].expired, 4U);
  EXPECT_EQ(models[1].dropped_log, 2);
  commit([&] { done(store_->delete_model(second)); });
  EXPECT_GT(insert_model("b"), second);
}

TEST_P(StoreContract, ItemsAreReplacedDeletedAndReadByModel) {
  const auto items = [&](std::int64_t model) {
    std::vector<std::pair<std::string, std::vector<std::byte>>> read;
    done(store_->read().items(
        model, [&](std::string_view item, std::int64_t version, std::span<const std::byte> row) {
          read.emplace_back(item, std::vector<std::byte>(row.begin(), row.end()));
          EXPECT_EQ(got(store_->read().item_version(version))->features, read.back().second);
          return Result<void>();
        }));
    return read;
  };
  commit([&] {
    got(store_->put_item(1, "x", bytes({1}), 0));
    got(store_->put_item(1, "x", bytes({2}), 0));
    got(store_->put_item(1, "y", bytes({3}), 0));
    got(store_->put_item(2, "x", bytes({4}), 0));
  });
  EXPECT_THAT(items(1), ElementsAre(Pair("x", bytes({2})), Pair("y", bytes({3}))));
  const std::vector<std::string> asked{"y", "none", "x", "y"};
  const auto versions = got(store_->read().versions_of(1, asked));
  ASSERT_EQ(versions.size(), asked.size());
  EXPECT_EQ(got(store_->read().item_version(versions[0]))->features, bytes({3}));
  EXPECT_EQ(got(store_->read().item_version(versions[2]))->features, bytes({2}));
  EXPECT_THAT(versions, ElementsAre(versions[0], 0, versions[2], versions[0]));
  EXPECT_THAT(got(store_->read().versions_of(1, {})), IsEmpty());
  commit([&] {
    EXPECT_EQ(got(store_->delete_item(1, "x", 0)), versions[2]);
    EXPECT_EQ(got(store_->delete_item(1, "x", 0)), 0);
    EXPECT_THAT(got(store_->read().versions_of(1, asked)),
                ElementsAre(versions[0], 0, 0, versions[0]));
  });
  EXPECT_THAT(items(1), ElementsAre(Pair("y", bytes({3}))));
  EXPECT_EQ(items(2).size(), 1U);
  const auto stopped =
      store_->read().items(1, [](auto, auto, auto) { return Result<void>(Error{"no more"}); });
  EXPECT_EQ(stopped.error().message, "no more");
}

TEST_P(StoreContract, VersionsAreFoundByIdsOfAnyText) {
  const std::vector<std::string> ids{"a\"b", "a\\", "{a,b}", "", "NULL", "caf\u00e9", " ", "a\nb"};
  std::vector<std::int64_t> versions;
  commit([&] {
    for (const std::string& id : ids) versions.push_back(got(store_->put_item(1, id, {}, 0)));
  });
  EXPECT_EQ(got(store_->read().versions_of(1, ids)), versions);
}

TEST_P(StoreContract, AReplacedItemCanBeReadUntilTheListsThatMayReferToItAreDropped) {
  if (store_->shared() != nullptr) {
    GTEST_SKIP() << "it finds `end` itself: AReplacedItemCanBeReadWhileListsMayReferToIt";
  }
  std::int64_t first = 0;
  std::int64_t second = 0;
  std::int64_t third = 0;
  commit([&] {
    for (std::uint64_t number = 0; number < 10; ++number) show(1, number);
    first = got(store_->put_item(1, "x", bytes({1}), 0));
    second = got(store_->put_item(1, "x", bytes({2}), 5));
    got(store_->delete_item(1, "x", 8));
    third = got(store_->put_item(1, "x", bytes({3}), 9));
  });
  EXPECT_LT(first, second);
  EXPECT_LT(second, third);
  reopen();
  EXPECT_EQ(got(store_->read().item_version(first))->features, bytes({1}));
  EXPECT_EQ(got(store_->read().item_version(second))->id, "x");
  commit([&] { done(store_->drop_impressions(1, 4)); });
  EXPECT_TRUE(got(store_->read().item_version(first)));
  commit([&] { done(store_->drop_impressions(1, 5)); });
  EXPECT_FALSE(got(store_->read().item_version(first)));
  EXPECT_TRUE(got(store_->read().item_version(second)));
  commit([&] { done(store_->drop_impressions(1, 10)); });
  EXPECT_FALSE(got(store_->read().item_version(second)));
  EXPECT_TRUE(got(store_->read().item_version(third))) << "it is still the item's";
  commit([&] {
    got(store_->put_item(1, "x", bytes({4}), 100'000));
    done(store_->limit_references(1, 20));
    done(store_->drop_impressions(1, 20));
  });
  EXPECT_FALSE(got(store_->read().item_version(third)));
}

TEST_P(StoreContract, AnItemThatNoListRefersToIsDroppedAtOnce) {
  if (store_->shared() != nullptr) {
    GTEST_SKIP() << "it finds `end` itself: AReplacedItemCanBeReadWhileListsMayReferToIt";
  }
  std::int64_t first = 0;
  std::int64_t second = 0;
  commit([&] {
    first = got(store_->put_item(1, "x", bytes({1}), 0));
    second = got(store_->put_item(1, "x", bytes({2}), 0));
  });
  EXPECT_FALSE(got(store_->read().item_version(first)));
  commit([&] { EXPECT_TRUE(got(store_->delete_item(1, "x", 0))); });
  EXPECT_FALSE(got(store_->read().item_version(second)));
}

TEST_P(StoreContract, KnowsWhetherAListHasItsCandidates) {
  EXPECT_FALSE(got(store_->read().has_candidates(1)));
  commit([&] {
    done(store_->insert_impression({.id = id(1, 0), .kept = true, .data = bytes({1})}));
    show(2, 0);
  });
  EXPECT_TRUE(got(store_->read().has_candidates(1)));
  EXPECT_FALSE(got(store_->read().has_candidates(2)));
}

TEST_P(StoreContract, AnImpressionKeepsAllItsColumns) {
  const ImpressionRow row{.id = id(1, 4),
                          .shown_at = 77,
                          .version = 5,
                          .given = "own",
                          .unit = "user \"7\"",
                          .mode = Mode::kGiven,
                          .keep = 0.25,
                          .kept = true,
                          .shown = R"([["a",1,1]])",
                          .context = R"({"q":1})",
                          .data = bytes({9, 8})};
  commit([&] { done(store_->insert_impression(row)); });
  reopen();
  const auto read = got(store_->read().impression(id(1, 4)));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->unit, row.unit);
  EXPECT_EQ(read->mode, row.mode);
  EXPECT_EQ(read->keep, row.keep);
  EXPECT_EQ(read->kept, row.kept);
  EXPECT_EQ(read->shown, row.shown);
  EXPECT_EQ(read->context, row.context);
  EXPECT_EQ(read->data, row.data);
  EXPECT_EQ(read->given, row.given);
}

TEST_P(StoreContract, FindsTheImpressionsOfAUnitInItsModelAlone) {
  const auto show_to = [&](std::int64_t model, std::uint64_t number, const char* unit) {
    done(store_->insert_impression({.id = id(model, number), .unit = unit, .data = bytes({1})}));
  };
  commit([&] {
    show_to(1, 0, "a");
    show_to(1, 1, "b");
    show_to(1, 2, "a");
    show_to(2, 0, "a");
    show(1, 3);
  });
  EXPECT_THAT(got(store_->read().of_unit(1, "a", 0, 9)), ElementsAre(id(1, 0), id(1, 2)));
  EXPECT_THAT(got(store_->read().of_unit(1, "a", 0, 1)), ElementsAre(id(1, 0)));
  EXPECT_THAT(got(store_->read().of_unit(1, "a", 1, 9)), ElementsAre(id(1, 2)));
  EXPECT_THAT(got(store_->read().of_unit(1, "", 0, 9)), IsEmpty());
  EXPECT_THAT(got(store_->read().from(1, 1, 2)), ElementsAre(id(1, 1), id(1, 2)));
  EXPECT_THAT(got(store_->read().from(1, 3, 9)), ElementsAre(id(1, 3)));
  EXPECT_THAT(got(store_->read().from(1, 4, 9)), IsEmpty());
}

TEST_P(StoreContract, AnAnonymousImpressionHasNoIdsAndKeepsItsFeedback) {
  commit([&] {
    done(store_->insert_impression({.id = id(1, 0),
                                    .shown_at = 3,
                                    .version = 2,
                                    .given = "own",
                                    .unit = "u",
                                    .shown = R"([["a",1,1]])",
                                    .context = "1",
                                    .data = bytes({1})}));
    done(store_->set_response(id(1, 0), {bytes({1}), bytes({0}), Closed::kLearned}));
    done(store_->add_event({id(1, 0), 0, EventKind::kClick, 1, "event-7"}));
    done(store_->anonymise(
        {.id = id(1, 0), .mode = Mode::kExploit, .shown = R"([[null,1,1]])", .data = bytes({2})}));
  });
  const auto row = got(store_->read().impression(id(1, 0)));
  ASSERT_TRUE(row);
  EXPECT_EQ(row->given + row->unit + row->context, "");
  EXPECT_EQ(row->shown, R"([[null,1,1]])");
  EXPECT_EQ(row->data, bytes({2}));
  EXPECT_EQ(row->mode, Mode::kExploit);
  EXPECT_EQ(row->shown_at, 3);
  EXPECT_EQ(row->version, 2U);
  EXPECT_FALSE(got(store_->read().given_id(1, "own")));
  EXPECT_FALSE(got(store_->read().event_seen(1, "event-7")));
  EXPECT_THAT(got(store_->read().of_unit(1, "u", 0, 9)), IsEmpty());
  EXPECT_EQ(got(store_->read().response(id(1, 0)))->clicked, bytes({1}));
  commit([&] { done(store_->drop_impression(id(1, 0))); });
  EXPECT_FALSE(got(store_->read().impression(id(1, 0))));
  EXPECT_FALSE(got(store_->read().response(id(1, 0))));
}

TEST_P(StoreContract, NamedEventsHaveTheirNames) {
  commit([&] {
    show(1, 0);
    done(store_->add_event({id(1, 0), 2, EventKind::kNamed, 7, "", "purchase"}));
    done(store_->add_event({id(1, 0), 2, EventKind::kClick, 7, ""}));
  });
  EXPECT_THAT(got(store_->read().named_events(id(1, 0))), ElementsAre(Pair(2U, "purchase")));
  EXPECT_THAT(got(store_->read().named_events(id(1, 1))), IsEmpty());
}

TEST_P(StoreContract, AModelsSpecCanBeReplaced) {
  const std::int64_t model = insert_model("m");
  commit([&] { done(store_->set_model_spec(model, "{\"other\":1}")); });
  reopen();
  EXPECT_EQ(got(store_->read().models()).front().spec, "{\"other\":1}");
}

TEST_P(StoreContract, TheBytesOfItemsAreThoseOfPresentOnes) {
  constexpr std::size_t kItems = 2000;
  constexpr std::size_t kFeatureBytes = 400;
  const std::int64_t model = insert_model("m");
  EXPECT_LT(got(store_->item_bytes()), 100'000U);
  const std::vector<std::byte> features(kFeatureBytes);
  const auto put_all = [&](std::uint64_t end) {
    commit([&] {
      for (std::size_t item = 0; item < kItems; ++item) {
        got(store_->put_item(model, std::to_string(item), features, end));
      }
    });
  };
  put_all(0);
  const std::uint64_t once = got(store_->item_bytes());
  EXPECT_GT(once, kItems * kFeatureBytes);
  EXPECT_LT(once, kItems * kFeatureBytes * 3 / 2);
  commit([&] {
    for (std::uint64_t number = 0; number < 100; ++number) show(model, number);
  });
  // Old versions are the log's.
  for (int times = 0; times < 3; ++times) put_all(100);
  const std::uint64_t again = got(store_->item_bytes());
  EXPECT_GT(again, once * 3 / 4);
  EXPECT_LT(again, once * 5 / 4);
  EXPECT_GT(got(store_->used_bytes()), 3 * again);
}

TEST_P(StoreContract, AVacuumKeepsAllThatWasNotDeleted) {
  const std::int64_t model = insert_model("m");
  commit([&] {
    for (std::uint64_t number = 0; number < 50; ++number) show(model, number);
    done(store_->drop_impressions(model, 20));
  });
  const auto reader = got(store_->open_reader());
  done(store_->vacuum());
  EXPECT_FALSE(got(reader->impression(id(model, 19))));
  EXPECT_TRUE(got(reader->impression(id(model, 20))));
  commit([&] { show(model, 50); });
  EXPECT_EQ(got(reader->from(model, 0, 99)).size(), 31U);
}

TEST_P(StoreContract, ImpressionsAreFoundByKeyGivenIdAndNumber) {
  commit([&] {
    for (const std::uint64_t number : {0, 1, 5}) show(1, number, number == 5 ? "own" : "");
    show(2, 0, "own");
  });
  const auto found = got(store_->read().impression(id(1, 5)));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->shown_at, 1005);
  EXPECT_EQ(found->version, 3U);
  EXPECT_EQ(found->given, "own");
  EXPECT_EQ(found->data, bytes({1, 2, 3}));
  EXPECT_THAT(got(store_->read().given_id(1, "own")), Optional(id(1, 5)));
  EXPECT_FALSE(got(store_->read().given_id(1, "other")));
  EXPECT_THAT(got(store_->read().shown_from(1, 2)), Optional(Pair(5, 1005)));
  EXPECT_FALSE(got(store_->read().shown_from(1, 6)));
  EXPECT_THAT(got(store_->read().shown_before(1, 5)), Optional(Pair(1, 1001)));
  EXPECT_THAT(got(store_->read().shown_before(1, ImpressionKey::kNumbers)),
              Optional(Pair(5, 1005)));
  EXPECT_FALSE(got(store_->read().shown_before(1, 0)));
  EXPECT_FALSE(got(store_->read().shown_before(2, 0)));
  EXPECT_THAT(got(store_->read().recent(1, 2, false)), ElementsAre(id(1, 5), id(1, 1)));
  EXPECT_THAT(got(store_->read().newest_shown(1, 1005, 1)), Optional(5));
  EXPECT_THAT(got(store_->read().newest_shown(1, 1004, 1)), Optional(1));
  EXPECT_THAT(got(store_->read().newest_shown(1, 1005, 3)), Optional(0));
  EXPECT_FALSE(got(store_->read().newest_shown(1, 1004, 3)));
}

TEST_P(StoreContract, ResponsesSayWhatWaitsAndWhatIsClosed) {
  commit([&] {
    for (std::uint64_t number = 0; number < 4; ++number) show(1, number);
    done(store_->set_response(id(1, 0), {bytes({0, 1}), bytes({0, 0}), Closed::kLearned}));
    done(store_->set_response(id(1, 1), {bytes({0, 0}), bytes({1, 0}), Closed::kNo}));
    done(store_->set_response(id(1, 2), {bytes({1, 0}), bytes({0, 0}), Closed::kNo}));
    done(store_->set_response(id(1, 2), {bytes({1, 1}), bytes({0, 0}), Closed::kNo}));
  });
  const auto response = got(store_->read().response(id(1, 2)));
  ASSERT_TRUE(response);
  EXPECT_EQ(response->clicked, bytes({1, 1}));
  EXPECT_FALSE(got(store_->read().response(id(1, 3))));
  EXPECT_THAT(got(store_->read().waiting(1, 4, 10)), ElementsAre(id(1, 1), id(1, 2)));
  EXPECT_THAT(got(store_->read().waiting(1, 4, 1)), ElementsAre(id(1, 1)));
  EXPECT_THAT(got(store_->read().waiting(1, 2, 10)), ElementsAre(id(1, 1)));
  EXPECT_EQ(got(store_->read().closed_count(1, 0, 4)), 1U);
  EXPECT_EQ(got(store_->read().closed_count(1, 1, 4)), 0U);
  EXPECT_EQ(got(store_->read().first_open(1, 0, 4, 0)), 1U);
  EXPECT_EQ(got(store_->read().first_open(1, 3, 4, 0)), 3U) << "without feedback it is open";
  EXPECT_FALSE(got(store_->read().first_open(1, 0, 1, 0)));
  EXPECT_EQ(got(store_->read().first_open(1, 0, 4, 1001)), 2U) << "shown after that";
  EXPECT_FALSE(got(store_->read().first_open(1, 0, 4, 1003)));
  EXPECT_THAT(got(store_->read().recent(1, 9, true)), ElementsAre(id(1, 2), id(1, 0)));
}

TEST_P(StoreContract, EventIdsAreOnesOfTheirModel) {
  commit([&] {
    show(1, 0);
    done(store_->add_event({id(1, 0), 2, EventKind::kClick, 7, "e1"}));
    done(store_->add_event({id(1, 0), {}, EventKind::kClose, 8, ""}));
    done(store_->add_event({id(1, 0), 1, EventKind::kView, 8, ""}));
  });
  EXPECT_TRUE(got(store_->read().event_seen(1, "e1")));
  EXPECT_FALSE(got(store_->read().event_seen(2, "e1")));
  EXPECT_FALSE(got(store_->read().event_seen(1, "e2")));
}

TEST_P(StoreContract, TheLogIncreasesOverAllModelsAndRestarts) {
  std::vector<std::int64_t> seqs;
  const auto append = [&](std::int64_t model, LogKind kind, std::int64_t argument) {
    const LogEntry entry =
        got(store_->append_log({.model = model, .kind = kind, .argument = argument}, 9));
    EXPECT_TRUE(seqs.empty() || entry.seq > seqs.back());
    seqs.push_back(entry.seq);
  };
  commit([&] {
    append(1, LogKind::kLearn, id(1, 4));
    append(2, LogKind::kFreeze, 0);
    append(1, LogKind::kRollback, 77);
  });
  reopen();
  commit([&] { append(1, LogKind::kExpire, id(1, 6)); });
  const auto log = got(store_->read().log(1, 0, 10));
  ASSERT_EQ(log.size(), 3U);
  EXPECT_EQ(log[1].seq, seqs[2]);
  EXPECT_EQ(log[1].kind, LogKind::kRollback);
  EXPECT_EQ(log[1].argument, 77);
  EXPECT_EQ(got(store_->read().log(1, seqs[0], 1)).front().seq, seqs[2]);
  EXPECT_EQ(got(store_->read().last_log_of(1, 0, 5)), seqs[0]);
  EXPECT_EQ(got(store_->read().last_log_of(1, 0, 7)), seqs[3]);
  EXPECT_EQ(got(store_->read().last_log_of(1, 7, 9)), 0);
  EXPECT_TRUE(got(store_->read().is_loaded(77)));
  EXPECT_FALSE(got(store_->read().is_loaded(78)));
  commit([&] {
    EXPECT_FALSE(got(store_->drop_log(1, seqs[2], 1)));
    EXPECT_TRUE(got(store_->drop_log(1, seqs[2], 9)));
  });
  EXPECT_EQ(got(store_->read().log(1, 0, 10)).size(), 1U);
  EXPECT_EQ(got(store_->read().log(2, 0, 10)).size(), 1U);
}

TEST_P(StoreContract, ServedSnapshotsAreLoaded) {
  commit([&] {
    for (const auto& [kind, snapshot] :
         {std::pair(LogKind::kServeExplore, 5), std::pair(LogKind::kServeGiven, 6),
          std::pair(LogKind::kServeExploit, 7)}) {
      got(store_->append_log({.model = 1, .kind = kind, .argument = snapshot}, 9));
    }
  });
  EXPECT_TRUE(got(store_->read().is_loaded(5)));
  EXPECT_TRUE(got(store_->read().is_loaded(6)));
  EXPECT_TRUE(got(store_->read().is_loaded(7)));
}

TEST_P(StoreContract, ExperimentsKeepTheirStateAndNamesAreUniqueWithinAModel) {
  const std::int64_t model = insert_model("m");
  std::int64_t experiment = 0;
  commit([&] {
    experiment = got(store_->insert_experiment(
        {.model = model, .name = "e", .spec = "{}", .state = "s", .started_at = 7}));
    got(store_->insert_experiment({.model = model + 1, .name = "e", .spec = "{}"}));
  });
  commit(
      [&] { done(store_->set_experiment_state({.id = experiment, .state = "t", .ended_at = 9})); });
  reopen();
  const auto rows = got(store_->read().experiments());
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].id, experiment);
  EXPECT_EQ(rows[0].name, "e");
  EXPECT_EQ(rows[0].state, "t");
  EXPECT_EQ(rows[0].started_at, 7);
  EXPECT_EQ(rows[0].ended_at, 9);
  done(store_->begin());
  EXPECT_FALSE(store_->insert_experiment({.model = model, .name = "e"}).ok());
  store_->roll_back();
}

TEST_P(StoreContract, SumsOfArmsAreAddedAndKeptOverTime) {
  const ArmSums sums{.impressions = 2,
                     .clicks = 1,
                     .units = {.units = 2,
                               .x_units = 2,
                               .y_units = 1,
                               .x = 3,
                               .y = 0.5,
                               .xx = 5,
                               .xy = 1,
                               .yy = 0.25,
                               .v = 0.125,
                               .vv = 0.015625}};
  commit([&] {
    done(store_->add_to_arm(4, 1, sums));
    done(store_->add_arm_point(4, 100));
    done(store_->add_to_arm(4, 1, sums));
    done(store_->add_to_arm(4, 0, sums));
    done(store_->add_arm_point(4, 200));
    done(store_->set_unit_totals(4, -8, {2, 0.5}));
    done(store_->set_unit_totals(4, -8, {3, 0.5}));
    done(store_->set_unit_totals(5, -8, {1, 1}));
  });
  const auto arms = got(store_->read().arm_sums(4));
  ASSERT_EQ(arms.size(), 2U);
  EXPECT_EQ(arms[0].units, sums.units);
  EXPECT_EQ(arms[1].impressions, 4U);
  EXPECT_EQ(arms[1].clicks, 2U);
  EXPECT_EQ(arms[1].units.yy, 0.5);
  EXPECT_EQ(arms[1].units.v, 0.25);
  EXPECT_EQ(arms[1].units.vv, 0.03125);
  auto points = got(store_->read().arm_points(4));
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].at, 100);
  EXPECT_EQ(points[0].arms[1].units, sums.units);
  EXPECT_EQ(points[1].arms[1].impressions, 4U);
  EXPECT_EQ(got(store_->read().unit_totals(4, -8)), (UnitTotals{3, 0.5}));
  EXPECT_EQ(got(store_->read().unit_totals(4, 8)), UnitTotals{});
  commit([&] {
    done(store_->delete_arm_point(4, 100));
    done(store_->delete_unit_totals(4, -8));
  });
  EXPECT_EQ(got(store_->read().arm_points(4)).size(), 1U);
  EXPECT_EQ(got(store_->read().unit_totals(4, -8)), UnitTotals{});
  EXPECT_EQ(got(store_->read().unit_totals(5, -8)), (UnitTotals{1, 1}));
  EXPECT_THAT(got(store_->read().experiments_with_units()), ElementsAre(5));
  commit([&] {
    done(store_->set_unit_totals(4, 1, {1, 1}));
    done(store_->set_unit_totals(4, 2, {1, 1}));
    done(store_->delete_experiment(4));
  });
  EXPECT_THAT(got(store_->read().experiments_with_units()), ElementsAre(4, 5));
  commit([&] {
    EXPECT_FALSE(got(store_->drop_unit_totals(4, 1)));
    EXPECT_TRUE(got(store_->drop_unit_totals(4, 9)));
  });
  EXPECT_THAT(got(store_->read().experiments_with_units()), ElementsAre(5));
  EXPECT_THAT(got(store_->read().arm_sums(4)), IsEmpty());
  EXPECT_THAT(got(store_->read().arm_points(4)), IsEmpty());
}

TEST_P(StoreContract, RetiredExperimentsLeaveTheirNumberAndStateUntilTheModelIsDropped) {
  const std::int64_t model = insert_model("m");
  const serving::ExperimentRow row{
      .model = model, .name = "e", .spec = "{}", .state = "{}", .started_at = 1, .ended_at = 2};
  std::vector<std::int64_t> numbers;
  commit([&] {
    for (int round = 0; round < 2; ++round) {
      numbers.push_back(got(store_->insert_experiment(row)));
      done(store_->add_to_arm(numbers.back(), 0, {.impressions = 1, .clicks = 1, .units = {}}));
      done(store_->retire_experiment(numbers.back(), "{\"makers\":[7]}"));
    }
  });
  EXPECT_THAT(got(store_->read().experiments()), IsEmpty());
  const auto retired = got(store_->read().retired_experiments(model));
  ASSERT_EQ(retired.size(), 2U);
  EXPECT_EQ(retired[1].id, numbers[1]);
  EXPECT_EQ(retired[1].state, "{\"makers\":[7]}");
  EXPECT_THAT(got(store_->read().retired_experiments(model + 1)), IsEmpty());
  EXPECT_THAT(got(store_->read().arm_sums(numbers[1])), IsEmpty());
  commit([&] { done(store_->delete_model(model)); });
  EXPECT_THAT(got(store_->read().deleted_models()), ElementsAre(model));
  commit([&] { EXPECT_TRUE(got(store_->drop_rows(model, 100))); });
  EXPECT_THAT(got(store_->read().deleted_models()), IsEmpty());
  EXPECT_THAT(got(store_->read().retired_experiments(model)), IsEmpty());
}

TEST_P(StoreContract, ListsKeepTheirArmsAndDeletedModelsTheirExperimentsUntilDropped) {
  const std::int64_t model = insert_model("m");
  commit([&] {
    done(store_->insert_impression({.id = id(model, 0),
                                    .data = bytes({1}),
                                    .in = {.experiment = 3, .arm = "new", .teams = "01-"}}));
    show(model, 1);
    got(store_->insert_experiment({.model = model, .name = "e"}));
  });
  const auto row = got(store_->read().impression(id(model, 0)));
  EXPECT_EQ(row->in.experiment, 3);
  EXPECT_EQ(row->in.arm, "new");
  EXPECT_EQ(row->in.teams, "01-");
  EXPECT_EQ(got(store_->read().impression(id(model, 1)))->in.experiment, 0);
  commit([&] { done(store_->delete_model(model)); });
  EXPECT_THAT(got(store_->read().deleted_models()), ElementsAre(model));
  for (bool all = false; !all;) commit([&] { all = got(store_->drop_rows(model, 10)); });
  EXPECT_THAT(got(store_->read().experiments()), IsEmpty());
  EXPECT_THAT(got(store_->read().deleted_models()), IsEmpty());
}

TEST_P(StoreContract, SnapshotsAreListedNewestFirst) {
  SnapshotRow row{.model = 1, .log = 10, .created_at = 4, .note = "n", .version = 2};
  row.file = bytes({9, 8});
  row.learning = false;
  row.frozen_because = "asked";
  std::vector<std::int64_t> ids;
  commit([&] {
    ids.push_back(got(store_->insert_snapshot(row)));
    row.log = 20;
    row.kind = SnapshotKind::kImported;
    ids.push_back(got(store_->insert_snapshot(row)));
    row.log = 30;
    row.kind = SnapshotKind::kAutomatic;
    ids.push_back(got(store_->insert_snapshot(row)));
  });
  const auto listed = got(store_->read().snapshots(1));
  ASSERT_EQ(listed.size(), 3U);
  EXPECT_EQ(listed[0].id, ids[2]);
  EXPECT_THAT(listed[0].file, IsEmpty());
  const auto first = got(store_->read().snapshot(ids[0]));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->file, row.file);
  EXPECT_EQ(first->note, "n");
  EXPECT_EQ(first->version, 2U);
  EXPECT_FALSE(first->learning);
  EXPECT_EQ(first->frozen_because, "asked");
  EXPECT_THAT(got(store_->read().base_snapshot(1, 5)), Optional(10));
  EXPECT_THAT(got(store_->read().base_snapshot(1, 11)), Optional(30)) << "not the imported one";
  EXPECT_FALSE(got(store_->read().base_snapshot(1, 31)));
  commit([&] { done(store_->delete_snapshot(ids[0])); });
  EXPECT_FALSE(got(store_->read().snapshot(ids[0])));
  // The log continues after what snapshots include.
  reopen();
  commit([&] { EXPECT_GT(got(store_->append_log({.model = 1}, 1)).seq, 30); });
}

TEST_P(StoreContract, SeriesAddUpAndBecomeCoarser) {
  const auto sums = [](std::int64_t at, std::uint64_t clicks) {
    SeriesRow row;
    row.at = at;
    row.impressions = 2 * clicks;
    row.clicks = clicks;
    row.entropies = 0.5;
    return row;
  };
  commit([&] {
    done(store_->add_to_series(1, sums(100, 1)));
    done(store_->add_to_series(1, sums(100, 2)));
    done(store_->add_to_series(1, sums(110, 4)));
    done(store_->add_to_series(1, sums(230, 8)));
    done(store_->add_to_series(2, sums(100, 16)));
  });
  const auto fine = got(store_->read().series(1, 10));
  ASSERT_EQ(fine.size(), 3U);
  EXPECT_EQ(fine[0].clicks, 3U);
  EXPECT_DOUBLE_EQ(fine[0].entropies, 1.0);
  EXPECT_EQ(got(store_->read().series(1, 100)).size(), 2U);
  const auto before = got(store_->read().series_total(1, 0, 200));
  EXPECT_EQ(before.clicks, 7U);
  EXPECT_EQ(before.at, 100);
  commit([&] { done(store_->coarsen_series(1, 240, 100)); });
  const auto coarse = got(store_->read().series(1, 10));
  ASSERT_EQ(coarse.size(), 2U) << "spans that start before 200 are merged";
  EXPECT_EQ(coarse[0].impressions, 14U);
  EXPECT_EQ(coarse[1].at, 230);
  EXPECT_EQ(got(store_->read().series_total(1, 0, 1000)).clicks, 15U);
}

TEST_P(StoreContract, DropsOldImpressionsWithAllThatIsAboutThem) {
  commit([&] {
    for (std::uint64_t number = 0; number < 3; ++number) {
      show(1, number, "own" + std::to_string(number));
      done(store_->set_response(id(1, number), {bytes({1}), bytes({0}), Closed::kNo}));
      done(store_->add_event(
          {id(1, number), 0, EventKind::kClick, 1, "e" + std::to_string(number)}));
    }
    done(store_->drop_impressions(1, 2));
  });
  EXPECT_FALSE(got(store_->read().impression(id(1, 1))));
  EXPECT_FALSE(got(store_->read().response(id(1, 1))));
  EXPECT_FALSE(got(store_->read().given_id(1, "own1")));
  EXPECT_FALSE(got(store_->read().event_seen(1, "e1")));
  EXPECT_TRUE(got(store_->read().impression(id(1, 2))));
  EXPECT_TRUE(got(store_->read().given_id(1, "own2")));
  EXPECT_TRUE(got(store_->read().event_seen(1, "e2")));
  done(store_->shrink());
}

TEST_P(StoreContract, ADeletedModelIsDroppedInParts) {
  const std::int64_t model = insert_model("m");
  const std::int64_t other = insert_model("other");
  commit([&] {
    for (std::uint64_t number = 0; number < 5; ++number) show(model, number);
    show(other, 0);
    for (const char* item : {"a", "b", "c"}) got(store_->put_item(model, item, bytes({1}), 0));
    EXPECT_TRUE(store_->append_log({.model = model}, 1).ok());
    EXPECT_TRUE(store_->insert_snapshot({.model = model}).ok());
    done(store_->add_to_series(model, {}));
    done(store_->delete_model(model));
  });
  EXPECT_THAT(got(store_->read().deleted_models()), ElementsAre(model));
  int parts = 0;
  for (bool all = false; !all && parts < 100; ++parts) {
    commit([&] { all = got(store_->drop_rows(model, 2)); });
  }
  EXPECT_GT(parts, 3);
  EXPECT_LT(parts, 100);
  EXPECT_THAT(got(store_->read().deleted_models()), IsEmpty());
  EXPECT_THAT(got(store_->read().log(model, 0, 9)), IsEmpty());
  EXPECT_TRUE(got(store_->read().impression(id(other, 0))));
}

TEST_P(StoreContract, ACleanCloseKeepsEverything) {
  const std::int64_t model = insert_model("m");
  for (std::uint64_t number = 0; number < 300; ++number) commit([&] { show(model, number); });
  store_->close();
  reopen();
  EXPECT_EQ(got(store_->read().recent(model, 1000, false)).size(), 300U);
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract, ::testing::ValuesIn(kStores),
                         [](const auto& kind) { return std::string(kind.param.name); });

}  // namespace
}  // namespace plackett::serving
