// What the learner and the writer do with models that another node takes over meanwhile.
#include "serving/learning_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "served.h"
#include "serving/model.h"
#include "serving/writer_thread.h"

namespace plackett::serving {
namespace {

std::shared_ptr<const Version> version(std::uint64_t number) {
  auto made = std::make_shared<Version>();
  made->number = number;
  made->log = static_cast<std::int64_t>(number);
  return made;
}

TEST(Publication, NeverGoesBackToAnOlderVersion) {
  Publication publication;
  publication.publish(version(7));
  publication.publish(version(9));
  const std::uint64_t serial = publication.serial();
  publication.publish(version(8));
  EXPECT_EQ(publication.latest()->number, 9U);
  EXPECT_EQ(publication.serial(), serial);
  const auto same = version(9);  // such as one that is frozen now
  publication.publish(same);
  EXPECT_EQ(publication.latest(), same);
}

class LostLead : public ::testing::Test {
 protected:
  void SetUp() override {
    store_ = std::move(store::open_sqlite({.path = folder_ / "store.db"})).value();
    ModelRow row{.name = "m", .spec = to_json(spec_)};
    ASSERT_TRUE(store_->begin().ok());
    row.id = store_->insert_model(row).value();
    ASSERT_TRUE(store_->commit().ok());
    model_ = std::make_shared<Model>(spec_, row);
    LearningHooks hooks;
    hooks.updated = [](Model&, double) {};
    hooks.frozen = [](const Model&, const Version&) {};
    hooks.published = [this](const ModelHandle&) { ++published_; };
    hooks.snapshot = [](const ModelHandle&, SnapshotRow) {};
    learner_ = std::make_unique<LearningThread>(std::move(store_->open_reader()).value(), 1000,
                                                std::move(hooks));
    learner_->adopt(model_, Trainer::start(spec_).value());
  }

  testing::TemporaryFolder folder_;
  const ModelSpec spec_ = check(small_spec()).value();
  std::unique_ptr<Store> store_;
  ModelHandle model_;
  std::atomic<int> published_{0};
  std::unique_ptr<LearningThread> learner_;
};

TEST_F(LostLead, WhatWasLearnedMeanwhileIsNotShown) {
  std::promise<void> done;
  std::vector<LearningThread::Item> items;
  items.push_back({.model = model_, .entry = LogEntry{1, model_->id, LogKind::kFreeze}});
  // The node loses the model while its learner is at work.
  items.push_back({.model = model_,
                   .ask = [this](const Trainer&) { learner_->forget(model_); },
                   .answer = [&] { done.set_value(); }});
  learner_->submit(std::move(items));
  done.get_future().wait();
  EXPECT_EQ(model_->publication.latest()->number, 0U);
  EXPECT_EQ(published_, 0);
}

TEST_F(LostLead, AnAnswerWaitsForTheNodeThatLearnsFromIt) {
  std::promise<std::vector<QueuedEntry>> awaited;
  WriterThread::Options options;
  options.queue_limit = 10;
  options.clock = options.steady = [] { return std::int64_t{1}; };
  options.await = [&](std::vector<QueuedEntry> entries, const std::function<void(bool)>& answer) {
    awaited.set_value(std::move(entries));
    answer(false);
  };
  WriterThread writer(*store_, *learner_, options);
  auto learned = std::make_shared<bool>(true);
  std::promise<void> answered;
  writer.submit(
      {.apply =
           [this](Transaction& transaction) { take(transaction.log(model_, LogKind::kFreeze, 0)); },
       .committed = [this] { learner_->forget(model_); },
       .answer =
           [&](const Result<void>& settled) {
             EXPECT_TRUE(settled.ok());
             answered.set_value();
           },
       .learned = learned});
  writer.start();
  answered.get_future().wait();
  EXPECT_FALSE(*learned);
  const auto entries = awaited.get_future();
  ASSERT_EQ(entries.wait_for(std::chrono::seconds(0)), std::future_status::ready);
  writer.stop();
}

}  // namespace
}  // namespace plackett::serving
