#include "dataset/letor_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scratch.h"

namespace plackett {
namespace {

using testing::gzip;
using ::testing::HasSubstr;
using testing::ScratchFolder;

Result<std::string> unpack(std::string_view packed) {
  return unpack_gzip(std::as_bytes(std::span(packed.data(), packed.size())), "train.txt.gz");
}

TEST(Gzip, UnpacksWhatWasPacked) {
  for (const std::size_t size : {0UL, 1UL, 100UL, 3'000'000UL}) {
    const std::string text(size, 'a');  // packs a thousandfold: the first guess is too small
    EXPECT_EQ(unpack(gzip(text)).value(), text);
  }
}

TEST(Gzip, JoinsSeveralMembersAndSkipsZeroPadding) {
  EXPECT_EQ(unpack(gzip("one\n") + gzip("two\n") + gzip("")).value(), "one\ntwo\n");
  EXPECT_EQ(unpack(gzip("one\n") + std::string(100, '\0')).value(), "one\n");
}

TEST(Gzip, TruncatedDataIsAnErrorAtEveryLength) {
  const std::string packed = gzip("0 qid:1 1:0.5\n1 qid:1 1:0.25\n");
  for (std::size_t size = 0; size < packed.size(); ++size) {
    const auto unpacked = unpack(packed.substr(0, size));
    ASSERT_FALSE(unpacked.ok()) << size;
    EXPECT_THAT(unpacked.error().message,
                HasSubstr("train.txt.gz: truncated or corrupt gzip data; the member at byte 0"));
  }
}

TEST(Gzip, CorruptDataIsAnErrorOrChangesNothing) {
  std::string text;
  for (int line = 0; line < 50; ++line) text += "0 qid:1 1:0.5 2:" + std::to_string(line) + "\n";
  const std::string packed = gzip(text);
  std::size_t errors = 0;
  for (std::size_t byte = 10; byte < packed.size(); ++byte) {
    std::string bad = packed;
    bad[byte] = static_cast<char>(bad[byte] ^ 0x10);
    // Deflate leaves a few bits unused.
    const auto unpacked = unpack(bad);
    EXPECT_TRUE(!unpacked.ok() || *unpacked == text) << byte;
    errors += unpacked.ok() ? 0 : 1;
  }
  EXPECT_GT(errors, packed.size() / 2);
  EXPECT_FALSE(unpack("this is text").ok());
  EXPECT_FALSE(unpack(packed + "tail").ok());
}

TEST(NaturalOrder, ComparesRunsOfDigitsAsNumbers) {
  EXPECT_TRUE(natural_less("Fold2", "Fold10"));
  EXPECT_FALSE(natural_less("Fold10", "Fold2"));
  EXPECT_TRUE(natural_less("Fold", "Fold1"));
  EXPECT_TRUE(natural_less("Fold9b", "Fold10a"));
  EXPECT_FALSE(natural_less("Fold1", "Fold1"));
  EXPECT_NE(natural_less("Fold1", "Fold01"), natural_less("Fold01", "Fold1"));
}

TEST(LetorFolds, AreSortedNaturally) {
  const ScratchFolder folder;
  for (const char* name : {"Fold10", "Fold2", "Fold1"}) {
    for (const char* part : {"train.txt", "test.txt"}) {
      folder.write(std::filesystem::path(name) / part, "0 qid:1 1:1\n");
    }
  }
  folder.write("Fold2/vali.txt.gz", "");
  folder.write("other/train.txt", "");
  const auto folds = find_letor_folds(folder.path());
  ASSERT_TRUE(folds.ok()) << folds.error().message;
  ASSERT_EQ(folds->size(), 3U);
  EXPECT_EQ((*folds)[0].name, "Fold1");
  EXPECT_EQ((*folds)[1].name, "Fold2");
  EXPECT_EQ((*folds)[2].name, "Fold10");
  EXPECT_FALSE((*folds)[0].validation.has_value());
  EXPECT_EQ((*folds)[1].validation->filename(), "vali.txt.gz");
}

TEST(LetorFolds, ASingleFolderIsOneFoldNamedAfterIt) {
  const ScratchFolder folder;
  folder.write("set/train.txt", "0 qid:1 1:1\n");
  folder.write("set/test.txt.gz", "");
  for (const auto& path : {folder.path() / "set", folder.path() / "set" / ""}) {
    const auto folds = find_letor_folds(path);
    ASSERT_TRUE(folds.ok()) << folds.error().message;
    ASSERT_EQ(folds->size(), 1U);
    EXPECT_EQ(folds->front().name, "set");
    EXPECT_EQ(folds->front().test.filename(), "test.txt.gz");
  }
}

TEST(LetorFolds, PlainTextComesBeforeGzip) {
  const ScratchFolder folder;
  for (const char* name : {"train.txt", "train.txt.gz", "test.txt"}) folder.write(name, "");
  EXPECT_EQ(find_letor_folds(folder.path())->front().train.filename(), "train.txt");
}

TEST(LetorFolds, AFolderWithoutAnyFoldSaysWhatWasLookedFor) {
  const ScratchFolder folder;
  const auto folds = find_letor_folds(folder.path());
  ASSERT_FALSE(folds.ok());
  EXPECT_EQ(folds.error().message,
            folder.path().string() +
                ": no dataset in this folder; looked for Fold*/train.txt, Fold*/train.txt.gz, "
                "train.txt and train.txt.gz");
}

TEST(LetorFolds, AFoldNeedsTrainAndTest) {
  const ScratchFolder folder;
  folder.write("Fold1/train.txt", "");
  folder.write("Fold1/test.txt", "");
  folder.write("Fold2/train.txt", "");
  const auto no_test = find_letor_folds(folder.path());
  ASSERT_FALSE(no_test.ok());
  EXPECT_EQ(no_test.error().message,
            (folder.path() / "Fold2").string() +
                ": no test.txt or test.txt.gz; a fold needs train and test");
  folder.write("Fold2/test.txt", "");
  std::filesystem::remove(folder.path() / "Fold1/train.txt");
  const auto no_train = find_letor_folds(folder.path());
  ASSERT_FALSE(no_train.ok());
  EXPECT_EQ(no_train.error().message,
            (folder.path() / "Fold1").string() +
                ": no train.txt or train.txt.gz; a fold needs train and test");
}

}  // namespace
}  // namespace plackett
