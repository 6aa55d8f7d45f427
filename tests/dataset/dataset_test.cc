#include "dataset/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "scratch.h"

namespace plackett {
namespace {

using ::testing::ElementsAre;
using testing::expect_same_folds;
using testing::gzip;
using ::testing::HasSubstr;
using testing::labels;
using testing::rows;
using testing::ScratchFolder;

using Rows = std::vector<std::vector<float>>;

// Feature 2 is constant over train, not over test; feature 4 is in test alone.
constexpr const char* kTrain = "1 qid:1 1:2 2:5 3:1\n0 qid:1 1:4 2:5 3:1\n0 qid:2 1:0 2:5 3:3\n";
constexpr const char* kTest = "2 qid:3 1:1 2:1 3:9 4:1\n0 qid:3 1:3 2:2 3:9\n";

Dataset load(const ScratchFolder& folder, const LoadOptions& options = {}) {
  auto dataset = load_dataset(folder.path().string(), options);
  EXPECT_TRUE(dataset.ok()) << dataset.error().message;
  return dataset ? std::move(*dataset) : Dataset{};
}

std::string error_of(const std::string& where, const LoadOptions& options = {}) {
  const auto dataset = load_dataset(where, options);
  return dataset ? "no error" : dataset.error().message;
}

TEST(LoadDataset, ScalesWithinQueriesAndDropsConstantFeatures) {
  const ScratchFolder folder;
  folder.write("train.txt", kTrain);
  folder.write("test.txt", kTest);
  const Dataset dataset = load(folder);
  ASSERT_EQ(dataset.folds.size(), 1U);
  const Fold& fold = dataset.folds[0];
  EXPECT_THAT(fold.feature_ids, ElementsAre(1, 3));
  EXPECT_THAT(fold.constant_feature_ids, ElementsAre(2, 4));
  EXPECT_EQ(rows(fold.train, 0), (Rows{{0, 0}, {1, 0}}));
  EXPECT_EQ(rows(fold.train, 1), (Rows{{0, 0}}));
  EXPECT_EQ(rows(fold.test, 0), (Rows{{0, 0}, {1, 0}}));
  EXPECT_EQ(labels(fold.train, 0), (std::vector<int>{1, 0}));
  EXPECT_FALSE(fold.validation.has_value());
  EXPECT_EQ(dataset.max_label, 2U);
  EXPECT_EQ(dataset.source_feature_count, 4U);
  EXPECT_EQ(dataset.name, folder.path().filename());
}

TEST(LoadDataset, KeepsRawValuesWhereScalingIsNone) {
  const ScratchFolder folder;
  folder.write("train.txt", kTrain);
  folder.write("test.txt", kTest);
  LoadOptions options;
  options.scaling = Scaling::kNone;
  const Dataset dataset = load(folder, options);
  EXPECT_EQ(rows(dataset.folds[0].train, 0), (Rows{{2, 1}, {4, 1}}));
  EXPECT_EQ(rows(dataset.folds[0].test, 0), (Rows{{1, 9}, {3, 9}}));
}

TEST(LoadDataset, KeepsEveryFeatureOfAnyFoldWhereAsked) {
  const ScratchFolder folder;
  for (const char* fold : {"Fold1", "Fold2"}) {
    folder.write(std::filesystem::path(fold) / "train.txt", kTrain);
    folder.write(std::filesystem::path(fold) / "test.txt", kTest);
  }
  folder.write("Fold2/vali.txt", "0 qid:1 6:1\n");
  LoadOptions options;
  options.drop_constant_features = false;
  const Dataset dataset = load(folder, options);
  for (const Fold& fold : dataset.folds) {
    EXPECT_THAT(fold.feature_ids, ElementsAre(1, 2, 3, 4, 5, 6));
    EXPECT_THAT(fold.constant_feature_ids, ElementsAre(2, 4, 5, 6));
  }
}

TEST(LoadDataset, TellsConstantFeaturesOfEveryFoldUpToTheLargestIdOfAny) {
  const ScratchFolder folder;
  for (const char* fold : {"Fold1", "Fold2"}) {
    folder.write(std::filesystem::path(fold) / "train.txt", kTrain);
    folder.write(std::filesystem::path(fold) / "test.txt", kTest);
  }
  folder.write("Fold2/train.txt", "0 qid:1 1:1 6:2\n0 qid:1 1:1 6:3\n");
  const Dataset dataset = load(folder);
  EXPECT_THAT(dataset.folds[0].constant_feature_ids, ElementsAre(2, 4, 5, 6));
  EXPECT_THAT(dataset.folds[1].constant_feature_ids, ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(dataset.folds[1].feature_ids, ElementsAre(6));
  LoadOptions options;
  options.keep_feature_ids = {1};
  const Dataset kept = load(folder, options);
  EXPECT_THAT(kept.folds[0].constant_feature_ids, ElementsAre(2, 4, 5, 6));
}

TEST(LoadDataset, KeepsGivenFeaturesInTheirOrder) {
  const ScratchFolder folder;
  folder.write("train.txt", kTrain);
  folder.write("test.txt", kTest);
  LoadOptions options;
  options.scaling = Scaling::kNone;
  options.keep_feature_ids = {3, 9, 2};
  const Dataset dataset = load(folder, options);
  EXPECT_THAT(dataset.folds[0].feature_ids, ElementsAre(3, 9, 2));
  EXPECT_EQ(rows(dataset.folds[0].test, 0), (Rows{{9, 0, 1}, {9, 0, 2}}));
}

TEST(LoadDataset, RowsAreAlignedAndPaddedWithZeros) {
  const ScratchFolder folder;
  folder.write("train.txt", kTrain);
  folder.write("test.txt", kTest);
  const Dataset dataset = load(folder);
  for (std::uint32_t query = 0; query < 2; ++query) {
    const FeatureView view = dataset.folds[0].train.features(Query{query});
    for (std::uint32_t doc = 0; doc < view.doc_count(); ++doc) {
      const auto row = view.row(Doc{doc});
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(row.data()) % 64, 0U);
      for (std::size_t at = view.feature_count(); at < row.size(); ++at) EXPECT_EQ(row[at], 0.0F);
    }
  }
}

TEST(LoadDataset, GzipAndThreadsChangeNothing) {
  const ScratchFolder plain;
  const ScratchFolder packed;
  for (const char* part : {"train", "vali", "test"}) {
    const char* text = std::string_view(part) == "train" ? kTrain : kTest;
    plain.write(std::string("Fold1/") + part + ".txt", text);
    packed.write(std::string("Fold1/") + part + ".txt.gz", gzip(text));
  }
  LoadOptions threads;
  threads.threads = 4;
  expect_same_folds(load(plain), load(packed, threads));
}

TEST(LoadDataset, CopiesOfASplitShareAndKeepItsMemory) {
  const ScratchFolder folder;
  folder.write("train.txt", kTrain);
  folder.write("test.txt", kTest);
  Split kept;
  {
    const Dataset dataset = load(folder);
    kept = dataset.folds[0].train;
  }
  EXPECT_EQ(rows(kept, 0), (Rows{{0, 0}, {1, 0}}));
}

TEST(LoadDataset, ErrorsNameFileAndLine) {
  const ScratchFolder folder;
  folder.write("Fold1/train.txt", kTrain);
  const auto bad = folder.write("Fold1/test.txt.gz", gzip("0 qid:1 1:1\n0 qid:1 1:x\n"));
  EXPECT_EQ(error_of(folder.path().string()),
            bad.string() + ":2: feature 1 has value 'x'; values are decimal numbers");
}

TEST(LoadDataset, TruncatedGzipIsAnError) {
  const ScratchFolder folder;
  const std::string packed = gzip(kTrain);
  folder.write("train.txt.gz", packed.substr(0, packed.size() - 5));
  folder.write("test.txt", kTest);
  EXPECT_THAT(error_of(folder.path().string()),
              HasSubstr("train.txt.gz: truncated or corrupt gzip data"));
}

TEST(LoadDataset, EmptyFileIsAnError) {
  const ScratchFolder folder;
  folder.write("train.txt", "");
  folder.write("test.txt", kTest);
  EXPECT_THAT(error_of(folder.path().string()), HasSubstr("train.txt:1: empty file"));
}

TEST(LoadDataset, MissingPathSaysWhatADatasetIs) {
  EXPECT_EQ(error_of("/no/such/folder"),
            "/no/such/folder: no such file or folder; a dataset is a folder of LETOR files, a "
            "cache or 'synthetic'");
}

TEST(LoadDataset, UnknownPresetNamesThoseThereAre) {
  EXPECT_EQ(error_of("synthetic:letor"),
            "synthetic data: no preset 'letor'; there are default, mq2008, mslr, yahoo, istella");
}

TEST(LoadDataset, NothingLeftToRankByIsAnError) {
  const ScratchFolder folder;
  folder.write("train.txt", "0 qid:1 1:1\n1 qid:1 1:1\n");
  folder.write("test.txt", kTest);
  EXPECT_THAT(error_of(folder.path().string()),
              HasSubstr("train.txt: every feature is constant over the training file; at least "
                        "one feature must be left"));
  folder.write("train.txt", "0 qid:1\n");
  folder.write("test.txt", "0 qid:1\n");
  EXPECT_THAT(error_of(folder.path().string()), HasSubstr("no document has a feature"));
}

TEST(LoadDataset, RaisedLimitLetsLargerIdsIn) {
  const ScratchFolder folder;
  folder.write("train.txt", "0 qid:1 20001:1\n1 qid:1 20001:2\n");
  folder.write("test.txt", kTest);
  EXPECT_THAT(error_of(folder.path().string()), HasSubstr("train.txt:1: feature id 20001"));
  LoadOptions options;
  options.max_feature_id = 30'000;
  EXPECT_THAT(load(folder, options).folds[0].feature_ids, ElementsAre(20'001));
}

TEST(LoadDataset, RefusesAListOfFeaturesThatMakesNoSense) {
  LoadOptions options;
  options.keep_feature_ids = {1, 2, 1};
  EXPECT_EQ(error_of("synthetic", options), "feature id 1 to keep twice");
  options.keep_feature_ids = {0};
  EXPECT_EQ(error_of("synthetic", options), "feature id 0 to keep; ids start at 1");
}

TEST(GradeCount, FitsTheUsualScales) {
  Dataset dataset;
  const std::vector<std::uint32_t> expected = {2, 2, 3, 5, 5, 6, 7};
  for (std::uint32_t label = 0; label < expected.size(); ++label) {
    dataset.max_label = label;
    EXPECT_EQ(dataset.grade_count(), expected[label]);
  }
}

}  // namespace
}  // namespace plackett
