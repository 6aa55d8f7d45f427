// What the LETOR parser accepts; what it refuses is in letor_errors_test.cc.
#include "dataset/letor_parser.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "dataset/plain_docs.h"
#include "plackett/rng.h"

namespace plackett {
namespace {

using testing::plain_docs;
using testing::PlainDoc;

std::unique_ptr<LetorText> parse(std::string_view text, unsigned threads = 1,
                                 std::size_t chunk_bytes = 4096) {
  LetorOptions options;
  options.path = "sample.txt";
  options.threads = threads;
  options.chunk_bytes = chunk_bytes;
  auto parsed = parse_letor(text, options);
  EXPECT_TRUE(parsed.ok()) << parsed.error().message;
  return parsed ? std::move(*parsed) : nullptr;
}

std::vector<PlainDoc> docs_of(std::string_view text, std::uint32_t width) {
  return plain_docs(*parse(text), width);
}

TEST(LetorParser, ReadsLabelQueryAndValues) {
  EXPECT_EQ(docs_of("2 qid:10032 1:0.5 2:-3.25 3:1e3\n", 3),
            (std::vector<PlainDoc>{{10032, 2, {0.5F, -3.25F, 1000.0F}}}));
}

TEST(LetorParser, SkipsCommentsAndBlankLines) {
  EXPECT_EQ(docs_of("# made by hand\n"
                    "\n"
                    "1 qid:1 1:5 #docid = GX029-35-5894638 inc = 0.01 prob = 0.1\n"
                    "   # indented\n"
                    "0 qid:1 1:6# right behind the value\n"
                    " \t\n"
                    "0 qid:2# no feature\n",
                    1),
            (std::vector<PlainDoc>{{1, 1, {5}}, {1, 0, {6}}, {2, 0, {0}}}));
}

TEST(LetorParser, TakesCarriageReturnsBeforeLineEnds) {
  EXPECT_EQ(docs_of("1 qid:1 1:5\r\n\r\n0 qid:1 1:6 # c\r\n0 qid:2 1:7\r", 1),
            (std::vector<PlainDoc>{{1, 1, {5}}, {1, 0, {6}}, {2, 0, {7}}}));
}

TEST(LetorParser, NeedsNoNewlineAtTheEnd) {
  EXPECT_EQ(docs_of("1 qid:1 1:5\n0 qid:1 1:6.5", 1),
            (std::vector<PlainDoc>{{1, 1, {5}}, {1, 0, {6.5F}}}));
}

TEST(LetorParser, TakesTabsAndRunsOfSpaces) {
  EXPECT_EQ(docs_of(" 1\tqid:7   1:5\t 2:6  \n", 2), (std::vector<PlainDoc>{{7, 1, {5, 6}}}));
}

TEST(LetorParser, AbsentFeaturesAreZeroAlsoInGaps) {
  EXPECT_EQ(
      docs_of("0 qid:1 2:5 4:6\n0 qid:1 1:1 2:2\n0 qid:1 1:1 2:2 4:9\n0 qid:1\n", 4),
      (std::vector<PlainDoc>{
          {1, 0, {0, 5, 0, 6}}, {1, 0, {1, 2, 0, 0}}, {1, 0, {1, 2, 0, 9}}, {1, 0, {0, 0, 0, 0}}}));
}

TEST(LetorParser, JoinsTheLinesOfAQueryThatAreApartAndKeepsTheirOrder) {
  EXPECT_EQ(
      docs_of("0 qid:9 1:1\n1 qid:3 1:2\n2 qid:9 1:3\n0 qid:5 1:4\n1 qid:3 1:5\n", 1),
      (std::vector<PlainDoc>{{9, 0, {1}}, {9, 2, {3}}, {3, 1, {2}}, {3, 1, {5}}, {5, 0, {4}}}));
}

TEST(LetorParser, TakesTheLargestLabelQueryIdAndFeatureId) {
  const auto text = parse("31 qid:18446744073709551615 20000:1\n");
  ASSERT_NE(text, nullptr);
  EXPECT_EQ(text->max_id(), 20'000U);
  EXPECT_EQ(text->query_ids()[0], ~std::uint64_t{0});
  EXPECT_EQ(plain_docs(*text, 1)[0].label, 31U);
}

TEST(LetorParser, TakesTheLargestFloatAndRoundsTinyValuesToZero) {
  EXPECT_EQ(docs_of("0 qid:1 1:3.4028234e38 2:-3.4028234e38 3:1e-60 4:1e-45\n", 4),
            (std::vector<PlainDoc>{{1, 0, {3.4028234e38F, -3.4028234e38F, 0, 1e-45F}}}));
}

std::vector<std::string> doc_ids_of(const LetorText& text) {
  std::vector<std::string> ids;
  for (std::uint64_t doc = 0; doc < text.query_begin().back(); ++doc) {
    ids.emplace_back(text.doc_id(doc));
  }
  return ids;
}

TEST(LetorParser, ReadsTheIdsOfDocumentsFromComments) {
  const auto text = parse(
      "1 qid:2 1:5 #docid = GX029-35-5894638 inc = 0.01 prob = 0.1\n"
      "1 qid:1 1:5 # docid=a,\"b\r\n"
      "0 qid:2 1:6#docid  =\t\xC3\xA9#x\x01y\n"
      "0 qid:2 1:6 #docid =\n"
      "0 qid:2 1:6 #docid\n"
      "0 qid:2 1:6 #docids = x\n"
      "0 qid:2 1:6 # made by hand; docid = x\n"
      "0 qid:2 1:6\n"
      "0 qid:3 #docid = last");
  EXPECT_TRUE(text->has_doc_ids());
  EXPECT_THAT(doc_ids_of(*text), ::testing::ElementsAre("GX029-35-5894638", "\xC3\xA9#x", "", "",
                                                        "", "", "", "a,\"b", "last"));
  EXPECT_FALSE(parse("1 qid:1 1:5 # docid\n0 qid:1 1:6 #x\n")->has_doc_ids());
}

// What out-of-range values, and how many, a text has.
struct OutOfRangeCase {
  std::vector<PlainDoc> docs;
  std::vector<std::pair<std::uint64_t, std::size_t>> counts;  // and first lines, by feature
};
OutOfRangeCase parse_out_of_range(std::string_view text, OutOfRange treatment,
                                  std::size_t chunk_bytes) {
  const auto parsed =
      parse_letor(text, {.path = "x", .out_of_range = treatment, .chunk_bytes = chunk_bytes});
  EXPECT_TRUE(parsed.ok()) << parsed.error().message;
  OutOfRangeCase found{plain_docs(**parsed, 3), {}};
  for (const auto& [count, line] : (*parsed)->out_of_range())
    found.counts.emplace_back(count, line);
  return found;
}

TEST(LetorParser, ClampsOrDropsWhatAFloatCannotHoldAndCountsIt) {
  constexpr const char* kText =
      "0 qid:1 1:1 2:1.79769313486e+308 3:3.4028235e38\n"
      "# a comment\n"
      "1 qid:2 1:2 2:-1.79769313486e+308\n"
      "1 qid:2 1:4 3:1e39\n";
  constexpr float kLargest = std::numeric_limits<float>::max();
  for (const std::size_t chunk : {1UL, 4096UL}) {
    const auto clamped = parse_out_of_range(kText, OutOfRange::kClamp, chunk);
    EXPECT_EQ(clamped.docs, (std::vector<PlainDoc>{{1, 0, {1, kLargest, kLargest}},
                                                   {2, 1, {2, -kLargest, 0}},
                                                   {2, 1, {4, 0, kLargest}}}));
    const auto missing = parse_out_of_range(kText, OutOfRange::kMissing, chunk);
    EXPECT_EQ(missing.docs, (std::vector<PlainDoc>{
                                {1, 0, {1, 0, kLargest}}, {2, 1, {2, 0, 0}}, {2, 1, {4, 0, 0}}}));
    for (const auto& counts : {clamped.counts, missing.counts}) {
      EXPECT_THAT(counts,
                  ::testing::ElementsAre(std::pair(0, 0), std::pair(2, 1), std::pair(1, 4)));
    }
  }
}

TEST(LetorParser, LeavesOutDocumentsWithoutALabelAndCountsThem) {
  constexpr const char* kText =
      "-1 qid:7 1:9 not read\n"
      "1 qid:1 1:5 #docid = a\n"
      "-1 qid:1 1:1e99 #docid = b\n"
      "0 qid:2 1:6 #docid = c\n"
      "\t-1\tqid:7 1:9\n"
      "-1 qid:8\n"
      "2 qid:1 1:7 #docid = d\n";
  for (const std::size_t chunk : {1UL, 4096UL}) {
    const auto text =
        parse_letor(kText, {.path = "x", .unlabelled = Unlabelled::kSkip, .chunk_bytes = chunk});
    ASSERT_TRUE(text.ok()) << text.error().message;
    EXPECT_EQ(plain_docs(**text, 1),
              (std::vector<PlainDoc>{{1, 1, {5}}, {1, 2, {7}}, {2, 0, {6}}}));
    EXPECT_THAT(doc_ids_of(**text), ::testing::ElementsAre("a", "d", "c"));
    EXPECT_EQ((*text)->unlabelled_documents(), 4U);
    EXPECT_EQ((*text)->unlabelled_queries(), 2U);
  }
}

TEST(LetorParser, KnowsWhichFeaturesVaryCountingAbsentAsZero) {
  // 1 varies; 2 is constant; 3 is absent once and else 0; 4 is absent once and else 7.
  const auto text = parse("0 qid:1 1:1 2:5 3:0 4:7\n0 qid:1 1:2 2:5\n0 qid:2 1:1 2:5 3:0 4:7\n");
  EXPECT_EQ(text->varying(1), (std::vector<bool>{true, false, false, true}));
}

// Lines with gaps, comments, queries that come back, of many lengths.
std::string random_text(std::uint32_t lines) {
  Rng rng({.seed = 11});
  std::string text;
  for (std::uint32_t line = 0; line < lines; ++line) {
    if (rng.below(20) == 0) text += "# a comment\n";
    text += fmt::format("{} qid:{}", rng.below(5), rng.below(30) == 0 ? 1 : line / 7);
    for (std::uint32_t id = 1; id <= 12; ++id) {
      if (rng.below(9) > 0) text += fmt::format(" {}:{:.6f}", id, 10 * rng.uniform() - 5);
    }
    const std::string id = fmt::format(" #docid = GX{} inc = 1\n", rng.below(1'000'000));
    text += rng.below(2) == 0 ? "\n" : rng.below(3) == 0 ? " # x\r\n" : id;
  }
  return text;
}

TEST(LetorParser, ResultIsTheSameForAnyThreadsAndChunkSize) {
  const std::string sample = random_text(2'000);
  const auto whole = parse(sample, 1, sample.size() + 1);
  const auto expected = plain_docs(*whole, 12);
  ASSERT_EQ(expected.size(), 2'000U);
  for (const unsigned threads : {1U, 2U, 7U}) {
    for (const std::size_t chunk : {0UL, 1UL, 100UL, 5'000UL, 100'000UL}) {
      const auto cut = parse(sample, threads, chunk);
      ASSERT_NE(cut, nullptr);
      EXPECT_TRUE(plain_docs(*cut, 12) == expected) << threads << " threads, chunk " << chunk;
      EXPECT_EQ(cut->varying(threads), whole->varying(1));
      EXPECT_EQ(cut->max_id(), whole->max_id());
      EXPECT_EQ(doc_ids_of(*cut), doc_ids_of(*whole));
    }
  }
}

}  // namespace
}  // namespace plackett
