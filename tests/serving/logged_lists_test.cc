// A service's log as off-policy evaluation reads it.
#include "serving/logged_lists.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include "plackett/model_file.h"
#include "plackett/ranker_spec.h"
#include "served.h"
#include "serving/logged_policy.h"
#include "serving/model.h"
#include "serving/order_policy.h"
#include "store/sqlite/sqlite_store.h"

namespace plackett::serving {
namespace {

using ::testing::HasSubstr;

constexpr std::uint32_t kFeatures = 5;

ModelSpec evaluated_spec(double candidates) {
  ModelSpec spec = small_spec("m", kFeatures);
  spec.logging.candidates = candidates;
  spec.shown = 3;
  spec.temperature = 0.7;
  return spec;
}

// Shows lists of 8 items, with a click on every third, and closes them.
void show(Served& served, const ModelHandle& model, std::uint32_t lists, RankRequest request = {}) {
  for (std::uint32_t number = 0; number < lists; ++number) {
    const Candidates candidates(8, kFeatures, 100 + number);
    const auto ranked = served.rank(
        model, FeatureView(candidates.rows.data(), candidates.docs, kFeatures), request);
    ASSERT_TRUE(ranked.ok()) << ranked.error().message;
    std::vector<FeedbackEvent> events;
    if (number % 3 == 0) {
      events.push_back({ranked->impression, ranked->items[number % 2].id, "", EventKind::kClick});
    }
    events.push_back({ranked->impression, "", "", EventKind::kClose});
    served.tell(model, events);
  }
}

struct Log {
  explicit Log(Served& served)
      : reader(*store::read_sqlite(served.db())), model(logged_models(*reader, "m")->front()) {}

  std::unique_ptr<StoredLists> lists(Served& served, std::int64_t now = 1'800'000'000'000) const {
    return *StoredLists::open([&served] { return store::read_sqlite(served.db()); }, model, now);
  }
  std::unique_ptr<TargetPolicy> policy(const std::string& name) const {
    return *stored_policy(*parse_policy_name(name), model, *reader);
  }
  [[nodiscard]] std::string refusal(const std::string& name) const {
    const auto parsed = parse_policy_name(name);
    if (!parsed) return parsed.error().message;
    const auto made = stored_policy(*parsed, model, *reader);
    return made ? "" : made.error().message;
  }

