// What is logged besides what learning needs: other candidates, given lists, named events.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <thread>

#include "plackett/scaling.h"
#include "served.h"
#include "serving/logged.h"
#include "serving/model.h"
#include "store/sqlite/sqlite_store.h"
#include "support/eventually.h"

namespace plackett::serving {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ModelSpec logging_spec(double candidates, std::uint32_t features = 5) {
  ModelSpec spec = small_spec("m", features);
  spec.logging.candidates = candidates;
  return spec;
}

// As the store has it, with all candidates.
Impression stored(Served& served, const std::string& id, std::int64_t model = 1) {
  auto reader = *store::read_sqlite(served.db());
  const std::uint64_t number = std::stoull(id.substr(2));
  auto kept = read_impression(*reader, ImpressionKey{model, number}.id());
  EXPECT_TRUE(kept.ok() && *kept);
  Impression impression = std::move((*kept)->impression);
  const auto found = find_others(*reader, impression);
  EXPECT_TRUE(found.ok()) << (found ? "" : found.error().message);
  return impression;
}

// The scaled row of every candidate, by id: what the model saw.
std::map<std::string, std::vector<float>> scaled(const Candidates& candidates) {
  AlignedVector<float> rows = candidates.rows;
  const std::uint32_t stride = padded_width(candidates.features);
  scale_query_minmax(rows.data(), candidates.docs, candidates.features, stride);
  std::map<std::string, std::vector<float>> by_id;
  for (std::uint32_t doc = 0; doc < candidates.docs; ++doc) {
    const float* row = rows.data() + std::size_t{doc} * stride;
    by_id[std::to_string(doc)] = {row, row + candidates.features};
  }
  return by_id;
}

// All candidates of an impression, shown or not, have the rows that the model saw, to the bit.
void expect_all_rows(const Impression& impression, const Candidates& candidates) {
  const auto rows = scaled(candidates);
  const std::uint32_t stride = padded_width(candidates.features);
  const auto same = [&](const std::string& id, const float* row) {
    EXPECT_EQ(std::vector<float>(row, row + candidates.features), rows.at(id)) << id;
  };
  std::set<std::string> ids;
  std::size_t next = 0;
  for (const bool pinned : {false, true}) {
    for (const ShownItem& item : impression.shown) {
      if (item.pinned != pinned) continue;
      ids.insert(item.id);
      same(item.id, impression.rows.data() + next++ * stride);
    }
  }
  for (std::size_t at = 0; at < impression.others.size(); ++at) {
    ids.insert(impression.others[at].id);
    same(impression.others[at].id, impression.other_rows.data() + at * stride);
  }
  EXPECT_EQ(ids.size(), candidates.docs);
}

void store_items(Served& served, const ModelHandle& model, const Candidates& candidates) {
  std::vector<std::string> ids;
  for (std::uint32_t doc = 0; doc < candidates.docs; ++doc) ids.push_back(std::to_string(doc));
  ASSERT_TRUE(wait_for<std::uint64_t>([&](auto done) {
                served->put_items(model, ids, candidates.rows, done);
              }).ok());
}

// Ranks what is stored.
RankRequest stored_request(const Candidates& candidates, std::vector<std::string>& names) {
  RankRequest request;
  for (std::uint32_t doc = 0; doc < candidates.docs; ++doc) names.push_back(std::to_string(doc));
  for (const std::string& name : names) request.items.push_back(name);
  request.given.assign(names.size(), 0);
  request.blocked.resize(names.size());
  return request;
}

TEST(Log, KeepsAllCandidatesOfEveryKindOfList) {
  for (const Mode mode : {Mode::kExplore, Mode::kExploit, Mode::kGiven}) {
    Served served;
    const ModelHandle model = served.make(logging_spec(1));
    const Candidates candidates(14, 5);
    RankRequest request;
    request.mode = mode;
    request.k = 10;  // a given order is otherwise shown whole
    if (mode != Mode::kGiven) request.pinned = {{.item = 3, .rank = 1}};
    const auto ranked = served.rank(model, candidates.view(), request);
    ASSERT_TRUE(ranked.ok()) << ranked.error().message;
    const Impression impression = stored(served, ranked->impression);
    EXPECT_EQ(impression.mode, mode);
    EXPECT_EQ(impression.keep, 1);
    EXPECT_EQ(impression.others.size(), 4U);
    EXPECT_EQ(impression.learnable, mode == Mode::kExplore);
    expect_all_rows(impression, candidates);
  }
}

TEST(Log, KeepsStoredItemsByReferenceAndGivesTheSameBits) {
  Served served;
  const ModelHandle model = served.make(logging_spec(1));
  const Candidates first(40, 5, 1);
  const Candidates second(40, 5, 2);
  store_items(served, model, first);
  std::vector<std::string> names;
  const auto before = served.rank(model, stored_request(first, names));
  store_items(served, model, second);
  names.clear();
  const auto after = served.rank(model, stored_request(second, names));
  ASSERT_TRUE(before.ok() && after.ok());
  {
    auto reader = *store::read_sqlite(served.db());
    const auto raw = (*read_impression(*reader, ImpressionKey{1, 0}.id()))->impression;
    EXPECT_GT(raw.others.front().version, 0) << "a reference is smaller";
    EXPECT_EQ(raw.bounds.size(), 10U);
    EXPECT_EQ(raw.others.front().id, "");
  }
  expect_all_rows(stored(served, before->impression), first);
  expect_all_rows(stored(served, after->impression), second);
}

TEST(Log, WhereFewAreLeftOutTheirFeaturesAreSmallerThanAReference) {
  Served served;
  const ModelHandle model = served.make(logging_spec(1));
  const Candidates candidates(12, 5);
  store_items(served, model, candidates);
  std::vector<std::string> names;
  const auto ranked = served.rank(model, stored_request(candidates, names));
  auto reader = *store::read_sqlite(served.db());
  const auto raw = (*read_impression(*reader, ImpressionKey{1, 0}.id()))->impression;
  ASSERT_EQ(raw.others.size(), 2U);
  EXPECT_EQ(raw.others.front().version, 0);
  expect_all_rows(stored(served, ranked->impression), candidates);
}

TEST(Log, KeepsCandidatesWithTheProbabilityThatItRecords) {
  Served served;
  const ModelHandle model = served.make(logging_spec(0.25));
  const Candidates candidates(12, 5);
  int kept = 0;
  constexpr int kLists = 2000;
  for (int list = 0; list < kLists; ++list) {
    ASSERT_TRUE(served.rank(model, candidates.view()).ok());
  }
  auto reader = *store::read_sqlite(served.db());
  for (int list = 0; list < kLists; ++list) {
    const auto id = ImpressionKey{1, static_cast<std::uint64_t>(list)}.id();
    const auto impression = (*read_impression(*reader, id))->impression;
    EXPECT_EQ(impression.keep, 0.25);
    EXPECT_EQ(impression.others.size(), impression.kept ? 2U : 0U);
    kept += impression.kept ? 1 : 0;
  }
  // 500 are expected; five standard deviations are 97. Half or twice the probability would fail.
  EXPECT_NEAR(kept, kLists / 4, 97);
}

TEST(Log, WithoutCandidatesAnExploitedListHasNoFeatures) {
  Served served;
  const ModelHandle model = served.make(logging_spec(0));
  RankRequest request;
  request.mode = Mode::kExploit;
  const auto ranked = served.rank(model, Candidates(12, 5).view(), request);
  const Impression impression = stored(served, ranked->impression);
  EXPECT_FALSE(impression.kept);
  EXPECT_THAT(impression.rows, IsEmpty());
}

TEST(Log, CandidatesDontChangeWhatIsLearned) {
  std::vector<std::vector<std::byte>> files;
  for (const double keep : {0.0, 0.5, 1.0}) {
    Served served;
    const ModelHandle model = served.make(logging_spec(keep));
    for (int list = 0; list < 30; ++list) {
      RankRequest request;
      if (list % 3 == 1) request.pinned = {{.item = 3, .rank = 2}};
      const auto ranked = served.rank(model, Candidates(15, 5, list + 1).view(), request);
      served.tell(model, {{ranked->impression, ranked->items[4].id, "", EventKind::kClick},
                          {ranked->impression, "", "", EventKind::kClose}});
    }
    files.push_back(served->export_file(*model));
  }
  EXPECT_EQ(files[0], files[1]);
  EXPECT_EQ(files[0], files[2]);
}

TEST(Log, WhatIsLoggedCanBeChangedAndIsKept) {
  Served served;
  ModelSpec spec = logging_spec(0);
  const ModelHandle model = served.make(spec);
  spec.logging = {.candidates = 1, .events = {{"purchase", 10}, {"cart", 3}}};
  EXPECT_EQ(served.make(spec), model);
  const auto events = served->info(*model).spec.logging.events;
  EXPECT_THAT(events, ElementsAre(NamedWeight{"cart", 3}, NamedWeight{"purchase", 10}));
  served.reopen();
  const ModelHandle again = served->find("m");
  EXPECT_EQ(served->info(*again).spec.logging.candidates, 1);
  EXPECT_EQ(served->info(*again).spec.logging.events, events);
  const auto ranked = served.rank(again, Candidates(12, 5).view());
  EXPECT_TRUE(stored(served, ranked->impression).kept);
  spec.shown = 3;
  auto other = wait_for<Created>([&](auto done) { served->create(spec, done); });
  EXPECT_EQ(other.error().code, ErrorCode::kConflict);
  spec.shown = small_spec().shown;
  spec.logging.events = {{"click", 1}};
  other = wait_for<Created>([&](auto done) { served->create(spec, done); });
  EXPECT_THAT(other.error().message, HasSubstr("event \"click\""));
  spec.logging.events = {{"a", 1}, {"a", 2}};
  other = wait_for<Created>([&](auto done) { served->create(spec, done); });
  EXPECT_THAT(other.error().message, HasSubstr("twice"));
}

TEST(Log, ChangesOfCandidatesAndOfEventsDontUndoEachOther) {
  Served served;
  const ModelHandle model = served.make(logging_spec(0));
  // Each was made when nothing was changed yet.
  WantedModel all(logging_spec(1));
  all.events_given = false;
  WantedModel buys(logging_spec(0));
  buys.spec.logging.events = {{"purchase", 10}};
  buys.candidates_given = false;
  const auto file = served->export_file(*model);
  std::vector<std::future<bool>> done;
  const auto submit = [&](auto call) {
    auto promise = std::make_shared<std::promise<bool>>();
    done.push_back(promise->get_future());
    call([promise](const auto& answer) { promise->set_value(answer.ok()); });
  };
  // Without waiting, so that they may share a transaction.
  submit([&](auto answer) { served->create(all, answer); });
  submit([&](auto answer) { served->create(buys, answer); });
  submit([&](auto answer) { served->import_file("m", file, {}, answer); });
  for (auto& one : done) EXPECT_TRUE(one.get());
  const LogSettings expected{.candidates = 1, .events = {{"purchase", 10}}};
  EXPECT_EQ(served->info(*model).spec.logging, expected);
  EXPECT_EQ(model->candidates, 1);
  served.reopen();
  EXPECT_EQ(served->info(*served->find("m")).spec.logging, expected);
}

TEST(Log, AGivenListIsShownCountedAndNotLearnedFrom) {
  Served served;
  const ModelHandle model = served.make(logging_spec(0));
  const auto before = served->export_file(*model);
  const Candidates candidates(14, 5);
  RankRequest request;
  request.mode = Mode::kGiven;
  request.k = 4;
  const auto ranked = served.rank(model, candidates.view(), request);
  ASSERT_TRUE(ranked.ok()) << ranked.error().message;
  std::vector<std::string> order;
  for (const RankedItem& item : ranked->items) order.push_back(item.id);
  EXPECT_THAT(order, ElementsAre("0", "1", "2", "3"));
  EXPECT_EQ(ranked->log_probability, 0);
  EXPECT_THAT(*served.feedback(model, {{ranked->impression, "2", "", EventKind::kClick},
                                       {ranked->impression, "", "", EventKind::kClose}}),
              ElementsAre(FeedbackStatus::kAccepted, FeedbackStatus::kAccepted));
  EXPECT_EQ(served->export_file(*model), before);
  EXPECT_EQ(served->info(*model).learned, 0U);
  EXPECT_EQ(served->info(*model).impressions, 1U);
  EXPECT_EQ(served->stats(*model, 10)->total.clicks, 1U);
  EXPECT_EQ(served->impression(*model, ranked->impression)->state, "closed");
  request.pinned = {{.item = 1, .rank = 0}};
  EXPECT_THAT(served.rank(model, candidates.view(), request).error().message,
              HasSubstr("no pinned and no blocked items"));
}

TEST(Log, AnExpiredGivenListIsNotLearnedFromEither) {
  Served served;
  const ModelHandle model = served.make(logging_spec(1));
  const auto before = served->export_file(*model);
  RankRequest request;
  request.mode = Mode::kGiven;
  const auto ranked = served.rank(model, Candidates(14, 5).view(), request);
  served.tell(model, {{ranked->impression, "2", "", EventKind::kClick}});
  served.pass(std::chrono::hours(2));
  EXPECT_TRUE(testing::eventually(
      [&] { return served->impression(*model, ranked->impression)->state == "expired"; }));
  served.reopen();
  EXPECT_EQ(served->export_file(*served->find("m")), before);
}

TEST(Log, UnknownItemsCanBeSkipped) {
  Served served;
  const ModelHandle model = served.make(logging_spec(1));
  const Candidates candidates(5, 5);
  store_items(served, model, candidates);
  std::vector<std::string> names{"new"};
  RankRequest request = stored_request(candidates, names);
  EXPECT_THAT(served.rank(model, request).error().message, HasSubstr("\"missing\": \"skip\""));
  request.skip_missing = true;
  const auto ranked = served.rank(model, request);
  ASSERT_TRUE(ranked.ok()) << ranked.error().message;
  EXPECT_THAT(ranked->skipped, ElementsAre("new"));
  EXPECT_EQ(ranked->items.size(), 5U);
  EXPECT_EQ(ranked->items.front().id, names[ranked->items.front().item]);
  expect_all_rows(stored(served, ranked->impression), candidates);
  request.pinned = {{.item = 0, .rank = 0}};
  EXPECT_THAT(served.rank(model, request).error().message, HasSubstr("is not stored"));
  request.pinned.clear();
  request.items = {names[0]};
  request.given = {0};
  request.blocked = {0};
  EXPECT_THAT(served.rank(model, request).error().message, HasSubstr("no item to rank"));
}

TEST(Log, NamedEventsCountOnceAndMayComeLate) {
  Served served;
  ModelSpec spec = logging_spec(0);
  spec.logging.events = {{"purchase", 10}};
  const ModelHandle model = served.make(spec);
  const auto ranked = served.rank(model, Candidates(12, 5).view());
  const std::string item = ranked->items[1].id;
  using S = FeedbackStatus;
  const FeedbackEvent purchase{ranked->impression, item, "", EventKind::kNamed, "purchase"};
  EXPECT_EQ(served.feedback(model, purchase), S::kAccepted);
  EXPECT_EQ(served.feedback(model, purchase), S::kDuplicate);
  served.tell(model, {{ranked->impression, "", "", EventKind::kClose}});
  FeedbackEvent other = purchase;
  other.item = ranked->items[2].id;
  EXPECT_EQ(served.feedback(model, other), S::kAccepted) << "after the list was closed";
  const auto unknown = served.feedback(
      model, std::vector<FeedbackEvent>{{ranked->impression, item, "", EventKind::kNamed, "gift"}});
  EXPECT_THAT(unknown.error().message,
              HasSubstr("unknown event \"gift\"; this model knows: click"));
  EXPECT_EQ(served->info(*model).updates, 0U) << "nothing is learned from them";
}

TEST(Log, PagesReadDuringTrafficMissNoList) {
  Served served;
  const ModelHandle model = served.make(logging_spec(0));
  const Candidates candidates(12, 5);
  std::atomic<int> running = 4;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      const auto scratch = served->make_scratch();
      std::vector<std::string> names;
      RankRequest request = stored_request(candidates, names);
      request.given.assign(names.size(), 1);
      request.rows = candidates.rows;
      for (int list = 0; list < 400; ++list) {
        EXPECT_TRUE(wait_for<Ranked>([&](auto done) {
                      served->rank(model, request, *scratch, done);
                    }).ok());
      }
      --running;
    });
  }
  std::uint64_t seen = 0;
  std::uint64_t next = 0;
  for (bool last = false;;) {
    const bool was_last = last;
    last = running == 0;
    const auto page = served->impressions_from(*model, next, 100);
    seen += page->impressions.size();
    next = page->next;
    if (was_last && page->impressions.empty()) break;
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(seen, 1600U);
}

