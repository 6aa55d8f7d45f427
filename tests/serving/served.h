// A service with its own store and clock. Every call waits for its answer, and time passes only
// when the test says so.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plackett/feature_view.h"
#include "serving/service.h"
#include "store/sqlite/sqlite_store.h"
#include "support/run_command.h"

namespace plackett::serving {

template <typename T, typename Call>
Result<T> wait_for(Call call) {
  auto promise = std::make_shared<std::promise<Result<T>>>();
  auto future = promise->get_future();
  call(Done<T>([promise](Result<T> answer) { promise->set_value(std::move(answer)); }));
  return future.get();
}

class Served {
 public:
  Served() : Served("", std::int64_t{1'800'000'000'000}) {}
  // Over a store that is there, at a time.
  Served(std::string db, std::int64_t now) : now_(now), db_(std::move(db)) {
    options_.clock = [this] { return now_.load(); };
    options_.steady = [this] { return elapsed_.load(); };
    open();
  }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;
  ~Served() { close(); }

  ServiceOptions& options() { return options_; }
  [[nodiscard]] std::string db() const { return db_.empty() ? folder_ / "store.db" : db_; }

  void open() {
    auto store = store::open_sqlite({.path = db()});
    ASSERT_TRUE(store.ok()) << store.error().message;
    auto opened = Service::open(*std::move(store), options_);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    service_ = std::move(opened).value();
    scratch_ = std::make_unique<Scratch>(service_->make_scratch());
  }
  void pass(std::chrono::milliseconds time) {
    now_ += time.count();
    elapsed_ += time.count();
  }
  // Sets the system's clock forward, or back.
  void step_clock(std::chrono::milliseconds by) { now_ += by.count(); }
  void close() {
    scratch_.reset();
    service_.reset();
  }
  void reopen() {
    close();
    open();
  }
  // Forgets what requests have left.
  void new_scratch() { scratch_ = std::make_unique<Scratch>(service_->make_scratch()); }
  Service& operator*() { return *service_; }
  Service* operator->() { return service_.get(); }

  ModelHandle make(ModelSpec spec) {
    const std::string name = spec.name;
    auto created = wait_for<Created>([&](auto done) { service_->create(std::move(spec), done); });
    EXPECT_TRUE(created.ok()) << (created ? "" : created.error().message);
    return service_->find(name);
  }

  // Ranks these rows, named "0", "1", ...
  Result<Ranked> rank(const ModelHandle& model, const FeatureView& docs, RankRequest request = {}) {
    names_.clear();
    for (std::uint32_t doc = 0; doc < docs.doc_count(); ++doc)
      names_.push_back(std::to_string(doc));
    for (const std::string& name : names_) request.items.push_back(name);
    request.given.assign(names_.size(), 1);
    request.blocked.resize(names_.size());
    request.rows.assign(docs.data(), docs.data() + std::size_t{docs.doc_count()} * docs.stride());
    return rank(model, request);
  }
  Result<Ranked> rank(const ModelHandle& model, const RankRequest& request) {
    return wait_for<Ranked>([&](auto done) { service_->rank(model, request, **scratch_, done); });
  }
  Result<std::vector<FeedbackStatus>> feedback(const ModelHandle& model,
                                               std::vector<FeedbackEvent> events) {
    const auto answer = wait_for<FeedbackAnswer>(
        [&](auto done) { service_->feedback(model, std::move(events), done); });
    if (!answer) return answer.error();
    return answer->statuses;
  }
  // If the statuses don't matter.
  void tell(const ModelHandle& model, std::vector<FeedbackEvent> events) {
    EXPECT_TRUE(feedback(model, std::move(events)).ok());
  }
  FeedbackStatus feedback(const ModelHandle& model, FeedbackEvent event) {
    auto statuses = feedback(model, std::vector{std::move(event)});
    EXPECT_TRUE(statuses.ok());
    return statuses->front();
  }
  SnapshotRow snapshot(const ModelHandle& model, const std::string& note = "") {
    auto taken =
        wait_for<SnapshotRow>([&](auto done) { service_->take_snapshot(model, note, done); });
    EXPECT_TRUE(taken.ok());
    return *taken;
  }

 private:
  using Scratch = decltype(std::declval<Service>().make_scratch());
  testing::TemporaryFolder folder_;
  std::atomic<std::int64_t> now_;
  std::string db_;
  std::atomic<std::int64_t> elapsed_ = 1000;
  ServiceOptions options_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<Scratch> scratch_;
  std::vector<std::string> names_;
};

// Random rows.
struct Candidates {
  std::uint32_t docs;
  std::uint32_t features;
  AlignedVector<float> rows;

  Candidates(std::uint32_t docs_given, std::uint32_t features_given, std::uint64_t seed = 1)
      : docs(docs_given),
        features(features_given),
        rows(std::size_t{docs} * padded_width(features)) {
    Rng rng({seed, 0, 0, Purpose::kTest});
    for (std::uint32_t doc = 0; doc < docs; ++doc) {
      for (std::uint32_t feature = 0; feature < features; ++feature) {
        rows[std::size_t{doc} * padded_width(features) + feature] =
            static_cast<float>(rng.uniform());
      }
    }
  }
  [[nodiscard]] FeatureView view() const { return {rows.data(), docs, features}; }
};

inline ModelSpec small_spec(const std::string& name = "m", std::uint32_t features = 5) {
  ModelSpec spec;
  spec.name = name;
  spec.ranker.feature_count = features;
  return spec;
}

}  // namespace plackett::serving
