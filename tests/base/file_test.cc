#include "base/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>

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

TEST_F(FileTest, LargeWritesKeepTheirOrder) {
  auto file = AtomicFile::create(folder_ / "big");
  ASSERT_TRUE(file.ok());
  const std::string megabytes(3'000'000, 'x');
  ASSERT_TRUE(file->append("head").ok());
  ASSERT_TRUE(file->append(megabytes).ok());
  ASSERT_TRUE(file->append("tail").ok());
  ASSERT_TRUE(file->finish().ok());
  EXPECT_EQ(read_file(folder_ / "big").value(), "head" + megabytes + "tail");
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

TEST_F(FileTest, ALinkStaysAndItsFileIsReplaced) {
  fs::create_directory(folder_ / "below");
  ASSERT_TRUE(write_file(folder_ / "below" / "real", "old").ok());
  fs::create_symlink("below/real", folder_ / "link");
  fs::create_symlink("link", folder_ / "again");
  fs::create_symlink("below/new", folder_ / "dangling");
  for (const auto& [link, file] : {std::pair{"again", "real"}, std::pair{"dangling", "new"}}) {
    ASSERT_TRUE(check_writable(folder_ / link).ok());
    ASSERT_TRUE(write_file(folder_ / link, link).ok());
    EXPECT_TRUE(fs::is_symlink(folder_ / link));
    EXPECT_FALSE(fs::is_symlink(folder_ / "below" / file));
    EXPECT_EQ(read_file(folder_ / "below" / file).value(), link);
  }
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  fs::create_symlink("circle", folder_ / "circle");
  EXPECT_FALSE(write_file(folder_ / "circle", "text").ok());
  EXPECT_TRUE(fs::is_symlink(folder_ / "circle"));
}

TEST_F(FileTest, APipeIsWrittenToAndStays) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  fs::create_symlink("pipe", folder_ / "link");
  for (const char* name : {"pipe", "link"}) {
    const Descriptor reader(::open((folder_ / "pipe").c_str(), O_RDONLY | O_NONBLOCK));
    ASSERT_TRUE(reader.valid());
    EXPECT_TRUE(written_directly(folder_ / name));
    ASSERT_TRUE(check_writable(folder_ / name).ok());
    ASSERT_TRUE(write_file(folder_ / name, "through").ok());
    std::string text(100, ' ');
    text.resize(static_cast<std::size_t>(
        std::max(::read(reader.get(), text.data(), text.size()), ssize_t{0})));
    EXPECT_EQ(text, "through");
    EXPECT_TRUE(fs::is_fifo(folder_ / "pipe"));
  }
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(file_count(), 2U);
}

TEST_F(FileTest, StandardErrorInAFileIsContinuedNotReplaced) {
  const Descriptor file(
      ::open((folder_ / "log").c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  ASSERT_EQ(::write(file.get(), "before ", 7), 7);
  const Descriptor kept(::dup(STDERR_FILENO));
  ASSERT_EQ(::dup2(file.get(), STDERR_FILENO), STDERR_FILENO);
  const bool written = write_file(folder_ / "log", "amid ").ok();
  ASSERT_EQ(::dup2(kept.get(), STDERR_FILENO), STDERR_FILENO);
  EXPECT_TRUE(written);
  ASSERT_EQ(::write(file.get(), "after", 5), 5);
  EXPECT_EQ(read_file(folder_ / "log").value(), "before amid after");
}

TEST_F(FileTest, WhereNothingCanBeWrittenIsToldBefore) {
  EXPECT_THAT(check_writable("").error().message, HasSubstr("an empty file name"));
  EXPECT_THAT(check_writable(folder_).error().message, HasSubstr("is a folder"));
  EXPECT_THAT(check_writable(folder_ / "missing" / "a").error().message,
              HasSubstr("missing/a: can't create: No such file"));
  fs::create_symlink("missing/a", folder_ / "link");
  EXPECT_FALSE(check_writable(folder_ / "link").ok());
  EXPECT_TRUE(check_writable(folder_ / "new").ok());
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
