// What a service says of other policies, from its own log.
#include "serving/what_if.h"

#include <gmock/gmock.h>

#include <atomic>
#include <future>

#include "served.h"

namespace plackett::serving {
namespace {

using ::testing::HasSubstr;

constexpr std::uint32_t kShopFeatures = 2;
constexpr std::uint32_t kDocs = 5;

// A shop whose users like the first feature, and look at lower ranks less often.
class WhatIfShop {
 public:
  explicit WhatIfShop(double candidates = 1) {
    ModelSpec spec = small_spec("shop", kShopFeatures);
    spec.learner = "pdgd";
    spec.scaling = "none";
    spec.shown = 3;
    spec.logging.candidates = candidates;
    model = served.make(spec);
    EXPECT_TRUE(
        wait_for<ModelInfo>([&](auto done) { served->set_learning(model, false, done); }).ok());
  }

  // The model's weight of the first feature from now on; gives a snapshot of it.
  std::int64_t weigh(float weight) {
    const std::vector<float> weights{weight, 0};
    const auto set =
        wait_for<ModelInfo>([&](auto done) { served->set_weights(model, weights, done); });
    EXPECT_TRUE(set.ok());
    EXPECT_TRUE(
        wait_for<ModelInfo>([&](auto done) { served->set_learning(model, false, done); }).ok());
    return served.snapshot(model).id;
  }
  // Shows lists and gives the clicks per list.
  double serve(std::uint32_t lists) {
    std::uint32_t clicks = 0;
    for (std::uint32_t list = 0; list < lists; ++list) {
      const Candidates candidates(kDocs, kShopFeatures, ++number_);
      const auto ranked = served.rank(model, candidates.view());
      EXPECT_TRUE(ranked.ok());
      Rng rng({number_, 0, 0, Purpose::kClicks});
      std::vector<FeedbackEvent> events;
      for (std::size_t rank = 0; rank < ranked->items.size(); ++rank) {
        const double liked = candidates.view().row(Doc{ranked->items[rank].item})[0];
        if (rng.uniform() >= liked / static_cast<double>(rank + 1)) continue;
        events.push_back({ranked->impression, ranked->items[rank].id, "", EventKind::kClick});
        ++clicks;
      }
      events.push_back({ranked->impression, "", "", EventKind::kClose});
      served.tell(model, std::move(events));
    }
    return static_cast<double>(clicks) / lists;
  }
  Result<OffPolicyReport> ask(WhatIfRequest request) {
    auto answer = wait_for<WhatIfAnswer>(
        [&](auto done) { served->what_if(model, std::move(request), done); });
    if (!answer) return answer.error();
    if (!answer->refused.empty()) return Error{ErrorCode::kConflict, answer->refused};
    return std::move(answer->report);
  }

  Served served;
  ModelHandle model;

 private:
  std::uint64_t number_ = 0;
};

std::string snapshot(std::int64_t id) { return "snapshot:" + std::to_string(id); }

TEST(WhatIf, TellsTheBetterOfTwoSnapshotsBeforeEitherIsServed) {
  WhatIfShop shop;
  const std::int64_t better = shop.weigh(2);
  const std::int64_t worse = shop.weigh(-2);
  shop.weigh(0);
  const double logged = shop.serve(700);
  const auto report = shop.ask({.policies = {snapshot(better), snapshot(worse), "current"}});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->lists, 700U);
  EXPECT_NEAR(report->logged, logged, 1e-12);
  const auto robust = [&](std::size_t policy) {
    const ValueEstimate& estimate = report->policies[policy].estimates[2];
    EXPECT_EQ(estimate.estimator, Estimator::kDoublyRobust);
    EXPECT_EQ(estimate.refused, "");
    return estimate;
  };
  EXPECT_GT(robust(0).difference->low, 0);
  EXPECT_LT(robust(1).difference->high, 0);
  EXPECT_EQ(report->policies[2].estimates[0].value, report->logged);