TEST(Log, ItemsPutAgainAsTheyAreGetNoNewVersion) {
  Served served;
  const ModelHandle model = served.make(logging_spec(1));
  const Candidates candidates(30, 5);
  const auto versions = [&] {
    std::vector<std::int64_t> all;
    auto reader = *store::read_sqlite(served.db());
    EXPECT_TRUE(reader
                    ->items(1,
                            [&](auto, std::int64_t version, auto) {
                              all.push_back(version);
                              return Result<void>();
                            })
                    .ok());
    return all;
  };
  store_items(served, model, candidates);
  const auto before = versions();
  store_items(served, model, candidates);
  EXPECT_EQ(versions(), before);
  store_items(served, model, Candidates(30, 5, 2));
  EXPECT_NE(versions(), before);
}

TEST(Log, PagesOfImpressionsGiveEachOnce) {
  Served served;
  const ModelHandle model = served.make(logging_spec(0));
  for (int list = 0; list < 25; ++list) {
    ASSERT_TRUE(served.rank(model, Candidates(12, 5).view()).ok());
  }
  std::vector<std::string> ids;
  std::uint64_t next = 0;
  for (;;) {
    const auto page = served->impressions_from(*model, next, 10);
    if (page->impressions.empty()) break;
    for (const SeenImpression& seen : page->impressions) ids.push_back(seen.id);
    next = page->next;
  }
  EXPECT_EQ(ids.size(), 25U);
  EXPECT_EQ(ids.front(), "i-0");
  EXPECT_EQ(ids.back(), "i-24");
  EXPECT_EQ(served->impressions_from(*model, next, 10)->next, next);
}

