#include "dataset/info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scratch.h"

namespace plackett {
namespace {

using ::testing::ElementsAre;
using testing::ScratchFolder;

TEST(Summary, CountsQueriesDocumentsAndLabels) {
  const ScratchFolder folder;
  folder.write("train.txt",
               "0 qid:1 1:1\n2 qid:1 1:2\n0 qid:2 1:3\n0 qid:3 1:3\n1 qid:3 1:3\n"
               "0 qid:3 1:3\n0 qid:4 1:4\n0 qid:4 1:4\n");
  folder.write("test.txt", "3 qid:1 1:1\n");
  const auto dataset = load_dataset(folder.path().string(), {});
  ASSERT_TRUE(dataset.ok()) << dataset.error().message;
  const SplitInfo info = summarise(dataset->folds[0].train, dataset->max_label);
  EXPECT_EQ(info.queries, 4U);
  EXPECT_EQ(info.docs, 8U);
  EXPECT_EQ(info.features, 1U);
  EXPECT_THAT(info.docs_of_label, ElementsAre(6, 1, 1, 0));
  EXPECT_EQ(info.min_docs, 1U);
  EXPECT_EQ(info.median_docs, 2.0);
  EXPECT_EQ(info.max_docs, 3U);
  EXPECT_EQ(info.queries_without_relevant, 2U);
}

}  // namespace
}  // namespace plackett
