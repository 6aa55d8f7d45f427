// A simulated shop over a service: visitors search, see a list, and click as a user model says.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <latch>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "plackett/make_user.h"
#include "plackett/off_policy.h"
#include "plackett/plackett_luce.h"
#include "plackett/synthetic.h"
#include "served.h"
#include "support/eventually.h"

namespace plackett::serving {

// A function of its seed, but for when the service looks at its experiments: it does so by itself,
// a few times a second. Time passes between batches of lists only.
class Shop {
 public:
  static constexpr std::uint32_t kShown = 5;
  static constexpr std::uint32_t kVisitors = 20'000;
  static constexpr std::uint32_t kBatch = 750;
  static constexpr std::chrono::minutes kBatchTime{30};

  explicit Shop(std::uint64_t seed) : seed_(seed) {
    SyntheticOptions options;
    options.queries = 200;
    options.folds = 1;
    data_ = make_synthetic(options, {}).value();
    UserOptions user_options;
    user_options.grade_count = data_.grade_count();
    user_ = make_user("navigational", user_options).value();
    for (std::uint32_t query = 0; query < searches().query_count(); ++query) add_page(Query{query});
    model_ = served_.make(spec("shop"));
    scratch_ = std::make_unique<Scratch>(served_->make_scratch());
  }

  // Of the shop's model, or of another one for the same products.
  [[nodiscard]] ModelSpec spec(const std::string& name) const {
    ModelSpec spec = small_spec(name, searches().feature_count());
    spec.shown = kShown;
    spec.scaling = "none";
    spec.seed = seed_;
    spec.logging.candidates = 1;
    return spec;
  }
  Served& served() { return served_; }
  const ModelHandle& model() { return model_; }
  [[nodiscard]] std::uint64_t clicks() const { return clicks_; }

  // Shows that many lists, batch by batch, until `enough`, which is asked after each batch.
  void open_for(std::uint32_t lists, const std::function<bool()>& enough = {}) {
    for (std::uint32_t shown = 0; shown < lists && !::testing::Test::HasFatalFailure();
         shown += kBatch) {
      serve_batch();
      served_.pass(kBatchTime);
      if (enough && enough()) return;
    }
  }

  void start(const ExperimentSpec& spec) {
    const auto started =
        wait_for<PutExperiment>([&](auto done) { served_->put_experiment(model_, spec, done); });
    ASSERT_TRUE(started.ok()) << started.error().message;
  }
  ExperimentInfo experiment(const std::string& name) {
    auto found = served_->experiment(*model_, name);
    EXPECT_TRUE(found.ok()) << (found ? "" : found.error().message);
    return *std::move(found);
  }
  // Waits until the service has looked at the experiment's sums as they are now, in its first two
  // days: it keeps what it saw after each batch.
  bool look(const std::string& name) {
    return testing::eventually([&] {
      const ExperimentInfo info = experiment(name);
      if (info.ended_at != 0) return true;
      if (info.points.empty()) return false;
      const auto same = [](const ArmInfo& left, const ArmInfo& right) {
        return left.value == right.value;
      };
      const std::vector<ArmInfo>& looked_at = info.points.back().arms;
      return std::equal(info.arms.begin(), info.arms.end(), looked_at.begin(), same);
    });
  }

  // Clicks per list that a policy is worth, by showing it to as many visitors: the truth.
  double worth(const TargetPolicy& policy, std::uint32_t lists) const {
    const auto own = policy.clone();
    PolicyChoice choice;
    SamplingScratch scratch;
    std::vector<Doc> shown(kShown);
    std::uint64_t clicks = 0;
    for (std::uint32_t list = 0; list < lists; ++list) {
      Rng rng({seed_, 1, list, Purpose::kTest});
      const Query query{rng.below(searches().query_count())};
      LoggedList asked;
      asked.docs = searches().features(query);
      const std::vector<std::uint8_t> pinned(kShown);
      asked.pinned = pinned;
      EXPECT_TRUE(own->choose(asked, choice).ok());
      if (choice.sampled) {
        sample_ranking(choice.scores, rng, scratch, shown);
      } else {
        std::copy_n(choice.order.begin(), kShown, shown.begin());
      }
      clicks += clicks_on(shown, query, rng);
    }
    return static_cast<double>(clicks) / lists;
  }
  // The same of the shop's old order.
  double old_worth(std::uint32_t lists) const {
    std::uint64_t clicks = 0;
    for (std::uint32_t list = 0; list < lists; ++list) {
      Rng rng({seed_, 2, list, Purpose::kTest});
      const Query query{rng.below(searches().query_count())};
      const auto& order = pages_[index(query)].order;
      clicks += clicks_on(std::span(order).first(kShown), query, rng);
    }
    return static_cast<double>(clicks) / lists;
  }

