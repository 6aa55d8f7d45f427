#include "plackett/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataset/plain_docs.h"
#include "support/run_command.h"

namespace plackett {
namespace {

using ::testing::ElementsAre;
using testing::put;
using testing::TemporaryFolder;

TEST(SplitInfo, CountsQueriesDocumentsAndLabels) {
  const TemporaryFolder folder;
  put(folder.path() / "train.txt",
      "0 qid:1 1:1\n2 qid:1 1:2\n"                            // 2 documents
      "0 qid:2 1:1\n"                                         // 1, none relevant
      "0 qid:3 1:1\n0 qid:3 1:2\n0 qid:3 1:3\n0 qid:3 1:4\n"  // 4, none relevant
      "1 qid:4 1:1\n0 qid:4 1:2\n0 qid:4 1:2\n");             // 3
  put(folder.path() / "test.txt", "4 qid:1 1:1\n");
  const Dataset dataset = load_dataset(folder.path().string(), {}).value();
  const SplitInfo train = describe(dataset.folds[0].train, dataset.max_label);
  EXPECT_EQ(train.queries, 4U);
  EXPECT_EQ(train.documents, 10U);
  EXPECT_EQ(train.min_docs, 1U);
  EXPECT_EQ(train.median_docs, 2.5);
  EXPECT_EQ(train.max_docs, 4U);
  EXPECT_EQ(train.queries_without_relevant, 2U);
  EXPECT_THAT(train.label_counts, ElementsAre(8, 1, 1, 0, 0));

  const SplitInfo test = describe(dataset.folds[0].test, dataset.max_label);
  EXPECT_EQ(test.median_docs, 1);
  EXPECT_EQ(test.queries_without_relevant, 0U);
  EXPECT_THAT(test.label_counts, ElementsAre(0, 0, 0, 0, 1));
}

TEST(SplitInfo, OfAnEmptySplitIsZero) {
  const SplitInfo info = describe(Split(), 2);
  EXPECT_EQ(info.documents, 0U);
  EXPECT_EQ(info.median_docs, 0);
  EXPECT_THAT(info.label_counts, ElementsAre(0, 0, 0));
}

}  // namespace
}  // namespace plackett
