// One test for each way in which a line can be wrong, on the message that a person gets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "dataset/letor_parser.h"

namespace plackett {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// The message for `line` as the third of a file.
std::string error_of(const std::string& line) {
  LetorOptions options;
  options.path = "train.txt";
  options.max_feature_id = 500;
  const auto parsed = parse_letor("0 qid:1 1:1\n0 qid:1 1:2\n" + line, options);
  if (parsed.ok()) return "no error";
  EXPECT_THAT(parsed.error().message, StartsWith("train.txt:3: "));
  return parsed.error().message.substr(std::string("train.txt:3: ").size());
}

constexpr const char* kLabelRule = "; labels are whole numbers from 0 to 31";

TEST(LetorErrors, NegativeLabel) {
  EXPECT_EQ(error_of("-1 qid:1 1:1"), std::string("label '-1'") + kLabelRule);
}
TEST(LetorErrors, FractionalLabel) {
  EXPECT_EQ(error_of("1.5 qid:1 1:1"), std::string("label '1.5'") + kLabelRule);
}
TEST(LetorErrors, LabelOver31) {
  EXPECT_EQ(error_of("31 qid:1 1:1"), "no error");
  EXPECT_EQ(error_of("32 qid:1 1:1"), std::string("label '32'") + kLabelRule);
  EXPECT_EQ(error_of("99999999999999999999999 qid:1 1:1"),
            std::string("label '99999999999999999999999'") + kLabelRule);
}
TEST(LetorErrors, LabelThatIsNoNumber) {
  EXPECT_EQ(error_of("good qid:1 1:1"), std::string("label 'good'") + kLabelRule);
}
TEST(LetorErrors, MissingQid) {
  EXPECT_EQ(error_of("1 1:0.5"),
            "no qid after the label but '1:0.5'; a line is: label qid:ID id:value id:value ... # "
            "comment");
  EXPECT_THAT(error_of("1"), StartsWith("no qid after the label; a line is: "));
}
TEST(LetorErrors, QidThatIsNoNumber) {
  EXPECT_EQ(error_of("1 qid: 1:0.5"),
            "query id 'qid:'; after qid: comes a whole number below 2^64");
  EXPECT_EQ(error_of("1 qid:a7 1:0.5"),
            "query id 'qid:a7'; after qid: comes a whole number below 2^64");
  EXPECT_EQ(error_of("1 qid:18446744073709551615 1:0.5"), "no error");
  EXPECT_EQ(error_of("1 qid:18446744073709551616 1:0.5"),
            "query id 'qid:18446744073709551616'; after qid: comes a whole number below 2^64");
}
TEST(LetorErrors, NanValue) {
  EXPECT_EQ(error_of("1 qid:1 1:nan"), "feature 1 has value 'nan'; values must be finite");
}
TEST(LetorErrors, InfiniteValue) {
  EXPECT_EQ(error_of("1 qid:1 1:0 2:-inf"), "feature 2 has value '-inf'; values must be finite");
}
TEST(LetorErrors, ValueThatOverflowsAFloat) {
  EXPECT_EQ(error_of("1 qid:1 1:1e39"),
            "feature 1 has value '1e39'; values must be finite as floats (at most 3.4e38)");
  EXPECT_EQ(error_of("1 qid:1 1:3.4e38"), "no error");
  EXPECT_EQ(error_of("1 qid:1 1:1e-60"), "no error");
}
TEST(LetorErrors, IdZero) { EXPECT_EQ(error_of("1 qid:1 0:1"), "feature id 0; ids start at 1"); }
TEST(LetorErrors, DescendingIds) {
  EXPECT_EQ(error_of("1 qid:1 3:1 2:1"), "feature id 2 after 3; ids must ascend along a line");
}
TEST(LetorErrors, RepeatedIds) {
  EXPECT_EQ(error_of("1 qid:1 3:1 3:1"), "feature id 3 twice; ids must ascend along a line");
}
TEST(LetorErrors, IdOverTheLimit) {
  EXPECT_EQ(error_of("1 qid:1 500:1"), "no error");
  EXPECT_EQ(error_of("1 qid:1 501:1"),
            "feature id 501; ids go up to 500 (rows are dense; --max-feature-id raises the limit)");
  EXPECT_THAT(error_of("1 qid:1 4294967297:1"), HasSubstr("feature id 4294967297; ids go up to"));
}
TEST(LetorErrors, MissingValue) {
  EXPECT_EQ(error_of("1 qid:1 1:"), "feature 1 has no value; features are id:value pairs");
  EXPECT_EQ(error_of("1 qid:1 1: 2:3"), "feature 1 has no value; features are id:value pairs");
  EXPECT_EQ(error_of("1 qid:1 1:# c"), "feature 1 has no value; features are id:value pairs");
}
TEST(LetorErrors, GarbageTokens) {
  EXPECT_EQ(error_of("1 qid:1 1:1 hello"), "'hello' is not a feature; features are id:value pairs");
  EXPECT_EQ(error_of("1 qid:1 7"), "'7' is not a feature; features are id:value pairs");
  EXPECT_EQ(error_of("1 qid:1 -1:3"), "'-1:3' is not a feature; features are id:value pairs");
  EXPECT_EQ(error_of("1 qid:1 1:abc"), "feature 1 has value 'abc'; values are decimal numbers");
  EXPECT_EQ(error_of("1 qid:1 1:1.5x"), "feature 1 has value '1.5x'; values are decimal numbers");
  EXPECT_EQ(error_of("1 qid:1 1:1,5"), "feature 1 has value '1,5'; values are decimal numbers");
}
TEST(LetorErrors, LongTokensAreCutInTheMessage) {
  EXPECT_EQ(error_of(std::string(5000, 'x')),
            "label '" + std::string(40, 'x') + "...'" + kLabelRule);
}
TEST(LetorErrors, BinaryJunkIsShownPrintable) {
  EXPECT_EQ(error_of(std::string("\x7f"
                                 "ELF\x02\x00\xff",
                                 7)),
            std::string("label '\\x7fELF\\x02\\x00\\xff'") + kLabelRule);
}
TEST(LetorErrors, EmptyFile) {
  const auto parsed = parse_letor("", {.path = "train.txt"});
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.error().message, "train.txt:1: empty file; a file needs at least one document");
}
TEST(LetorErrors, FileOfCommentsAlone) {
  const auto parsed = parse_letor("# nothing\n\n", {.path = "train.txt"});
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.error().message,
            "train.txt:2: no document up to the end; a file needs at least one document");
}

}  // namespace
}  // namespace plackett
