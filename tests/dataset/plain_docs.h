// Documents as plain values, for comparing, and small dataset folders, for loading.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/letor_parser.h"
#include "plackett/dataset.h"

namespace plackett::testing {

struct PlainDoc {
  std::uint64_t query = 0;
  std::uint32_t label = 0;
  std::vector<float> values;

  bool operator==(const PlainDoc&) const = default;
};

inline void PrintTo(const PlainDoc& doc, std::ostream* out) {
  *out << doc.label << " qid:" << doc.query << " " << ::testing::PrintToString(doc.values);
}

// A parsed text's documents, `width` values each, under the source's query ids.
inline std::vector<PlainDoc> plain_docs(const LetorText& text, std::uint32_t width) {
  ColumnMap columns(width);
  for (std::uint32_t column = 0; column < width; ++column) columns[column] = column;
  std::vector<PlainDoc> docs;
  const auto begin = text.query_begin();
  for (std::uint32_t query = 0; query + 1 < begin.size(); ++query) {
    const std::uint64_t count = begin[query + 1] - begin[query];
    std::vector<float> rows(count * width, 0.0F);
    std::vector<std::uint8_t> labels(count);
    text.fill(Query{query}, columns, {rows.data(), width, labels.data()});
    for (std::uint64_t doc = 0; doc < count; ++doc) {
      const auto* row = rows.data() + doc * width;
      docs.push_back({text.query_ids()[query], labels[doc], {row, row + width}});
    }
  }
  return docs;
}

// A split's documents under the queries' numbers, padding left out.
inline std::vector<PlainDoc> plain_docs(const Split& split) {
  std::vector<PlainDoc> docs;
  for (std::uint32_t query = 0; query < split.query_count(); ++query) {
    const FeatureView features = split.features(Query{query});
    for (std::uint32_t doc = 0; doc < features.doc_count(); ++doc) {
      const auto row = features.row(Doc{doc}).first(features.feature_count());
      docs.push_back(
          {query, split.judgments(Query{query}).label(Doc{doc}), {row.begin(), row.end()}});
    }
  }
  return docs;
}

// The source's ids of a split's documents: "10032/GX029-35-5894638", "10032/" without one.
inline std::vector<std::string> plain_ids(const Split& split) {
  std::vector<std::string> ids;
  for (std::uint32_t query = 0; query < split.query_count(); ++query) {
    const auto id = split.query_id(Query{query});
    const std::string start = (id ? std::to_string(*id) : "") + "/";
    for (std::uint32_t doc = 0; doc < split.judgments(Query{query}).doc_count(); ++doc) {
      ids.push_back(start + std::string(split.doc_id(Query{query}, Doc{doc})));
    }
  }
  return ids;
}

inline void expect_same(const Dataset& left, const Dataset& right) {
  EXPECT_EQ(left.source_feature_count, right.source_feature_count);
  EXPECT_EQ(left.max_label, right.max_label);
  ASSERT_EQ(left.folds.size(), right.folds.size());
  for (std::size_t number = 0; number < left.folds.size(); ++number) {
    const Fold& one = left.folds[number];
    const Fold& other = right.folds[number];
    EXPECT_EQ(one.name, other.name);
    EXPECT_EQ(one.feature_ids, other.feature_ids);
    EXPECT_EQ(one.constant_feature_ids, other.constant_feature_ids);
    EXPECT_TRUE(plain_docs(one.train) == plain_docs(other.train)) << one.name;
    EXPECT_TRUE(plain_docs(one.test) == plain_docs(other.test)) << one.name;
    EXPECT_TRUE(plain_ids(one.train) == plain_ids(other.train)) << one.name;
    EXPECT_TRUE(plain_ids(one.test) == plain_ids(other.test)) << one.name;
    ASSERT_EQ(one.validation.has_value(), other.validation.has_value());
    if (one.validation) {
      EXPECT_TRUE(plain_docs(*one.validation) == plain_docs(*other.validation)) << one.name;
    }
  }
}

// Writes a file and the folders it lies in.
inline void put(const std::filesystem::path& path, std::string_view text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace plackett::testing
