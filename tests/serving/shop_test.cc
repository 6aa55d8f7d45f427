// A simulated shop, end to end: the old order against the learned model at 10 %, the log's
// prediction before the switch, the promotion, and a bad challenger that its guard stops.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "serving/logged_lists.h"
#include "serving/logged_policy.h"
#include "serving/model.h"
#include "shop.h"

namespace plackett::serving {
namespace {

// PLACKETT_SHOP_SEED tells another story.
std::uint64_t shop_seed() {
  const char* given = std::getenv("PLACKETT_SHOP_SEED");
  return given == nullptr ? 1 : std::stoull(given);
}
constexpr std::uint32_t kTruthLists = 200'000;
constexpr std::uint32_t kThreeDays =
    Shop::kBatch * static_cast<std::uint32_t>(std::chrono::hours(72) / Shop::kBatchTime);

// A model's log and the policies that it knows.
class ShopLog {
 public:
  ShopLog(Shop& shop, const std::string& model)
      : path_(shop.served().db()),
        reader_(*store::read_sqlite(path_)),
        model_(logged_models(*reader_, model)->front()),
        lists_(*StoredLists::open([path = path_] { return store::read_sqlite(path); }, model_,
                                  shop.served().options().clock())) {}

  std::unique_ptr<TargetPolicy> policy(const std::string& name) {
    return *stored_policy(*parse_policy_name(name), model_, *reader_);
  }
  LoggedLists& lists() { return *lists_; }

 private:
  std::string path_;
  std::unique_ptr<StoreReader> reader_;
  LoggedModel model_;
  std::unique_ptr<StoredLists> lists_;
};

// An interval at this level misses the truth in about one of 1,000 logs. Its ends need more
// resampled logs than those of the usual level.
constexpr double kLevel = 0.999;
constexpr std::uint32_t kBootstraps = 4000;

// What a log says a policy is worth, doubly robust.
ValueEstimate predict(LoggedLists& lists, const TargetPolicy& policy) {
  const std::vector<NamedPolicy> policies{{"policy", &policy}};
  const auto report =
      off_policy(lists, policies,
                 {.estimators = {"doubly-robust"}, .level = kLevel, .bootstraps = kBootstraps});
  EXPECT_TRUE(report.ok()) << (report ? "" : report.error().message);
  return report ? report->policies[0].estimates[0] : ValueEstimate{};
}

bool holds(const ValueEstimate& estimate, double truth) {
  return estimate.bootstrap && estimate.bootstrap->low <= truth &&
         truth <= estimate.bootstrap->high;
}

// A log that is changed as it is read.
class ChangedLists : public LoggedLists {
 public:
  using Use = std::function<void(const LoggedList&)>;
  explicit ChangedLists(LoggedLists& lists) : lists_(lists) {}
  [[nodiscard]] std::uint32_t feature_count() const override { return lists_.feature_count(); }
  [[nodiscard]] std::size_t parts() const override { return lists_.parts(); }
  Result<void> each(std::size_t part, ListNeed need, const Use& use) override {
    return lists_.each(part, need, [&](const LoggedList& list) { change(list, use); });
  }

 private:
  virtual void change(const LoggedList& list, const Use& use) const = 0;
  LoggedLists& lists_;
};

// The lists from a number on: a snapshot that was taken before has not learned from them.
class ListsSince final : public ChangedLists {
 public:
  ListsSince(LoggedLists& lists, std::uint64_t first) : ChangedLists(lists), first_(first) {}

 private:
  void change(const LoggedList& list, const Use& use) const override {
    if (impression_number(list.name).value() >= first_) use(list);
  }
  std::uint64_t first_;
};

// The planted fault: propensities upside down.
class WrongPropensities final : public ChangedLists {
 public:
  using ChangedLists::ChangedLists;

