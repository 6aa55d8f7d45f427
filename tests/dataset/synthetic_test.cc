#include "plackett/synthetic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "dataset/plain_docs.h"
#include "dataset/synthetic_model.h"
#include "plackett/dataset.h"
#include "support/run_command.h"

namespace plackett {
namespace {

using ::testing::ElementsAre;
using testing::expect_same;
using ::testing::HasSubstr;
using testing::plain_docs;
using testing::TemporaryFolder;

SyntheticOptions preset(std::string_view name, std::uint32_t queries) {
  SyntheticOptions options = synthetic_preset(name).value();
  options.queries = queries;
  return options;
}

Dataset make(const SyntheticOptions& options, unsigned threads = 1) {
  LoadOptions load;
  load.threads = threads;
  auto dataset = make_synthetic(options, load);
  EXPECT_TRUE(dataset.ok()) << dataset.error().message;
  return std::move(*dataset);
}

TEST(Synthetic, IsTheSameForASeedAndAnyThreads) {
  const SyntheticOptions options = preset("default", 60);
  const Dataset one = make(options, 1);
  expect_same(one, make(options, 1));
  expect_same(one, make(options, 7));
}

TEST(Synthetic, AnotherSeedIsOtherData) {
  SyntheticOptions options = preset("default", 20);
  const Dataset one = make(options);
  options.seed = 2;
  EXPECT_FALSE(plain_docs(one.folds[0].train) == plain_docs(make(options).folds[0].train));
}

TEST(Synthetic, AQuerysDocumentsDoNotDependOnHowManyQueriesThereAre) {
  // Part 1 of fold 1's train starts with query 0 whatever the number of queries.
  const auto few = make(preset("default", 5)).folds[0].train;
  const auto many = make(preset("default", 50)).folds[0].train;
  ASSERT_EQ(few.features(Query{0}).doc_count(), many.features(Query{0}).doc_count());
  for (std::uint32_t doc = 0; doc < few.features(Query{0}).doc_count(); ++doc) {
    EXPECT_EQ(few.judgments(Query{0}).label(Doc{doc}), many.judgments(Query{0}).label(Doc{doc}));
  }
}

TEST(Synthetic, PresetsHaveTheShapesOfTheSetsTheyAreNamedAfter) {
  struct Case {
    const char* name;
    std::uint32_t queries, features, constant, grades, folds;
  };
  EXPECT_THAT(synthetic_preset_names(),
              ElementsAre("default", "mq2007", "mq2008", "mslr", "yahoo", "istella"));
  for (const Case& wanted : {
           Case{"default", 800, 46, 4, 5, 5},
           Case{"mq2007", 1'692, 46, 5, 3, 5},
           Case{"mq2008", 784, 46, 6, 3, 5},
           Case{"mslr", 10'000, 136, 0, 5, 1},
           Case{"yahoo", 29'921, 700, 1, 5, 1},
           Case{"istella", 33'118, 220, 8, 5, 1},
       }) {
    const SyntheticOptions full = synthetic_preset(wanted.name).value();
    EXPECT_EQ(full.queries, wanted.queries) << wanted.name;
    const Dataset dataset = make(preset(wanted.name, 100), 2);
    ASSERT_EQ(dataset.folds.size(), wanted.folds) << wanted.name;
    EXPECT_EQ(dataset.source_feature_count, wanted.features) << wanted.name;
    EXPECT_EQ(dataset.grade_count(), wanted.grades) << wanted.name;
    const Fold& fold = dataset.folds[0];
    EXPECT_EQ(fold.constant_feature_ids.size(), wanted.constant) << wanted.name;
    EXPECT_EQ(fold.feature_ids.size(), wanted.features - wanted.constant) << wanted.name;
    const SplitInfo info = describe(fold.train, dataset.max_label);
    EXPECT_EQ(info.queries, 60U);
    EXPECT_GE(info.min_docs, full.min_docs) << wanted.name;
    EXPECT_LE(info.max_docs, full.max_docs) << wanted.name;
    const double mean = static_cast<double>(info.documents) / info.queries;
    EXPECT_NEAR(mean / full.mean_docs, 1, 0.25) << wanted.name;
  }
}

TEST(Synthetic, LabelsAreSkewedForThreeAndFiveGrades) {
  for (const std::uint32_t grades : {3U, 5U}) {
    SyntheticOptions options = preset("default", 500);
    options.grades = grades;
    const Dataset dataset = make(options);
    EXPECT_EQ(dataset.max_label, grades - 1);
    const SplitInfo info = describe(dataset.folds[0].train, dataset.max_label);
    ASSERT_EQ(info.label_counts.size(), grades);
    for (std::uint32_t label = 1; label < grades; ++label) {
      EXPECT_LT(info.label_counts[label], info.label_counts[label - 1]) << grades;
      EXPECT_GT(info.label_counts[label], 0U) << grades;
    }
    EXPECT_GT(info.label_counts[0], info.documents / 2);
    EXPECT_GT(info.queries_without_relevant, 0U);
  }
}

TEST(Synthetic, FoldsRotateFivePartsAndTestEachQueryOnce) {
  SyntheticOptions options = preset("default", 23);
  const Dataset dataset = make(options);
  std::uint32_t tested = 0;
  for (const Fold& fold : dataset.folds) {
    EXPECT_EQ(fold.train.query_count() + fold.validation->query_count() + fold.test.query_count(),
              23U);
    tested += fold.test.query_count();
  }
  EXPECT_EQ(tested, 23U);
  EXPECT_TRUE(plain_docs(dataset.folds[0].test) == plain_docs(*dataset.folds[1].validation));
}

TEST(Synthetic, SaysThatItIsMadeUp) {
  EXPECT_THAT(make(preset("mq2008", 5)).origin, HasSubstr("generated"));
  EXPECT_EQ(make(preset("mq2008", 5)).name, "synthetic:mq2008");
}

TEST(Synthetic, TheTruthIsPartlyNonLinear) {
  const auto at = [](std::size_t factor, double value) {
    Factors factors;
    factors.fill(0.5);
    factors[factor] = value;
    return synthetic_relevance(factors);
  };
  EXPECT_GT(at(0, 1), at(0, 0));          // linear
  EXPECT_GT(at(2, 0.5), at(2, 0) + 0.5);  // a sweet spot: worse on both sides
  EXPECT_GT(at(2, 0.5), at(2, 1) + 0.5);
}

TEST(WriteSynthetic, LoadingWhatWasWrittenGivesTheSameDataset) {
  for (const char* name : {"default", "mq2008"}) {
    const TemporaryFolder folder;
    const SyntheticOptions options = preset(name, 100);
    ASSERT_TRUE(write_synthetic(options, folder / "data").ok());
    for (const Scaling scaling : {Scaling::kNone, Scaling::kQueryMinMax}) {
      LoadOptions load;
      load.scaling = scaling;
      const auto read = load_dataset(folder / "data", load);
      ASSERT_TRUE(read.ok()) << read.error().message;
      expect_same(make_synthetic(options, load).value(), *read);
    }
  }
}

TEST(WriteSynthetic, RefusesAFolderThatIsThereAndLeavesItAlone) {
  const TemporaryFolder folder;
  testing::put(folder.path() / "data" / "mine", "precious");
  const auto written = write_synthetic(preset("default", 5), folder / "data");
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().message, folder / "data" + ": already exists; expected a new folder");
  EXPECT_EQ(testing::slurp(folder.path() / "data" / "mine"), "precious");
}

TEST(WriteSynthetic, LeavesNothingBehindOnFailure) {
  const TemporaryFolder folder;
  EXPECT_FALSE(write_synthetic(preset("default", 5), folder / "no/such/parent").ok());
  SyntheticOptions bad = preset("default", 5);
  bad.grades = 4;
  EXPECT_FALSE(write_synthetic(bad, folder / "data").ok());
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Synthetic, OptionsOutOfRangeNameTheRule) {
  using Options = SyntheticOptions;
  struct Case {
    std::uint32_t Options::*number;
    std::uint32_t value;
    const char* message;
  };
  for (const Case& mistake : {
           Case{&Options::folds, 0, "folds 0; from 1 to 5"},
           Case{&Options::folds, 6, "folds 6; from 1 to 5"},
           Case{&Options::queries, 4, "queries 4; at least 5, one per part"},
           Case{&Options::min_docs, 0, "documents per query 0; from 1 to 1000000"},
           Case{&Options::mean_docs, 9, "mean 9; between the least, 10, and the most, 40"},
           Case{&Options::mean_docs, 41, "mean 41; between the least, 10, and the most, 40"},
           Case{&Options::features, 19, "features 19; at least 20: 8 of noise, 4 constant and 8"},
           Case{&Options::features, 20'001, "features 20001; at most 20000"},
           Case{&Options::grades, 4, "grades 4; 3 or 5"},
       }) {
    SyntheticOptions options;
    options.*mistake.number = mistake.value;
    const auto dataset = make_synthetic(options, {});
    ASSERT_FALSE(dataset.ok()) << mistake.message;
    EXPECT_THAT(dataset.error().message, HasSubstr(mistake.message));
  }
}

}  // namespace
}  // namespace plackett