// Reads the log as `plackett export` does, again and again while lists are stored.
TEST(Settled, ReadingOnSeesEveryListOnceWhileListsAreStored) {
  constexpr int kThreads = 4;
  constexpr int kLists = 400;
  Served served;
  const ModelHandle model = served.make(logging_spec(0));
  const Candidates candidates(5, 5);
  std::atomic<int> running = kThreads;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&] {
      const auto scratch = served->make_scratch();
      RankRequest request;
      request.items = {"a", "b", "c", "d", "e"};
      request.given.assign(5, 1);
      request.blocked.resize(5);
      request.rows = candidates.rows;
      for (int list = 0; list < kLists; ++list) {
        EXPECT_TRUE(wait_for<Ranked>([&](auto done) {
                      served->rank(model, request, *scratch, done);
                    }).ok());
      }
      --running;
    });
  }
  auto reader = *store::read_sqlite(served.db());
  const LoggedModel logged = logged_models(*reader, "m")->front();
  std::vector<std::string> seen;
  std::uint64_t from = 0;
  const auto read_on = [&] {
    const auto now = settled(*reader, logged.row.id, from, 1'800'000'000'000);
    ASSERT_TRUE(now.ok());
    ASSERT_TRUE(each_logged(*reader, logged, {.from = from, .to = now->end},
                            [&](const LoggedImpression& one) {
                              seen.push_back(one.name);
                              return Result<void>();
                            })
                    .ok());
    from = now->end;
  };
  while (running > 0) read_on();
  for (std::thread& thread : threads) thread.join();
  read_on();
  ASSERT_EQ(seen.size(), std::size_t{kThreads} * kLists);
  for (std::size_t number = 0; number < seen.size(); ++number) {
    EXPECT_EQ(seen[number], impression_name(number));
  }
}

