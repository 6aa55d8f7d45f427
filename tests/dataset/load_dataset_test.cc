// From files to a dataset: folds, chosen features, scaling, errors with their place.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataset/plain_docs.h"
#include "support/gzip.h"
#include "support/run_command.h"
#include "support/shared_folder.h"

namespace plackett {
namespace {

using ::testing::ElementsAre;
using testing::expect_same;
using ::testing::HasSubstr;
using testing::pack_gzip;
using testing::plain_docs;
using testing::plain_ids;
using testing::PlainDoc;
using testing::put;
using testing::TemporaryFolder;

// Feature 2 is constant over train (absent and 0 alike) though not over test, 3 is 7 in train,
// and 5 is in test alone.
constexpr const char* kTrain =
    "0 qid:1 1:2 2:0 3:7 4:1\n"
    "2 qid:1 1:4 3:7 4:1\n"
    "1 qid:2 1:9 3:7 4:3\n";
constexpr const char* kTest =
    "0 qid:8 1:10 2:4 3:1 4:5 5:6 #docid = GX000-00-0000000 inc = 1\n"
    "1 qid:8 1:20 2:8 3:2 4:5 #docid = GX1\n"
    "1 qid:8 1:15 2:8 3:2 4:5\n";

void put_fold(const std::filesystem::path& folder) {
  put(folder / "train.txt", kTrain);
  put(folder / "test.txt", kTest);
}

Dataset load(const std::string& where, const LoadOptions& options = {}) {
  auto dataset = load_dataset(where, options);
  EXPECT_TRUE(dataset.ok()) << dataset.error().message;
  return std::move(*dataset);
}

std::string load_error(const std::string& where, const LoadOptions& options = {}) {
  const auto dataset = load_dataset(where, options);
  EXPECT_FALSE(dataset.ok());
  return dataset ? "" : dataset.error().message;
}

TEST(LoadDataset, DropsWhatIsConstantOverRawTrainFromEverySplit) {
  const TemporaryFolder folder;
  put_fold(folder.path());
  LoadOptions options;
  options.scaling = Scaling::kNone;
  const Dataset dataset = load(folder.path().string(), options);
  const Fold& fold = dataset.folds.front();
  EXPECT_THAT(fold.feature_ids, ElementsAre(1, 4));
  EXPECT_THAT(fold.constant_feature_ids, ElementsAre(2, 3, 5));
  EXPECT_EQ(dataset.source_feature_count, 5U);
  EXPECT_EQ(dataset.max_label, 2U);
  EXPECT_FALSE(fold.validation.has_value());
  EXPECT_EQ(plain_docs(fold.train),
            (std::vector<PlainDoc>{{0, 0, {2, 1}}, {0, 2, {4, 1}}, {1, 1, {9, 3}}}));
  EXPECT_EQ(plain_docs(fold.test),
            (std::vector<PlainDoc>{{0, 0, {10, 5}}, {0, 1, {20, 5}}, {0, 1, {15, 5}}}));
}

TEST(LoadDataset, ScalesWithinEachQueryAndConstantThereIsZero) {
  const TemporaryFolder folder;
  put_fold(folder.path());
  const Dataset dataset = load(folder.path().string());
  const Fold& fold = dataset.folds.front();
  EXPECT_EQ(plain_docs(fold.train),
            (std::vector<PlainDoc>{{0, 0, {0, 0}}, {0, 2, {1, 0}}, {1, 1, {0, 0}}}));
  EXPECT_EQ(plain_docs(fold.test),
            (std::vector<PlainDoc>{{0, 0, {0, 0}}, {0, 1, {1, 0}}, {0, 1, {0.5F, 0}}}));
}

TEST(LoadDataset, KeepsTheIdsOfQueriesAndDocuments) {
  const TemporaryFolder folder;
  put_fold(folder.path());
  const Dataset dataset = load(folder.path().string());
  const Fold& fold = dataset.folds.front();
  EXPECT_THAT(plain_ids(fold.train), ElementsAre("1/", "1/", "2/"));
  EXPECT_EQ(fold.train.storage().doc_id_begin, nullptr);
  EXPECT_THAT(plain_ids(fold.test), ElementsAre("8/GX000-00-0000000", "8/GX1", "8/"));
}

TEST(LoadDataset, SyntheticDataHasTheQueryIdsThatItsTextHas) {
  const Dataset dataset = load("synthetic");
  EXPECT_EQ(dataset.folds[0].train.query_id(Query{3}), 4U);
  EXPECT_EQ(dataset.folds[0].train.doc_id(Query{3}, Doc{0}), "");
}

TEST(LoadDataset, CountsValuesOutOfRangeByFeatureOverAFoldsFiles) {
  const TemporaryFolder folder;
  put(folder.path() / "train.txt", "0 qid:1 1:2 2:1e39 4:1\n2 qid:1 1:4 2:1 4:1e99\n");
  put(folder.path() / "test.txt", "0 qid:8 1:1e39 2:1e39 4:1\n");
  EXPECT_EQ(load_error(folder.path().string()),
            folder / "train.txt" +
                ":1: feature 2 has value '1e39'; values must be finite as floats (at most 3.4e38; "
                "out-of-range clamp or missing takes larger ones)");
  const Dataset dataset = load(folder.path().string(), {.out_of_range = OutOfRange::kMissing});
  const auto& found = dataset.folds[0].changes.out_of_range;
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].feature_id, 1U);
  EXPECT_EQ(found[0].count, 1U);
  EXPECT_EQ(found[0].first, "test.txt:1");
  EXPECT_EQ(found[1].feature_id, 2U);
  EXPECT_EQ(found[1].count, 2U);
  EXPECT_EQ(found[1].first, "train.txt:1");
  EXPECT_EQ(found[2].feature_id, 4U);
  EXPECT_EQ(found[2].first, "train.txt:2");
}

