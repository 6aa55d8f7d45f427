#include "report/text.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "report/arrangement.h"
#include "report/numbers.h"

namespace plackett::report {
namespace {

TEST(Text, MarkupEscapesEverythingThatMarkupReads) {
  EXPECT_EQ(markup("<script>alert(\"a\" & 'b')</script>"),
            "&lt;script&gt;alert(&quot;a&quot; &amp; &#39;b&#39;)&lt;/script&gt;");
}

TEST(Text, ControlCharactersNeverPass) {
  EXPECT_EQ(printable("a\x1b[31mb\nc\td"), "a\xEF\xBF\xBD[31mb c d");
  EXPECT_EQ(printable(std::string_view("\0\x7f", 2)), "\uFFFD\uFFFD");
  EXPECT_EQ(printable("\xC2\x9B"), "\uFFFD");  // the one-byte CSI of some terminals
}

TEST(Text, IllFormedBytesBecomeReplacements) {
  EXPECT_EQ(printable("a\xFF z"), "a\uFFFD z");
  EXPECT_EQ(printable("\xC0\xAF"), "\uFFFD\uFFFD");                      // overlong
  EXPECT_EQ(printable("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");            // a surrogate
  EXPECT_EQ(printable("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");  // past the last
  EXPECT_EQ(printable("\xE2\x82"), "\uFFFD\uFFFD");                      // cut short
  EXPECT_EQ(printable("é€𝄞"), "é€𝄞");
}

TEST(Text, MarkdownCellsKeepTheirTable) {
  EXPECT_EQ(markdown_cell("a|b*c_d\\"), "a\\|b\\*c\\_d\\\\");
  EXPECT_EQ(markdown_cell("<b>"), "&lt;b&gt;");
}

TEST(Text, CsvFieldsAreQuotedWhereTheyMustBe) {
  EXPECT_EQ(csv_field("plain name"), "plain name");
  EXPECT_EQ(csv_field("a,b \"c\""), "\"a,b \"\"c\"\"\"");
}

TEST(Text, WidthCountsColumnsNotBytes) {
  EXPECT_EQ(display_width("naïve"), 5U);
  EXPECT_EQ(display_width("e\u0301"), 1U);
  EXPECT_EQ(display_width("検索"), 4U);
}

TEST(Text, ShortenCutsToColumnsAtWholeCharacters) {
  EXPECT_EQ(shorten("abcdef", 6), "abcdef");
  EXPECT_EQ(shorten("abcdef", 4), "abc…");
  EXPECT_EQ(shorten("検索検索", 4), "検…");
  EXPECT_EQ(shorten("abc", 0), "");
}

TEST(Numbers, AreWrittenAsThePaperWritesThem) {
  EXPECT_EQ(fixed(0.5114, 3), "0.511");
  EXPECT_EQ(fixed(797.25, 1), "797.2");
  EXPECT_EQ(fixed(-0.0001, 3), "0.000");
  EXPECT_EQ(fixed(-0.5, 1), "-0.5");
}

TEST(Numbers, NotFiniteIsADash) {
  const double nan = std::nan("");
  EXPECT_EQ(fixed(nan, 3), kNoNumber);
  EXPECT_EQ(rate(std::numeric_limits<double>::infinity()), kNoNumber);
  EXPECT_EQ(rate(0), kNoNumber);
  EXPECT_EQ(compact(nan), kNoNumber);
  EXPECT_EQ(duration(nan), kNoNumber);
}

TEST(Numbers, CountsAndRatesAreShort) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(10'000), "10,000");
  EXPECT_EQ(grouped(1'234'567), "1,234,567");
  EXPECT_EQ(rate(182'431), "182,000");
  EXPECT_EQ(rate(41.27), "41.3");
  EXPECT_EQ(rate(0.523), "0.52");
  EXPECT_EQ(compact(1), "1");
  EXPECT_EQ(compact(1000), "1k");
  EXPECT_EQ(compact(999'999), "1M");
  EXPECT_EQ(compact(7'500'000), "7.5M");
}

TEST(Numbers, DurationsUseTheUnitsPeopleUse) {
  EXPECT_EQ(duration(0.00042), "0.4 ms");
  EXPECT_EQ(duration(0.0099), "9.9 ms");
  EXPECT_EQ(duration(0.00996), "10 ms");
  EXPECT_EQ(duration(0.0994), "99 ms");
  EXPECT_EQ(duration(0.0996), "0.1 s");
  EXPECT_EQ(duration(0.42), "0.4 s");
  EXPECT_EQ(duration(9.96), "10 s");
  EXPECT_EQ(duration(200), "3 min 20 s");
  EXPECT_EQ(duration(7500), "2 h 5 min");
}

TEST(Labels, CellsWithoutOneAreNamedByMethodAndRanker) {
  CellSummary cell;
  cell.method = "mine";
  EXPECT_EQ(row_label(cell), "mine");
  cell.ranker = "linear";
  EXPECT_EQ(row_label(cell), "mine (linear)");
  EXPECT_EQ(click_model_label("almost_random"), "Almost random");
}

}  // namespace
}  // namespace plackett::report
