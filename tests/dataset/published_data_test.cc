#include "plackett/published_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>

#include "support/shared_folder.h"

namespace plackett {
namespace {

// A dataset of these counts, without documents behind them.
class Counted {
 public:
  explicit Counted(const PublishedData& published) {
    dataset_.source_feature_count = published.features;
    dataset_.max_label = published.max_label.value_or(4);
    dataset_.folds.resize(published.fold_count);
    for (std::uint32_t number = 0; number < published.fold_count; ++number) {
      Fold& fold = dataset_.folds[number];
      const PublishedFold counts =
          published.folds.empty() ? PublishedFold{} : published.folds[number];
      fold.train = split(counts.train);
      if (published.has_validation) fold.validation = split(counts.validation);
      fold.test = split(counts.test);
    }
    if (published.folds.empty()) dataset_.folds[0].test = split({published.queries, 1});
    // Where files have no published documents, all are in the last.
    if (published.documents > 0 && published.folds.front().train.documents == 0) {
      dataset_.folds.back().test =
          split({published.folds.back().test.queries, published.documents});
    }
  }
  [[nodiscard]] const Dataset& dataset() const { return dataset_; }
  [[nodiscard]] Dataset& dataset() { return dataset_; }

  Split split(const PublishedSplit& counts) {
    auto begin = std::make_shared<std::vector<std::uint64_t>>(counts.queries + 1, counts.documents);
    return Split({.query_count = counts.queries, .query_begin = begin->data(), .owner = begin});
  }

 private:
  Dataset dataset_;
};

TEST(PublishedData, EveryDatasetIsRecognisedByItsCounts) {
  for (const PublishedData& one : published_data()) {
    const Counted counted(one);
    for (const PublishedFact& fact : compare_with(one, counted.dataset())) {
      EXPECT_EQ(fact.found, fact.published) << one.name << " " << fact.what;
    }
    EXPECT_EQ(recognise(counted.dataset()), one.name);
  }
}

TEST(PublishedData, ADatasetThatDiffersInOneCountIsNotRecognised) {
  for (const PublishedData& one : published_data()) {
    Counted counted(one);
    ++counted.dataset().source_feature_count;
    EXPECT_EQ(recognise(counted.dataset()), std::nullopt) << one.name;
    --counted.dataset().source_feature_count;
    counted.dataset().folds[0].test = counted.split({7, 7});
    EXPECT_EQ(recognise(counted.dataset()), std::nullopt) << one.name;
  }
  EXPECT_EQ(recognise(load_dataset("synthetic:mq2008", {}).value()), std::nullopt);
}

TEST(PublishedData, TheCountsOfFilesAddUpToThoseOfTheDataset) {
  for (const PublishedData& one : published_data()) {
    EXPECT_FALSE(one.counts_source.empty());
    PublishedSplit all;
    for (const PublishedFold& fold : one.folds) {
      all.queries += fold.test.queries;
      all.documents += fold.test.documents;
      if (one.fold_count > 1) {
        // Each fold holds all queries.
        EXPECT_EQ(fold.train.queries + fold.validation.queries + fold.test.queries, one.queries);
        continue;
      }
      all.queries += fold.train.queries + fold.validation.queries;
      all.documents += fold.train.documents + fold.validation.documents;
    }
    if (one.folds.empty()) continue;
    EXPECT_EQ(all.queries, one.queries) << one.name;
    if (all.documents > 0) {
      EXPECT_EQ(all.documents, one.documents) << one.name;
    }
  }
}

TEST(PublishedData, ChecksumsHave64Digits) {
  const auto expect_sound = [](const PublishedFile& file) {
    EXPECT_EQ(file.sha256.size(), 64U) << file.path;
    for (const unsigned char digit : file.sha256) EXPECT_TRUE(std::isxdigit(digit)) << file.path;
  };
  for (const PublishedData& one : published_data()) {
    EXPECT_EQ(one.checksums_source.empty(), one.archive.sha256.empty());
    EXPECT_EQ(one.checksums_source.empty(), one.files.empty());
    if (!one.archive.sha256.empty()) expect_sound(one.archive);
    for (const PublishedFile& file : one.files) expect_sound(file);
    // A fold's validation data is another's test data.
    if (one.fold_count == 1 || one.files.empty()) continue;
    for (std::size_t fold = 0; fold < 5; ++fold) {
      EXPECT_EQ(one.files[3 * fold + 1].sha256, one.files[3 * ((fold + 4) % 5) + 2].sha256);
    }
  }
}

TEST(PublishedData, NamesAreFoundInAnyCase) {
  EXPECT_EQ(find_published("mslr-web10k").value()->name, "MSLR-WEB10K");
  EXPECT_EQ(find_published("MQ2009").error().message,
            "unknown dataset \"MQ2009\"; known are MQ2007, MQ2008, MSLR-WEB10K, MSLR-WEB30K, Yahoo "
            "set1, Yahoo set2, Istella, Istella-S, Istella-X");
}

TEST(PublishedData, Mq2008IsRecognisedAlsoAfterItsFeaturesWereChosen) {
  const auto folder = testing::shared_folder() / "data" / "MQ2008";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is absent";
  EXPECT_EQ(recognise(load_dataset(folder, {}).value()), "MQ2008");
  LoadOptions some;
  some.keep_feature_ids = {3, 5};
  EXPECT_EQ(recognise(load_dataset(folder, some).value()), "MQ2008");
}

}  // namespace
}  // namespace plackett