 private:
  void change(const LoggedList& list, const Use& use) const override {
    LoggedList changed = list;
    std::vector<float> negated;
    for (const float score : list.scores) negated.push_back(-score);
    changed.scores = negated;
    use(changed);
  }
};

ExperimentSpec learned_or_old() {
  ExperimentSpec spec;
  spec.name = "learned-or-old";
  spec.arms = {{"old", "given", 0.9, Mode::kGiven}, {"learned", "model", 0.1, Mode::kExplore}};
  spec.promote = PromotionRule{"lower > 0", "3d"};
  return spec;
}

// The promoted model against another one at 1 %.
ExperimentSpec challenge(const std::string& challenger) {
  ExperimentSpec spec;
  spec.name = "challenge";
  spec.arms = {{"today", "model", 0.99, Mode::kExplore},
               {"challenger", "model:" + challenger, 0.01, Mode::kExploit}};
  spec.guard = GuardRule{"5 %"};
  return spec;
}

// A model of these weights times `factor`.
void add_challenger(Shop& shop, const std::string& name, float factor) {
  const ModelHandle challenger = shop.served().make(shop.spec(name));
  std::vector<float> weights;
  for (const FeatureWeight& feature : shop.served()->weights(*shop.model()).features) {
    weights.push_back(factor * static_cast<float>(feature.weight.value()));
  }
  const auto set = wait_for<ModelInfo>(
      [&](auto done) { shop.served()->set_weights(challenger, weights, done); });
  ASSERT_TRUE(set.ok()) << set.error().message;
}

// Two predictions at a level of 0.999: a false-alarm rate of about 0.002 per seed, somewhat more
// for that of the current model, which has learned from the lists that it is predicted from.
TEST(Shop, TestsTheLearnedModelPredictsPromotesItAndStopsABadChallenger) {
  Shop shop(shop_seed());
  // 1. Nine of ten visitors see the old order; the model learns from the others.
  shop.start(learned_or_old());
  shop.open_for(kThreeDays / 3 * 2);
  const SnapshotRow earlier = shop.served().snapshot(shop.model());
  const std::uint64_t first = shop.served()->info(*shop.model()).impressions;
  shop.open_for(kThreeDays / 3 - Shop::kBatch);
  const ExperimentInfo before = shop.experiment("learned-or-old");
  ASSERT_EQ(before.ended_at, 0) << "three days have not passed";
  const double old_value = before.arms[0].value.value();
  std::cout << fmt::format("old order: {:.3f} clicks per list\n", old_value);
  EXPECT_NEAR(old_value, shop.old_worth(kTruthLists), 0.02);

  // 2. The log says what serving the model to everybody would be worth.
  ShopLog log(shop, "shop");
  ListsSince lists(log.lists(), first);
  WrongPropensities wrong(lists);
  for (const std::string& name : {std::string("current"), fmt::format("snapshot:{}", earlier.id)}) {
    const auto policy = log.policy(name);
    const ValueEstimate estimate = predict(lists, *policy);
    ASSERT_TRUE(estimate.bootstrap) << name << ": " << estimate.refused;
    const double truth = shop.worth(*policy, kTruthLists);
    std::cout << fmt::format("{}: {:.3f} clicks per list, {:.3f} to {:.3f}; in truth {:.3f}\n",
                             name, estimate.value, estimate.bootstrap->low,
                             estimate.bootstrap->high, truth);
    EXPECT_GT(estimate.bootstrap->low, old_value) << name << " beats the old order";
    EXPECT_TRUE(holds(estimate, truth)) << name << " is worth " << truth;
    EXPECT_FALSE(holds(predict(wrong, *policy), truth)) << "refused, or wrong";
  }

  // 3. Three days have passed: the model is promoted, and everybody sees it.
  shop.open_for(Shop::kBatch);
  ASSERT_TRUE(testing::eventually([&] { return shop.experiment("learned-or-old").ended_at != 0; }));
  const ExperimentInfo ended = shop.experiment("learned-or-old");
  EXPECT_EQ(ended.promoted, "learned");
  EXPECT_GT(ended.arms[1].lift.value().low, 0);
  std::cout << ended.ended_because << '\n';
  EXPECT_TRUE(testing::eventually([&] {  // once the learner has taken the entry
    return shop.served()->info(*shop.model()).serves == Mode::kExplore;
  }));

  // 4. A challenger with inverted weights is stopped.
  add_challenger(shop, "inverted", -1);
  ShopLog inverted(shop, "inverted");
  const double bad = shop.worth(*inverted.policy("current@0"), kTruthLists);
  const double good = shop.worth(*ShopLog(shop, "shop").policy("current"), kTruthLists);
  EXPECT_LT(bad, 0.8 * good);
  shop.start(challenge("inverted"));
  shop.open_for(kThreeDays, [&] {
    EXPECT_TRUE(shop.look("challenge"));
    return shop.experiment("challenge").ended_at != 0;
  });
  const ExperimentInfo stopped = shop.experiment("challenge");
  ASSERT_NE(stopped.ended_at, 0);
  EXPECT_EQ(stopped.ended_because, "the guard stopped all challengers");
  EXPECT_EQ(shop.served()->info(*shop.model()).serves, Mode::kExplore);
  const ArmInfo& challenger = stopped.arms[1];
  EXPECT_THAT(challenger.stopped_because, ::testing::StartsWith("guard: its lift is below -5.0 %"));
  const double cost = (good - bad) * static_cast<double>(challenger.impressions);
  const auto clicks = static_cast<double>(shop.clicks());
  std::cout << fmt::format(
      "{} of {} lists by the bad challenger, {:.3f} instead of {:.3f} clicks per list: {:.0f} of "
      "{} "
      "clicks lost, {:.3f} %, and {:.2f} % of those in its own test\n",
      challenger.impressions, challenger.impressions + stopped.arms[0].impressions, bad, good, cost,
      clicks, 100 * cost / clicks,
      100 * cost / static_cast<double>(challenger.clicks + stopped.arms[0].clicks));
  EXPECT_LT(cost, 0.001 * clicks);
}

// The twin of the guard's: it does not stop everything.
TEST(Shop, AnEqualChallengerIsNotStopped) {
  Shop shop(shop_seed());
  shop.open_for(kThreeDays / 8);
  add_challenger(shop, "equal", 1);
  shop.start(challenge("equal"));
  shop.open_for(kThreeDays / 3);
  ASSERT_TRUE(shop.look("challenge"));
  const ExperimentInfo info = shop.experiment("challenge");
  EXPECT_EQ(info.ended_at, 0);
  EXPECT_TRUE(info.arms[1].lift);
  EXPECT_GT(info.arms[1].lift->high, 0);
}

}  // namespace
}  // namespace plackett::serving
