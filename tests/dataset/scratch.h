// What the tests of this room share: a folder that goes away, and small views of results.
#pragma once

#include <gtest/gtest.h>
#include <libdeflate.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/dataset.h"

namespace plackett::testing {

// A fresh folder, removed with all that is in it.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "plackett_test_XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  std::filesystem::path write(const std::filesystem::path& name, std::string_view text) const {
    const auto path = path_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  [[nodiscard]] std::size_t file_count() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_)) {
      count += entry.is_regular_file() ? 1 : 0;
    }
    return count;
  }

 private:
  std::filesystem::path path_;
};

inline std::string gzip(std::string_view text) {
  auto* packer = libdeflate_alloc_compressor(6);
  std::string packed(libdeflate_gzip_compress_bound(packer, text.size()), '\0');
  packed.resize(
      libdeflate_gzip_compress(packer, text.data(), text.size(), packed.data(), packed.size()));
  libdeflate_free_compressor(packer);
  return packed;
}

inline std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A query's features without padding, row by row.
inline std::vector<std::vector<float>> rows(const Split& split, std::uint32_t query) {
  const FeatureView view = split.features(Query{query});
  std::vector<std::vector<float>> rows;
  for (std::uint32_t doc = 0; doc < view.doc_count(); ++doc) {
    const auto row = view.row(Doc{doc});
    rows.emplace_back(row.begin(), row.begin() + view.feature_count());
  }
  return rows;
}

inline std::vector<int> labels(const Split& split, std::uint32_t query) {
  const auto labels = split.judgments(Query{query}).labels();
  return {labels.begin(), labels.end()};
}

// Bit by bit, padding included.
inline void expect_same_split(const Split& left, const Split& right) {
  ASSERT_EQ(left.query_count(), right.query_count());
  ASSERT_EQ(left.feature_count(), right.feature_count());
  ASSERT_EQ(left.doc_count(), right.doc_count());
  const auto& a = left.storage();
  const auto& b = right.storage();
  EXPECT_TRUE(std::equal(a.query_begin, a.query_begin + a.query_count + 1, b.query_begin));
  EXPECT_TRUE(std::equal(a.labels, a.labels + left.doc_count(), b.labels));
  const std::size_t floats = left.doc_count() * padded_width(left.feature_count());
  EXPECT_TRUE(std::equal(a.rows, a.rows + floats, b.rows));
}

inline void expect_same_folds(const Dataset& left, const Dataset& right) {
  ASSERT_EQ(left.folds.size(), right.folds.size());
  EXPECT_EQ(left.max_label, right.max_label);
  EXPECT_EQ(left.source_feature_count, right.source_feature_count);
  for (std::size_t fold = 0; fold < left.folds.size(); ++fold) {
    const Fold& a = left.folds[fold];
    const Fold& b = right.folds[fold];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.feature_ids, b.feature_ids);
    EXPECT_EQ(a.constant_feature_ids, b.constant_feature_ids);
    expect_same_split(a.train, b.train);
    expect_same_split(a.test, b.test);
    ASSERT_EQ(a.validation.has_value(), b.validation.has_value());
    if (a.validation) expect_same_split(*a.validation, *b.validation);
  }
}

}  // namespace plackett::testing
