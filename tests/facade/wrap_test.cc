#include "plackett/wrap.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>

#include "facade/arrays.h"
#include "plackett/simulate.h"

namespace plackett {
namespace {

using testing::SmallArrays;

TEST(WrapSplit, ReadsTheArraysWhereTheyLie) {
  const SmallArrays small;
  const Split split = wrap_split(small.arrays()).value();
  EXPECT_EQ(split.query_count(), 2U);
  EXPECT_EQ(split.doc_count(), 5U);
  EXPECT_EQ(split.feature_count(), 3U);
  EXPECT_EQ(split.row_stride(), 4U);
  EXPECT_EQ(split.features(Query{0}).data(), small.rows.data());
  EXPECT_EQ(split.features(Query{1}).data(), small.rows.data() + 8);
  EXPECT_EQ(split.features(Query{1}).row(Doc{2}).data(), small.rows.data() + 16);
  EXPECT_EQ(split.features(Query{1}).row(Doc{2}).size(), 3U);
  EXPECT_EQ(split.features(Query{1}).doc_count(), 3U);
  EXPECT_EQ(split.features(Query{1}).readable_width(), 3U);
  EXPECT_EQ(split.judgments(Query{1}).labels().data(), small.labels.data() + 2);
}

TEST(WrapSplit, TakesIdsOfQueriesAndDocuments) {
  const SmallArrays small;
  const std::vector<std::uint64_t> query_ids{70, 3};
  const std::vector<std::uint64_t> begin{0, 1, 3, 3, 3, 4};
  SplitArrays arrays = small.arrays();
  arrays.query_ids = query_ids;
  arrays.doc_id_begin = begin;
  arrays.doc_ids = "abcd";
  const Split split = wrap_split(arrays).value();
  EXPECT_EQ(split.query_id(Query{1}), 3U);
  EXPECT_EQ(split.doc_id(Query{0}, Doc{1}), "bc");
  EXPECT_EQ(split.doc_id(Query{1}, Doc{1}), "");
  EXPECT_EQ(split.doc_id(Query{1}, Doc{2}), "d");
  const Split plain = wrap_split(small.arrays()).value();
  EXPECT_EQ(plain.query_id(Query{1}), std::nullopt);
  EXPECT_EQ(plain.doc_id(Query{1}, Doc{2}), "");
}

TEST(WrapSplit, KeepsTheOwnerAsLongAsAnyCopy) {
  const auto small = std::make_shared<SmallArrays>();
  SplitArrays arrays = small->arrays();
  arrays.owner = small;
  {
    Split split = wrap_split(std::move(arrays)).value();
    EXPECT_EQ(small.use_count(), 2);
    const Split copy = split;
    split = Split();
    EXPECT_EQ(small.use_count(), 2);
    EXPECT_EQ(copy.features(Query{0}).data(), small->rows.data());
  }
  EXPECT_EQ(small.use_count(), 1);
}

TEST(WrapSplit, RefusesWhatDoesNotFitWithPlaceValueAndRule) {
  using Change = std::function<void(SmallArrays&, SplitArrays&)>;
  struct Case {
    Change change;
    const char* message;
  };
  const Case cases[] = {
      {[](SmallArrays&, SplitArrays& a) { a.feature_count = 0; },
       "features: 0 columns; there can be 1 to 999999999"},
      {[](SmallArrays&, SplitArrays& a) { a.stride = 2; },
       "stride: 2 floats per row; there are 3 features"},
      {[](SmallArrays&, SplitArrays& a) { a.rows = nullptr; },
       "rows: none; expected one per document"},
      {[](SmallArrays&, SplitArrays& a) { a.query_begin = {}; },
       "query_begin: no query; it holds the start of each query and the end of the last"},
      {[](SmallArrays&, SplitArrays& a) { a.query_begin = a.query_begin.first(1); },
       "query_begin: no query; it holds the start of each query and the end of the last"},
      {[](SmallArrays& s, SplitArrays&) { s.query_begin[0] = 1; },
       "query_begin: starts at 1; the first document is 0"},
      {[](SmallArrays& s, SplitArrays&) { s.query_begin[1] = 0; },
       "query_begin: query 0 goes from document 0 to 0; a query has at least 1 document"},
      {[](SmallArrays& s, SplitArrays&) { s.query_begin[1] = 6; },
       "query_begin: query 1 goes from document 6 to 5; a query has at least 1 document"},
      {[](SmallArrays& s, SplitArrays&) { s.query_begin[2] = 6; },
       "query_begin: ends at 6; there are 5 labels"},
      {[](SmallArrays& s, SplitArrays&) { s.query_begin[2] = std::uint64_t{1} << 40; },
       "query_begin: query 1 has 1099511627774 documents; fewer than 2^32"},
      {[](SmallArrays&, SplitArrays& a) { a.labels = a.labels.first(4); },
       "query_begin: ends at 5; there are 4 labels"},
      {[](SmallArrays& s, SplitArrays& a) { a.query_ids = s.query_begin; },
       "query_ids: 3 for 2 queries"},
      {[](SmallArrays& s, SplitArrays& a) { a.doc_id_begin = s.query_begin; },
       "doc_id_begin: 3 for 5 documents; expected one more"},
      {[](SmallArrays&, SplitArrays& a) {
         static constexpr std::uint64_t kBegin[] = {0, 1, 2, 3, 4, 6};
         a.doc_id_begin = kBegin;
         a.doc_ids = "abcde";
       },
       "doc_ids: the id of document 4 goes from byte 4 to 6; there are 5"},
      {[](SmallArrays& s, SplitArrays&) { s.labels[3] = 32; },
       "labels: 32 for document 3; labels are 0 to 31"},
      {[](SmallArrays& s, SplitArrays&) { s.rows[9] = std::numeric_limits<float>::quiet_NaN(); },
       "features: nan for document 2, column 1; values are finite"},
      {[](SmallArrays& s, SplitArrays&) { s.rows[18] = -std::numeric_limits<float>::infinity(); },
       "features: -inf for document 4, column 2; values are finite"},
  };
  for (const Case& wrong : cases) {
    SmallArrays small;
    SplitArrays arrays = small.arrays();
    wrong.change(small, arrays);
    const auto split = wrap_split(arrays);
    ASSERT_FALSE(split.ok()) << wrong.message;
    EXPECT_EQ(split.error().message, wrong.message);
  }
}

TEST(WrapSplit, WhatLiesBetweenTheRowsIsNotLookedAt) {
  SmallArrays small;
  for (std::size_t gap = 3; gap < small.rows.size(); gap += 4) {
    small.rows[gap] = std::numeric_limits<float>::quiet_NaN();
  }
  EXPECT_TRUE(wrap_split(small.arrays()).ok());
}

TEST(WrapDataset, IsOneFoldOfItsParts) {
  SmallArrays train;
  SmallArrays test;
  SmallArrays validation;
  test.labels[0] = 3;
  validation.labels[4] = 4;
  const Dataset dataset = wrap_dataset({.name = "mine",
                                        .train = wrap_split(train.arrays()).value(),
                                        .test = wrap_split(test.arrays()).value(),
                                        .validation = wrap_split(validation.arrays()).value()})
                              .value();
  EXPECT_EQ(dataset.name, "mine");
  EXPECT_EQ(dataset.max_label, 4U);
  EXPECT_EQ(dataset.grade_count(), 5U);
  EXPECT_EQ(dataset.source_feature_count, 3U);
  ASSERT_EQ(dataset.folds.size(), 1U);
  EXPECT_EQ(dataset.folds[0].feature_ids, (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(dataset.folds[0].train.features(Query{0}).data(), train.rows.data());
  EXPECT_EQ(dataset.folds[0].test.features(Query{0}).data(), test.rows.data());
  EXPECT_EQ(dataset.folds[0].validation->features(Query{0}).data(), validation.rows.data());
}

TEST(WrapDataset, RefusesPartsThatDoNotFitTogether) {
  const SmallArrays small;
  SplitArrays narrow = small.arrays();
  narrow.feature_count = 2;
  const Split three = wrap_split(small.arrays()).value();
  const Split two = wrap_split(narrow).value();
  const auto message = [](DatasetParts parts) {
    const auto made = wrap_dataset(std::move(parts));
    return made.ok() ? std::string("none") : made.error().message;
  };
  EXPECT_EQ(message({.name = "a", .train = three, .test = two}),
            "test: 2 features; the training data has 3");
  EXPECT_EQ(message({.name = "a", .train = three, .test = three, .validation = two}),
            "validation: 2 features; the training data has 3");
  EXPECT_EQ(message({.name = "a", .train = three, .test = Split()}),
            "test: no queries; expected at least 1");
  EXPECT_EQ(message({.name = "a", .train = Split(), .test = three}),
            "train: no queries; expected at least 1");
}

// Whole runs, on the engine's own rows and on odd ones.
TEST(WrapDataset, RunsGiveTheBitsOfPaddedRows) {
  Dataset padded = load_dataset("synthetic", {}).value();
  padded.folds.resize(1);
  const testing::OddCopy train(padded.folds[0].train, 3);
  const testing::OddCopy test(padded.folds[0].test, 7);
  const Dataset odd =
      wrap_dataset({.name = "odd", .train = train.split(), .test = test.split()}).value();
  for (const RankerKind kind :
       {RankerKind::kLinear, RankerKind::kNeural, RankerKind::kLinearPlusNeural}) {
    SimulationSpec spec;
    spec.ranker.kind = kind;
    spec.runs = 1;
    spec.impressions = 300;
    const Simulated a = simulate(padded, spec).value();
    const Simulated b = simulate(odd, spec).value();
    ASSERT_EQ(a.runs[0].curve.size(), b.runs[0].curve.size());
    for (std::size_t point = 0; point < a.runs[0].curve.size(); ++point) {
      EXPECT_EQ(a.runs[0].curve[point].offline, b.runs[0].curve[point].offline);
      EXPECT_EQ(a.runs[0].curve[point].online, b.runs[0].curve[point].online);
    }
    std::vector<float> learned_a(a.learner->ranker().parameter_count());
    std::vector<float> learned_b(learned_a.size());
    a.learner->ranker().get_parameters(learned_a);
    b.learner->ranker().get_parameters(learned_b);
    EXPECT_EQ(learned_a, learned_b) << name_of(kind);
  }
}

}  // namespace
}  // namespace plackett
