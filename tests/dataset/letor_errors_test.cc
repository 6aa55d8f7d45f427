// What the LETOR parser refuses, and what it says.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataset/letor_parser.h"
#include "plackett/rng.h"

namespace plackett {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string error_of(std::string_view text, LetorOptions options = {}) {
  options.path = "train.txt";
  const auto parsed = parse_letor(text, options);
  EXPECT_FALSE(parsed.ok()) << text;
  return parsed ? "" : parsed.error().message;
}

constexpr const char* kLabelRule = "; labels are integers from 0 to 31";

TEST(LetorErrors, NegativeLabel) {
  for (const Unlabelled unlabelled : {Unlabelled::kRefuse, Unlabelled::kSkip}) {
    for (const char* label : {"-2", "-1.0", "-10", "-"}) {
      EXPECT_EQ(
          error_of(fmt::format("0 qid:1 1:1\n{} qid:1 1:1\n", label), {.unlabelled = unlabelled}),
          fmt::format("train.txt:2: label '{}'{}", label, kLabelRule));
    }
  }
}

TEST(LetorErrors, ADocumentWithoutALabelNamesTheOption) {
  EXPECT_EQ(error_of("0 qid:1 1:1\n-1 qid:1 1:1\n"),
            std::string("train.txt:2: label '-1'") + kLabelRule +
                " (unlabelled skip leaves those with -1 out)");
}

TEST(LetorErrors, AFileWithoutALabel) {
  EXPECT_EQ(error_of("-1 qid:1 1:1\n-1 qid:2 1:1\n", {.unlabelled = Unlabelled::kSkip}),
            "train.txt:2: no labelled document up to the end; a file needs at least one document");
}

TEST(LetorErrors, FractionalLabel) {
  EXPECT_EQ(error_of("0.5 qid:1 1:1\n"), std::string("train.txt:1: label '0.5'") + kLabelRule);
}

TEST(LetorErrors, LabelOver31) {
  EXPECT_EQ(error_of("32 qid:1 1:1\n"), std::string("train.txt:1: label '32'") + kLabelRule);
  EXPECT_EQ(error_of("18446744073709551617 qid:1 1:1\n"),
            std::string("train.txt:1: label '18446744073709551617'") + kLabelRule);
}

TEST(LetorErrors, NanAndInfinity) {
  for (const char* word : {"nan", "NaN", "-nan", "inf", "-inf", "Infinity"}) {
    for (const OutOfRange treatment : {OutOfRange::kRefuse, OutOfRange::kClamp}) {
      EXPECT_EQ(error_of(fmt::format("0 qid:1 1:1 2:{}\n", word), {.out_of_range = treatment}),
                fmt::format("train.txt:1: feature 2 has value '{}'; values must be finite", word));
    }
  }
}

TEST(LetorErrors, ValueBeyondFloat) {
  for (const char* value :
       {"1e39", "-3.5e38", "1e999999", "340282357000000000000000000000000000000"}) {
    EXPECT_EQ(error_of(fmt::format("0 qid:1 3:{}\n", value)),
              fmt::format("train.txt:1: feature 3 has value '{}'; values must be finite as floats "
                          "(at most 3.4e38; out-of-range clamp or missing takes larger ones)",
                          value));
  }
}

TEST(LetorErrors, FeatureIdZero) {
  EXPECT_EQ(error_of("0 qid:1 0:1\n"), "train.txt:1: feature id 0; ids start at 1");
  EXPECT_EQ(error_of("0 qid:1 1:1 0:1\n"), "train.txt:1: feature id 0; ids start at 1");
}

TEST(LetorErrors, DescendingIds) {
  EXPECT_EQ(error_of("0 qid:1 1:1 5:1 3:1\n"),
            "train.txt:1: feature id 3 after 5; ids must ascend along a line");
}

TEST(LetorErrors, RepeatedId) {
  EXPECT_EQ(error_of("0 qid:1 1:1 2:1 2:1\n"),
            "train.txt:1: feature id 2 twice; ids must ascend along a line");
}

TEST(LetorErrors, IdOverTheLimitNamesTheLimitAndTheOption) {
  LetorOptions options;
  options.max_feature_id = 500;
  const char* rule = "; ids go up to 500 (rows are dense; max-feature-id raises the limit)";
  for (const char* id : {"501", "4294967297", "99999999999999999999999"}) {
    EXPECT_EQ(error_of(fmt::format("0 qid:1 1:1 {}:1\n", id), options),
              fmt::format("train.txt:1: feature id {}{}", id, rule));
  }
}

TEST(LetorErrors, IdOfMoreThanNineDigits) {
  EXPECT_EQ(error_of("0 qid:1 0000000001:1\n"),
            "train.txt:1: feature id 0000000001; ids have at most 9 digits");
}

TEST(LetorErrors, MissingQueryId) {
  const std::string rule = "; a line is: label qid:ID id:value id:value ... # comment";
  EXPECT_EQ(error_of("1\n"), "train.txt:1: no qid after the label" + rule);
  EXPECT_EQ(error_of("1 # qid:1\n"), "train.txt:1: no qid after the label" + rule);
  EXPECT_EQ(error_of("1 1:0.5 2:1\n"), "train.txt:1: no qid after the label but '1:0.5'" + rule);
}

TEST(LetorErrors, BadQueryId) {
  for (const char* id : {"", "abc", "-3", "1.5", "18446744073709551616"}) {
    EXPECT_EQ(error_of(fmt::format("1 qid:{} 1:1\n", id)),
              fmt::format("train.txt:1: query id 'qid:{}'; expected an integer below "
                          "2^64 after qid:",
                          id));
  }
}

TEST(LetorErrors, MissingValue) {
  const char* message = "train.txt:1: feature 2 has no value; features are id:value pairs";
  for (const char* line :
       {"0 qid:1 1:1 2:", "0 qid:1 1:1 2: 3:1", "0 qid:1 1:1 2:#", "0 qid:1 2:\r\n"}) {
    EXPECT_EQ(error_of(line), message) << line;
  }
}

TEST(LetorErrors, GarbageTokens) {
  for (const char* token : {"hello", "5", ":5", "a:5", "-1:5", "+1:5", "1 :5", "1.5:2"}) {
    EXPECT_THAT(error_of(fmt::format("0 qid:1 {}\n", token)),
                HasSubstr("is not a feature; features are id:value pairs"))
        << token;
  }
  for (const char* value : {"x", "1x", "1:2", "1,5", "+1", "--1", "0x10", "1e", "."}) {
    EXPECT_EQ(
        error_of(fmt::format("0 qid:1 4:{}\n", value)),
        fmt::format("train.txt:1: feature 4 has value '{}'; values are decimal numbers", value));
  }
}

TEST(LetorErrors, EmptyFile) {
  EXPECT_EQ(error_of(""), "train.txt:1: empty file; a file needs at least one document");
}

TEST(LetorErrors, FileOfCommentsAlone) {
  EXPECT_EQ(error_of("# nothing\n\n# here\n"),
            "train.txt:3: no document up to the end; a file needs at least one document");
}

TEST(LetorErrors, BinaryJunkIsShownPrintableAndCut) {
  EXPECT_EQ(error_of(std::string_view("\x7f"
                                      "ELF\x02\x01\0\xff",
                                      8)),
            std::string("train.txt:1: label '\\x7fELF\\x02\\x01\\x00\\xff'") + kLabelRule);
  const std::string message = error_of(std::string(10'000, '\x01'));
  EXPECT_THAT(message, HasSubstr("...'"));
  EXPECT_LT(message.size(), 300U);
}

TEST(LetorErrors, RandomBytesNeverParseAndNeverCrash) {
  Rng rng({.seed = 5});
  for (int round = 0; round < 500; ++round) {
    std::string junk = "0 qid:1 1:1\n";
    for (std::uint32_t left = 1 + rng.below(200); left > 0; --left) {
      junk += static_cast<char>(rng.below(256));
    }
    junk += "\n!\n";
    EXPECT_THAT(error_of(junk), StartsWith("train.txt:"));
  }
}

TEST(LetorErrors, FirstBadLineIsReportedForAnyThreadsAndChunkSize) {
  std::string text;
  for (int line = 1; line <= 3'000; ++line) {
    // Each tenth line from 1,234 on is bad in a way of its own.
    text += line >= 1'234 && line % 10 == 4 ? fmt::format("0 qid:1 1:bad{}\n", line)
                                            : fmt::format("0 qid:{} 1:1 2:3\n", line / 9);
  }
  for (const unsigned threads : {1U, 2U, 7U}) {
    for (const std::size_t chunk : {1UL, 64UL, 1'000UL, 1'000'000UL}) {
      LetorOptions options;
      options.threads = threads;
      options.chunk_bytes = chunk;
      EXPECT_EQ(error_of(text, options),
                "train.txt:1234: feature 1 has value 'bad1234'; values are decimal numbers");
    }
  }
}

}  // namespace
}  // namespace plackett