TEST(Settled, AListThatWasRefusedIsWaitedForOnlyAWhile) {
  constexpr std::int64_t kNow = 1'800'000'000'000;  // Served's
  Served served;
  const ModelHandle model = served.make(logging_spec(0));
  const Candidates candidates(5, 5);
  RankRequest own;
  own.id = "own";
  ASSERT_TRUE(served.rank(model, candidates.view(), own).ok());   // 0
  ASSERT_FALSE(served.rank(model, candidates.view(), own).ok());  // 1
  auto reader = *store::read_sqlite(served.db());
  const auto end = [&](std::int64_t now, std::uint64_t from = 0) {
    return settled(*reader, 1, from, now)->end;
  };
  EXPECT_EQ(end(kNow), 1U);
  ASSERT_TRUE(served.rank(model, candidates.view()).ok());  // 2
  EXPECT_EQ(end(kNow), 1U);
  EXPECT_TRUE(settled(*reader, 1, 0, kNow)->more);
  EXPECT_EQ(end(kNow, 1), 1U);
  EXPECT_EQ(end(kNow, 2), 3U) << "the caller has skipped it";
  EXPECT_EQ(end(kNow + 600'000), 3U) << "nothing came for long";
  served.pass(std::chrono::seconds(10));
  ASSERT_TRUE(served.rank(model, candidates.view()).ok());  // 3
  EXPECT_EQ(end(kNow + 10'000), 4U) << "others came long after it";
  EXPECT_FALSE(settled(*reader, 1, 0, kNow + 10'000)->more);
  EXPECT_EQ(end(kNow + 10'000, 9), 9U);
}

}  // namespace
}  // namespace plackett::serving