TEST(LoadDataset, LeavesOutWhatHasNoLabelIfAsked) {
  const TemporaryFolder folder;
  put_fold(folder.path());
  put(folder.path() / "train.txt", fmt::format("-1 qid:9 1:1\n{}-1 qid:1 1:1\n", kTrain));
  EXPECT_THAT(load_error(folder.path().string()), HasSubstr("unlabelled skip"));
  const Dataset dataset = load(folder.path().string(), {.unlabelled = Unlabelled::kSkip});
  EXPECT_EQ(dataset.folds[0].train.doc_count(), 3U);
  EXPECT_EQ(dataset.folds[0].changes.unlabelled_documents, 2U);
  EXPECT_EQ(dataset.folds[0].changes.unlabelled_queries, 1U);
}

TEST(LoadDataset, YahoosSetsLoadByTheirPath) {
  const TemporaryFolder folder;
  for (const char* set : {"set1", "set2"}) {
    put(folder.path() / fmt::format("{}.train.txt", set), kTrain);
    put(folder.path() / fmt::format("{}.test.txt", set), kTest);
  }
  EXPECT_THAT(load_error(folder.path().string()), HasSubstr("say which one"));
  const Dataset dataset = load(folder / "set2");
  EXPECT_EQ(dataset.name, "set2");
  EXPECT_EQ(dataset.folds[0].name, "set2");
  EXPECT_THAT(load_error(folder / "set3"), HasSubstr("no such file or folder"));
}

TEST(LoadDataset, FoldsSayHowTheyWereScaled) {
  const TemporaryFolder folder;
  put_fold(folder.path());
  for (const std::string& where : {folder.path().string(), std::string("synthetic")}) {
    for (const Scaling scaling : {Scaling::kQueryMinMax, Scaling::kNone}) {
      const Dataset dataset = load_dataset(where, {.scaling = scaling}).value();
      for (const Fold& fold : dataset.folds) EXPECT_EQ(fold.scaling, scaling);
    }
  }
}