 private:
  using Scratch = decltype(std::declval<Service>().make_scratch());

  // What the shop knows about a search: its products, best first by one feature.
  struct Page {
    std::vector<Doc> order;
    std::vector<std::string> names;
    AlignedVector<float> rows;
  };

  [[nodiscard]] const Split& searches() const { return data_.folds.front().train; }

  void add_page(Query query) {
    constexpr std::uint32_t kOldFeature = 3;
    const FeatureView docs = searches().features(query);
    Page page;
    page.order.resize(docs.doc_count());
    for (std::uint32_t doc = 0; doc < docs.doc_count(); ++doc) page.order[doc] = Doc{doc};
    std::stable_sort(page.order.begin(), page.order.end(), [&](Doc left, Doc right) {
      return docs.row(left)[kOldFeature] > docs.row(right)[kOldFeature];
    });
    for (const Doc doc : page.order) {
      page.names.push_back(std::to_string(index(doc)));
      const float* row = docs.data() + std::size_t{index(doc)} * docs.stride();
      page.rows.insert(page.rows.end(), row, row + docs.stride());
    }
    pages_.push_back(std::move(page));
  }

  std::uint64_t clicks_on(std::span<const Doc> shown, Query query, Rng& rng) const {
    std::vector<std::uint8_t> clicks(shown.size());
    user_->click(shown, searches().judgments(query), rng, clicks);
    return static_cast<std::uint64_t>(std::accumulate(clicks.begin(), clicks.end(), 0));
  }

  void serve_batch() {
    std::vector<Query> asked(kBatch);
    std::vector<Ranked> lists(kBatch);
    std::latch answered(kBatch);
    for (std::uint32_t at = 0; at < kBatch; ++at) {
      Rng rng({seed_, 0, visits_ + at, Purpose::kQuery});
      asked[at] = Query{rng.below(searches().query_count())};
      const Page& page = pages_[index(asked[at])];
      const std::string visitor = "visitor-" + std::to_string(rng.below(kVisitors));
      RankRequest request;
      request.unit = visitor;
      request.items.assign(page.names.begin(), page.names.end());
      request.given.assign(page.names.size(), 1);
      request.blocked.assign(page.names.size(), 0);
      request.rows = page.rows;
      served_->rank(model_, request, **scratch_, [&lists, &answered, at](Result<Ranked> ranked) {
        if (ranked) lists[at] = *std::move(ranked);
        answered.count_down();
      });
    }
    answered.wait();
    std::vector<FeedbackEvent> events;
    for (std::uint32_t at = 0; at < kBatch; ++at) {
      const Ranked& list = lists[at];
      ASSERT_EQ(list.items.size(), kShown);
      std::vector<Doc> shown;
      for (const RankedItem& item : list.items) {
        shown.push_back(Doc{static_cast<std::uint32_t>(std::stoul(item.id))});
      }
      Rng rng({seed_, 0, visits_ + at, Purpose::kClicks});
      std::vector<std::uint8_t> clicks(kShown);
      user_->click(shown, searches().judgments(asked[at]), rng, clicks);
      for (std::uint32_t rank = 0; rank < kShown; ++rank) {
        if (clicks[rank] == 0) continue;
        ++clicks_;
        events.push_back({list.impression, list.items[rank].id, "", EventKind::kClick});
      }
      events.push_back({list.impression, "", "", EventKind::kClose});
    }
    visits_ += kBatch;
    served_.tell(model_, std::move(events));
  }

  std::uint64_t seed_;
  Dataset data_;
  std::unique_ptr<User> user_;
  std::vector<Page> pages_;  // by query
  Served served_;
  ModelHandle model_;
  std::unique_ptr<Scratch> scratch_;
  std::uint64_t visits_ = 0;
  std::uint64_t clicks_ = 0;
};

}  // namespace plackett::serving
