#include "base/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace plackett {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class FileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "plackett-file-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::size_t file_count() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

TEST_F(FileTest, WhatWasWrittenIsReadBack) {
  const std::string text("two\nlines\0and a zero", 20);
  ASSERT_TRUE(write_file(folder_ / "a", text).ok());
  EXPECT_EQ(read_file(folder_ / "a").value(), text);
  EXPECT_EQ(file_count(), 1U);
}

TEST_F(FileTest, LargeWritesAndPatchesKeepTheirPlaces) {
  auto file = AtomicFile::create(folder_ / "big");
  ASSERT_TRUE(file.ok());
  const std::string megabytes(3'000'000, 'x');
  ASSERT_TRUE(file->append("head").ok());
  ASSERT_TRUE(file->append(megabytes).ok());
  ASSERT_TRUE(file->append("tail").ok());
  const std::string patch = "HEAD";
  ASSERT_TRUE(file->write_at(0, std::as_bytes(std::span(patch))).ok());
  ASSERT_TRUE(file->append("!").ok());
  ASSERT_TRUE(file->finish().ok());
  EXPECT_EQ(read_file(folder_ / "big").value(), "HEAD" + megabytes + "tail!");
}

TEST_F(FileTest, AnUnfinishedFileLeavesWhatStoodThere) {
  ASSERT_TRUE(write_file(folder_ / "a", "old").ok());
  {
    auto file = AtomicFile::create(folder_ / "a");
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->append("new").ok());
  }
  EXPECT_EQ(read_file(folder_ / "a").value(), "old");
  EXPECT_EQ(file_count(), 1U);
}

TEST_F(FileTest, AMissingFolderIsAnErrorThatNamesTheFile) {
  const auto result = write_file(folder_ / "missing" / "a", "text");
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().message, HasSubstr("missing/a: can't create"));
}

TEST_F(FileTest, MappingAMissingFileSaysWhich) {
  const auto file = MappedFile::open(folder_ / "nowhere");
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(file.error().message, HasSubstr("nowhere: can't open: No such file"));
  EXPECT_EQ(file.error().code, ErrorCode::kNotFound);
}

TEST_F(FileTest, MappingAFolderIsRefused) {
  EXPECT_THAT(MappedFile::open(folder_).error().message, HasSubstr("not a regular file"));
}

TEST_F(FileTest, AnEmptyFileMapsToNoBytes) {
  ASSERT_TRUE(write_file(folder_ / "empty", "").ok());
  EXPECT_TRUE(MappedFile::open(folder_ / "empty")->bytes().empty());
}

}  // namespace
}  // namespace plackett
