#include "dataset/letor_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataset/plain_docs.h"
#include "support/gzip.h"
#include "support/run_command.h"

namespace plackett {
namespace {

using ::testing::HasSubstr;
using testing::pack_gzip;
using testing::put;
using testing::TemporaryFolder;

constexpr const char* kDoc = "1 qid:1 1:1\n";

TEST(LetorFolds, AreInNaturalOrder) {
  const TemporaryFolder folder;
  for (const char* name : {"Fold10", "Fold2", "Fold1"}) {
    put(folder.path() / name / "train.txt", kDoc);
    put(folder.path() / name / "test.txt", kDoc);
  }
  put(folder.path() / "notes" / "train.txt", kDoc);
  put(folder.path() / "Fold3", "a file, not a fold");
  const auto folds = find_letor_folds(folder.path());
  ASSERT_TRUE(folds.ok()) << folds.error().message;
  ASSERT_EQ(folds->size(), 3U);
  EXPECT_EQ((*folds)[0].name, "Fold1");
  EXPECT_EQ((*folds)[1].name, "Fold2");
  EXPECT_EQ((*folds)[2].name, "Fold10");
  EXPECT_TRUE((*folds)[0].validation.empty());
}

TEST(LetorFolds, AFolderWithTrainAndTestIsOneFoldNamedAfterIt) {
  const TemporaryFolder folder;
  put(folder.path() / "mine" / "train.txt", kDoc);
  put(folder.path() / "mine" / "vali.txt", kDoc);
  put(folder.path() / "mine" / "test.txt", kDoc);
  for (const char* spelling : {"mine", "mine/", "mine/../mine/."}) {
    const auto folds = find_letor_folds(folder.path() / spelling);
    ASSERT_TRUE(folds.ok()) << folds.error().message;
    ASSERT_EQ(folds->size(), 1U);
    EXPECT_EQ(folds->front().name, "mine") << spelling;
    EXPECT_FALSE(folds->front().validation.empty());
  }
}

TEST(LetorFolds, PackedFilesServeWherePlainOnesAreAbsent) {
  const TemporaryFolder folder;
  put(folder.path() / "train.txt", kDoc);
  put(folder.path() / "train.txt.gz", "never read");
  put(folder.path() / "vali.txt.gz", pack_gzip(kDoc));
  put(folder.path() / "test.txt.gz", pack_gzip(kDoc));
  const auto folds = find_letor_folds(folder.path());
  ASSERT_TRUE(folds.ok()) << folds.error().message;
  EXPECT_EQ(folds->front().train.filename(), "train.txt");
  EXPECT_EQ(folds->front().validation.filename(), "vali.txt.gz");
  EXPECT_EQ(folds->front().test.filename(), "test.txt.gz");
}

TEST(LetorFolds, AFolderWithoutFoldsSaysWhatWasLookedFor) {
  const TemporaryFolder folder;
  EXPECT_EQ(find_letor_folds(folder.path()).error().message,
            folder.path().string() +
                ": no dataset in this folder; looked for Fold*/train.txt, train.txt, "
                "full/train.txt, sample/train.txt and set*.train.txt, also with .gz");
}

TEST(LetorFolds, AFoldWithoutTrainOrTestIsRefused) {
  const TemporaryFolder folder;
  put(folder.path() / "Fold1" / "train.txt", kDoc);
  EXPECT_EQ(find_letor_folds(folder.path()).error().message,
            folder / "Fold1" + ": no test.txt or test.txt.gz; a fold needs train and test");
  put(folder.path() / "Fold1" / "test.txt", kDoc);
  put(folder.path() / "Fold2" / "test.txt", kDoc);
  EXPECT_EQ(find_letor_folds(folder.path()).error().message,
            folder / "Fold2" + ": no train.txt or train.txt.gz; a fold needs train and test");
}

TEST(LetorFolds, IstellasArchivesAreRecognisedAsTheyUnpack) {
  for (const char* below : {"full", "sample"}) {
    const TemporaryFolder folder;
    put(folder.path() / below / "train.txt", kDoc);
    put(folder.path() / below / "test.txt", kDoc);
    const auto folds = find_letor_folds(folder.path());
    ASSERT_TRUE(folds.ok()) << folds.error().message;
    ASSERT_EQ(folds->size(), 1U);
    EXPECT_EQ(folds->front().name, folder.path().filename());
    EXPECT_EQ(folds->front().train, folder.path() / below / "train.txt");
  }
}

TEST(LetorFolds, OfFullAndSampleThePathSaysWhich) {
  const TemporaryFolder folder;
  for (const char* below : {"full", "sample"}) {
    put(folder.path() / below / "train.txt", kDoc);
    put(folder.path() / below / "test.txt", kDoc);
  }
  EXPECT_EQ(find_letor_folds(folder.path()).error().message,
            folder.path().string() + ": holds full and sample; say which one: " + folder / "full");
  EXPECT_EQ(find_letor_folds(folder.path() / "sample").value().front().train,
            folder.path() / "sample" / "train.txt");
}

TEST(LetorFolds, ValidationDataMayBeSpelledInSeveralWays) {
  for (const char* prefix : {"", "set1."}) {
    for (const char* name : {"vali.txt", "valid.txt", "validation.txt.gz"}) {
      const TemporaryFolder folder;
      const std::string file = std::string(prefix) + name;
      for (const char* part : {"train.txt", "test.txt"}) {
        put(folder.path() / (std::string(prefix) + part), kDoc);
      }
      put(folder.path() / file, kDoc);
      EXPECT_EQ(find_letor_folds(folder.path()).value().front().validation, folder.path() / file);
    }
  }
  const TemporaryFolder folder;
  for (const char* name : {"train.txt", "test.txt", "vali.txt", "valid.txt.gz"}) {
    put(folder.path() / name, kDoc);
  }
  EXPECT_EQ(
      find_letor_folds(folder.path()).error().message,
      folder.path().string() + ": holds vali.txt and valid.txt.gz; a fold has one validation file");
}

void put_set(const std::filesystem::path& folder, const std::string& set) {
  put(folder / (set + ".train.txt"), kDoc);
  put(folder / (set + ".valid.txt.gz"), pack_gzip(kDoc));
  put(folder / (set + ".test.txt"), kDoc);
}

TEST(LetorFolds, YahoosFilesAreAFoldNamedAfterTheSet) {
  const TemporaryFolder folder;
  put_set(folder.path(), "set1");
  for (const char* spelling : {"", "set1", "set1/"}) {
    EXPECT_TRUE(is_letor(folder.path() / spelling));
    const auto folds = find_letor_folds(folder.path() / spelling);
    ASSERT_TRUE(folds.ok()) << folds.error().message;
    ASSERT_EQ(folds->size(), 1U);
    EXPECT_EQ(folds->front().name, "set1");
    EXPECT_EQ(folds->front().train, folder.path() / "set1.train.txt");
    EXPECT_EQ(folds->front().validation, folder.path() / "set1.valid.txt.gz");
    EXPECT_EQ(folds->front().test, folder.path() / "set1.test.txt");
  }
  EXPECT_FALSE(is_letor(folder.path() / "set2"));
}

TEST(LetorFolds, OfSeveralSetsThePathSaysWhich) {
  const TemporaryFolder folder;
  put_set(folder.path(), "set1");
  put_set(folder.path(), "set2");
  EXPECT_EQ(
      find_letor_folds(folder.path()).error().message,
      folder.path().string() + ": holds the sets set1, set2; say which one: " + folder / "set1");
  EXPECT_EQ(find_letor_folds(folder.path() / "set2").value().front().test,
            folder.path() / "set2.test.txt");
  std::filesystem::remove(folder.path() / "set2.test.txt");
  EXPECT_EQ(find_letor_folds(folder.path() / "set2").error().message,
            folder.path().string() +
                ": no set2.test.txt or set2.test.txt.gz; a fold needs train and test");
}

TEST(LetorFolds, AFolderThatIsCalledLikeASetIsAFolder) {
  const TemporaryFolder folder;
  put_set(folder.path(), "set1");
  put(folder.path() / "set1" / "train.txt", kDoc);
  put(folder.path() / "set1" / "test.txt", kDoc);
  EXPECT_EQ(find_letor_folds(folder.path() / "set1").value().front().train,
            folder.path() / "set1" / "train.txt");
}

TEST(LetorFolds, AMissingFolderIsRefused) {
  EXPECT_THAT(find_letor_folds("/nowhere/at/all").error().message,
              HasSubstr("/nowhere/at/all: can't list the folder: No such file"));
}

TEST(LetorFolds, AreInNumericOrder) {
  const TemporaryFolder folder;
  const std::vector<std::string> names{"Fold1", "Fold1b", "Fold1b2", "Fold1b11",
                                       "Fold2", "Fold9a", "Fold10"};
  for (const std::string& name : names) {
    put(folder.path() / name / "train.txt", kDoc);
    put(folder.path() / name / "test.txt", kDoc);
  }
  std::vector<std::string> found;
  const auto folds = find_letor_folds(folder.path());
  for (const LetorFold& fold : folds.value()) found.push_back(fold.name);
  EXPECT_EQ(found, names);
}

}  // namespace
}  // namespace plackett