TEST(LoadDataset, KeepsConstantFeaturesWhenAsked) {
  const TemporaryFolder folder;
  put_fold(folder.path());
  LoadOptions options;
  options.drop_constant_features = false;
  const Dataset dataset = load(folder.path().string(), options);
  EXPECT_THAT(dataset.folds.front().feature_ids, ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(dataset.folds.front().constant_feature_ids, ElementsAre(2, 3, 5));
  EXPECT_EQ(plain_docs(dataset.folds.front().test)[0].values, (std::vector<float>{0, 0, 0, 0, 1}));
}

TEST(LoadDataset, EveryFoldHasTheColumnsOfAllWhenConstantFeaturesStay) {
  const TemporaryFolder folder;
  put_fold(folder.path() / "Fold1");
  put_fold(folder.path() / "Fold2");
  put(folder.path() / "Fold2" / "vali.txt", "0 qid:1 9:1\n");
  LoadOptions options;
  options.drop_constant_features = false;
  const Dataset dataset = load(folder.path().string(), options);
  EXPECT_EQ(dataset.folds[0].feature_ids.size(), 9U);
  EXPECT_EQ(dataset.folds[1].feature_ids.size(), 9U);
  EXPECT_EQ(dataset.folds[0].constant_feature_ids, dataset.folds[1].constant_feature_ids);
}

TEST(LoadDataset, KeptFeatureIdsSelectInOrderAndFillAbsentOnesWithZero) {
  const TemporaryFolder folder;
  put_fold(folder.path());
  LoadOptions options;
  options.scaling = Scaling::kNone;
  options.keep_feature_ids = {4, 4'294'967'295, 3, 1};
  const Dataset dataset = load(folder.path().string(), options);
  const Fold& fold = dataset.folds.front();
  EXPECT_THAT(fold.feature_ids, ElementsAre(4, 4'294'967'295, 3, 1));
  EXPECT_EQ(
      plain_docs(fold.train),
      (std::vector<PlainDoc>{{0, 0, {1, 0, 7, 2}}, {0, 2, {1, 0, 7, 4}}, {1, 1, {3, 0, 7, 9}}}));
}

TEST(LoadDataset, RefusesKeptFeatureIdsThatMakeNoSense) {
  LoadOptions options;
  options.keep_feature_ids = std::vector<std::uint32_t>{};
  EXPECT_THAT(load_error("synthetic", options), HasSubstr("give at least one"));
  options.keep_feature_ids = {0};
  EXPECT_THAT(load_error("synthetic", options), HasSubstr("ids start at 1"));
  options.keep_feature_ids = {3, 3};
  EXPECT_THAT(load_error("synthetic", options), HasSubstr("features to keep: feature id 3 twice"));
}

TEST(LoadDataset, RefusesATrainingFileWhereNothingVaries) {
  const TemporaryFolder folder;
  put(folder.path() / "train.txt", "0 qid:1 1:5\n1 qid:1 1:5\n");
  put(folder.path() / "test.txt", kTest);
  EXPECT_EQ(load_error(folder.path().string()),
            folder / "train.txt" +
                ": every feature is constant over the training file; at least one feature must be "
                "left");
}

TEST(LoadDataset, RefusesFilesWithoutAFeature) {
  const TemporaryFolder folder;
  put(folder.path() / "train.txt", "0 qid:1\n");
  put(folder.path() / "test.txt", "0 qid:1\n");
  EXPECT_THAT(load_error(folder.path().string()), HasSubstr("no document has a feature"));
}

TEST(LoadDataset, PackedFilesGiveTheSameDataset) {
  const TemporaryFolder plain;
  const TemporaryFolder packed;
  put_fold(plain.path());
  const std::string_view train = kTrain;
  const std::size_t half = train.find('\n') + 1;
  put(packed.path() / "train.txt.gz",
      pack_gzip(train.substr(0, half)) + pack_gzip(train.substr(half)));
  put(packed.path() / "test.txt.gz", pack_gzip(kTest));
  Dataset left = load(plain.path().string());
  Dataset right = load(packed.path().string());
  EXPECT_NE(left.folds[0].name, right.folds[0].name);  // the folders'
  left.folds[0].name = right.folds[0].name;
  expect_same(left, right);
}

TEST(LoadDataset, ErrorsNameTheFileAndTheLine) {
  const TemporaryFolder folder;
  put_fold(folder.path());
  put(folder.path() / "vali.txt", "0 qid:1 1:1\n0 qid:1 0:1\n");
  EXPECT_EQ(load_error(folder.path().string()),
            folder / "vali.txt" + ":2: feature id 0; ids start at 1");
  put(folder.path() / "vali.txt", "");
  EXPECT_EQ(load_error(folder.path().string()),
            folder / "vali.txt" + ":1: empty file; a file needs at least one document");
}

TEST(LoadDataset, ACorruptPackedFileIsRefusedByName) {
  const TemporaryFolder folder;
  put(folder.path() / "train.txt.gz", pack_gzip(kTrain).substr(0, 30));
  put(folder.path() / "test.txt", kTest);
  EXPECT_THAT(load_error(folder.path().string()),
              HasSubstr(folder / "train.txt.gz" + ": truncated or corrupt gzip data"));
}

TEST(LoadDataset, TheIdLimitIsTheOptions) {
  const TemporaryFolder folder;
  put_fold(folder.path());
  LoadOptions options;
  options.max_feature_id = 4;
  EXPECT_EQ(load_error(folder.path().string(), options),
            folder / "test.txt" +
                ":1: feature id 5; ids go up to 4 (rows are dense; max-feature-id raises the "
                "limit)");
}

TEST(LoadDataset, AMissingPathAndAnUnknownPresetSayWhatThereIs) {
  EXPECT_EQ(load_dataset("/nowhere", {}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(load_error("/nowhere"),
            "/nowhere: no such file or folder; a dataset is a folder of LETOR files, a cache or "
            "'synthetic'");
  EXPECT_EQ(load_error("synthetic:huge"),
            "synthetic data: unknown preset 'huge'; known: default, mq2007, mq2008, mslr, yahoo, "
            "istella");
}

TEST(LoadDataset, AFileThatIsNoDatasetIsRefused) {
  const TemporaryFolder folder;
  put(folder.path() / "train.txt", kTrain);
  EXPECT_THAT(load_error(folder / "train.txt"), HasSubstr(folder / "train.txt"));
}

TEST(LoadDataset, IsTheSameForAnyNumberOfThreads) {
  const TemporaryFolder folder;
  std::string text;
  for (int line = 0; line < 500; ++line) {
    text += fmt::format("{} qid:{} 1:{} 3:{}\n", line % 3, line / 7, line * 37 % 101, line % 5);
  }
  put(folder.path() / "train.txt", text);
  put(folder.path() / "test.txt", text);
  LoadOptions options;
  const Dataset one = load(folder.path().string(), options);
  options.threads = 7;
  expect_same(one, load(folder.path().string(), options));
}

TEST(LoadDataset, RowsAreAlignedAndPaddedWithZeros) {
  const TemporaryFolder folder;
  put_fold(folder.path());
  const Dataset dataset = load(folder.path().string());
  const FeatureView docs = dataset.folds[0].train.features(Query{0});
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(docs.data()) % 64, 0U);
  for (std::uint32_t doc = 0; doc < docs.doc_count(); ++doc) {
    const float* row = docs.row(Doc{doc}).data();
    for (std::uint32_t at = docs.feature_count(); at < docs.readable_width(); ++at) {
      EXPECT_EQ(row[at], 0.0F);
    }
  }
}

TEST(LoadDataset, Mq2008Keeps40Of46FeaturesInEachFold) {
  const auto folder = testing::shared_folder() / "data" / "MQ2008";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is absent";
  const Dataset dataset = load(folder.string());
  ASSERT_EQ(dataset.folds.size(), 5U);
  std::uint32_t test_queries = 0;
  std::uint64_t test_docs = 0;
  for (const Fold& fold : dataset.folds) {
    EXPECT_EQ(fold.feature_ids.size(), 40U) << fold.name;
    EXPECT_EQ(fold.constant_feature_ids.size(), 6U) << fold.name;
    test_queries += fold.test.query_count();
    test_docs += fold.test.doc_count();
  }
  EXPECT_EQ(dataset.source_feature_count, 46U);
  EXPECT_EQ(dataset.grade_count(), 3U);
  EXPECT_EQ(test_queries, 784U);
  EXPECT_EQ(test_docs, 15'211U);
}

}  // namespace
}  // namespace plackett
