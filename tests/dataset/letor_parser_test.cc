#include "dataset/letor_parser.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/rng.h"
#include "dataset/parse_value.h"

namespace plackett {
namespace {

// A parsed text as a caller sees it: all ids kept, queries in order.
struct Parsed {
  std::vector<std::uint64_t> query_ids;
  std::vector<std::vector<std::vector<float>>> queries;  // [query][doc][feature]
  std::vector<std::vector<int>> labels;
  std::vector<bool> varying;
  bool operator==(const Parsed&) const = default;
};

Parsed view(const LetorText& text) {
  Parsed parsed;
  parsed.query_ids.assign(text.query_ids().begin(), text.query_ids().end());
  parsed.varying = text.varying(1);
  const std::uint32_t width = text.max_id();
  ColumnMap columns(width);
  for (std::uint32_t feature = 0; feature < width; ++feature) columns[feature] = feature;
  const auto begin = text.query_begin();
  for (std::uint32_t query = 0; query + 1 < begin.size(); ++query) {
    const std::size_t docs = begin[query + 1] - begin[query];
    std::vector<float> rows(docs * width);
    std::vector<std::uint8_t> labels(docs);
    text.fill(Query{query}, columns, {rows.data(), width, labels.data()});
    auto& out = parsed.queries.emplace_back();
    for (std::size_t doc = 0; doc < docs; ++doc) {
      out.emplace_back(rows.begin() + static_cast<std::ptrdiff_t>(doc * width),
                       rows.begin() + static_cast<std::ptrdiff_t>((doc + 1) * width));
    }
    parsed.labels.emplace_back(labels.begin(), labels.end());
  }
  return parsed;
}

Parsed parse(std::string_view text, unsigned threads = 1, std::size_t chunk_bytes = 1 << 20) {
  LetorOptions options;
  options.path = "text";
  options.threads = threads;
  options.chunk_bytes = chunk_bytes;
  auto parsed = parse_letor(text, options);
  EXPECT_TRUE(parsed.ok()) << parsed.error().message;
  return parsed ? view(**parsed) : Parsed{};
}

using Query3 = std::vector<std::vector<float>>;

TEST(LetorParser, ReadsLabelsQueriesAndValues) {
  const Parsed parsed = parse("2 qid:10 1:0.5 2:-3\n0 qid:10 1:1e3 2:.25\n1 qid:7 1:4. 2:0\n");
  EXPECT_EQ(parsed.query_ids, (std::vector<std::uint64_t>{10, 7}));
  EXPECT_EQ(parsed.labels, (std::vector<std::vector<int>>{{2, 0}, {1}}));
  EXPECT_EQ(parsed.queries[0], (Query3{{0.5, -3}, {1000, 0.25}}));
  EXPECT_EQ(parsed.queries[1], (Query3{{4, 0}}));
}

TEST(LetorParser, SkipsCommentsAndBlankLines) {
  const Parsed parsed = parse(
      "# about this file\n\n  \t\n1 qid:1 1:2 # docid = 1:9 qid:4\n0 qid:1 1:3#at once\n  # "
      "end\n");
  EXPECT_EQ(parsed.labels, (std::vector<std::vector<int>>{{1, 0}}));
  EXPECT_EQ(parsed.queries[0], (Query3{{2}, {3}}));
}

TEST(LetorParser, ReadsCrlfTabsAndALastLineWithoutAnEnd) {
  const Parsed unix_text = parse("1 qid:1 1:2 2:3\n0 qid:1 1:4 2:5\n");
  EXPECT_EQ(parse("1 qid:1 1:2 2:3\r\n0 qid:1 1:4 2:5\r\n"), unix_text);
  EXPECT_EQ(parse("1 qid:1 1:2 2:3\n0 qid:1 1:4 2:5"), unix_text);
  EXPECT_EQ(parse("1 qid:1 1:2 2:3\r\n0 qid:1 1:4 2:5\r"), unix_text);
  EXPECT_EQ(parse("\t1\tqid:1\t1:2  2:3 \n 0 qid:1 1:4 \t 2:5\t\n"), unix_text);
}

TEST(LetorParser, CountsAbsentFeaturesAndGapsAsZero) {
  const Parsed parsed = parse("0 qid:1 2:5 4:6\n1 qid:1 1:7\n0 qid:1\n0 qid:1 1:1 2:2 4:4\n");
  EXPECT_EQ(parsed.queries[0], (Query3{{0, 5, 0, 6}, {7, 0, 0, 0}, {0, 0, 0, 0}, {1, 2, 0, 4}}));
}

TEST(LetorParser, JoinsQueriesWhoseLinesAreApart) {
  const Parsed parsed =
      parse("0 qid:5 1:1\n1 qid:3 1:2\n2 qid:5 1:3\n0 qid:9 1:4\n1 qid:3 1:5\n0 qid:5 1:6\n");
  EXPECT_EQ(parsed.query_ids, (std::vector<std::uint64_t>{5, 3, 9}));
  EXPECT_EQ(parsed.queries[0], (Query3{{1}, {3}, {6}}));
  EXPECT_EQ(parsed.queries[1], (Query3{{2}, {5}}));
  EXPECT_EQ(parsed.labels, (std::vector<std::vector<int>>{{0, 2, 0}, {1, 1}, {0}}));
}

TEST(LetorParser, FindsTheFeaturesThatVary) {
  // 1 differs, 2 is constant, 3 is absent once, 4 is absent or 0, 5 is there once.
  const Parsed parsed = parse("0 qid:1 1:1 2:7 3:7 4:0\n0 qid:2 1:2 2:7 5:1\n");
  EXPECT_EQ(parsed.varying, (std::vector<bool>{true, false, true, false, true}));
}

TEST(LetorParser, GivesTheSameForAnyThreadsAndChunks) {
  Rng rng({.seed = 1});
  std::string text;
  for (int line = 0; line < 500; ++line) {
    text += fmt::format("{} qid:{}", rng.below(3), rng.below(40));
    for (std::uint32_t id = 1 + rng.below(3); id < 12; id += 1 + rng.below(2)) {
      text += fmt::format(" {}:{:.4f}", id, rng.normal());
    }
    text += line % 3 == 0 ? " # comment\r\n" : "\n";
  }
  const Parsed whole = parse(text);
  for (const unsigned threads : {1U, 2U, 5U}) {
    for (const std::size_t chunk : {std::size_t{1}, std::size_t{100}, std::size_t{7777}}) {
      EXPECT_EQ(parse(text, threads, chunk), whole);
    }
  }
}

TEST(LetorParser, ReportsTheFirstBadLineForAnyThreadsAndChunks) {
  std::string text;
  for (int line = 1; line <= 300; ++line) {
    text += line == 123                   ? "0 qid:1 0:1\n"
            : line > 123 && line % 5 == 0 ? "junk\n"
                                          : "0 qid:1 1:1\n";
  }
  for (const unsigned threads : {1U, 2U, 8U}) {
    for (const std::size_t chunk : {std::size_t{1}, std::size_t{64}, std::size_t{1} << 20}) {
      LetorOptions options;
      options.path = "train.txt";
      options.threads = threads;
      options.chunk_bytes = chunk;
      const auto parsed = parse_letor(text, options);
      ASSERT_FALSE(parsed.ok());
      EXPECT_EQ(parsed.error().message, "train.txt:123: feature id 0; ids start at 1");
    }
  }
}

// --- values: the fast path against fast_float, bit by bit -------------------------------------

void expect_as_fast_float(const std::string& text) {
  float fast = 0;
  float general = 0;
  const char* end = text.data() + text.size();
  const char* fast_end = parse_value(text.data(), end, fast);
  const char* general_end = parse_value_general(text.data(), end, general);
  ASSERT_EQ(fast_end, general_end) << text;
  if (general_end != nullptr && !std::isnan(general)) {
    ASSERT_EQ(std::bit_cast<std::uint32_t>(fast), std::bit_cast<std::uint32_t>(general)) << text;
  }
}

TEST(ParseValue, EqualsFastFloatOnEveryShortDecimal) {
  for (int value = 0; value <= 1'000'000; value += 7) {
    expect_as_fast_float(fmt::format("{}.{:06}", value / 1'000'000, value % 1'000'000));
  }
  for (int value = 0; value < 20'000; ++value) expect_as_fast_float(fmt::format("{}", value));
}

TEST(ParseValue, EqualsFastFloatOnRandomDecimals) {
  Rng rng({.seed = 2});
  for (int round = 0; round < 300'000; ++round) {
    std::string text = rng.below(2) == 0 ? "-" : "";
    const std::uint32_t whole = rng.below(12);
    for (std::uint32_t digit = 0; digit < whole; ++digit)
      text += static_cast<char>('0' + rng.below(10));
    if (rng.below(4) != 0) {
      text += '.';
      const std::uint32_t decimals = rng.below(14);
      for (std::uint32_t digit = 0; digit < decimals; ++digit) {
        text += static_cast<char>('0' + rng.below(10));
      }
    }
    if (rng.below(8) == 0) text += fmt::format("e{}", static_cast<int>(rng.below(90)) - 45);
    expect_as_fast_float(text);
  }
}

TEST(ParseValue, EqualsFastFloatHalfwayBetweenFloats) {
  Rng rng({.seed = 3});
  for (int round = 0; round < 100'000; ++round) {
    // The midpoint of two neighbours, exact in decimal, and just beside it.
    const float low = std::bit_cast<float>(rng.below(0x0800'0000) + 0x3F80'0000);
    const float high = std::nextafter(low, std::numeric_limits<float>::infinity());
    const double middle = 0.5 * (static_cast<double>(low) + high);
    expect_as_fast_float(fmt::format("{:.30g}", middle));
    expect_as_fast_float(fmt::format("{:.17g}", middle));
    expect_as_fast_float(fmt::format("{:.15g}", middle));
    expect_as_fast_float(fmt::format("{:.14g}", std::nextafter(middle, 0)));
  }
}

TEST(ParseValue, EqualsFastFloatOnOddForms) {
  for (const char* text : {"",
                           "-",
                           ".",
                           "-.",
                           "1.",
                           ".5",
                           "-.5",
                           "-0",
                           "0.0",
                           "00012.5",
                           "1e5",
                           "1E-5",
                           "1e",
                           "nan",
                           "inf",
                           "-infinity",
                           "+1",
                           "1.2.3",
                           "0x10",
                           "1e400",
                           "3.4028236e38",
                           "3.4028235e38",
                           "1e-46",
                           "9007199254740993",
                           "0.0000000000000000000000001",
                           "12345678901234567890",
                           "16777217",
                           "1:2",
                           "1#",
                           "1 2",
                           "1\t"}) {
    expect_as_fast_float(text);
  }
}

}  // namespace
}  // namespace plackett