  std::unique_ptr<StoreReader> reader;
  LoggedModel model;
};

OffPolicyReport evaluated(StoredLists& lists, const TargetPolicy& policy,
                          const OffPolicyOptions& options = {}) {
  const std::vector<NamedPolicy> policies{{"policy", &policy}};
  auto report = off_policy(lists, policies, options);
  EXPECT_TRUE(report.ok()) << (report ? "" : report.error().message);
  return report ? *report : OffPolicyReport{};
}

TEST(LoggedLists, OfAFrozenModelGiveItsOwnClicksToTheBit) {
  for (const double candidates : {1.0, 0.4}) {
    Served served;
    const ModelHandle model = served.make(evaluated_spec(candidates));
    show(served, model, 20);
    ASSERT_TRUE(
        wait_for<ModelInfo>([&](auto done) { served->set_learning(model, false, done); }).ok());
    // Only the lists of the frozen model are its own: take a store that has no others.
    const SnapshotRow frozen = served.snapshot(model);
    Served own;
    const ModelHandle copy = own.make(evaluated_spec(candidates));
    ASSERT_TRUE(wait_for<ModelInfo>([&](auto done) {
                  own->import_file("m", served->export_file(*model), {}, done);
                }).ok());
    ASSERT_TRUE(wait_for<ModelInfo>([&](auto done) { own->set_learning(copy, false, done); }).ok());
    show(own, copy, 300);
    own.close();
    const Log log(own);
    const auto lists = log.lists(own);
    for (const char* name : {"current", "logged"}) {
      const auto report = evaluated(*lists, *log.policy(name));
      EXPECT_EQ(report.lists, 300U);
      EXPECT_NEAR(report.logged, 1.0 / 3, 1e-12);
      EXPECT_EQ(report.policies[0].estimates[0].value, report.logged) << name;
      EXPECT_EQ(report.policies[0].ranks[2].mean_weight > 0, true);
    }
    if (candidates == 1) {
      EXPECT_EQ(evaluated(*lists, *log.policy("current")).kept, 300U);
    }
  }
}

TEST(LoggedLists, HaveTheCandidatesThatWereStored) {
  Served served;
  const ModelHandle model = served.make(evaluated_spec(1));
  const Candidates candidates(8, kFeatures);
  std::vector<std::string> ids;
  for (int at = 0; at < 8; ++at) ids.push_back("item-" + std::to_string(at));
  ASSERT_TRUE(wait_for<std::uint64_t>([&](auto done) {
                served->put_items(model, ids, candidates.rows, done);
              }).ok());
  RankRequest request;
  for (const std::string& id : ids) request.items.push_back(id);
  request.given.assign(8, 0);
  request.blocked.assign(8, 0);
  const auto ranked = served.rank(model, request);
  ASSERT_TRUE(ranked.ok());
  served.tell(model, {{ranked->impression, "", "", EventKind::kClose}});
  served.close();
  const Log log(served);
  const auto lists = log.lists(served);
  ASSERT_EQ(lists->parts(), 1U);
  std::uint32_t seen = 0;
  ASSERT_TRUE(lists
                  ->each(0, ListNeed::kAll,
                         [&](const LoggedList& list) {
                           ++seen;
                           EXPECT_EQ(list.docs.doc_count(), 8U);
                           EXPECT_EQ(list.ids.size(), 8U);
                           EXPECT_EQ(list.ids[0], ranked->items[0].id);
                           EXPECT_EQ(list.sampled(), 3U);
                           // The scores are those that the list was sampled by.
                           EXPECT_EQ(static_cast<double>(list.scores[0]),
                                     static_cast<double>(
                                         static_cast<float>(ranked->items[0].score) / 0.7F));
                         })
                  .ok());
  EXPECT_EQ(seen, 1U);
}

TEST(LoggedLists, LeaveOutWhatSaysNothing) {
  Served served;
  const ModelHandle model = served.make(evaluated_spec(1));
  show(served, model, 3);
  RankRequest sorted;
  sorted.mode = Mode::kExploit;
  show(served, model, 2, sorted);
  RankRequest given;
  given.mode = Mode::kGiven;
  show(served, model, 1, given);
  // Still open, and all whose time is not up wait with it, although users closed them: whether they
  // count must not depend on users.
  const Candidates candidates(8, kFeatures);
  ASSERT_TRUE(
      served.rank(model, FeatureView(candidates.rows.data(), candidates.docs, kFeatures)).ok());
  show(served, model, 4);
  served.close();
  const Log log(served);
  const auto lists = log.lists(served);
  const auto policy = log.policy("logged");
  const std::vector<NamedPolicy> policies{{"policy", policy.get()}};
  EXPECT_FALSE(off_policy(*lists, policies, {}).ok());
  EXPECT_EQ(lists->left_out().open, 11U);
  // When their time is up they count, closed or not.
  const auto later = log.lists(served, 1'800'000'000'000 + 1000 * 1801);
  EXPECT_EQ(evaluated(*later, *log.policy("logged")).lists, 8U);
  EXPECT_EQ(later->left_out().not_sampled, 3U);
  EXPECT_EQ(later->left_out().open, 0U);
}

TEST(LoggedLists, FromANumberAreThatOneAndLaterOnes) {
  Served served;
  const ModelHandle model = served.make(evaluated_spec(1));
  show(served, model, 10);
  served.close();
  const Log log(served);
  const auto names = [&](StoredLists::Wanted wanted) {
    const auto lists = *StoredLists::open([&] { return store::read_sqlite(served.db()); },
                                          log.model, 1'800'000'000'000, wanted);
    std::vector<std::string> seen;
    for (std::size_t part = 0; part < lists->parts(); ++part) {
      EXPECT_TRUE(lists
                      ->each(part, ListNeed::kShown,
                             [&](const LoggedList& list) { seen.emplace_back(list.name); })
                      .ok());
    }
    return seen;
  };
  const std::vector<std::string> all = names({});
  ASSERT_EQ(all.size(), 10U);
  const auto last = [&](std::ptrdiff_t count) {
    return std::vector<std::string>(all.end() - count, all.end());
  };
  const std::uint64_t third_last = *impression_number(all[7]);
  EXPECT_EQ(names({.from = third_last}), last(3));
  EXPECT_EQ(names({.newest = 2, .from = third_last}), last(2));
  EXPECT_EQ(names({.newest = 5, .from = third_last}), last(3));
  EXPECT_EQ(names({.from = *impression_number(all[9]) + 1}), last(0));
  EXPECT_EQ(names({.from = 1'000'000}), last(0));
}

// Lists before it neither count nor wait.
TEST(LoggedLists, FromANumberWaitForThoseOnly) {
  Served served;
  const ModelHandle model = served.make(evaluated_spec(1));
  show(served, model, 3);
  const Candidates candidates(8, kFeatures);
  const FeatureView view(candidates.rows.data(), candidates.docs, kFeatures);
  ASSERT_TRUE(served.rank(model, view).ok());
  const auto open = served.rank(model, view);
  ASSERT_TRUE(open.ok());
  served.close();
  const Log log(served);
  const auto lists =
      *StoredLists::open([&] { return store::read_sqlite(served.db()); }, log.model,
                         1'800'000'000'000, {.from = *impression_number(open->impression)});
  EXPECT_EQ(lists->parts(), 0U);
  EXPECT_EQ(lists->left_out().open, 1U);
}

TEST(LoggedLists, OfForgottenUnitsAreLeftOutForOrders) {
  Served served;
  const ModelHandle model = served.make(evaluated_spec(1));
  RankRequest forgotten;
  forgotten.unit = "mallory";
  show(served, model, 2, forgotten);
  show(served, model, 3);
  const auto count = wait_for<std::uint64_t>(
      [&](auto done) { served->forget_unit(model, "mallory", /*drop=*/false, done); });
  ASSERT_TRUE(count.ok());
  ASSERT_EQ(*count, 2U);
  served.close();
  const Log log(served);
  const auto all = log.lists(served);
  std::string orders;
  std::uint32_t without_ids = 0;
  ASSERT_TRUE(all->each(0, ListNeed::kAll,
                        [&](const LoggedList& list) {
                          // Empty, so that ties are not broken by the order that was shown.
                          if (list.ids.empty()) {
                            ++without_ids;
                            return;
                          }
                          orders += fmt::format("{{\"impression\": \"{}\", \"items\": [\"{}\"]}}\n",
                                                list.name, fmt::join(list.ids, "\", \""));
                        })
                  .ok());
  EXPECT_EQ(without_ids, 2U);
  EXPECT_EQ(all->left_out().forgotten, 0U);
  const auto policy = parse_order_policy(orders, "orders");
  ASSERT_TRUE(policy.ok());
  const std::vector<NamedPolicy> policies{{"policy", policy->get()}};
  // Proves that they would be in the way.
  EXPECT_FALSE(off_policy(*all, policies, {}).ok());
  const auto named = log.lists(served);
  named->leave_out_forgotten();
  EXPECT_EQ(evaluated(*named, **policy).lists, 3U);
  EXPECT_EQ(named->left_out().forgotten, 2U);
  EXPECT_TRUE(needs_ids("order:orders.jsonl"));
  EXPECT_FALSE(needs_ids("current"));
}

TEST(LoggedLists, WithoutACandidateKeptAreRefused) {
  Served served;
  const ModelHandle model = served.make(evaluated_spec(0));
  show(served, model, 3);
  served.close();
  const Log log(served);
  const auto lists = log.lists(served);
  const auto policy = log.policy("logged");
  const std::vector<NamedPolicy> policies{{"policy", policy.get()}};
  const auto report = off_policy(*lists, policies, {});
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(report.error().message, HasSubstr("no candidates were kept"));
  EXPECT_EQ(lists->left_out().no_keep, 3U);
}

TEST(LoggedLists, TimesAreToldToTheMinuteThatHasBegun) {
  constexpr std::int64_t kNow = 1'800'000'000'000;  // 2027-01-15 08:00:00
  EXPECT_EQ(time_text(kNow, kNow), "08:00 UTC");
  EXPECT_EQ(time_text(kNow + 1, kNow), "08:01 UTC");
  EXPECT_EQ(time_text(kNow + 86'400'000, kNow), "2027-01-16 08:00 UTC");
}

TEST(LoggedPolicies, AreFoundByNameOrRefused) {
  Served served;
  const ModelHandle model = served.make(evaluated_spec(1));
  show(served, model, 5);
  const SnapshotRow snapshot = served.snapshot(model);
  served.close();
  const Log log(served);
  EXPECT_NE(log.policy("snapshot:" + std::to_string(snapshot.id)), nullptr);
  EXPECT_NE(log.policy("snapshot:" + std::to_string(snapshot.id) + "@0"), nullptr);
  EXPECT_THAT(log.refusal("snapshot:99"), HasSubstr("has no snapshot 99; it has "));
  EXPECT_THAT(log.refusal("snapshot:x"), HasSubstr("expected the number of a snapshot"));
  EXPECT_THAT(log.refusal("current@-1"), HasSubstr("after @ comes a temperature"));
  EXPECT_THAT(log.refusal("current@nan"), HasSubstr("after @ comes a temperature"));
  EXPECT_THAT(log.refusal("best"), HasSubstr("unknown policy \"best\""));
  SavedModel file;
  file.ranker.feature_count = 4;
  const auto other = file_policy({"new.plk"}, file, log.model);
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(other.error().message, HasSubstr("new.plk reads 4 features; the log of \"m\" has 5"));
  file.ranker.feature_count = kFeatures;
  file.scaling = "none";
  const auto scaled = file_policy({"new.plk"}, file, log.model);
  ASSERT_FALSE(scaled.ok());
  EXPECT_THAT(scaled.error().message, HasSubstr("new.plk reads features scaled by none"));
}

}  // namespace
}  // namespace plackett::serving