  // And then they are served.
  for (const std::size_t policy : {0U, 1U}) {
    const std::int64_t id = policy == 0 ? better : worse;
    ASSERT_TRUE(
        wait_for<ModelInfo>([&](auto done) { shop.served->roll_back(shop.model, id, done); }).ok());
    // Both are known to about 0.03 each: four standard errors.
    EXPECT_NEAR(shop.serve(700), robust(policy).value, 0.2) << policy;
  }
}

TEST(WhatIf, ReadsTheNewestListsOnly) {
  WhatIfShop shop;
  shop.serve(30);
  const auto report = shop.ask({.policies = {"logged"}, .lists = 20});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->lists, 20U);
  EXPECT_THAT(report->policies[0].estimates[0].refused, HasSubstr("at least 100 are needed"));
}

TEST(WhatIf, SaysWhatIsWrong) {
  WhatIfShop shop;
  const auto refusal = [&](WhatIfShop& asked, const std::string& policy) {
    const auto report = asked.ask({.policies = {policy}});
    return report ? Error{"none"} : report.error();
  };
  EXPECT_EQ(refusal(shop, "logged").code, ErrorCode::kConflict);
  EXPECT_THAT(refusal(shop, "logged").message, HasSubstr("no sampled list"));
  shop.serve(3);
  EXPECT_EQ(refusal(shop, "snapshot:99").code, ErrorCode::kNotFound);
  EXPECT_EQ(refusal(shop, "snapshot:99").where, "policy");
  // Files of the server are not for callers.
  EXPECT_THAT(refusal(shop, "order:/etc/passwd").message, HasSubstr("unknown policy"));
  EXPECT_THAT(refusal(shop, "/etc/passwd").message, HasSubstr("unknown policy"));
  EXPECT_THAT(refusal(shop, "current@cold").message, HasSubstr("temperature"));
  WhatIfShop without(0);
  without.serve(3);
  EXPECT_EQ(refusal(without, "logged").code, ErrorCode::kConflict);
}

// An evaluation that waits inside until it is let go.
struct Held {
  std::promise<void> inside;
  std::promise<void> let_go;
  std::atomic<bool> entered{false};

  OffPolicyOptions options() {
    OffPolicyOptions made;
    made.stop = [this, gate = let_go.get_future().share()] {
      if (!entered.exchange(true)) inside.set_value();
      gate.wait();
      return false;
    };
    return made;
  }
};

TEST(WhatIf, IsOneAtATimeAndNothingWaitsForIt) {
  WhatIfShop shop;
  shop.serve(70);
  Held held;
  std::promise<Result<WhatIfAnswer>> answer;
  shop.served->what_if(shop.model, {.policies = {"logged"}, .options = held.options()},
                       [&](Result<WhatIfAnswer> report) { answer.set_value(std::move(report)); });
  held.inside.get_future().wait();
  const auto second = shop.ask({.policies = {"logged"}});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(second.error().message, HasSubstr("one at a time"));
  // Rankings, feedback and snapshots go on meanwhile.
  shop.serve(5);
  shop.served.snapshot(shop.model);
  held.let_go.set_value();
  const auto report = answer.get_future().get();
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->report.lists, 70U) << "later lists are not read";
  EXPECT_TRUE(shop.ask({.policies = {"logged"}}).ok());
}

TEST(WhatIf, IsCancelledWhenTheServiceStops) {
  WhatIfShop shop;
  shop.serve(140);
  Held held;
  std::promise<Result<WhatIfAnswer>> answer;
  shop.served->what_if(shop.model, {.policies = {"logged"}, .options = held.options()},
                       [&](Result<WhatIfAnswer> report) { answer.set_value(std::move(report)); });
  held.inside.get_future().wait();
  auto stopped = std::async(std::launch::async, [&] { shop.served->stop(); });
  for (;;) {
    const auto other = shop.ask({.policies = {"logged"}});
    ASSERT_FALSE(other.ok());
    if (other.error().message == "the service is stopping") break;
  }
  held.let_go.set_value();
  const auto report = answer.get_future().get();
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code, ErrorCode::kStopped);
  stopped.get();
}

}  // namespace
}  // namespace plackett::serving
