// On real data, where PLACKETT_DATA names a folder that holds it. None comes with the project.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "dataset/dataset.h"

namespace plackett {
namespace {

using ::testing::ElementsAre;

std::optional<std::filesystem::path> real_set(const char* name) {
  const char* folder = std::getenv("PLACKETT_DATA");
  if (folder == nullptr) return std::nullopt;
  auto path = std::filesystem::path(folder) / name;
  return std::filesystem::exists(path) ? std::optional(path) : std::nullopt;
}

TEST(RealData, Mq2008Keeps40Of46FeaturesInEveryFold) {
  const auto path = real_set("MQ2008");
  if (!path) GTEST_SKIP() << "no MQ2008 under the folder that PLACKETT_DATA names";
  const auto dataset = load_dataset(path->string(), {});
  ASSERT_TRUE(dataset.ok()) << dataset.error().message;
  ASSERT_EQ(dataset->folds.size(), 5U);
  EXPECT_EQ(dataset->source_feature_count, 46U);
  EXPECT_EQ(dataset->grade_count(), 3U);
  for (const Fold& fold : dataset->folds) {
    EXPECT_EQ(fold.feature_ids.size(), 40U);
    EXPECT_THAT(fold.constant_feature_ids, ElementsAre(6, 7, 8, 9, 10, 43));
    EXPECT_EQ(fold.train.query_count() + fold.validation->query_count() + fold.test.query_count(),
              784U);
    EXPECT_EQ(fold.train.doc_count() + fold.validation->doc_count() + fold.test.doc_count(),
              15'211U);
  }
}

TEST(RealData, OtherSetsHaveTheSizesTheyAreKnownBy) {
  const auto mslr = real_set("MSLR-mini");
  const auto yandex = real_set("Yandex");
  if (!mslr || !yandex) GTEST_SKIP() << "no MSLR-mini and Yandex under PLACKETT_DATA";
  const auto small = load_dataset(mslr->string(), {});
  ASSERT_TRUE(small.ok()) << small.error().message;
  const Fold& fold = small->folds[0];
  EXPECT_EQ(fold.train.doc_count() + fold.validation->doc_count() + fold.test.doc_count(), 9'122U);
  EXPECT_EQ(small->source_feature_count, 136U);
  const auto large = load_dataset(yandex->string(), {});
  ASSERT_TRUE(large.ok()) << large.error().message;
  EXPECT_EQ(large->folds[0].train.doc_count() + large->folds[0].test.doc_count(), 59'061U);
  EXPECT_FALSE(large->folds[0].validation.has_value());
}

}  // namespace
}  // namespace plackett
